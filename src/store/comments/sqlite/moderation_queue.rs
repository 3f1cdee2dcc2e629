//! The moderation queue's rows: coming in and leaving, always inside another write's transaction.
//!
//! A comment's row is there while it is pending or has unanswered reports; whoever changes either
//! calls in here. Nothing is counted apart from the rows.

use sqlx::SqliteConnection;

use super::reports;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::moderation::ReportReason;
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.queue";

/// A comment waits to be let through from now on.
pub(super) async fn wait(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
    since_ms: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO moderation_queue (discussion_id, comment_id, since_ms, is_pending, reports, \
         reasons) VALUES (?, ?, ?, 1, 0, 0) \
         ON CONFLICT (discussion_id, comment_id) DO UPDATE SET is_pending = 1",
    )
    .bind(discussion.get())
    .bind(comment.get())
    .bind(since_ms)
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// A comment has one more unanswered report.
pub(super) async fn reported(
    db: &mut SqliteConnection,
    (discussion, comment): (DiscussionId, CommentId),
    since_ms: i64,
    reason: ReportReason,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO moderation_queue (discussion_id, comment_id, since_ms, is_pending, reports, \
         reasons) VALUES (?, ?, ?, 0, 1, ?) ON CONFLICT (discussion_id, comment_id) \
         DO UPDATE SET reports = reports + 1, reasons = reasons | excluded.reasons",
    )
    .bind(discussion.get())
    .bind(comment.get())
    .bind(since_ms)
    .bind(reason.bit())
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Somebody decided on a comment: it waits no longer, and its reports are answered.
pub(super) async fn decide(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
) -> Result<(), StoreError> {
    let left: Option<i64> = sqlx::query_scalar(
        "DELETE FROM moderation_queue WHERE discussion_id = ? AND comment_id = ? \
         RETURNING reports",
    )
    .bind(discussion.get())
    .bind(comment.get())
    .fetch_optional(&mut *db)
    .await
    .during(OP)?;
    if left.is_some_and(|reports| reports > 0) {
        reports::answer(db, discussion, comment).await?;
    }
    Ok(())
}

/// A comment's reports are answered, though nothing was decided about it. Returns how many.
pub(super) async fn dismiss(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
) -> Result<u64, StoreError> {
    let answered = reports::answer(db, discussion, comment).await?;
    if answered == 0 {
        return Ok(0);
    }
    for statement in [
        "UPDATE moderation_queue SET reports = 0, reasons = 0 \
         WHERE discussion_id = ? AND comment_id = ?",
        "DELETE FROM moderation_queue WHERE discussion_id = ? AND comment_id = ? \
         AND is_pending = 0",
    ] {
        sqlx::query(statement)
            .bind(discussion.get())
            .bind(comment.get())
            .execute(&mut *db)
            .await
            .during(OP)?;
    }
    Ok(answered)
}
