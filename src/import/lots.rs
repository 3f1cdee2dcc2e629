//! The second pass: takes the comments of some discussions from the spool and decides about them.
//!
//! A lot is one partition or several small ones, so that memory is bounded by the largest
//! discussion (or [`LOT_ROWS`]) and a small export is one lot in the order of its file. All of this
//! blocks and belongs on a thread of its own.

use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use super::resolve::{self, Home, Plan, Verdict, wide};
use super::rows::{CommentWords, DiscussionRow, DiscussionWords, Loaded, Row};
use super::scan::{PARTITIONS, Scanned};
use super::spool::Spool;

/// Comments of several partitions that are taken together at most.
pub(super) const LOT_ROWS: u64 = 100_000;

/// The comments of some discussions, and what becomes of them.
#[derive(Debug)]
pub(super) struct Lot {
    /// The discussions, as places in the list of the file, rising.
    pub(super) places: Vec<u32>,
    /// In the order of the file; discussions are numbered as in `places`.
    pub(super) rows: Vec<Row>,
    pub(super) plan: Plan,
    /// The first row to be written of each author.
    pub(super) firsts: Vec<u32>,
}

impl Scanned {
    /// The partitions of each lot; several are taken together up to `rows_max` comments.
    pub(super) fn lots(&self, rows_max: u64) -> Vec<Range<usize>> {
        let mut lots: Vec<Range<usize>> = Vec::new();
        let mut rows_of_last = u64::MAX;
        for partition in 0..PARTITIONS {
            // A comment is two records.
            let rows = self.spool().records(partition) / 2;
            match lots.last_mut() {
                Some(last) if rows_of_last.saturating_add(rows) <= rows_max => {
                    last.end = partition + 1;
                    rows_of_last += rows;
                }
                _ => {
                    lots.push(partition..partition + 1);
                    rows_of_last = rows;
                }
            }
        }
        lots
    }

    /// Reads the comments of some partitions and decides about them.
    pub(super) fn lot(&self, partitions: Range<usize>, now_ms: i64) -> io::Result<Lot> {
        let mut places: Vec<u32> = (0_u32..)
            .take(self.discussions.len())
            .filter(|place| partitions.contains(&(wide(*place) % PARTITIONS)))
            .collect();
        places.shrink_to_fit();
        let (rows, authors) = self.rows(partitions, &places)?;
        let homes: Vec<Home> = places
            .iter()
            .filter_map(|place| self.discussions.get(wide(*place)))
            .map(|row| Home {
                began_ms: self.began(row, now_ms).0,
                standing: row.standing,
            })
            .collect();
        let plan = resolve::resolve(&rows, &homes, now_ms);
        let firsts = firsts(&plan, &authors);
        Ok(Lot {
            places,
            rows,
            plan,
            firsts,
        })
    }

    fn rows(&self, partitions: Range<usize>, places: &[u32]) -> io::Result<(Vec<Row>, Vec<u64>)> {
        let is_one = partitions.len() == 1;
        let mut mixed: Vec<Loaded> = Vec::new();
        let (mut rows, mut authors) = (Vec::new(), Vec::new());
        let mut spool = self.spool();
        for partition in partitions {
            let mut cursor = spool.begin(partition);
            while let Some(record) = spool.next(&mut cursor)? {
                let words = spool.skip(&mut cursor)?;
                let words = words.ok_or(io::ErrorKind::UnexpectedEof)?;
                let mut loaded = self.fates.decode(&record, words)?;
                let place = places.partition_point(|place| *place < loaded.row.discussion);
                loaded.row.discussion = u32::try_from(place).map_err(io::Error::other)?;
                if is_one {
                    rows.push(loaded.row);
                    authors.push(loaded.author);
                } else {
                    mixed.push(loaded);
                }
            }
        }
        // A partition is in the order of the file already.
        mixed.sort_unstable_by_key(|loaded| loaded.number);
        rows.extend(mixed.iter().map(|loaded| loaded.row));
        authors.extend(mixed.iter().map(|loaded| loaded.author));
        if u32::try_from(rows.len()).is_err() {
            let what = "one discussion has more comments than 4 billion";
            return Err(io::Error::other(what));
        }
        Ok((rows, authors))
    }

    /// When a discussion began, in ms, and whether that is not what the source said: its own time,
    /// else its first comment's, else the file's first.
    pub(super) fn began(&self, row: &DiscussionRow, now_ms: i64) -> (i64, bool) {
        let first = [row.first_ms, self.first_ms]
            .into_iter()
            .find(|ms| *ms <= now_ms);
        let time_ms = resolve::clamp(row.created_ms, now_ms, first.unwrap_or(now_ms));
        (time_ms, time_ms != row.created_ms)
    }

