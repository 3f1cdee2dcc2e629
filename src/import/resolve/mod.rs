//! Decides what becomes of each row, from the index alone: no I/O, no texts.
//!
//! Promises, whatever the rows say of each other: every comment gets exactly one verdict; what is
//! written comes after its parent, oldest first among what may come next; a parent that is missing,
//! left out or part of a circle makes its reply a root and never loses it; nothing is merged across
//! discussions. The result is a function of the rows and `now_ms`. A row costs about 50 bytes here
//! beside its own 64.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::report::{Note, Reason};
use super::rows::{Fate, Key, NO_TIME, Row, Standing};

/// 1990-01-01T00:00:00Z: no comment of the web is older.
pub const EARLIEST_MS: i64 = 631_152_000_000;
/// No row.
const NONE: u32 = u32::MAX;

/// What becomes of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Written as it is.
    Whole,
    /// A tombstone is written for the sake of what hangs below.
    Tombstone(Reason),
    /// Not written.
    LeftOut(Reason),
}

/// What is decided about a comment.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Why it became a root, if its source said otherwise.
    pub made_root: Option<Note>,
    /// Whether it is dated before what it answers.
    pub inverted: bool,
    /// Whether `time_ms` is not what the source said.
    pub clamped: bool,
    parent: u32,
    /// The time it is written under, in ms; of rows that are written.
    pub time_ms: i64,
}

impl Place {
    /// The row it hangs under.
    pub fn parent(&self) -> Option<usize> {
        (self.parent != NONE).then(|| wide(self.parent))
    }
}

/// What the rows of a discussion need to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The time it is written under, in ms.
    pub began_ms: i64,
    /// Whether it is written.
    pub standing: Standing,
}

/// What becomes of everything.
#[derive(Debug)]
pub struct Plan {
    /// One a comment.
    pub places: Vec<Place>,
    /// One a discussion: its rows in `order`.
    pub groups: Vec<Range<usize>>,
    /// The rows to write, each discussion in one piece, parents before replies.
    pub order: Vec<u32>,
}

/// A time that can be: `ms`, or the present for the future, or `otherwise`.
#[must_use]
pub fn clamp(ms: i64, now_ms: i64, otherwise: i64) -> i64 {
    if ms > now_ms {
        now_ms
    } else if ms >= EARLIEST_MS {
        ms
    } else {
        otherwise
    }
}

/// Decides about the rows of some discussions. All rows of each are there: what a row names that is
/// not among those of its discussion is missing.
#[must_use]
pub fn resolve(rows: &[Row], homes: &[Home], now_ms: i64) -> Plan {
    let mut work = Work::new(rows, homes, now_ms);
    let by_key = work.judge_alone();
    work.link(&by_key);
    drop(by_key);
    work.break_circles();
    work.keep_what_lives();
    let (groups, order) = work.put_in_order();
    Plan {
        places: work.places,
        groups,
        order,
    }
}

/// The index of a row in a list.
#[must_use]
pub fn wide(row: u32) -> usize {
    usize::try_from(row).unwrap_or(usize::MAX)
}

fn narrow(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(NONE)
}

struct Work<'a> {
    rows: &'a [Row],
    homes: &'a [Home],
    now_ms: i64,
    places: Vec<Place>,
}

impl<'a> Work<'a> {
    fn new(rows: &'a [Row], homes: &'a [Home], now_ms: i64) -> Self {
        let place = Place {
            verdict: Verdict::Whole,
            made_root: None,
            inverted: false,
            clamped: false,
            parent: NONE,
            time_ms: NO_TIME,
        };
        Self {
            rows,
            homes,
            now_ms,
            places: vec![place; rows.len()],
        }
    }

    fn with<T>(&self, row: u32, read: impl FnOnce(&Row) -> T) -> Option<T> {
        self.rows.get(wide(row)).map(read)
    }

    fn edit(&mut self, row: u32, write: impl FnOnce(&mut Place)) {
        if let Some(place) = self.places.get_mut(wide(row)) {
            write(place);
        }
    }

    fn parent(&self, row: u32) -> u32 {
        self.places
            .get(wide(row))
            .map_or(NONE, |place| place.parent)
    }

    fn stays(&self, row: u32) -> bool {
        self.places
            .get(wide(row))
            .is_some_and(|place| !matches!(place.verdict, Verdict::LeftOut(_)))
    }

    fn name(&self, row: u32) -> (Key, u32) {
        self.with(row, |row| (row.key, row.discussion))
            .unwrap_or((0, NONE))
    }

