//! What is kept of a row between reading and writing: its links and times beside its words.
//!
//! A comment is two records of a list: a [`Row`] of fixed size, which is all that [`super::resolve`]
//! looks at, and its words. Ids are kept as 128 bits of SHA-256, so that their length does not
//! matter and nobody can make two collide.

use std::io;

use bytes::{Buf as _, BufMut as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::report::Reason;
use super::spool::Address;
use crate::export::{CommentField, DiscussionField};

/// No usable time.
pub const NO_TIME: i64 = i64::MIN;

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

/// A comment while it is decided what becomes of it.
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
    pub words: Address,
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

/// A discussion in the list.
#[derive(Clone, Copy, Debug)]
pub struct DiscussionRow {
    /// Source time in ms, or [`NO_TIME`].
    pub created_ms: i64,
    /// The earliest time of its comments that can be one, in ms; `i64::MAX` when none has any.
    pub first_ms: i64,
    /// Where its words lie in the spool.
    pub words: Address,
    /// Whether it is written.
    pub standing: Standing,
}

/// A discussion's words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DiscussionWords {
    pub(super) source_id: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) entity: Option<(String, String)>,
    pub(super) closed: bool,
    pub(super) line: u64,
    /// What it keeps, when it is restored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) kept: Option<DiscussionField>,
}

/// A comment's words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CommentWords {
    pub(super) source_id: String,
    pub(super) parent: Option<String>,
    pub(super) author_key: String,
    pub(super) author_name: String,
    pub(super) edited_ms: Option<i64>,
    pub(super) body: String,
    /// The stored number of the format.
    pub(super) format: i64,
    /// The stored number of the state it gets if it is written whole.
    pub(super) state: i64,
    /// Why its text cannot be taken over.
    pub(super) detail: String,
    pub(super) line: u64,
    /// What it keeps, when it is restored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) kept: Option<CommentField>,
}

/// A row on its way through the spool, with what only the loading looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    /// Its place among all rows of the file.
    pub(super) number: u64,
    /// Tells its author from others.
    pub(super) author: u64,
    pub(super) row: Row,
}

/// Fates as single bytes: their places in a list that grows with what a file holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates(Vec<Fate>);

impl Fates {
    /// The record of a row. Where its words lie follows from where the record lies.
    pub(super) fn encode(&mut self, loaded: &Loaded) -> io::Result<Vec<u8>> {
        let row = &loaded.row;
        let known = self.0.iter().position(|fate| *fate == row.fate);
        let fate = known.unwrap_or_else(|| {
            self.0.push(row.fate);
            self.0.len() - 1
        });
        let mut record = Vec::with_capacity(70);
        record.put_u128_le(row.key);
        record.put_u128_le(row.parent);
        record.put_i64_le(row.created_ms);
        record.put_i64_le(row.version_ms);
        record.put_u32_le(row.discussion);
        record.put_u8(u8::try_from(fate).map_err(io::Error::other)?);
        record.put_u8(u8::from(row.name_dropped));
        record.put_u64_le(loaded.number);
        record.put_u64_le(loaded.author);
        Ok(record)
    }

    /// Reads a record back.
    pub(super) fn decode(&self, record: &[u8], words: Address) -> io::Result<Loaded> {
        let mut record = record;
        self.read(&mut record, words)
            .ok_or_else(|| io::Error::other("a row does not read as it was written"))
    }

    fn read(&self, record: &mut &[u8], words: Address) -> Option<Loaded> {
        let row = Row {
            key: record.try_get_u128_le().ok()?,
            parent: record.try_get_u128_le().ok()?,
            created_ms: record.try_get_i64_le().ok()?,
            version_ms: record.try_get_i64_le().ok()?,
            discussion: record.try_get_u32_le().ok()?,
            fate: *self.0.get(usize::from(record.try_get_u8().ok()?))?,
            name_dropped: record.try_get_u8().ok()? != 0,
            words,
        };
        Some(Loaded {
            number: record.try_get_u64_le().ok()?,
            author: record.try_get_u64_le().ok()?,
            row,
        })
    }
}

/// The key of an id.
pub(super) fn key_of(id: &str) -> Key {
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
    fn a_row_costs_64_bytes() {
        assert_eq!(size_of::<Row>(), 64);
    }

    #[test]
    fn keys_tell_ids_apart_and_are_never_the_sign_for_none() {
        assert_ne!(key_of("1"), key_of("2"));
        assert_ne!(key_of(""), 0);
    }

    #[test]
    fn a_row_reads_as_it_was_written_and_a_cut_one_is_an_error() {
        let mut fates = Fates::default();
        for fate in [
            Fate::Whole,
            Fate::Dead(Reason::Deleted),
            Fate::Out(Reason::Spam),
        ] {
            let loaded = Loaded {
                number: 7,
                author: u64::MAX,
                row: Row {
                    key: Key::MAX,
                    parent: 3,
                    created_ms: NO_TIME,
                    version_ms: -1,
                    words: 9,
                    discussion: 5,
                    fate,
                    name_dropped: true,
                },
            };
            let record = fates.encode(&loaded).unwrap();
            let read = fates.decode(&record, 9).unwrap();
            assert_eq!(format!("{read:?}"), format!("{loaded:?}"));
            assert!(fates.decode(&record[1..], 9).is_err());
        }
    }
}
