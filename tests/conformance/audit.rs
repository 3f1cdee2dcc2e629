//! The definitions of the design, worked out the plain way from a discussion's main rows, and a check
//! of everything the store derives from them: counts, runs, sums, the tree.
//!
//! Deliberately shares no code with `domain::counts`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadline::domain::comment::{Comment, CommentState};
use threadline::domain::counts::{RUN_ROWS_MAX, Run, Tally};
use threadline::domain::discussion::Layout;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::store::comments::Lane;

use crate::comments::Comments;

/// Rows by id, each with what it adds to the counts.
pub(crate) struct Tallied(BTreeMap<CommentId, (Comment, Tally)>);

impl Tallied {
    pub(crate) fn of(rows: &[Comment]) -> Self {
        let states: HashMap<CommentId, CommentState> =
            rows.iter().map(|row| (row.id, row.state)).collect();
        let tallied = rows.iter().map(|row| {
            let tally = tally(row, rows, &states);
            (row.id, (row.clone(), tally))
        });
        Self(tallied.collect())
    }

    /// The sums over the rows that `wanted` picks.
    pub(crate) fn sum(&self, wanted: impl Fn(&Comment) -> bool) -> Tally {
        let mut sum = Tally::default();
        for (row, tally) in self.0.values() {
            if wanted(row) {
                sum += *tally;
            }
        }
        sum
    }

    pub(crate) fn tally(&self, id: CommentId) -> Tally {
        self.0[&id].1
    }
}

fn is_hidden(states: &HashMap<CommentId, CommentState>, id: CommentId) -> bool {
    matches!(
        states.get(&id),
        Some(CommentState::Hidden | CommentState::Pending)
    )
}

/// Whether a published row hangs below `row` with nothing hidden between them.
pub(crate) fn is_live_below(
    row: &Comment,
    rows: &[Comment],
    states: &HashMap<CommentId, CommentState>,
) -> bool {
    rows.iter()
        .filter(|other| other.state == CommentState::Published)
        .any(|other| {
            let place = other.ancestors.iter().position(|id| *id == row.id);
            place.is_some_and(|place| {
                let between = &other.ancestors[place + 1..];
                !between.iter().any(|id| is_hidden(states, *id))
            })
        })
}

fn tally(row: &Comment, rows: &[Comment], states: &HashMap<CommentId, CommentState>) -> Tally {
    let under_hidden = row.ancestors.iter().any(|id| is_hidden(states, *id));
    let published = row.state == CommentState::Published;
    let visible = published && !under_hidden;
    let tombstone =
        row.state == CommentState::Buried && !under_hidden && is_live_below(row, rows, states);
    Tally {
        total: 1,
        published: i64::from(published),
        visible: i64::from(visible),
        shown: i64::from(visible || tombstone),
    }
}

/// The head of the branch a row lies in under a depth limit; `None` for a root.
pub(crate) fn head_of(row: &Comment, depth_limit: u16) -> Option<CommentId> {
    let depth = row.ancestors.len();
    if depth == 0 {
        return None;
    }
    Some(row.ancestors[depth.min(usize::from(depth_limit)) - 1])
}

/// Checks that runs cover `rows` (a whole list, oldest first) once, in order, with right sums.
pub(crate) fn check_runs(runs: &[Run], rows: &[CommentId], tallied: &Tallied, what: &str) {
    let mut rest = rows;
    for run in runs {
        let count = usize::try_from(run.tally.total).unwrap();
        assert!(run.tally.total >= 1, "{what}: an empty run {run:?}");
        assert!(
            run.tally.total <= 2 * RUN_ROWS_MAX,
            "{what}: too long {run:?}"
        );
        assert!(count <= rest.len(), "{what}: more rows than there are");
        let (covered, after) = rest.split_at(count);
        assert_eq!(Some(&run.from_id), covered.first(), "{what}: {run:?}");
        assert_eq!(Some(&run.to_id), covered.last(), "{what}: {run:?}");
        let mut sum = Tally::default();
        for id in covered {
            sum += tallied.tally(*id);
        }
        assert_eq!(run.tally, sum, "{what}: {run:?}");
        rest = after;
    }
    assert!(rest.is_empty(), "{what}: {} rows in no run", rest.len());
}

