//! Counts the rows of a batch in every list they lie in, a list at a time.
//!
//! Each list's runs about its new rows are read, grown in memory by the rules of
//! [`counting`], and written back where they changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use sqlx::{QueryBuilder, Row as _, SqliteConnection};

use super::super::counting::{self, LaneKey};
use super::super::reads::json;
use super::super::rows;
use super::tallies::Tallies;
use super::{OP, put};
use crate::domain::comment::Comment;
use crate::domain::counts::{RUN_ROWS_MAX, Run, Tally};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;

/// The runs of lists about their new rows: the last one that begins at or before the first of
/// them, all between, and the next one after the last.
const RUNS: &str = "SELECT b.from_id, b.to_id, b.total, b.published, b.visible, b.shown, \
     b.layout, b.branch_id FROM (SELECT json_extract(value, '$[0]') AS layout, \
       json_extract(value, '$[1]') AS branch, json_extract(value, '$[2]') AS first, \
       json_extract(value, '$[3]') AS last FROM json_each(?1)) h \
     CROSS JOIN branch_counts b \
     WHERE b.discussion_id = ?2 AND b.layout = h.layout AND b.branch_id = h.branch \
     AND b.from_id >= coalesce((SELECT max(p.from_id) FROM branch_counts p \
       WHERE p.discussion_id = ?2 AND p.layout = h.layout AND p.branch_id = h.branch \
       AND p.from_id <= h.first), h.first) \
     AND b.from_id <= coalesce((SELECT min(n.from_id) FROM branch_counts n \
       WHERE n.discussion_id = ?2 AND n.layout = h.layout AND n.branch_id = h.branch \
       AND n.from_id > h.last), h.last)";

/// The runs of a list that are looked at, and what became of them.
#[derive(Debug, Default)]
struct Runs {
    /// By the id they begin with.
    by_start: BTreeMap<CommentId, Run>,
    changed: BTreeSet<CommentId>,
    gone: BTreeSet<CommentId>,
}

/// New rows of lists, and what each counts.
pub(in super::super) type Lanes = BTreeMap<LaneKey, BTreeMap<CommentId, Tally>>;

/// Counts rows that were just written.
pub(super) async fn add(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    comments: &[Comment],
    tallies: &Tallies,
) -> Result<(), StoreError> {
    let mut lanes = Lanes::new();
    let (mut all, mut roots) = (Tally::default(), Tally::default());
    for comment in comments {
        let tally = tallies.tally(comment.id);
        all += tally;
        if comment.ancestors.is_empty() {
            roots += tally;
        }
        for lane in counting::lanes_of(discussion, comment.id, &comment.ancestors) {
            lanes.entry(lane).or_default().insert(comment.id, tally);
        }
    }
    count(db, discussion, lanes).await?;
    counting::add_to_discussion(db, discussion.id, all, roots).await
}

/// Counts rows in lists; the sums of the discussion stay as they are.
pub(in super::super) async fn count(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    lanes: Lanes,
) -> Result<(), StoreError> {
    let mut runs = load(db, discussion.id, &lanes).await?;
    for (lane, rows) in lanes {
        let runs = runs.entry(lane).or_default();
        for (id, tally) in rows {
            runs.add(id, tally);
        }
    }
    write(db, discussion, &runs).await
}

async fn load(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lanes: &Lanes,
) -> Result<BTreeMap<LaneKey, Runs>, StoreError> {
    let wanted: Vec<[i64; 4]> = lanes
        .iter()
        .filter_map(|((layout, branch), rows)| {
            let (first, _) = rows.first_key_value()?;
            let (last, _) = rows.last_key_value()?;
            Some([*layout, *branch, first.get(), last.get()])
        })
        .collect();
    let found = sqlx::query(RUNS)
        .bind(json(&wanted))
        .bind(discussion.get())
        .fetch_all(db)
        .await
        .during(OP)?;
    let mut runs: BTreeMap<LaneKey, Runs> = BTreeMap::new();
    for row in &found {
        let lane = (row.try_get(6).during(OP)?, row.try_get(7).during(OP)?);
        let run = rows::run(row)?;
        runs.entry(lane)
            .or_default()
            .by_start
            .insert(run.from_id, run);
    }
    Ok(runs)
}

impl Runs {
    /// Counts a new row; rows come in the order of their ids.
    fn add(&mut self, id: CommentId, tally: Tally) {
        let before = self.by_start.range_mut(..=id).next_back();
        if let Some((from, run)) = before
            && (id <= run.to_id || run.tally.total < RUN_ROWS_MAX)
        {
            run.to_id = run.to_id.max(id);
            run.tally += tally;
            self.changed.insert(*from);
            return;
        }
        // After a full run, or before the first one: the next run begins with it if it has room.
        // Lists filled from their end would otherwise be runs of one row each.
        let mut run = Run {
            from_id: id,
            to_id: id,
            tally,
        };
        let above = (Bound::Excluded(id), Bound::Unbounded);
        let next = self.by_start.range(above).next();
        let next = next.map(|(from, next)| (*from, *next));
        if let Some((from, next)) = next.filter(|(_, next)| next.tally.total < RUN_ROWS_MAX) {
            self.by_start.remove(&from);
            self.changed.remove(&from);
            self.gone.insert(from);
            run.to_id = next.to_id;
            run.tally += next.tally;
        }
        self.by_start.insert(id, run);
        self.changed.insert(id);
    }
}

async fn write(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    runs: &BTreeMap<LaneKey, Runs>,
) -> Result<(), StoreError> {
    let mut changed: Vec<(LaneKey, Run)> = Vec::new();
    for (lane, runs) in runs {
        for from in &runs.gone {
            counting::delete_run(db, discussion.id, *lane, *from).await?;
        }
        let in_lane = runs
            .changed
            .iter()
            .filter_map(|from| runs.by_start.get(from));
        changed.extend(in_lane.map(|run| (*lane, *run)));
    }
    for piece in put::pieces(&changed) {
        let mut insert = QueryBuilder::new(
            "INSERT OR REPLACE INTO branch_counts (discussion_id, layout, branch_id, from_id, \
             to_id, total, published, visible, shown) ",
        );
        insert.push_values(piece, |mut row, ((layout, branch), run)| {
            row.push_bind(discussion.id.get());
            row.push_bind(*layout);
            row.push_bind(*branch);
            row.push_bind(run.from_id.get());
            row.push_bind(run.to_id.get());
            row.push_bind(run.tally.total);
            row.push_bind(run.tally.published);
            row.push_bind(run.tally.visible);
            row.push_bind(run.tally.shown);
        });
        put::run(db, &mut insert, piece.len()).await?;
    }
    // Last: it counts anew from the rows, so nothing may be added afterwards.
    for (lane, run) in changed {
        counting::cut_if_grown(db, discussion, lane, run).await?;
    }
    Ok(())
}
