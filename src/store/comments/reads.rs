//! The reading side of the port.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::comment::Comment;
use crate::domain::counts::{CountedRow, Run, Tally};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::comments::Origin;

/// One ordered list inside a discussion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Every comment, from the main table.
    Linear,
    /// The roots, from the index.
    Roots,
    /// What the index holds under a branch's head.
    Branch(CommentId),
}

/// Rows of a slice, shared with the store's cache.
pub type Rows = Arc<[Comment]>;

/// What happened in a discussion. Stored as a small integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogKind {
    /// A comment was written.
    Created,
    /// A comment's text changed.
    Edited,
    /// A comment was hidden, restored, approved or buried.
    StateChanged,
    /// The discussion itself changed: it was closed or opened, or other comments are pinned.
    DiscussionChanged,
}

impl LogKind {
    /// The stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Created => 0,
            Self::Edited => 1,
            Self::StateChanged => 2,
            Self::DiscussionChanged => 3,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Created),
            1 => Some(Self::Edited),
            2 => Some(Self::StateChanged),
            3 => Some(Self::DiscussionChanged),
            _ => None,
        }
    }
}

/// One entry of a discussion's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place in the log; a create's is its comment's id.
    pub event_id: EventId,
    /// What happened.
    pub kind: LogKind,
    /// To which comment; `None` for [`LogKind::DiscussionChanged`].
    pub comment_id: Option<CommentId>,
}

/// Reads. Stored rows, nothing redacted: only the service may show them to somebody.
#[async_trait]
pub trait CommentReads: Send + Sync + Debug {
    /// The discussions that exist among `ids`, in no particular order.
    async fn discussions(&self, ids: &[DiscussionId]) -> Result<Vec<Arc<Discussion>>, StoreError>;

    /// The discussion that claimed a key (`url:…` or `entity:…`).
    async fn discussion_by_key(&self, key: &str) -> Result<Option<Arc<Discussion>>, StoreError>;

    /// A part of all discussions by id, which is the order they were opened in (C13).
    async fn discussion_ids(
        &self,
        slice: Slice<DiscussionId>,
    ) -> Result<Vec<DiscussionId>, StoreError>;

    /// The comments that exist among `ids`, in no particular order.
    async fn comments(&self, ids: &[(DiscussionId, CommentId)])
    -> Result<Vec<Comment>, StoreError>;

    /// The rows of several ranges, in the order asked; one store call, one statement a range (C7).
    async fn slices(
        &self,
        discussion: DiscussionId,
        layout: u32,
        wanted: &[(Lane, Slice)],
    ) -> Result<Vec<Rows>, StoreError>;

    /// What counts of the rows of several ranges, in the order asked and without their texts: the
    /// same rows as [`Self::slices`], for stretches where few of them are shown (C7).
    async fn facts(
        &self,
        discussion: DiscussionId,
        layout: u32,
        wanted: &[(Lane, Slice)],
    ) -> Result<Vec<Vec<CountedRow>>, StoreError>;

    /// Which of `ids` hide what is below them: hidden by a moderator, or pending.
    async fn hidden_among(
        &self,
        discussion: DiscussionId,
        ids: &[CommentId],
    ) -> Result<Vec<CommentId>, StoreError>;

    /// The runs of a list, oldest first (C9).
    async fn runs(
        &self,
        discussion: DiscussionId,
        layout: u32,
        lane: Lane,
    ) -> Result<Vec<Run>, StoreError>;

    /// The sums of the branches under `heads`; heads without a branch are left out.
    async fn branch_sums(
        &self,
        discussion: DiscussionId,
        layout: u32,
        heads: &[CommentId],
    ) -> Result<Vec<(CommentId, Tally)>, StoreError>;

    /// Where a person wrote, by date. Entries may outlive their row.
    async fn by_author(
        &self,
        author: UserId,
        slice: Slice,
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError>;

    /// Whether a person's posting key is in use: it has a comment and has not expired (C3).
    async fn is_claimed(&self, author: UserId, key: &str) -> Result<bool, StoreError>;

    /// The log of a discussion from an event on (inclusive), oldest first.
    async fn log(
        &self,
        discussion: DiscussionId,
        from: EventId,
        limit: u32,
    ) -> Result<Vec<LogEntry>, StoreError>;

    /// Where a discussion was imported from; `None` if it was not (I8).
    async fn origin_of_discussion(
        &self,
        discussion: DiscussionId,
    ) -> Result<Option<Origin>, StoreError>;

    /// Where those of `ids` that were imported came from, in no particular order (I8).
    async fn origins(
        &self,
        discussion: DiscussionId,
        ids: &[CommentId],
    ) -> Result<Vec<(CommentId, Origin)>, StoreError>;

    /// Makes later reads see at least `event`, whichever instance wrote it.
    async fn catch_up(&self, discussion: DiscussionId, event: EventId) -> Result<(), StoreError>;
}
