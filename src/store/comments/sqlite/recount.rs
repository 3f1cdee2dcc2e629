//! Counting a discussion from its rows, beside its writes.
//!
//! The rows are read in one snapshot, which holds nobody up. What is found wrong is mended in the
//! writer only if nothing was counted since (`discussions.changes`); otherwise the rows are read
//! anew, and at the last try within the writer's transaction, which always succeeds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sqlx::{Connection as _, Row as _, SqliteConnection};

use super::SqliteComments;
use super::counting::{self, LaneKey};
use super::discussions::load_discussion;
use super::layouts;
use super::rows;
use crate::domain::census::{Census, Counted, List};
use crate::domain::counts::Run;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::{CountCheck, WrongCount};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.recount";
/// Rows read at a time.
const PAGE_ROWS: i64 = 1_000;
/// Snapshots tried before the rows are read in the writer.
const SNAPSHOTS: u32 = 3;

/// A discussion counted, beside what is stored of it.
struct Examined {
    discussion: Arc<Discussion>,
    changes: i64,
    counted: Counted,
    wrong: Vec<WrongCount>,
}

impl Examined {
    fn check(self) -> CountCheck {
        CountCheck {
            rows: u64::try_from(self.counted.rows()).unwrap_or(u64::MAX),
            wrong: self.wrong,
        }
    }
}

impl SqliteComments {
    pub(super) async fn count_check(&self, id: DiscussionId) -> Result<CountCheck, StoreError> {
        let found = self.examine_snapshot(id).await?;
        Ok(found.map(Examined::check).unwrap_or_default())
    }

    pub(super) async fn mend_counts(&self, id: DiscussionId) -> Result<CountCheck, StoreError> {
        for _ in 0..SNAPSHOTS {
            let Some(found) = self.examine_snapshot(id).await? else {
                return Ok(CountCheck::default());
            };
            if found.wrong.is_empty() {
                return Ok(found.check());
            }
            let mended = self
                .change(OP, id, move |db| Box::pin(mend_unless_changed(db, found)))
                .await?;
            if let Some(check) = mended {
                return Ok(check);
            }
        }
        self.change(OP, id, move |db| {
            Box::pin(async move {
                let Some(found) = examine(db, id).await? else {
                    return Ok(CountCheck::default());
                };
                mend(db, &found).await?;
                Ok(found.check())
            })
        })
        .await
    }

    async fn examine_snapshot(&self, id: DiscussionId) -> Result<Option<Examined>, StoreError> {
        self.group.count(1);
        let mut reader = self.group.readers().acquire().await.during(OP)?;
        let mut snapshot = reader.begin().await.during(OP)?;
        let found = examine(&mut snapshot, id).await;
        snapshot.rollback().await.during(OP)?;
        found
    }
}

async fn changes_of(db: &mut SqliteConnection, id: DiscussionId) -> Result<i64, StoreError> {
    sqlx::query_scalar("SELECT changes FROM discussions WHERE discussion_id = ?")
        .bind(id.get())
        .fetch_one(db)
        .await
        .during(OP)
}

async fn examine(
    db: &mut SqliteConnection,
    id: DiscussionId,
) -> Result<Option<Examined>, StoreError> {
    let Some(discussion) = load_discussion(db, id).await? else {
        return Ok(None);
    };
    let changes = changes_of(db, id).await?;
    let counted = census(db, id).await?.count();
    let mut stored = stored_runs(db, id).await?;
    let mut wrong = Vec::new();
    if counted.sums() != discussion.counts {
        wrong.push(WrongCount::Sums);
    }
    let mut compare = |layout: u32, list: &List<'_>| {
        let runs = stored.remove(&(i64::from(layout), list.branch));
        if !list.agrees_with(&runs.unwrap_or_default()) {
            wrong.push(WrongCount::List {
                layout,
                branch: list.branch,
            });
        }
    };
    for list in counted.linear().each() {
        compare(0, &list);
    }
    for list in counted.roots().each() {
        compare(0, &list);
    }
    for (layout, to) in counted_layouts(&discussion) {
        for list in counted.branches(layout.depth_limit, to).each() {
            compare(layout.number, &list);
        }
    }
    // Runs of lists that have no rows.
    for (layout, branch) in stored.into_keys() {
        let layout = u32::try_from(layout)
            .map_err(|_negative| StoreError::corrupt("branch_counts", branch, "layout"))?;
        wrong.push(WrongCount::List { layout, branch });
    }
    let tombstones = counted.wrong_tombstones();
    wrong.extend(
        tombstones.map(|(comment, live_below)| WrongCount::Tombstone {
            comment,
            live_below,
        }),
    );
    Ok(Some(Examined {
        discussion,
        changes,
        counted,
        wrong,
    }))
}

