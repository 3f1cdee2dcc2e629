//! The moderating side of the port.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::body::BodyFormat;
use crate::domain::comment::{Comment, StateAct};
use crate::domain::discussion::DiscussionState;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::store::StoreError;

/// A change of a comment's state.
#[derive(Clone, Copy, Debug)]
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

    /// Opens or closes a discussion. `false`: there is no such discussion.
    async fn set_discussion_state(
        &self,
        discussion: DiscussionId,
        state: DiscussionState,
    ) -> Result<bool, StoreError>;

    /// Earlier texts, oldest first. Empty once buried (C6).
    async fn revisions(
        &self,
        discussion: DiscussionId,
        comment: CommentId,
    ) -> Result<Vec<Revision>, StoreError>;

    /// Counts a discussion from its rows and compares, without a change.
    async fn check_counts(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError>;

    /// As [`Self::check_counts`], and then mends what was wrong, while people go on writing.
    async fn recount(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError>;
}
