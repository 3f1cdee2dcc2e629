//! The question whether a text is spam, and its answers.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::body::BodyFormat;
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::moderation::Verdict;

/// A text that somebody is about to write.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// Who writes.
    pub author_id: UserId,
    /// What they are called; may be empty.
    pub author_name: String,
    /// Where; `None` when this comment would open its discussion.
    pub discussion: Option<DiscussionId>,
    /// The canonical address of what is discussed.
    pub url: Option<String>,
    /// Type and id of what is discussed.
    pub entity: Option<(String, String)>,
    /// What it answers.
    pub parent: Option<(DiscussionId, CommentId)>,
    /// The source text.
    pub text: String,
    /// How it is written.
    pub format: BodyFormat,
    /// Whether a comment that is there gets this text.
    pub is_edit: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpamHookError {
    /// None came in time, or too many questions were waiting.
    #[error("no answer in time")]
    Timeout,
    /// It could not be asked.
    #[error("it could not be reached")]
    Unreachable,
    /// It answered with another status than 200.
    #[error("it answered with status {0}")]
    Status(u16),
    /// Its answer is longer than any right one.
    #[error("its answer is over {0} bytes")]
    TooLong(usize),
    /// Its answer holds no verdict.
    #[error("its answer holds no verdict")]
    Garbage,
}

/// Somebody who can tell spam.
#[async_trait]
pub trait SpamHook: Send + Sync + Debug {
    /// Judges a text.
    async fn judge(&self, suspect: &Suspect) -> Result<Verdict, SpamHookError>;
}
