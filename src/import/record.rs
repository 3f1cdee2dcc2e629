//! What every reader makes of an export: discussions and comments in one shape.
//!
//! A reader decides what the words of its format mean and nothing else: whether a text is too long,
//! which version of a row wins or where an orphan goes is the same for all and decided later.

use std::fmt::Debug;

use super::input::ReadError;
use super::report::{Oddity, Reason, RowKind};
use crate::domain::body::BodyFormat;
use crate::export::Kept;

/// A moment as the source gave it: ms since 1970, or the text that could not be read as one.
pub type SourceTime = Result<i64, String>;

/// A discussion as the source describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiscussion {
    /// Its id there; not empty.
    pub source_id: String,
    /// May be empty.
    pub title: String,
    /// As written in the export; not yet canonical.
    pub url: Option<String>,
    /// Type and id of what is discussed.
    pub entity: Option<(String, String)>,
    /// When it began.
    pub created: SourceTime,
    /// Whether it is read only.
    pub closed: bool,
    /// Whether the source had deleted it.
    pub deleted: bool,
    /// Where it stands in the export, counted from 1.
    pub line: u64,
}

/// Who wrote a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAuthor {
    /// The same for all comments of one author; never shown.
    pub key: String,
    /// As the source showed it, unchecked; may be empty.
    pub name: String,
}

/// Where a comment stood in its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// Everybody could read it.
    Published,
    /// It waited for a moderator.
    Pending,
    /// A moderator had taken it away.
    Hidden,
    /// Its author or a moderator had deleted it.
    Deleted,
    /// It was held to be spam.
    Spam,
}

/// A comment as the source describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceComment {
    /// Its id there; not empty.
    pub source_id: String,
    /// The id of its discussion there; not empty.
    pub discussion_source_id: String,
    /// The id of what it answers, if anything.
    pub parent_source_id: Option<String>,
    /// Who wrote it.
    pub author: SourceAuthor,
    /// When it was written.
    pub created: SourceTime,
    /// When its text last changed, if the source knows.
    pub edited: Option<SourceTime>,
    /// The source text, unchecked.
    pub body: String,
    /// How the text is written.
    pub format: BodyFormat,
    /// Where it stood.
    pub state: SourceState,
    /// Where it stands in the export, counted from 1.
    pub line: u64,
}

/// A row that cannot be a discussion or comment at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// What it was meant to be.
    pub kind: RowKind,
    /// Its id, if it has one.
    pub source_id: String,
    /// Where it stands in the export, counted from 1.
    pub line: u64,
    /// Why it is refused.
    pub reason: Reason,
    /// More about it, for people.
    pub detail: String,
}

/// One row of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceItem {
    /// A discussion.
    Discussion(SourceDiscussion),
    /// A comment.
    Comment(Box<SourceComment>),
    /// Neither.
    Rejected(RejectedRow),
}

/// Streams one format. Rows come in the order of the file; memory does not grow with it.
pub trait ExportReader: Debug + Send {
    /// The next row; `None` at the end. After an error nothing more is asked.
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError>;

    /// Whether a comment may name a discussion that the file does not declare, which then opens
    /// under that id. Otherwise such a comment is rejected.
    fn opens_undeclared(&self) -> bool;

    /// What the reader had to decide about rows it gave since it was last asked, such as what a
    /// local time means. Each is told once.
    fn take_notes(&mut self) -> Vec<Oddity> {
        Vec::new()
    }

    /// What the last row keeps, if this service exported it; asked only when restoring.
    fn kept(&mut self) -> Result<Option<Kept>, ReadError> {
        Ok(None)
    }
}

/// The longest source id, in bytes; longer ones are rejected.
pub const SOURCE_ID_BYTES_MAX: usize = 512;

/// Checks an id of the source: not empty, not longer than [`SOURCE_ID_BYTES_MAX`].
pub fn check_id(id: &str) -> Result<(), (Reason, String)> {
    if id.is_empty() {
        return Err((Reason::NoId, "the row has no id".to_owned()));
    }
    if id.len() > SOURCE_ID_BYTES_MAX {
        let detail = format!(
            "the id has {} bytes (limit {SOURCE_ID_BYTES_MAX})",
            id.len()
        );
        return Err((Reason::BadId, detail));
    }
    Ok(())
}
