//! The writing side of the port: discussions, creates, edits, imports.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::moderation::{ChangeOutcome, Revision};
use crate::domain::body::BodyFormat;
use crate::domain::comment::{Comment, CommentState};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::store::StoreError;

/// A discussion to open.
#[derive(Clone, Debug)]
pub struct NewDiscussion {
    /// A minted id; unused when a key is taken.
    pub id: DiscussionId,
    /// Shown to people; may be empty.
    pub title: String,
    /// Canonical address, claimed as key `url:…`.
    pub url: Option<String>,
    /// Type and id, claimed as key `entity:…`.
    pub entity: Option<(String, String)>,
    /// New comments wait for a moderator.
    pub premoderated: bool,
    /// Depth limit of its first layout.
    pub depth_limit: u16,
    /// The moderator who opens it, for the audit log; `None` when its first comment does.
    pub opened_by: Option<UserId>,
}

/// What opening a discussion gave.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A new one.
    New(Arc<Discussion>),
    /// One of its keys was claimed before, by this one.
    Existing(Arc<Discussion>),
}

/// A posting key: makes a create safe to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The author's own text.
    pub key: String,
    /// Over everything the author sent; another hash under the same key is refused.
    pub body_hash: [u8; 32],
    /// When the key is free again, in ms since 1970.
    pub expires_at_ms: i64,
}

/// A comment to write.
#[derive(Clone, Debug)]
pub struct NewComment {
    /// A minted id, above the parent's.
    pub id: CommentId,
    /// Where.
    pub discussion_id: DiscussionId,
    /// Who.
    pub author_id: UserId,
    /// Checked source text.
    pub body: String,
    /// How it is written.
    pub format: BodyFormat,
    /// What it answers.
    pub parent_id: Option<CommentId>,
    /// [`CommentState::Published`] or [`CommentState::Pending`].
    pub state: CommentState,
    /// Whether to write its index row (flag `comments-index-write`).
    pub index: bool,
    /// The posting key, if one was sent.
    pub claim: Option<Claim>,
    /// Comments the discussion may hold.
    pub comments_max: i64,
}

/// What a create gave.
#[derive(Clone, Debug)]
pub enum CreateOutcome {
    /// Written.
    Created(Comment),
    /// The key's first comment, as it is now.
    Replayed(Comment),
    /// The key was used with another text.
    KeyReused,
    /// No such discussion.
    DiscussionMissing,
    /// The discussion is read only.
    DiscussionClosed,
    /// The discussion holds as many comments as it may.
    DiscussionFull,
    /// No such parent in this discussion.
    ParentMissing,
    /// The parent is buried, hidden or pending, or lies below a hidden comment.
    ParentGone,
    /// The parent lies on the deepest level.
    TooDeep,
}

/// A new text for a comment.
#[derive(Clone, Debug)]
pub struct EditComment {
    /// Where.
    pub discussion_id: DiscussionId,
    /// Which.
    pub comment_id: CommentId,
    /// Whose; anybody else's is [`ChangeOutcome::NotAuthor`].
    pub author_id: UserId,
    /// The revision the author saw.
    pub expected_revision: u32,
    /// Checked source text.
    pub body: String,
    /// How it is written.
    pub format: BodyFormat,
    /// Whether a published comment waits for a moderator again.
    pub waits: bool,
    /// A minted id for the log.
    pub event_id: EventId,
}

/// Where a row came from: the system and its id there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The system, for example `disqus`.
    pub source: String,
    /// Its id there.
    pub source_id: String,
}

/// What a discussion that was exported from this service keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDiscussion {
    /// Its id; another one is made when another discussion holds it (I7).
    pub id: DiscussionId,
    /// Whether new comments wait for a moderator.
    pub premoderated: bool,
    /// Where it had been imported from.
    pub origin: Option<Origin>,
}

/// What a comment that was exported from this service keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptComment {
    /// Its id; a row that has it already is taken for this one (I6).
    pub id: CommentId,
    /// Its revision.
    pub revision: u32,
    /// Its earlier texts.
    pub revisions: Vec<Revision>,
    /// Where it had been imported from.
    pub origin: Option<Origin>,
}

