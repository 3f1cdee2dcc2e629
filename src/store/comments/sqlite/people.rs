//! Replies to a person, and marks of what they have read and seen.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::reads::json;
use super::{SqliteComments, rows};
use crate::domain::comment::{Comment, CommentState};
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::comments::{CommentPeople, ReplyTo, RowFacts};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.people";

/// Notes a reply that was just written for the author of its parent, inside its transaction. One
/// that waits for a moderator is noted and not listed.
pub(super) async fn note_reply(
    db: &mut SqliteConnection,
    reply: &Comment,
    to: UserId,
) -> Result<(), StoreError> {
    if to == reply.author_id || to == UserId::NOBODY {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO comment_replies (user_id, event_id, discussion_id, comment_id, is_waiting) \
         VALUES (?, ?, ?, ?, ?)",
    )
    .bind(to.get())
    .bind(reply.id.get())
    .bind(reply.discussion_id.get())
    .bind(reply.id.get())
    .bind(i64::from(reply.state == CommentState::Pending))
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Lists a reply that waited: it is new from this event on.
pub(super) async fn let_through(
    db: &mut SqliteConnection,
    reply: &Comment,
    event: EventId,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE comment_replies SET event_id = ?, is_waiting = 0 \
         WHERE discussion_id = ? AND comment_id = ? AND is_waiting = 1",
    )
    .bind(event.get())
    .bind(reply.discussion_id.get())
    .bind(reply.id.get())
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// A buried reply is none any more.
pub(super) async fn unnote_reply(
    db: &mut SqliteConnection,
    reply: &Comment,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM comment_replies WHERE discussion_id = ? AND comment_id = ?")
        .bind(reply.discussion_id.get())
        .bind(reply.id.get())
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}

async fn mark_replies_read(
    db: &mut SqliteConnection,
    user: UserId,
    (discussion, comment): (DiscussionId, CommentId),
) -> Result<EventId, StoreError> {
    // The reply's own place; one that is gone stands where its create stood. Never beyond the newest
    // reply there is, so that an invented id does not read what will come.
    sqlx::query(
        "INSERT INTO reply_marks (user_id, read_to) SELECT ?1, max(event_id) FROM comment_replies \
         WHERE user_id = ?1 AND is_waiting = 0 AND event_id <= coalesce((SELECT event_id \
           FROM comment_replies WHERE user_id = ?1 AND discussion_id = ?2 AND comment_id = ?3), ?3) \
         HAVING max(event_id) IS NOT NULL \
         ON CONFLICT (user_id) DO UPDATE SET read_to = max(read_to, excluded.read_to)",
    )
    .bind(user.get())
    .bind(discussion.get())
    .bind(comment.get())
    .execute(&mut *db)
    .await
    .during(OP)?;
    let mark: Option<i64> = sqlx::query_scalar("SELECT read_to FROM reply_marks WHERE user_id = ?")
        .bind(user.get())
        .fetch_optional(db)
        .await
        .during(OP)?;
    Ok(EventId::new(mark.unwrap_or_default()))
}

async fn mark_seen(
    db: &mut SqliteConnection,
    user: UserId,
    discussion: DiscussionId,
    up_to: CommentId,
) -> Result<Option<CommentId>, StoreError> {
    sqlx::query(
        "INSERT INTO seen_marks (user_id, discussion_id, seen_to) \
         SELECT ?1, ?2, max(comment_id) FROM comments WHERE discussion_id = ?2 \
         AND comment_id <= ?3 HAVING max(comment_id) IS NOT NULL \
         ON CONFLICT (user_id, discussion_id) \
         DO UPDATE SET seen_to = max(seen_to, excluded.seen_to)",
    )
    .bind(user.get())
    .bind(discussion.get())
    .bind(up_to.get())
    .execute(&mut *db)
    .await
    .during(OP)?;
    let mark: Option<i64> = sqlx::query_scalar(
        "SELECT seen_to FROM seen_marks WHERE user_id = ? AND discussion_id = ?",
    )
    .bind(user.get())
    .bind(discussion.get())
    .fetch_optional(db)
    .await
    .during(OP)?;
    Ok(mark.map(CommentId::new))
}

async fn forget_person(
    db: &mut SqliteConnection,
    user: UserId,
    limit: u32,
) -> Result<u64, StoreError> {
    let mut forgotten = 0;
    for sql in [
        "DELETE FROM comment_replies WHERE user_id = ?1 AND event_id IN \
         (SELECT event_id FROM comment_replies WHERE user_id = ?1 LIMIT ?2)",
        "DELETE FROM reply_marks WHERE user_id = ?1 AND ?2 > 0",
        "DELETE FROM seen_marks WHERE user_id = ?1 AND discussion_id IN \
         (SELECT discussion_id FROM seen_marks WHERE user_id = ?1 LIMIT ?2)",
        "DELETE FROM comment_claims WHERE author_id = ?1 AND key IN \
         (SELECT key FROM comment_claims WHERE author_id = ?1 LIMIT ?2)",
    ] {
        let left = i64::from(limit).saturating_sub(i64::try_from(forgotten).unwrap_or(i64::MAX));
        forgotten += sqlx::query(sql)
            .bind(user.get())
            .bind(left)
            .execute(&mut *db)
            .await
            .during(OP)?
            .rows_affected();
    }
    Ok(forgotten)
}

/// `comment_id, ancestors, state, live_below, author_id` as a query's first columns.
fn facts(row: &SqliteRow, discussion_id: DiscussionId) -> Result<RowFacts, StoreError> {
    Ok(RowFacts {
        discussion_id,
        row: rows::counted(row)?,
        author_id: UserId::new(row.try_get(4).during(OP)?),
    })
}

macro_rules! replies_sql {
    ($direction:literal) => {
        concat!(
            "SELECT c.comment_id, c.ancestors, c.state, c.live_below, c.author_id, \
             r.discussion_id, r.event_id FROM comment_replies r CROSS JOIN comments c \
             WHERE r.user_id = ?1 AND r.event_id > ?2 AND r.event_id < ?3 AND r.is_waiting = 0 \
             AND c.discussion_id = r.discussion_id AND c.comment_id = r.comment_id \
             ORDER BY r.event_id ",
            $direction,
            " LIMIT ?4"
        )
    };
}

#[async_trait]
impl CommentPeople for SqliteComments {
    async fn replies_to(&self, user: UserId, slice: Slice) -> Result<Vec<ReplyTo>, StoreError> {
        let sql = if slice.ascending {
            replies_sql!("ASC")
        } else {
            replies_sql!("DESC")
        };
        self.group.count(1);
        let found = sqlx::query(sql)
            .bind(user.get())
            .bind(slice.above.map_or(i64::MIN, CommentId::get))
            .bind(slice.below.map_or(i64::MAX, CommentId::get))
            .bind(i64::from(slice.limit))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        found
            .iter()
            .map(|row| {
                let discussion = DiscussionId::new(row.try_get(5).during(OP)?);
                Ok(ReplyTo {
                    event_id: EventId::new(row.try_get(6).during(OP)?),
                    facts: facts(row, discussion)?,
                })
            })
            .collect()
    }

    async fn replies_read(&self, user: UserId) -> Result<EventId, StoreError> {
        self.group.count(1);
        let mark: Option<i64> =
            sqlx::query_scalar("SELECT read_to FROM reply_marks WHERE user_id = ?")
                .bind(user.get())
                .fetch_optional(self.group.readers())
                .await
                .during(OP)?;
        Ok(EventId::new(mark.unwrap_or_default()))
    }

    async fn mark_replies_read(
        &self,
        user: UserId,
        up_to: (DiscussionId, CommentId),
    ) -> Result<EventId, StoreError> {
        self.group
            .write("comments.mark_replies_read", move |db| {
                Box::pin(mark_replies_read(db, user, up_to))
            })
            .await
    }

    async fn seen_marks(
        &self,
        user: UserId,
        discussions: &[DiscussionId],
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError> {
        self.group.count(1);
        let found: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT discussion_id, seen_to FROM seen_marks WHERE user_id = ? \
             AND discussion_id IN (SELECT value FROM json_each(?))",
        )
        .bind(user.get())
        .bind(json(discussions))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        Ok(places(found))
    }

    async fn seen_marks_of(
        &self,
        user: UserId,
        after: Option<DiscussionId>,
        limit: u32,
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError> {
        self.group.count(1);
        let found: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT discussion_id, seen_to FROM seen_marks WHERE user_id = ? \
             AND discussion_id > ? ORDER BY discussion_id LIMIT ?",
        )
        .bind(user.get())
        .bind(after.map_or(i64::MIN, DiscussionId::get))
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        Ok(places(found))
    }

    async fn mark_seen(
        &self,
        user: UserId,
        discussion: DiscussionId,
        up_to: CommentId,
    ) -> Result<Option<CommentId>, StoreError> {
        self.group
            .write("comments.mark_seen", move |db| {
                Box::pin(mark_seen(db, user, discussion, up_to))
            })
            .await
    }

    async fn written_after(
        &self,
        discussion: DiscussionId,
        after: CommentId,
        limit: u32,
    ) -> Result<Vec<RowFacts>, StoreError> {
        self.group.count(1);
        let found = sqlx::query(
            "SELECT comment_id, ancestors, state, live_below, author_id FROM comments \
             WHERE discussion_id = ? AND comment_id > ? ORDER BY comment_id LIMIT ?",
        )
        .bind(discussion.get())
        .bind(after.get())
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        found.iter().map(|row| facts(row, discussion)).collect()
    }

    async fn hiding_among(
        &self,
        wanted: &[(DiscussionId, CommentId)],
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let pairs: Vec<(i64, i64)> = wanted.iter().map(|(d, c)| (d.get(), c.get())).collect();
        self.group.count(1);
        let found: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT c.discussion_id, c.comment_id FROM json_each(?1) h CROSS JOIN comments c \
             WHERE c.discussion_id = json_extract(h.value, '$[0]') \
             AND c.comment_id = json_extract(h.value, '$[1]') AND c.state IN (?2, ?3)",
        )
        .bind(json(&pairs))
        .bind(CommentState::Hidden.code())
        .bind(CommentState::Pending.code())
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        Ok(places(found))
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.group.scrub("comments.scrub").await
    }

    async fn forget_person(&self, user: UserId, limit: u32) -> Result<u64, StoreError> {
        self.group
            .write("comments.forget_person", move |db| {
                Box::pin(forget_person(db, user, limit))
            })
            .await
    }
}

fn places(found: Vec<(i64, i64)>) -> Vec<(DiscussionId, CommentId)> {
    let place = |(discussion, comment)| (DiscussionId::new(discussion), CommentId::new(comment));
    found.into_iter().map(place).collect()
}
