//! Keeping `branch_counts` and the sums of `discussions` true, inside the caller's transaction.
//!
//! A list (linear, roots, each branch of each layout) is cut into runs of consecutive ids. A change
//! touches only the runs its rows lie in. [`super::recount`] is the judge of everything here.

use std::collections::{HashMap, HashSet};

use sqlx::SqliteConnection;

use super::rows::{self, lane_key};
use crate::domain::comment::{CommentState, branch_of};
use crate::domain::counts::{CountedRow, DiscussionCounts, RUN_ROWS_MAX, Run, Tally};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::Lane;
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.counts";

/// A run that grew in its middle past this is cut in two.
const RUN_ROWS_GROWN: i64 = 2 * RUN_ROWS_MAX;

/// A list of a discussion as `branch_counts` names it.
pub(super) type LaneKey = (i64, i64);

/// Every list a row is counted in: linear, then roots or its branch in each layout.
pub(super) fn lanes_of(
    discussion: &Discussion,
    id: CommentId,
    ancestors: &[CommentId],
) -> Vec<LaneKey> {
    let mut lanes = vec![lane_key(0, Lane::Linear)];
    if ancestors.is_empty() {
        lanes.push(lane_key(0, Lane::Roots));
        return lanes;
    }
    let other = discussion
        .other_layout
        .filter(|_| id <= discussion.other_counted_to);
    for layout in [Some(discussion.layout), other].into_iter().flatten() {
        let branch = branch_of(ancestors, layout.depth_limit);
        lanes.push((i64::from(layout.number), branch));
    }
    lanes
}

/// Counts a new row in all its lists.
pub(super) async fn add_row(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    id: CommentId,
    ancestors: &[CommentId],
    tally: Tally,
) -> Result<(), StoreError> {
    for lane in lanes_of(discussion, id, ancestors) {
        add_to_lane(db, discussion, lane, id, tally).await?;
    }
    let roots = if ancestors.is_empty() {
        tally
    } else {
        Tally::default()
    };
    add_to_discussion(db, discussion.id, tally, roots).await
}

async fn add_to_lane(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    lane: LaneKey,
    id: CommentId,
    tally: Tally,
) -> Result<(), StoreError> {
    let before = sqlx::query(
        "SELECT from_id, to_id, total, published, visible, shown FROM branch_counts \
         WHERE discussion_id = ? AND layout = ? AND branch_id = ? AND from_id <= ? \
         ORDER BY from_id DESC LIMIT 1",
    )
    .bind(discussion.id.get())
    .bind(lane.0)
    .bind(lane.1)
    .bind(id.get())
    .fetch_optional(&mut *db)
    .await
    .during(OP)?;
    let before = before.as_ref().map(rows::run).transpose()?;
    match before {
        Some(run) if id <= run.to_id || run.tally.total < RUN_ROWS_MAX => {
            let mut sums = run.tally;
            sums += tally;
            let grown = Run {
                to_id: run.to_id.max(id),
                tally: sums,
                ..run
            };
            put_run(db, discussion.id, lane, grown).await?;
            cut_if_grown(db, discussion, lane, grown).await
        }
        // After a full run, or before the first one.
        _ => add_below_next(db, discussion.id, lane, id, tally).await,
    }
}

/// Counts a new row that no run reaches up to: the next run begins with it, unless that one is full
/// or missing. Lists filled from their end would otherwise be runs of one row each.
async fn add_below_next(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lane: LaneKey,
    id: CommentId,
    tally: Tally,
) -> Result<(), StoreError> {
    let next = sqlx::query(
        "SELECT from_id, to_id, total, published, visible, shown FROM branch_counts \
         WHERE discussion_id = ? AND layout = ? AND branch_id = ? AND from_id > ? \
         ORDER BY from_id LIMIT 1",
    )
    .bind(discussion.get())
    .bind(lane.0)
    .bind(lane.1)
    .bind(id.get())
    .fetch_optional(&mut *db)
    .await
    .during(OP)?;
    let mut run = Run {
        from_id: id,
        to_id: id,
        tally,
    };
    let next = next.as_ref().map(rows::run).transpose()?;
    if let Some(next) = next.filter(|next| next.tally.total < RUN_ROWS_MAX) {
        delete_run(db, discussion, lane, next.from_id).await?;
        run.to_id = next.to_id;
        run.tally += next.tally;
    }
    put_run(db, discussion, lane, run).await
}