/// What every row must be, whatever happened to it.
fn check_rows(rows: &[Comment]) {
    let by_id: HashMap<CommentId, &Comment> = rows.iter().map(|row| (row.id, row)).collect();
    let states: HashMap<CommentId, CommentState> =
        rows.iter().map(|row| (row.id, row.state)).collect();
    for row in rows {
        assert_eq!(row.parent_id, row.ancestors.last().copied(), "{row:?}");
        if let Some(parent) = row.parent_id {
            let parent = by_id[&parent];
            assert!(parent.id < row.id, "a parent is older: {row:?}");
            assert!(row.ancestors.starts_with(&parent.ancestors), "{row:?}");
            assert_eq!(row.ancestors.len(), parent.ancestors.len() + 1, "{row:?}");
        }
        if row.state == CommentState::Buried {
            let live = is_live_below(row, rows, &states);
            assert_eq!(row.live_below, live, "live_below of {row:?}");
            assert_eq!(row.author_id.get(), 0, "{row:?}");
            assert_eq!(row.body, "", "{row:?}");
        }
    }
}

impl Comments {
    /// Checks everything derived from the main rows of a discussion; returns those rows.
    pub(crate) async fn audit(&self, id: DiscussionId) -> Vec<Comment> {
        let discussion = self.discussion(id).await;
        let rows = self.linear(id).await;
        assert!(rows.is_sorted_by(|a, b| a.id < b.id), "order or repeats");
        check_rows(&rows);
        let tallied = Tallied::of(&rows);
        assert_eq!(discussion.counts.all, tallied.sum(|_| true), "all");
        let roots = tallied.sum(|row| row.ancestors.is_empty());
        assert_eq!(discussion.counts.roots, roots, "roots");
        let hidden: BTreeSet<CommentId> = rows
            .iter()
            .filter(|row| row.state.hides_below())
            .map(|row| row.id)
            .collect();
        let hides = rows.iter().any(|row| {
            let above = |id: &CommentId| hidden.contains(id);
            row.state == CommentState::Hidden || row.ancestors.iter().any(above)
        });
        assert!(discussion.has_hidden || !hides, "has_hidden");
        let ids: Vec<CommentId> = rows.iter().map(|row| row.id).collect();
        let told = self.store.hidden_among(id, &ids).await.unwrap();
        assert_eq!(told.len(), hidden.len());
        assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), hidden);
        let number = discussion.layout.number;
        let runs = self.store.runs(id, number, Lane::Linear).await.unwrap();
        check_runs(&runs, &ids, &tallied, "linear");
        let layouts = [Some(discussion.layout), discussion.other_layout];
        for layout in layouts.into_iter().flatten() {
            if layout.complete {
                self.audit_layout(id, layout, &rows, &tallied).await;
            }
        }
        let check = self.store.check_counts(id).await.unwrap();
        assert_eq!(check.wrong, [], "a count was wrong");
        rows
    }

    /// T1, T2 and the derived sums of one complete layout.
    async fn audit_layout(
        &self,
        id: DiscussionId,
        layout: Layout,
        rows: &[Comment],
        tallied: &Tallied,
    ) {
        let Layout {
            number,
            depth_limit,
            ..
        } = layout;
        let mut lanes: BTreeMap<Option<CommentId>, Vec<&Comment>> = BTreeMap::new();
        lanes.entry(None).or_default();
        for row in rows {
            // Rows that head no branch are asked for too: their branch is empty.
            lanes.entry(Some(row.id)).or_default();
            let head = head_of(row, depth_limit);
            lanes.entry(head).or_default().push(row);
        }
        let mut sums = BTreeMap::new();
        for (head, want) in &lanes {
            let lane = head.map_or(Lane::Roots, Lane::Branch);
            let what = format!("layout {number}, {lane:?}");
            let read = self.list(id, number, lane).await;
            assert_eq!(read.iter().collect::<Vec<_>>(), *want, "{what}");
            let runs = self.store.runs(id, number, lane).await.unwrap();
            let ids: Vec<CommentId> = want.iter().map(|row| row.id).collect();
            check_runs(&runs, &ids, tallied, &what);
            if let Some(head) = head.filter(|_| !want.is_empty()) {
                let branch = tallied.sum(|row| head_of(row, depth_limit) == Some(head));
                sums.insert(head, branch);
            }
        }
        let heads: Vec<CommentId> = rows.iter().map(|row| row.id).collect();
        let told = self.store.branch_sums(id, number, &heads).await.unwrap();
        assert_eq!(told.len(), sums.len(), "layout {number}: branches");
        assert_eq!(
            told.into_iter().collect::<BTreeMap<_, _>>(),
            sums,
            "layout {number}"
        );
    }
}
