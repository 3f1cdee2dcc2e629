//! The first pass: streams an export into a spool on disk and a compact index in memory.
//!
//! A comment costs 64 bytes here and about 50 more while [`super::resolve`] works, whatever its
//! text; ids are kept as 128 bits of SHA-256, so that their length does not matter and nobody can
//! make two collide.

use std::collections::HashMap;
use std::io;

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::checks;
use super::input::ReadError;
use super::record::{
    ExportReader, SourceComment, SourceDiscussion, SourceItem, SourceState, SourceTime,
};
use super::report::{Oddity, Reason, Report, RowKind, What};
use super::spool::{Spool, SpoolWriter, SpooledComment, SpooledDiscussion};
use crate::domain::comment::CommentState;
use crate::domain::text::TextLimits;

/// No usable time.
pub const NO_TIME: i64 = i64::MIN;
/// Rows between two looks at whether to stop.
const ROWS_A_TURN: u32 = 64;

/// 128 bits of SHA-256 of an id; 0 is none.
pub type Key = u128;

/// What a comment's own row says about whether it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Written whole.
    Whole,
    /// A tombstone when something kept hangs below, else left out for this reason.
    Dead(Reason),
    /// Never written, for this reason; what hangs below becomes roots.
    Out(Reason),
}

/// A comment in the index.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Of its own id.
    pub key: Key,
    /// Of its parent's id; 0 for a root.
    pub parent: Key,
    /// Source time in ms, or [`NO_TIME`].
    pub created_ms: i64,
    /// When this version was made, in ms: the newest of the same id wins.
    pub version_ms: i64,
    /// Where its words lie in the spool.
    pub offset: u64,
    /// Its discussion's place in the list.
    pub discussion: u32,
    /// Whether it is written.
    pub fate: Fate,
    /// Whether its author's name could not be taken over.
    pub name_dropped: bool,
}

/// How a discussion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is written.
    Wanted,
    /// The source had deleted it.
    Deleted,
    /// It is named by comments, but the file does not declare it.
    Undeclared,
}

/// A discussion in the index.
#[derive(Clone, Copy, Debug)]
pub struct DiscussionRow {
    /// Source time in ms, or [`NO_TIME`].
    pub created_ms: i64,
    /// Where its words lie in the spool.
    pub offset: u64,
    /// Whether it is written.
    pub standing: Standing,
}

/// An export that was read to its end.
#[derive(Debug)]
pub struct Scanned {
    /// In the order in which they were first named.
    pub discussions: Vec<DiscussionRow>,
    /// In the order of the file.
    pub comments: Vec<Row>,
    pub(super) spool: Spool,
}

