//! The first pass: streams an export into lists on disk.
//!
//! In memory stays only the list of discussions, about 60 bytes each: comments, however many, go to
//! the spool in `PARTITIONS` lists by discussion, so that a later pass can hold all comments of a
//! discussion without holding those of all discussions. The keys of all comments go to lists of
//! their own: whether a parent is anywhere in the file is a question for `orphans`.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::checks;
use super::input::ReadError;
use super::record::{
    ExportReader, SourceComment, SourceDiscussion, SourceItem, SourceState, SourceTime,
};
use super::report::{Oddity, Reason, Report, RowKind, What};
use super::resolve::{EARLIEST_MS, wide};
use super::rows::{
    CommentWords, DiscussionRow, DiscussionWords, Fate, Fates, Key, Loaded, NO_TIME, Row, Standing,
    key_of,
};
use super::spool::{Spool, SpoolWriter};
use crate::domain::comment::CommentState;
use crate::domain::ids::UserId;
use crate::domain::ids::generator::PARENT_AHEAD_MAX_MS;
use crate::domain::text::TextLimits;
use crate::export::{CommentField, DiscussionField, Kept};
use crate::store::comments::{KeptComment, KeptDiscussion};

/// Lists that comments are divided into by discussion, and their keys by key.
pub(super) const PARTITIONS: usize = 256;
/// The list of the discussions' words; the keys' lists follow it.
pub(super) const WORDS_LIST: usize = PARTITIONS;
/// Rows between two looks at whether to stop.
const ROWS_A_TURN: u64 = 64;

/// How far a file is believed.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// What a text may be at most.
    pub limits: TextLimits,
    /// Whether rows that this service exported come back as they were.
    pub restore: bool,
    /// The present, in ms: no id that comes back is later, but for what ids may run ahead.
    pub now_ms: i64,
}

/// An export that was read to its end.
#[derive(Debug)]
pub struct Scanned {
    /// In the order in which they were first named.
    pub discussions: Vec<DiscussionRow>,
    /// How many comments there are.
    pub comments: u64,
    /// The earliest time of all comments that can be one, in ms; `i64::MAX` when none has any.
    pub first_ms: i64,
    /// Whether rows that this service exported come back as they were.
    pub(super) restore: bool,
    pub(super) fates: Fates,
    pub(super) spool: Mutex<Spool>,
}

