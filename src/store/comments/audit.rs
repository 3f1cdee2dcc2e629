//! The audit log: who moderated what. An entry is written in the transaction of its act.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::moderation::AuditAct;
use crate::domain::page::Slice;
use crate::store::StoreError;

/// A line of the audit log. It holds ids and a moderator's own words, never text of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The act's event; the time inside is when.
    pub event_id: EventId,
    /// Who acted.
    pub actor_id: UserId,
    /// What they did.
    pub act: AuditAct,
    /// Where; `None` for an act outside discussions.
    pub discussion_id: Option<DiscussionId>,
    /// To which comment; `None` for acts on a discussion.
    pub comment_id: Option<CommentId>,
    /// Whose comment it was, or whom the act was about.
    pub user_id: Option<UserId>,
    /// The reason given, or what was set; may be empty.
    pub detail: String,
}

/// Which part of the audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AuditFilter {
    /// Only of this discussion.
    pub discussion: Option<DiscussionId>,
    /// Only by this person.
    pub actor: Option<UserId>,
}

/// Reading the audit log.
#[async_trait]
pub trait CommentAudit: Send + Sync + Debug {
    /// A part of the log by event (A2).
    async fn audit(
        &self,
        filter: AuditFilter,
        slice: Slice<EventId>,
    ) -> Result<Vec<AuditEntry>, StoreError>;
}