    /// Leaves out what its own row or its discussion rules out, and all but the newest version of
    /// an id. Returns the newest ones by id and discussion.
    fn judge_alone(&mut self) -> Vec<u32> {
        let mut by_key: Vec<u32> = (0..narrow(self.rows.len())).collect();
        by_key.sort_unstable_by_key(|row| {
            let version_ms = self.with(*row, |row| row.version_ms);
            (self.name(*row), version_ms, *row)
        });
        let mut newest = Vec::new();
        let versions: Vec<&[u32]> = by_key
            .chunk_by(|a, b| self.name(*a) == self.name(*b))
            .collect();
        let mut left_out = Vec::new();
        for versions in versions {
            if let Some((last, older)) = versions.split_last() {
                newest.push(*last);
                left_out.extend(older.iter().map(|row| (*row, Reason::Duplicate)));
            }
        }
        for row in &newest {
            let reason = self.with(*row, |row| self.rules_out(row)).flatten();
            left_out.extend(reason.map(|reason| (*row, reason)));
        }
        for (row, reason) in left_out {
            self.edit(row, |place| place.verdict = Verdict::LeftOut(reason));
        }
        newest
    }

    fn rules_out(&self, row: &Row) -> Option<Reason> {
        match self.homes.get(wide(row.discussion))?.standing {
            Standing::Deleted => Some(Reason::DiscussionDeleted),
            Standing::Undeclared => Some(Reason::DiscussionMissing),
            Standing::Wanted => match row.fate {
                Fate::Out(reason) => Some(reason),
                Fate::Whole | Fate::Dead(_) => None,
            },
        }
    }

    /// Finds each row's parent, or why it becomes a root.
    fn link(&mut self, by_key: &[u32]) {
        for row in 0..narrow(self.rows.len()) {
            let Some(source) = self.rows.get(wide(row)).filter(|_| self.stays(row)) else {
                continue;
            };
            if source.parent == 0 {
                continue;
            }
            let wanted = (source.parent, source.discussion);
            let found = by_key.binary_search_by_key(&wanted, |row| self.name(*row));
            let parent = match found {
                Ok(at) => by_key.get(at).copied().unwrap_or(NONE),
                Err(_) => NONE,
            };
            let made_root = if parent == row {
                Some(Note::CycleBroken)
            } else if parent == NONE {
                Some(Note::OrphanMissingParent)
            } else if self.stays(parent) {
                None
            } else {
                Some(Note::OrphanParentSkipped)
            };
            self.edit(row, |place| {
                place.made_root = made_root;
                place.parent = if made_root.is_none() { parent } else { NONE };
            });
        }
    }

    /// Makes the oldest row of every circle a root.
    fn break_circles(&mut self) {
        // The walk that first came by; a row met again on the same walk lies on a circle.
        let mut seen_by = vec![NONE; self.rows.len()];
        for start in 0..narrow(self.rows.len()) {
            let mut row = start;
            while let Some(seen) = seen_by.get_mut(wide(row))
                && *seen == NONE
            {
                *seen = start;
                row = self.parent(row);
            }
            if row != NONE && seen_by.get(wide(row)) == Some(&start) {
                let oldest = self.oldest_of_circle(row);
                self.edit(oldest, |place| {
                    place.parent = NONE;
                    place.made_root = Some(Note::CycleBroken);
                });
            }
        }
    }

    fn oldest_of_circle(&self, member: u32) -> u32 {
        let age = |row: u32| {
            let created_ms = self.with(row, |row| row.created_ms);
            (
                created_ms.filter(|ms| *ms != NO_TIME).unwrap_or(i64::MAX),
                row,
            )
        };
        let mut oldest = age(member);
        let mut row = self.parent(member);
        while row != member && row != NONE {
            oldest = oldest.min(age(row));
            row = self.parent(row);
        }
        oldest.1
    }