/// Why an export was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The export is broken.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// A row that comes back has an id that no clock has come to yet.
    #[error("line {line}: the row's id lies in the future: the clock of this machine is behind")]
    Clock {
        /// The row's line.
        line: u64,
    },
    /// The temporary file cannot be written.
    #[error("the temporary file: {0}")]
    Spool(#[from] io::Error),
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The partition of a discussion.
pub(super) fn partition(discussion: u32) -> usize {
    wide(discussion) % PARTITIONS
}

/// The list that holds a comment's key.
pub(super) fn key_list(key: Key) -> usize {
    WORDS_LIST + 1 + key_partition(key)
}

/// The partition of a key.
pub(super) fn key_partition(key: Key) -> usize {
    usize::try_from(key % 256).unwrap_or(0)
}

/// Reads everything `reader` has; it blocks. Rows that are nothing at all are reported right away.
pub fn scan(
    reader: &mut dyn ExportReader,
    options: ScanOptions,
    stop: &CancellationToken,
    report: &mut Report,
) -> Result<Scanned, ScanError> {
    let mut scanner = Scanner {
        options,
        by_key: HashMap::new(),
        discussions: Vec::new(),
        comments: 0,
        fates: Fates::default(),
        spool: SpoolWriter::new(2 * PARTITIONS + 1)?,
    };
    let mut rows = 0_u64;
    while let Some(item) = reader.next_item()? {
        let kept = if options.restore {
            reader.kept()?
        } else {
            None
        };
        scanner.check_clock(&item, kept.as_ref())?;
        scanner.take(item, kept, report)?;
        for note in reader.take_notes() {
            report.odd(note);
        }
        rows += 1;
        if rows.is_multiple_of(ROWS_A_TURN) && stop.is_cancelled() {
            return Err(ScanError::Interrupted);
        }
    }
    scanner.settle_undeclared(reader.opens_undeclared(), report);
    let firsts = scanner.discussions.iter().map(|row| row.first_ms);
    Ok(Scanned {
        first_ms: firsts.min().unwrap_or(i64::MAX),
        discussions: scanner.discussions,
        comments: scanner.comments,
        restore: options.restore,
        fates: scanner.fates,
        spool: Mutex::new(scanner.spool.finish()?),
    })
}

struct Scanner {
    options: ScanOptions,
    by_key: HashMap<Key, u32>,
    discussions: Vec<DiscussionRow>,
    comments: u64,
    fates: Fates,
    spool: SpoolWriter,
}

impl Scanner {
    /// New comments must get later ids than all that are there: an id that lies ahead of the clock
    /// stops the file before anything is written.
    fn check_clock(&self, item: &SourceItem, kept: Option<&Kept>) -> Result<(), ScanError> {
        let id_ms = match kept {
            None => return Ok(()),
            Some(Kept::Discussion(kept)) => kept.id.time_ms(),
            Some(Kept::Comment(kept, _)) => kept.id.time_ms(),
        };
        if id_ms <= self.options.now_ms + PARENT_AHEAD_MAX_MS {
            return Ok(());
        }
        let line = match item {
            SourceItem::Discussion(source) => source.line,
            SourceItem::Comment(source) => source.line,
            SourceItem::Rejected(row) => row.line,
        };
        Err(ScanError::Clock { line })
    }

    fn take(
        &mut self,
        item: SourceItem,
        kept: Option<Kept>,
        report: &mut Report,
    ) -> io::Result<()> {
        match (item, kept) {
            (SourceItem::Discussion(discussion), Some(Kept::Discussion(kept))) => {
                self.discussion(discussion, Some(&kept), report)
            }
            (SourceItem::Discussion(discussion), _) => self.discussion(discussion, None, report),
            (SourceItem::Comment(comment), Some(Kept::Comment(kept, author))) => {
                self.comment(*comment, Some((kept, author)), report)
            }
            (SourceItem::Comment(comment), _) => self.comment(*comment, None, report),
            (SourceItem::Rejected(row), _) => {
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

    fn discussion(
        &mut self,
        source: SourceDiscussion,
        kept: Option<&KeptDiscussion>,
        report: &mut Report,
    ) -> io::Result<()> {
        report.discussions.read += 1;
        let key = key_of(&source.source_id);
        let row = DiscussionRow {
            created_ms: kept.map_or_else(
                || source.created.clone().unwrap_or(NO_TIME),
                |kept| kept.id.time_ms(),
            ),
            first_ms: i64::MAX,
            standing: if source.deleted {
                Standing::Deleted
            } else {
                Standing::Wanted
            },
            words: self.spool.put_json(
                WORDS_LIST,
                &DiscussionWords {
                    source_id: source.source_id.clone(),
                    title: source.title,
                    url: source.url,
                    entity: source.entity,
                    closed: source.closed,
                    line: source.line,
                    kept: kept.map(DiscussionField::of),
                },
            )?,
        };
        let place = place(self.discussions.len())?;
        let place = *self.by_key.entry(key).or_insert(place);
        match self.discussions.get_mut(wide(place)) {
            None => self.discussions.push(row),
            Some(known) => {
                let first_ms = known.first_ms;
                let was = known.standing;
                *known = DiscussionRow { first_ms, ..row };
                if was != Standing::Undeclared {
                    report.odd(Oddity {
                        kind: RowKind::Discussion,
                        source_id: source.source_id,
                        line: source.line,
                        what: What::LeftOut(Reason::Duplicate),
                        detail: "this later one was taken, an earlier one left out".to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    fn comment(
        &mut self,
        source: SourceComment,
        kept: Option<(KeptComment, UserId)>,
        report: &mut Report,
    ) -> io::Result<()> {
        report.comments.read += 1;
        let discussion = self.named_discussion(&source)?;
        let is_kept = kept.is_some();
        let (fate, state, detail) = if is_kept {
            fate_of_kept(source.state)
        } else {
            self.fate(&source)
        };
        let (author_name, name_dropped) = if is_kept {
            (source.author.name, false)
        } else {
            checks::display_name(&source.author.name)
        };
        let id_ms = kept.as_ref().map(|(kept, _)| kept.id.time_ms());
        let created_ms = match id_ms {
            // Ids run a little ahead of the clock.
            Some(ms) => ms.min(self.options.now_ms),
            None => source.created.unwrap_or(NO_TIME),
        };
        let edited_ms = source.edited.and_then(SourceTime::ok);
        let has_text = fate == Fate::Whole && state != CommentState::Buried;
        let row = Row {
            key: key_of(&source.source_id),
            parent: source.parent_source_id.as_deref().map_or(0, key_of),
            created_ms,
            version_ms: edited_ms.unwrap_or(created_ms).max(created_ms),
            words: 0,
            discussion,
            fate,
            name_dropped,
        };
        let author = u64::try_from(key_of(&source.author.key) >> 64).unwrap_or(0);
        let words = CommentWords {
            source_id: source.source_id,
            parent: source.parent_source_id,
            author_key: source.author.key,
            author_name,
            edited_ms,
            body: if has_text { source.body } else { String::new() },
            format: source.format.code(),
            state: state.code(),
            detail,
            line: source.line,
            kept: kept.map(|(kept, author)| CommentField::of(&kept, author)),
        };
        self.put(row, author, &words)
    }

    fn put(&mut self, row: Row, author: u64, words: &CommentWords) -> io::Result<()> {
        let partition = partition(row.discussion);
        let loaded = Loaded {
            number: self.comments,
            author,
            row,
        };
        self.spool.put(partition, &self.fates.encode(&loaded)?)?;
        self.spool.put_json(partition, words)?;
        self.spool.put(key_list(row.key), &row.key.to_le_bytes())?;
        self.comments += 1;
        if let Some(discussion) = self.discussions.get_mut(wide(row.discussion))
            && row.created_ms >= EARLIEST_MS
        {
            discussion.first_ms = discussion.first_ms.min(row.created_ms);
        }
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
            first_ms: i64::MAX,
            standing: Standing::Undeclared,
            words: self.spool.put_json(
                WORDS_LIST,
                &DiscussionWords {
                    source_id: source.discussion_source_id.clone(),
                    title: String::new(),
                    url: None,
                    entity: None,
                    closed: false,
                    line: 0,
                    kept: None,
                },
            )?,
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
        match checks::check_text(&source.body, source.format, &self.options.limits) {
            Ok(()) => (Fate::Whole, state, String::new()),
            Err((reason, detail)) => (Fate::Dead(reason), CommentState::Buried, detail),
        }
    }
}

/// What comes back is believed: a deleted comment is a row like any other, with or without replies.
fn fate_of_kept(state: SourceState) -> (Fate, CommentState, String) {
    let state = match state {
        SourceState::Published => CommentState::Published,
        SourceState::Pending => CommentState::Pending,
        SourceState::Hidden => CommentState::Hidden,
        SourceState::Deleted | SourceState::Spam => CommentState::Buried,
    };
    (Fate::Whole, state, String::new())
}

fn place(count: usize) -> io::Result<u32> {
    // The last number stands for "none".
    u32::try_from(count)
        .ok()
        .filter(|place| *place < u32::MAX)
        .ok_or_else(|| io::Error::other("the export has more discussions than 4 billion"))
}