/// A discussion of another system.
#[derive(Clone, Debug)]
pub struct ImportDiscussion {
    /// The system, for example `disqus`.
    pub source: String,
    /// Its id there.
    pub source_id: String,
    /// When it began, in ms since 1970.
    pub created_ms: i64,
    /// Shown to people; may be empty.
    pub title: String,
    /// Canonical address; not claimed when another discussion has it.
    pub url: Option<String>,
    /// Type and id; not claimed when another discussion has it.
    pub entity: Option<(String, String)>,
    /// Whether it is read only.
    pub closed: bool,
    /// Depth limit of its first layout.
    pub depth_limit: u16,
    /// What it keeps, if it was exported from this service.
    pub kept: Option<KeptDiscussion>,
}

/// A comment of another system. Parents come before their replies.
#[derive(Clone, Debug)]
pub struct ImportComment {
    /// Its id there; the source is the batch's.
    pub source_id: String,
    /// When it was written, in ms since 1970, already clamped.
    pub created_ms: i64,
    /// The source id of what it answers: imported before, or earlier in this batch.
    pub parent_source_id: Option<String>,
    /// The id its parent keeps: who it answers if the source id is not known.
    pub parent_id: Option<CommentId>,
    /// Who wrote it; [`UserId::NOBODY`] for a buried one.
    pub author_id: UserId,
    /// Source text; empty for a buried one.
    pub body: String,
    /// How it is written.
    pub format: BodyFormat,
    /// When its text last changed.
    pub edited_at_ms: Option<i64>,
    /// Where it stands.
    pub state: CommentState,
    /// What it keeps, if it was exported from this service.
    pub kept: Option<Box<KeptComment>>,
}

/// What became of one imported comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// Written under this id.
    Imported(CommentId),
    /// An earlier run wrote it.
    AlreadyThere(CommentId),
    /// Written as a root: its parent is not in this discussion.
    ParentMissing(CommentId),
    /// Written one level higher: its parent lies on the deepest level.
    Flattened(CommentId),
    /// Not written: the discussion holds as many comments as it may.
    DiscussionFull,
}

/// Writes. Every method is one atomic change.
#[async_trait]
pub trait CommentWrites: Send + Sync + Debug {
    /// Opens a discussion, or finds the one that holds one of its keys (C10).
    async fn open_discussion(&self, new: NewDiscussion) -> Result<Opened, StoreError>;

    /// Writes a comment, its index row and its log entry as one (C1–C4, C11).
    async fn create(&self, new: NewComment) -> Result<CreateOutcome, StoreError>;

    /// Changes a text and keeps the old one as a revision (C5). The same edit repeated is one.
    async fn edit(&self, edit: EditComment) -> Result<ChangeOutcome, StoreError>;

    /// Opens discussions of another system in the order given, or finds them again; each at its
    /// place. `true`: it is new (I1–I3, I5–I7).
    async fn import_discussions(
        &self,
        batch: Vec<ImportDiscussion>,
    ) -> Result<Vec<(Arc<Discussion>, bool)>, StoreError>;

    /// As [`Self::import_discussions`], for one.
    async fn import_discussion(
        &self,
        new: ImportDiscussion,
    ) -> Result<(Arc<Discussion>, bool), StoreError> {
        let mut opened = self.import_discussions(vec![new]).await?;
        let missing = || StoreError::corrupt("discussions", "?", "discussion_id");
        opened.pop().ok_or_else(missing)
    }

    /// Writes comments of another system, in the order given (I1–I6). `marker` is a freshly minted
    /// id; `comments_max` as in [`NewComment`].
    async fn import_comments(
        &self,
        discussion: DiscussionId,
        source: &str,
        batch: Vec<ImportComment>,
        marker: i64,
        comments_max: i64,
    ) -> Result<Vec<ImportOutcome>, StoreError>;
}