/// Why an export was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The export is broken.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// The temporary file cannot be written.
    #[error("the temporary file: {0}")]
    Spool(#[from] io::Error),
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Reads everything `reader` has. Rows that are nothing at all are reported right away.
pub async fn scan(
    reader: &mut dyn ExportReader,
    limits: &TextLimits,
    stop: &CancellationToken,
    report: &mut Report,
) -> Result<Scanned, ScanError> {
    let mut scanner = Scanner {
        limits: *limits,
        by_key: HashMap::new(),
        discussions: Vec::new(),
        comments: Vec::new(),
        spool: SpoolWriter::new()?,
    };
    let mut rows = 0_u32;
    while let Some(item) = reader.next_item()? {
        scanner.take(item, report)?;
        for note in reader.take_notes() {
            report.odd(note);
        }
        rows = rows.wrapping_add(1);
        if rows.is_multiple_of(ROWS_A_TURN) {
            // Reading does not wait for anything, so other tasks get their turn only here.
            tokio::task::yield_now().await;
            if stop.is_cancelled() {
                return Err(ScanError::Interrupted);
            }
        }
    }
    scanner.settle_undeclared(reader.opens_undeclared(), report);
    Ok(Scanned {
        discussions: scanner.discussions,
        comments: scanner.comments,
        spool: scanner.spool.finish()?,
    })
}

struct Scanner {
    limits: TextLimits,
    by_key: HashMap<Key, u32>,
    discussions: Vec<DiscussionRow>,
    comments: Vec<Row>,
    spool: SpoolWriter,
}

impl Scanner {
    fn take(&mut self, item: SourceItem, report: &mut Report) -> io::Result<()> {
        match item {
            SourceItem::Discussion(discussion) => self.discussion(discussion, report),
            SourceItem::Comment(comment) => self.comment(*comment, report),
            SourceItem::Rejected(row) => {
                report.tally(row.kind).read += 1;
                report.odd(Oddity {
                    kind: row.kind,
                    source_id: row.source_id,
                    line: row.line,
                    what: What::LeftOut(row.reason),
                    detail: row.detail,
                });
                Ok(())
            }
        }
    }

    fn discussion(&mut self, source: SourceDiscussion, report: &mut Report) -> io::Result<()> {
        report.discussions.read += 1;
        let key = key_of(&source.source_id);
        let row = DiscussionRow {
            created_ms: source.created.clone().unwrap_or(NO_TIME),
            standing: if source.deleted {
                Standing::Deleted
            } else {
                Standing::Wanted
            },
            offset: self.spool.put(&SpooledDiscussion {
                source_id: source.source_id.clone(),
                title: source.title,
                url: source.url,
                entity: source.entity,
                closed: source.closed,
                line: source.line,
            })?,
        };
        let place = place(self.discussions.len())?;
        let place = *self.by_key.entry(key).or_insert(place);
        let known = usize::try_from(place)
            .ok()
            .and_then(|place| self.discussions.get_mut(place));
        match known {
            None => self.discussions.push(row),
            Some(known) if known.standing == Standing::Undeclared => *known = row,
            Some(known) => {
                *known = row;
                report.odd(Oddity {
                    kind: RowKind::Discussion,
                    source_id: source.source_id,
                    line: source.line,
                    what: What::LeftOut(Reason::Duplicate),
                    detail: "this later one was taken, an earlier one left out".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn comment(&mut self, source: SourceComment, report: &mut Report) -> io::Result<()> {
        report.comments.read += 1;
        let discussion = self.named_discussion(&source)?;
        let (fate, state, detail) = self.fate(&source);
        let (author_name, name_dropped) = checks::display_name(&source.author.name);
        let created_ms = source.created.unwrap_or(NO_TIME);
        let edited_ms = source.edited.and_then(SourceTime::ok);
        let is_whole = fate == Fate::Whole;
        let row = Row {
            key: key_of(&source.source_id),
            parent: source.parent_source_id.as_deref().map_or(0, key_of),
            created_ms,
            version_ms: edited_ms.unwrap_or(created_ms).max(created_ms),
            discussion,
            fate,
            name_dropped,
            offset: self.spool.put(&SpooledComment {
                source_id: source.source_id,
                parent: source.parent_source_id,
                author_key: source.author.key,
                author_name,
                edited_ms,
                body: if is_whole { source.body } else { String::new() },
                format: source.format.code(),
                state: state.code(),
                detail,
                line: source.line,
            })?,
        };
        // Its place in the list is its name from here on.
        place(self.comments.len())?;
        self.comments.push(row);
        Ok(())
    }

    fn named_discussion(&mut self, source: &SourceComment) -> io::Result<u32> {
        let key = key_of(&source.discussion_source_id);
        if let Some(place) = self.by_key.get(&key) {
            return Ok(*place);
        }
        let place = place(self.discussions.len())?;
        self.by_key.insert(key, place);
        self.discussions.push(DiscussionRow {
            created_ms: NO_TIME,
            standing: Standing::Undeclared,
            offset: self.spool.put(&SpooledDiscussion {
                source_id: source.discussion_source_id.clone(),
                title: String::new(),
                url: None,
                entity: None,
                closed: false,
                line: 0,
            })?,
        });
        Ok(place)
    }

    /// What is still undeclared at the end opens under its id, if the format has it so.
    fn settle_undeclared(&mut self, opens: bool, report: &mut Report) {
        let undeclared = self
            .discussions
            .iter_mut()
            .filter(|row| opens && row.standing == Standing::Undeclared);
        for row in undeclared {
            row.standing = Standing::Wanted;
            report.discussions.read += 1;
        }
    }

    fn fate(&self, source: &SourceComment) -> (Fate, CommentState, String) {
        let state = match source.state {
            SourceState::Published => CommentState::Published,
            SourceState::Pending => CommentState::Pending,
            SourceState::Hidden => CommentState::Hidden,
            SourceState::Deleted => {
                return (
                    Fate::Dead(Reason::Deleted),
                    CommentState::Buried,
                    String::new(),
                );
            }
            SourceState::Spam => {
                return (Fate::Out(Reason::Spam), CommentState::Buried, String::new());
            }
        };
        match checks::check_text(&source.body, source.format, &self.limits) {
            Ok(()) => (Fate::Whole, state, String::new()),
            Err((reason, detail)) => (Fate::Dead(reason), CommentState::Buried, detail),
        }
    }
}

fn place(count: usize) -> io::Result<u32> {
    // The last number stands for "none".
    u32::try_from(count)
        .ok()
        .filter(|place| *place < u32::MAX)
        .ok_or_else(|| io::Error::other("the export has more rows than 4 billion"))
}

fn key_of(id: &str) -> Key {
    let hash = Sha256::digest(id.as_bytes());
    let key = hash
        .iter()
        .take(16)
        .fold(0, |key, byte| key << 8 | Key::from(*byte));
    key.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_costs_what_the_header_says() {
        assert_eq!(size_of::<Row>(), 64);
    }

    #[test]
    fn keys_tell_ids_apart_and_are_never_the_sign_for_none() {
        assert_ne!(key_of("1"), key_of("2"));
        assert_ne!(key_of(""), 0);
    }
}