    /// From the leaves up: what is dead goes, unless something kept hangs below.
    fn keep_what_lives(&mut self) {
        let mut children = vec![0_u32; self.rows.len()];
        for row in 0..narrow(self.rows.len()) {
            if let Some(count) = children.get_mut(wide(self.parent(row))) {
                *count += 1;
            }
        }
        let mut holds_live = vec![false; self.rows.len()];
        let is_leaf = |children: &[u32], row: u32| children.get(wide(row)) == Some(&0);
        let mut leaves: Vec<u32> = (0..narrow(self.rows.len()))
            .filter(|row| self.stays(*row) && is_leaf(&children, *row))
            .collect();
        while let Some(row) = leaves.pop() {
            let held = holds_live.get(wide(row)) == Some(&true);
            let verdict = match self.with(row, |row| row.fate) {
                Some(Fate::Dead(reason)) if held => Verdict::Tombstone(reason),
                Some(Fate::Dead(reason) | Fate::Out(reason)) => Verdict::LeftOut(reason),
                Some(Fate::Whole) | None => Verdict::Whole,
            };
            self.edit(row, |place| place.verdict = verdict);
            let parent = self.parent(row);
            if self.stays(row)
                && let Some(holds_live) = holds_live.get_mut(wide(parent))
            {
                *holds_live = true;
            }
            if let Some(count) = children.get_mut(wide(parent)) {
                *count -= 1;
                if *count == 0 {
                    leaves.push(parent);
                }
            }
        }
    }

    fn usable(&self, ms: i64) -> Option<i64> {
        (EARLIEST_MS..=self.now_ms).contains(&ms).then_some(ms)
    }

    /// Sorts what is written: by discussion, parents first, then by time, then by place in the file.
    fn put_in_order(&mut self) -> (Vec<Range<usize>>, Vec<u32>) {
        let mut members: Vec<u32> = (0..narrow(self.rows.len()))
            .filter(|row| self.stays(*row))
            .collect();
        let discussion = |row: &u32| self.with(*row, |row| row.discussion);
        members.sort_by_key(discussion);
        let pieces: Vec<usize> = members
            .chunk_by(|a, b| discussion(a) == discussion(b))
            .map(<[u32]>::len)
            .collect();
        let mut groups = vec![0..0; self.homes.len()];
        let mut links = Links::new(self.rows.len());
        let mut order = Vec::with_capacity(members.len());
        let mut rest = members.as_slice();
        for piece in pieces {
            let Some((piece, others)) = rest.split_at_checked(piece) else {
                break;
            };
            rest = others;
            let place = piece.first().and_then(discussion_of(self.rows));
            let home = place.and_then(|place| self.homes.get(place)).copied();
            if let (Some(home), Some(group)) = (home, place.and_then(|place| groups.get_mut(place)))
            {
                let start = order.len();
                self.order_one(piece, home.began_ms, &mut links, &mut order);
                *group = start..order.len();
            }
        }
        (groups, order)
    }

    fn order_one(&mut self, piece: &[u32], began_ms: i64, links: &mut Links, order: &mut Vec<u32>) {
        let mut next = BinaryHeap::new();
        for row in piece {
            match self.parent(*row) {
                NONE => {
                    let time_ms = self.settle_time(*row, began_ms);
                    next.push(Reverse((time_ms, *row)));
                }
                parent => links.add(parent, *row),
            }
        }
        while let Some(Reverse((time_ms, row))) = next.pop() {
            order.push(row);
            let mut child = links.first(row);
            while child != NONE {
                let source_ms = self.with(child, |row| row.created_ms);
                let inverted = source_ms.and_then(|ms| self.usable(ms));
                let inverted = inverted.is_some_and(|ms| ms < time_ms);
                self.edit(child, |place| place.inverted = inverted);
                let time_ms = self.settle_time(child, time_ms);
                next.push(Reverse((time_ms, child)));
                child = links.after(child);
            }
        }
    }

    fn settle_time(&mut self, row: u32, otherwise: i64) -> i64 {
        let source_ms = self.with(row, |row| row.created_ms).unwrap_or(NO_TIME);
        let time_ms = clamp(source_ms, self.now_ms, otherwise);
        self.edit(row, |place| {
            place.time_ms = time_ms;
            place.clamped = time_ms != source_ms;
        });
        time_ms
    }
}

fn discussion_of(rows: &[Row]) -> impl Fn(&u32) -> Option<usize> + '_ {
    |row| rows.get(wide(*row)).map(|row| wide(row.discussion))
}

/// Children of every row, as two numbers a row.
struct Links {
    first: Vec<u32>,
    after: Vec<u32>,
}

impl Links {
    fn new(rows: usize) -> Self {
        Self {
            first: vec![NONE; rows],
            after: vec![NONE; rows],
        }
    }

    fn add(&mut self, parent: u32, child: u32) {
        let first = self.first.get_mut(wide(parent));
        if let (Some(first), Some(after)) = (first, self.after.get_mut(wide(child))) {
            *after = *first;
            *first = child;
        }
    }

    fn first(&self, row: u32) -> u32 {
        self.first.get(wide(row)).copied().unwrap_or(NONE)
    }

    fn after(&self, row: u32) -> u32 {
        self.after.get(wide(row)).copied().unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests;