/// Each layout with the last row that is counted in it.
fn counted_layouts(discussion: &Discussion) -> impl Iterator<Item = (Layout, CommentId)> + '_ {
    let last = CommentId::new(i64::MAX);
    layouts::of(discussion).map(move |layout| {
        let is_other = discussion.other_layout == Some(layout);
        (
            layout,
            if is_other {
                discussion.other_counted_to
            } else {
                last
            },
        )
    })
}

async fn census(db: &mut SqliteConnection, id: DiscussionId) -> Result<Census, StoreError> {
    let mut census = Census::default();
    let mut after = i64::MIN;
    loop {
        let page = sqlx::query(
            "SELECT comment_id, ancestors, state, live_below FROM comments \
             WHERE discussion_id = ? AND comment_id > ? ORDER BY comment_id LIMIT ?",
        )
        .bind(id.get())
        .bind(after)
        .bind(PAGE_ROWS)
        .fetch_all(&mut *db)
        .await
        .during(OP)?;
        if page.is_empty() {
            return Ok(census);
        }
        for row in &page {
            let row = rows::counted(row)?;
            after = row.id.get();
            census.add(&row);
        }
    }
}

/// The stored runs of every list, except those of layouts that are being swept away.
async fn stored_runs(
    db: &mut SqliteConnection,
    id: DiscussionId,
) -> Result<HashMap<LaneKey, Vec<Run>>, StoreError> {
    let found = sqlx::query(
        "SELECT from_id, to_id, total, published, visible, shown, layout, branch_id \
         FROM branch_counts b WHERE discussion_id = ? AND NOT EXISTS (SELECT 1 FROM \
         dropped_layouts d WHERE d.discussion_id = b.discussion_id AND d.layout = b.layout) \
         ORDER BY layout, branch_id, from_id",
    )
    .bind(id.get())
    .fetch_all(db)
    .await
    .during(OP)?;
    let mut runs: HashMap<LaneKey, Vec<Run>> = HashMap::new();
    for row in &found {
        let lane = (row.try_get(6).during(OP)?, row.try_get(7).during(OP)?);
        runs.entry(lane).or_default().push(rows::run(row)?);
    }
    Ok(runs)
}

/// Mends what a snapshot found, unless something was counted since: then `None`.
async fn mend_unless_changed(
    db: &mut SqliteConnection,
    found: Examined,
) -> Result<Option<CountCheck>, StoreError> {
    if changes_of(db, found.discussion.id).await? != found.changes {
        return Ok(None);
    }
    mend(db, &found).await?;
    Ok(Some(found.check()))
}

/// Writes what is right over what was found wrong.
async fn mend(db: &mut SqliteConnection, found: &Examined) -> Result<(), StoreError> {
    let id = found.discussion.id;
    for wrong in &found.wrong {
        match wrong {
            WrongCount::Sums => counting::set_sums(db, id, found.counted.sums()).await?,
            WrongCount::Tombstone {
                comment,
                live_below,
            } => counting::set_live_below(db, id, *comment, *live_below).await?,
            WrongCount::List { layout, branch } => {
                let lane = (i64::from(*layout), *branch);
                counting::clear_lane(db, id, lane).await?;
            }
        }
    }
    let wrong_lists: HashSet<(u32, i64)> = found
        .wrong
        .iter()
        .filter_map(|wrong| match wrong {
            WrongCount::List { layout, branch } => Some((*layout, *branch)),
            WrongCount::Sums | WrongCount::Tombstone { .. } => None,
        })
        .collect();
    let mut lists = Vec::new();
    let (linear, roots) = (found.counted.linear(), found.counted.roots());
    for list in linear.each().chain(roots.each()) {
        if wrong_lists.contains(&(0, list.branch)) {
            lists.push(((0, list.branch), list.runs()));
        }
    }
    for (layout, to) in counted_layouts(&found.discussion) {
        for list in found.counted.branches(layout.depth_limit, to).each() {
            if wrong_lists.contains(&(layout.number, list.branch)) {
                lists.push(((i64::from(layout.number), list.branch), list.runs()));
            }
        }
    }
    for (lane, runs) in lists {
        for run in runs {
            counting::put_run(db, id, lane, run).await?;
        }
    }
    Ok(())
}
