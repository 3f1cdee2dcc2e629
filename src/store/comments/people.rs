//! What the port keeps around a person: replies to them, and marks of what they have read and seen.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::counts::CountedRow;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;

/// What decides who sees a row, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFacts {
    /// Where it lies.
    pub discussion_id: DiscussionId,
    /// Its id, ancestors and state.
    pub row: CountedRow,
    /// Who wrote it.
    pub author_id: UserId,
}

/// A reply to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyTo {
    /// Its place among the replies to them: the event that made it known.
    pub event_id: EventId,
    /// The reply.
    pub facts: RowFacts,
}

/// Replies and marks.
#[async_trait]
pub trait CommentPeople: Send + Sync + Debug {
    /// The replies to a person by their events, which the slice's bounds stand for. Whether the
    /// person may see one is not asked (N1–N3).
    async fn replies_to(&self, user: UserId, slice: Slice) -> Result<Vec<ReplyTo>, StoreError>;

    /// Up to which event a person has read the replies to them; 0: none (N4).
    async fn replies_read(&self, user: UserId) -> Result<EventId, StoreError>;

    /// Notes that a person has read the replies to them up to one. Gives the mark that holds
    /// afterwards (N4).
    async fn mark_replies_read(
        &self,
        user: UserId,
        up_to: (DiscussionId, CommentId),
    ) -> Result<EventId, StoreError>;

    /// Up to where a person has seen some discussions; those without a mark are left out (N5).
    async fn seen_marks(
        &self,
        user: UserId,
        discussions: &[DiscussionId],
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError>;

    /// Every mark of a person above a discussion's id, in the order of ids.
    async fn seen_marks_of(
        &self,
        user: UserId,
        after: Option<DiscussionId>,
        limit: u32,
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError>;

    /// Notes that a person has seen a discussion up to a comment. Gives the mark that holds
    /// afterwards; `None`: nothing was written there yet (N5).
    async fn mark_seen(
        &self,
        user: UserId,
        discussion: DiscussionId,
        up_to: CommentId,
    ) -> Result<Option<CommentId>, StoreError>;

    /// The facts of a discussion's rows after one, oldest first (N6).
    async fn written_after(
        &self,
        discussion: DiscussionId,
        after: CommentId,
        limit: u32,
    ) -> Result<Vec<RowFacts>, StoreError>;

    /// Which of some rows of any discussions hide what is below them. One call.
    async fn hiding_among(
        &self,
        places: &[(DiscussionId, CommentId)],
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError>;

    /// Removes up to `limit` rows of what is kept around a person: replies to them, marks, posting
    /// keys. Not their comments. Returns how many; 0: all are gone (N7).
    async fn forget_person(&self, user: UserId, limit: u32) -> Result<u64, StoreError>;

    /// Leaves nothing of what was deleted in the store's files (N8). Costs as much as copying
    /// them; writes wait meanwhile.
    async fn scrub(&self) -> Result<(), StoreError>;
}
