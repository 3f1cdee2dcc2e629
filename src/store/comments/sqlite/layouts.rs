//! Two layouts of one index: adding, counting, flipping, dropping. Each step is a short
//! transaction, whatever the discussion's size.
//!
//! A second layout starts empty and uncounted. From then on writes fill its index; its branches are
//! counted up to `other_counted_to`, which the build moves on with each batch it writes. So a row is
//! counted exactly once: by its write when it lies at or below that mark, else when the mark passes.

use sqlx::SqliteConnection;

use super::counting;
use super::discussions::load_discussion;
use super::import::lanes::{self, Lanes};
use crate::domain::comment::branch_of;
use crate::domain::counts::contribution;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::WRITE_ROWS_MAX;
use crate::store::driver::sqlite::DuringOp as _;

/// Where everything is counted.
const EVERY_ROW: CommentId = CommentId::new(i64::MAX);

/// Both layouts of a discussion, the one in use first.
pub(super) fn of(row: &Discussion) -> impl Iterator<Item = Layout> {
    [Some(row.layout), row.other_layout].into_iter().flatten()
}

pub(super) async fn add(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    depth_limit: u16,
) -> Result<Option<Layout>, StoreError> {
    let added = sqlx::query(
        "UPDATE discussions SET layout_last = layout_last + 1, other_layout = layout_last + 1, \
         other_depth_limit = ?, other_built_from = 0, other_counted_to = 0, changes = changes + 1 \
         WHERE discussion_id = ? AND other_layout = 0",
    )
    .bind(i64::from(depth_limit))
    .bind(discussion.get())
    .execute(&mut *db)
    .await
    .during("comments.add_layout")?;
    if added.rows_affected() == 0 {
        return Ok(None);
    }
    let row = load_discussion(db, discussion).await?;
    Ok(row.and_then(|row| row.other_layout))
}

/// Counts in the other layout's branches what lies above its mark and not above `to`, and moves the
/// mark to `to`.
pub(super) async fn count_to(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    to: CommentId,
) -> Result<(), StoreError> {
    let Some(other) = discussion.other_layout else {
        return Ok(());
    };
    if to <= discussion.other_counted_to {
        return Ok(());
    }
    let from = CommentId::new(discussion.other_counted_to.get().saturating_add(1));
    let rows = counting::rows_between(db, discussion.id, from, to).await?;
    let hidden = counting::hidden_of(db, discussion).await?;
    let mut branches = Lanes::new();
    for row in rows.iter().filter(|row| !row.ancestors.is_empty()) {
        let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
        let tally = contribution(row.state, row.live_below, hidden_above);
        let branch = branch_of(&row.ancestors, other.depth_limit);
        let lane = (i64::from(other.number), branch);
        branches.entry(lane).or_default().insert(row.id, tally);
    }
    lanes::count(db, discussion, branches).await?;
    sqlx::query(
        "UPDATE discussions SET other_counted_to = ?, changes = changes + 1 \
         WHERE discussion_id = ?",
    )
    .bind(to.get())
    .bind(discussion.id.get())
    .execute(db)
    .await
    .during("comments.count_layout")?;
    Ok(())
}

/// Counts what was written behind the build's last batch: from here on writes count themselves.
pub(super) async fn count_rest(
    db: &mut SqliteConnection,
    discussion: &Discussion,
) -> Result<(), StoreError> {
    count_to(db, discussion, EVERY_ROW).await
}

pub(super) async fn flip(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<bool, StoreError> {
    let row = load_discussion(db, discussion).await?;
    let is_ready = row.is_some_and(|row| {
        row.other_counted_to == EVERY_ROW && row.other_layout.is_some_and(|other| other.complete)
    });
    if !is_ready {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE discussions SET layout = other_layout, depth_limit = other_depth_limit, \
         built_from = other_built_from, other_layout = layout, other_depth_limit = depth_limit, \
         other_built_from = built_from, changes = changes + 1 WHERE discussion_id = ?",
    )
    .bind(discussion.get())
    .execute(db)
    .await
    .during("comments.flip_layout")?;
    Ok(true)
}

/// Gives the other layout up: nothing reads, fills or counts it any more, and its rows are swept.
pub(super) async fn give_up(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<bool, StoreError> {
    const OP: &str = "comments.drop_other_layout";
    let row = load_discussion(db, discussion).await?;
    let Some(other) = row.and_then(|row| row.other_layout) else {
        return Ok(false);
    };
    sqlx::query(
        "UPDATE discussions SET other_layout = 0, other_depth_limit = 0, other_built_from = 0, \
         other_counted_to = ?, changes = changes + 1 WHERE discussion_id = ?",
    )
    .bind(EVERY_ROW.get())
    .bind(discussion.get())
    .execute(&mut *db)
    .await
    .during(OP)?;
    sqlx::query("INSERT INTO dropped_layouts VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(discussion.get())
        .bind(i64::from(other.number))
        .execute(db)
        .await
        .during(OP)?;
    Ok(true)
}

/// Removes some rows of dropped layouts; `false` when none is left.
pub(super) async fn sweep(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<bool, StoreError> {
    const OP: &str = "comments.sweep";
    let limit = i64::try_from(WRITE_ROWS_MAX).unwrap_or(i64::MAX);
    let dropped: Option<i64> =
        sqlx::query_scalar("SELECT layout FROM dropped_layouts WHERE discussion_id = ? LIMIT 1")
            .bind(discussion.get())
            .fetch_optional(&mut *db)
            .await
            .during(OP)?;
    let Some(layout) = dropped else {
        return Ok(false);
    };
    for sql in [
        "DELETE FROM comment_tree WHERE (discussion_id, layout, branch_id, comment_id) IN \
         (SELECT discussion_id, layout, branch_id, comment_id FROM comment_tree \
          WHERE discussion_id = ? AND layout = ? LIMIT ?)",
        "DELETE FROM branch_counts WHERE (discussion_id, layout, branch_id, from_id) IN \
         (SELECT discussion_id, layout, branch_id, from_id FROM branch_counts \
          WHERE discussion_id = ? AND layout = ? LIMIT ?)",
    ] {
        let removed = sqlx::query(sql)
            .bind(discussion.get())
            .bind(layout)
            .bind(limit)
            .execute(&mut *db)
            .await
            .during(OP)?;
        if removed.rows_affected() > 0 {
            return Ok(true);
        }
    }
    sqlx::query("DELETE FROM dropped_layouts WHERE discussion_id = ? AND layout = ?")
        .bind(discussion.get())
        .bind(layout)
        .execute(db)
        .await
        .during(OP)?;
    Ok(true)
}