pub(super) async fn put_run(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lane: LaneKey,
    run: Run,
) -> Result<(), StoreError> {
    sqlx::query("INSERT OR REPLACE INTO branch_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(discussion.get())
        .bind(lane.0)
        .bind(lane.1)
        .bind(run.from_id.get())
        .bind(run.to_id.get())
        .bind(run.tally.total)
        .bind(run.tally.published)
        .bind(run.tally.visible)
        .bind(run.tally.shown)
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}

pub(super) async fn delete_run(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lane: LaneKey,
    from: CommentId,
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM branch_counts \
         WHERE discussion_id = ? AND layout = ? AND branch_id = ? AND from_id = ?",
    )
    .bind(discussion.get())
    .bind(lane.0)
    .bind(lane.1)
    .bind(from.get())
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Removes every run of a list.
pub(super) async fn clear_lane(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lane: LaneKey,
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM branch_counts WHERE discussion_id = ? AND layout = ? AND branch_id = ?",
    )
    .bind(discussion.get())
    .bind(lane.0)
    .bind(lane.1)
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Sets the sums of a discussion, whatever they were.
pub(super) async fn set_sums(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    sums: DiscussionCounts,
) -> Result<(), StoreError> {
    let mut update = sqlx::query(
        "UPDATE discussions SET changes = changes + 1, \
         all_total = ?, all_published = ?, all_visible = ?, all_shown = ?, \
         roots_total = ?, roots_published = ?, roots_visible = ?, roots_shown = ? \
         WHERE discussion_id = ?",
    );
    for tally in [sums.all, sums.roots] {
        update = update
            .bind(tally.total)
            .bind(tally.published)
            .bind(tally.visible)
            .bind(tally.shown);
    }
    update.bind(discussion.get()).execute(db).await.during(OP)?;
    Ok(())
}

/// Cuts a run that grew too long in its middle: its rows are counted anew in runs of the usual size.
pub(super) async fn cut_if_grown(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    lane: LaneKey,
    run: Run,
) -> Result<(), StoreError> {
    if run.tally.total <= RUN_ROWS_GROWN {
        return Ok(());
    }
    let within = rows_between(db, discussion.id, run.from_id, run.to_id).await?;
    let limit = depth_limit(discussion, lane.0);
    let in_lane = within
        .into_iter()
        .filter(|row| lane.1 < 0 || branch_of(&row.ancestors, limit) == lane.1);
    let hidden = hidden_of(db, discussion).await?;
    let mut builder = RunBuilder::default();
    for row in in_lane {
        let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
        builder.add(
            row.id,
            crate::domain::counts::contribution(row.state, row.live_below, hidden_above),
        );
    }
    for part in builder.runs {
        put_run(db, discussion.id, lane, part).await?;
    }
    Ok(())
}

fn depth_limit(discussion: &Discussion, layout: i64) -> u16 {
    let other = discussion
        .other_layout
        .filter(|other| i64::from(other.number) == layout);
    other.map_or(discussion.layout.depth_limit, |other| other.depth_limit)
}

pub(super) async fn hidden_of(
    db: &mut SqliteConnection,
    discussion: &Discussion,
) -> Result<HashSet<CommentId>, StoreError> {
    if !discussion.has_hidden {
        return Ok(HashSet::new());
    }
    let hidden: Vec<i64> = sqlx::query_scalar(
        "SELECT comment_id FROM comments WHERE discussion_id = ? AND state IN (?, ?)",
    )
    .bind(discussion.id.get())
    .bind(CommentState::Hidden.code())
    .bind(CommentState::Pending.code())
    .fetch_all(db)
    .await
    .during(OP)?;
    Ok(hidden.into_iter().map(CommentId::new).collect())
}

/// The counted facts of all rows in a range of ids (inclusive), oldest first.
pub(super) async fn rows_between(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    from: CommentId,
    to: CommentId,
) -> Result<Vec<CountedRow>, StoreError> {
    let found = sqlx::query(
        "SELECT comment_id, ancestors, state, live_below FROM comments \
         WHERE discussion_id = ? AND comment_id >= ? AND comment_id <= ? ORDER BY comment_id",
    )
    .bind(discussion.get())
    .bind(from.get())
    .bind(to.get())
    .fetch_all(db)
    .await
    .during(OP)?;
    found.iter().map(rows::counted).collect()
}

/// Adds differences to the runs that hold the rows, and to the discussion's sums.
pub(super) async fn adjust(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    changes: &[(&CountedRow, Tally)],
) -> Result<(), StoreError> {
    let mut by_lane: HashMap<LaneKey, Vec<(CommentId, Tally)>> = HashMap::new();
    let (mut all, mut roots) = (Tally::default(), Tally::default());
    for (row, difference) in changes {
        for lane in lanes_of(discussion, row.id, &row.ancestors) {
            by_lane.entry(lane).or_default().push((row.id, *difference));
        }
        all += *difference;
        if row.ancestors.is_empty() {
            roots += *difference;
        }
    }
    for (lane, differences) in by_lane {
        adjust_lane(db, discussion.id, lane, &differences).await?;
    }
    add_to_discussion(db, discussion.id, all, roots).await
}

async fn adjust_lane(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    lane: LaneKey,
    differences: &[(CommentId, Tally)],
) -> Result<(), StoreError> {
    let Some(last) = differences.iter().map(|(id, _)| *id).max() else {
        return Ok(());
    };
    let starts: Vec<i64> = sqlx::query_scalar(
        "SELECT from_id FROM branch_counts WHERE discussion_id = ? AND layout = ? \
         AND branch_id = ? AND from_id <= ? ORDER BY from_id",
    )
    .bind(discussion.get())
    .bind(lane.0)
    .bind(lane.1)
    .bind(last.get())
    .fetch_all(&mut *db)
    .await
    .during(OP)?;
    let mut by_run: HashMap<i64, Tally> = HashMap::new();
    for (id, difference) in differences {
        let after = starts.partition_point(|from| *from <= id.get());
        let start = after.checked_sub(1).and_then(|at| starts.get(at));
        let start = start.ok_or_else(|| StoreError::corrupt("branch_counts", id, "from_id"))?;
        *by_run.entry(*start).or_default() += *difference;
    }
    for (start, difference) in by_run {
        sqlx::query(
            "UPDATE branch_counts SET total = total + ?, published = published + ?, \
             visible = visible + ?, shown = shown + ? \
             WHERE discussion_id = ? AND layout = ? AND branch_id = ? AND from_id = ?",
        )
        .bind(difference.total)
        .bind(difference.published)
        .bind(difference.visible)
        .bind(difference.shown)
        .bind(discussion.get())
        .bind(lane.0)
        .bind(lane.1)
        .bind(start)
        .execute(&mut *db)
        .await
        .during(OP)?;
    }
    Ok(())
}

/// Adds differences to the discussion's sums.
pub(super) async fn add_to_discussion(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    all: Tally,
    roots: Tally,
) -> Result<(), StoreError> {
    let mut update = sqlx::query(
        "UPDATE discussions SET changes = changes + 1, \
         all_total = all_total + ?, all_published = all_published + ?, \
         all_visible = all_visible + ?, all_shown = all_shown + ?, \
         roots_total = roots_total + ?, roots_published = roots_published + ?, \
         roots_visible = roots_visible + ?, roots_shown = roots_shown + ? WHERE discussion_id = ?",
    );
    for tally in [all, roots] {
        update = update
            .bind(tally.total)
            .bind(tally.published)
            .bind(tally.visible)
            .bind(tally.shown);
    }
    update.bind(discussion.get()).execute(db).await.during(OP)?;
    Ok(())
}

#[derive(Debug, Default)]
struct RunBuilder {
    runs: Vec<Run>,
}

impl RunBuilder {
    fn add(&mut self, id: CommentId, tally: Tally) {
        match self.runs.last_mut() {
            Some(run) if run.tally.total < RUN_ROWS_MAX => {
                run.to_id = id;
                run.tally += tally;
            }
            _ => self.runs.push(Run {
                from_id: id,
                to_id: id,
                tally,
            }),
        }
    }
}

/// Sets whether a buried row is shown as a tombstone.
pub(super) async fn set_live_below(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    id: CommentId,
    live_below: bool,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE comments SET live_below = ? WHERE discussion_id = ? AND comment_id = ?")
        .bind(i64::from(live_below))
        .bind(discussion.get())
        .bind(id.get())
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}
