//! The audit log: entries written inside their acts' transactions, and read by event.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, SqliteConnection};

use super::SqliteComments;
use crate::domain::comment::StateAct;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::moderation::AuditAct;
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::comments::{AuditEntry, AuditFilter, CommentAudit, StateChange};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.audit";

/// Writes an entry.
pub(super) async fn append(
    db: &mut SqliteConnection,
    entry: &AuditEntry,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO moderation_audit VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(entry.event_id.get())
        .bind(entry.actor_id.get())
        .bind(entry.act.code())
        .bind(entry.discussion_id.map(DiscussionId::get))
        .bind(entry.comment_id.map(CommentId::get))
        .bind(entry.user_id.map(UserId::get))
        .bind(&entry.detail)
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}

/// The entry of a change of a comment's state; none for who deletes their own.
pub(super) async fn state_changed(
    db: &mut SqliteConnection,
    change: &StateChange,
    author: UserId,
) -> Result<(), StoreError> {
    let act = match change.act {
        StateAct::Hide => AuditAct::Hide,
        StateAct::Restore => AuditAct::Restore,
        StateAct::Approve => AuditAct::Approve,
        StateAct::Bury if change.by == author => return Ok(()),
        StateAct::Bury => AuditAct::Bury,
    };
    let entry = AuditEntry {
        event_id: change.event_id,
        actor_id: change.by,
        act,
        discussion_id: Some(change.discussion_id),
        comment_id: Some(change.comment_id),
        user_id: Some(author),
        detail: change.reason.clone(),
    };
    append(db, &entry).await
}

/// The entry of a discussion that a moderator opened; its id was minted for it, so it is the event.
pub(super) async fn opened(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    by: UserId,
) -> Result<(), StoreError> {
    let entry = AuditEntry {
        event_id: EventId::new(discussion.get()),
        actor_id: by,
        act: AuditAct::OpenDiscussion,
        discussion_id: Some(discussion),
        comment_id: None,
        user_id: None,
        detail: String::new(),
    };
    append(db, &entry).await
}

fn entry(row: &SqliteRow) -> Result<AuditEntry, StoreError> {
    let event: i64 = row.try_get(0).during(OP)?;
    let act: i64 = row.try_get(2).during(OP)?;
    let comment: Option<i64> = row.try_get(4).during(OP)?;
    let user: Option<i64> = row.try_get(5).during(OP)?;
    Ok(AuditEntry {
        event_id: EventId::new(event),
        actor_id: UserId::new(row.try_get(1).during(OP)?),
        act: AuditAct::from_code(act)
            .ok_or_else(|| StoreError::corrupt("moderation_audit", event, "act"))?,
        discussion_id: Some(DiscussionId::new(row.try_get(3).during(OP)?)),
        comment_id: comment.map(CommentId::new),
        user_id: user.map(UserId::new),
        detail: row.try_get(6).during(OP)?,
    })
}

#[async_trait]
impl CommentAudit for SqliteComments {
    async fn audit(
        &self,
        filter: AuditFilter,
        slice: Slice<EventId>,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut select = QueryBuilder::new(
            "SELECT event_id, actor_id, act, discussion_id, comment_id, user_id, detail \
             FROM moderation_audit WHERE event_id > ",
        );
        select.push_bind(slice.above.map_or(i64::MIN, EventId::get));
        select.push(" AND event_id < ");
        select.push_bind(slice.below.map_or(i64::MAX, EventId::get));
        if let Some(discussion) = filter.discussion {
            select.push(" AND discussion_id = ");
            select.push_bind(discussion.get());
        }
        if let Some(actor) = filter.actor {
            select.push(" AND actor_id = ");
            select.push_bind(actor.get());
        }
        select.push(if slice.ascending {
            " ORDER BY event_id ASC LIMIT "
        } else {
            " ORDER BY event_id DESC LIMIT "
        });
        select.push_bind(i64::from(slice.limit));
        self.group.count(1);
        let found = select
            .build()
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        found.iter().map(entry).collect()
    }
}
