//! Comments whose parent is not in their discussion: is it in another one of the file?
//!
//! Discussions are decided about without knowing each other, so the question is put at the end, as
//! a join on disk: orphans lie in lists by their parent's key, as all comments do by their own, and
//! list by list the keys that orphans look for are met with those that are there. In memory are the
//! orphans of one list. The answer changes what the report says and nothing that was written.

use std::collections::HashMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::report::{Note, Oddity, Report, RowKind, What};
use super::rows::Key;
use super::scan::{PARTITIONS, Scanned, key_list, key_partition};
use super::spool::SpoolWriter;

/// Orphans met so far.
#[derive(Debug)]
pub(super) struct Orphans {
    spool: SpoolWriter,
}

/// A comment whose parent is not in its discussion.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orphan {
    /// Of its parent's id.
    pub(super) parent: Key,
    /// Whether the report counts it as [`Note::OrphanMissingParent`]; one that an earlier run wrote
    /// is not counted unless its parent turns out to be foreign.
    pub(super) counted: bool,
    /// Its place among the oddities.
    pub(super) oddity: Option<usize>,
    /// What to call it, if it has no such place yet.
    pub(super) name: Option<(String, u64, String)>,
}

impl Orphans {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            spool: SpoolWriter::new(PARTITIONS)?,
        })
    }

    pub(super) fn add(&mut self, orphan: &Orphan) -> io::Result<()> {
        let list = key_partition(orphan.parent);
        self.spool.put_json(list, orphan).map(drop)
    }

    /// Finds those whose parent is elsewhere in the file, says so in the report and forgets them. It
    /// blocks.
    pub(super) fn settle(&mut self, scanned: &Scanned, report: &mut Report) -> io::Result<()> {
        let all = std::mem::replace(&mut self.spool, SpoolWriter::new(PARTITIONS)?);
        let mut orphans = all.finish()?;
        for partition in 0..PARTITIONS {
            let mut wanted: HashMap<Key, bool> = HashMap::new();
            let mut cursor = orphans.begin(partition);
            while let Some(record) = orphans.next(&mut cursor)? {
                let orphan: Orphan = serde_json::from_slice(&record)?;
                wanted.insert(orphan.parent, false);
            }
            let Some(any) = wanted.keys().next().copied() else {
                continue;
            };
            find(scanned, key_list(any), &mut wanted)?;
            let mut cursor = orphans.begin(partition);
            while let Some(record) = orphans.next(&mut cursor)? {
                let orphan: Orphan = serde_json::from_slice(&record)?;
                if wanted.get(&orphan.parent) == Some(&true) {
                    tell(report, orphan);
                }
            }
        }
        Ok(())
    }
}

fn find(scanned: &Scanned, list: usize, wanted: &mut HashMap<Key, bool>) -> io::Result<()> {
    let mut spool = scanned.spool();
    let mut cursor = spool.begin(list);
    while let Some(record) = spool.next(&mut cursor)? {
        let key = record.first_chunk().copied().map(Key::from_le_bytes);
        if let Some(found) = key.and_then(|key| wanted.get_mut(&key)) {
            *found = true;
        }
    }
    Ok(())
}

fn tell(report: &mut Report, orphan: Orphan) {
    let what = What::Changed(Note::OrphanForeignParent);
    if orphan.counted {
        report.renote(
            Note::OrphanMissingParent,
            Note::OrphanForeignParent,
            orphan.oddity,
        );
    } else if let Some((source_id, line, detail)) = orphan.name {
        report.odd(Oddity {
            kind: RowKind::Comment,
            source_id,
            line,
            what,
            detail,
        });
    } else {
        report.odd_unnamed(RowKind::Comment, what);
    }
}