    pub(super) fn comment_words(&self, row: &Row) -> io::Result<CommentWords> {
        let record = self.spool().get(row.words)?;
        Ok(serde_json::from_slice(&record)?)
    }

    pub(super) fn discussion_words(&self, row: &DiscussionRow) -> io::Result<DiscussionWords> {
        let record = self.spool().get(row.words)?;
        Ok(serde_json::from_slice(&record)?)
    }

    /// The spool, for as long as the guard lives. A panic while it was held left nothing half done:
    /// reads move only their own cursors.
    pub(super) fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Authors become users in the order of writing, so that which of an author's names is taken does
/// not depend on how many discussions are written at once.
fn firsts(plan: &Plan, authors: &[u64]) -> Vec<u32> {
    let mut seen = HashSet::new();
    let is_whole = |row: &u32| {
        let place = plan.places.get(wide(*row));
        place.is_some_and(|place| place.verdict == Verdict::Whole)
    };
    let order = plan.order.iter().copied();
    order
        .filter(is_whole)
        .filter(|row| {
            authors
                .get(wide(*row))
                .is_some_and(|author| seen.insert(*author))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write as _;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::domain::text::TextLimits;
    use crate::import::Format;
    use crate::import::report::Report;
    use crate::import::scan::{ScanOptions, scan};

    const NOW_MS: i64 = 1_790_000_000_000;

    fn scanned() -> Scanned {
        let mut text = String::new();
        for number in 0..3_000_u32 {
            let (place, parent) = (number * number % 701, number.saturating_sub(701));
            let line = format!(
                "{{\"type\":\"comment\",\"id\":\"{number}\",\"discussion\":\"{place}\",\
                 \"parent\":\"{parent}\",\"author\":{{\"id\":\"{}\"}},\
                 \"created_at\":{},\"body\":\"text {number}\"}}",
                number % 40,
                NOW_MS - i64::from(number * 7_919 % 100_000),
            );
            writeln!(text, "{line}").unwrap();
        }
        let mut reader = Format::Jsonl.reader(Box::new(io::Cursor::new(text.into_bytes())));
        let mut report = Report::new("test", false);
        let stop = CancellationToken::new();
        let options = ScanOptions {
            limits: TextLimits::default(),
            restore: false,
            now_ms: NOW_MS,
        };
        let scanned = scan(&mut *reader, options, &stop, &mut report);
        assert_eq!(report.comments.read, 3_000);
        scanned.unwrap()
    }

    /// What is written of each discussion, in order, with verdict, time and parent.
    fn written(scanned: &Scanned, rows_max: u64) -> (usize, BTreeMap<u32, Vec<String>>) {
        let mut written = BTreeMap::new();
        let lots = scanned.lots(rows_max);
        for partitions in &lots {
            let lot = scanned.lot(partitions.clone(), NOW_MS).unwrap();
            assert_eq!(lot.places.len(), lot.plan.groups.len());
            for (place, group) in lot.places.iter().zip(&lot.plan.groups) {
                let rows = lot.plan.order[group.clone()].iter().map(|at| {
                    let (row, place) = (&lot.rows[wide(*at)], &lot.plan.places[wide(*at)]);
                    let parent = place.parent().map(|parent| lot.rows[parent].key);
                    let body = scanned.comment_words(row).unwrap().body;
                    format!("{body} {parent:?} {:?} {}", place.verdict, place.time_ms)
                });
                assert!(written.insert(*place, rows.collect()).is_none());
            }
        }
        (lots.len(), written)
    }

    #[test]
    fn whatever_is_taken_together_each_discussion_is_written_the_same() {
        let scanned = scanned();
        let (one, all) = written(&scanned, LOT_ROWS);
        assert_eq!(one, 1);
        assert_eq!(all.values().map(Vec::len).sum::<usize>(), 3_000);
        for (rows_max, at_least) in [(0, PARTITIONS), (50, 30), (1_000, 3)] {
            let (lots, same) = written(&scanned, rows_max);
            assert!(lots >= at_least, "{lots} lots of {rows_max} rows");
            assert_eq!(same, all);
        }
    }

    #[test]
    fn the_first_row_of_each_author_is_named_once_a_lot() {
        let scanned = scanned();
        let lot = scanned.lot(0..PARTITIONS, NOW_MS).unwrap();
        assert_eq!(lot.firsts.len(), 40);
        assert_eq!(lot.firsts.first(), lot.plan.order.first());
    }
}
