//! Look-ups across discussions: every discussion, where a person wrote, their posting keys. One
//! statement each.

use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::driver::sqlite::{DuringOp as _, SqliteGroup};

/// A statement for each direction of a slice.
macro_rules! by_direction {
    ($slice:expr, $head:literal) => {
        if $slice.ascending {
            concat!($head, " ASC LIMIT ?")
        } else {
            concat!($head, " DESC LIMIT ?")
        }
    };
}

pub(super) async fn discussion_ids(
    group: &SqliteGroup,
    slice: Slice<DiscussionId>,
) -> Result<Vec<DiscussionId>, StoreError> {
    group.count(1);
    let found: Vec<i64> = sqlx::query_scalar(by_direction!(
        slice,
        "SELECT discussion_id FROM discussions WHERE discussion_id > ? AND discussion_id < ? \
         ORDER BY discussion_id"
    ))
    .bind(slice.above.map_or(i64::MIN, DiscussionId::get))
    .bind(slice.below.map_or(i64::MAX, DiscussionId::get))
    .bind(i64::from(slice.limit))
    .fetch_all(group.readers())
    .await
    .during("comments.discussion_ids")?;
    Ok(found.into_iter().map(DiscussionId::new).collect())
}

pub(super) async fn by_author(
    group: &SqliteGroup,
    author: UserId,
    slice: Slice,
) -> Result<Vec<(DiscussionId, CommentId)>, StoreError> {
    group.count(1);
    let found: Vec<(i64, i64)> = sqlx::query_as(by_direction!(
        slice,
        "SELECT discussion_id, comment_id FROM comments_by_author \
         WHERE author_id = ? AND comment_id > ? AND comment_id < ? ORDER BY comment_id"
    ))
    .bind(author.get())
    .bind(slice.above.map_or(i64::MIN, CommentId::get))
    .bind(slice.below.map_or(i64::MAX, CommentId::get))
    .bind(i64::from(slice.limit))
    .fetch_all(group.readers())
    .await
    .during("comments.by_author")?;
    Ok(found
        .into_iter()
        .map(|(d, c)| (DiscussionId::new(d), CommentId::new(c)))
        .collect())
}

pub(super) async fn is_claimed(
    group: &SqliteGroup,
    author: UserId,
    key: &str,
) -> Result<bool, StoreError> {
    group.count(1);
    let found: Option<i64> = sqlx::query_scalar(
        "SELECT comment_id FROM comment_claims WHERE author_id = ? AND key = ? AND expires_at > ?",
    )
    .bind(author.get())
    .bind(key)
    .bind(group.clock().now_ms())
    .fetch_optional(group.readers())
    .await
    .during("comments.is_claimed")?;
    Ok(found.is_some())
}
