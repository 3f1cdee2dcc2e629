//! The moderating side of the port.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::body::BodyFormat;
use crate::domain::comment::{Comment, StateAct};
use crate::domain::discussion::{Discussion, DiscussionState};
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::store::StoreError;

/// A change of a comment's state.
#[derive(Clone, Debug)]
pub struct StateChange {
    /// Where.
    pub discussion_id: DiscussionId,
    /// Which.
    pub comment_id: CommentId,
    /// What to do.
    pub act: StateAct,
    /// Only if this person wrote it; `None` for moderators.
    pub only_author: Option<UserId>,
    /// The revision the actor saw, if they named one.
    pub expected_revision: Option<u32>,
    /// Who acts. Everything but burying one's own comment is an entry of the audit log (A1).
    pub by: UserId,
    /// Why, for the audit log; may be empty.
    pub reason: String,
    /// A minted id for the log.
    pub event_id: EventId,
}

/// What a change gave. Rows are as they are now.
#[derive(Clone, Debug)]
pub enum ChangeOutcome {
    /// Done.
    Changed(Comment),
    /// It already was so; nothing was written.
    NoChange(Comment),
    /// Somebody changed it since the revision named; nothing was written.
    Stale(Comment),
    /// It is buried, and that is final; nothing was written.
    Gone(Comment),
    /// Somebody else wrote it; nothing was written.
    NotAuthor,
    /// No such comment.
    NotFound,
}

/// What a moderator does to a discussion. Each says how it is to be, not how it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscussionAct {
    /// Opens or closes it.
    SetState(DiscussionState),
    /// Makes new comments wait for a moderator, or not.
    SetPremoderated(bool),
    /// Pins these comments in this order, and no others.
    Pin(Vec<CommentId>),
}

/// A change of a discussion.
#[derive(Clone, Debug)]
pub struct DiscussionChange {
    /// Which.
    pub discussion_id: DiscussionId,
    /// How it is to be.
    pub act: DiscussionAct,
    /// Who acts.
    pub by: UserId,
    /// A minted id for the log.
    pub event_id: EventId,
}

/// What a change of a discussion gave.
#[derive(Clone, Debug)]
pub enum DiscussionOutcome {
    /// Done; the discussion as it is now.
    Changed(Arc<Discussion>),
    /// It already was so; nothing was written.
    NoChange(Arc<Discussion>),
    /// One to pin is missing, or not everybody can read it; nothing was written.
    NotReadable(CommentId),
    /// No such discussion.
    NotFound,
}

/// An earlier text of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The revision it was.
    pub revision: u32,
    /// Its source text.
    pub body: String,
    /// How it was written.
    pub format: BodyFormat,
}

/// A stored count that its rows contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongCount {
    /// The sums of the discussion.
    Sums,
    /// A list: its layout (0 for the linear list and the roots) and branch (-1 linear, 0 roots).
    List {
        /// Of which layout.
        layout: u32,
        /// Which branch.
        branch: i64,
    },
    /// Whether a buried comment is shown as a tombstone.
    Tombstone {
        /// Which comment.
        comment: CommentId,
        /// What is right.
        live_below: bool,
    },
}

/// What counting a discussion anew found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountCheck {
    /// Rows counted; 0 also when there is no such discussion.
    pub rows: u64,
    /// What was wrong.
    pub wrong: Vec<WrongCount>,
}

impl CountCheck {
    /// Whether everything stored was right.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// Moderation and repair.
#[async_trait]
pub trait CommentModeration: Send + Sync + Debug {
    /// Hides, restores, approves or buries a comment and adjusts every count (C5, C6, C8).
    async fn change_state(&self, change: StateChange) -> Result<ChangeOutcome, StoreError>;

    /// Opens, closes, premoderates or pins, and writes a log entry of kind
    /// [`LogKind::DiscussionChanged`](super::LogKind::DiscussionChanged) (C12, A1, P1).
    async fn change_discussion(
        &self,
        change: DiscussionChange,
    ) -> Result<DiscussionOutcome, StoreError>;

    /// Earlier texts, oldest first. Empty once buried (C6).
    async fn revisions(
        &self,
        discussion: DiscussionId,
        comment: CommentId,
    ) -> Result<Vec<Revision>, StoreError>;

    /// The latest `limit` earlier texts of each of some comments, oldest first, by comment.
    async fn latest_revisions(
        &self,
        comments: &[(DiscussionId, CommentId)],
        limit: u32,
    ) -> Result<Vec<((DiscussionId, CommentId), Revision)>, StoreError>;

    /// Counts a discussion from its rows and compares, without a change.
    async fn check_counts(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError>;

    /// As [`Self::check_counts`], and then mends what was wrong, while people go on writing.
    async fn recount(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError>;
}
