//! Rows kept in memory, so that hot pages need no statement.
//!
//! A key holds the discussion's epoch as it was *before* the read; every write moves the epoch
//! after its commit and before its acknowledgement. So a cached row set is never older than the
//! last acknowledged write of this process, and at most 250 ms older than another process's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moka::sync::Cache;

use crate::domain::counts::Tally;
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::page::Slice;
use crate::store::comments::{Lane, Rows};

/// Discussions whose epoch is remembered; a forgotten one gets a new, never used epoch.
const EPOCHS_MAX: u64 = 100_000;

/// The part of the memory that keys may take on top.
const KEYS_PART: u64 = 16;

/// A moment in a discussion's life: equal epochs mean equal rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Epoch {
    discussion: DiscussionId,
    local: u64,
    foreign: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Discussion,
    Slice(u32, Lane, Slice),
    Sum(u32, CommentId),
}

#[derive(Clone, Debug)]
enum Kept {
    Discussion(Arc<Discussion>),
    Slice(Rows),
    Sum(Tally),
}

#[derive(Clone, Debug)]
pub(super) struct PageCache {
    kept: Option<Cache<(Epoch, Key), Kept>>,
    keys: Option<Cache<String, DiscussionId>>,
    epochs: Cache<DiscussionId, u64>,
    next: Arc<AtomicU64>,
    /// How many writes of a discussion are between their work and their new epoch.
    moving: Arc<Mutex<HashMap<DiscussionId, u32>>>,
}

/// A write of a discussion. From its work until it is dropped nothing of the discussion is read
/// from the cache: what is committed but has no new epoch yet would be seen in one list and be
/// missing in another one that was kept before.
#[derive(Debug)]
pub(super) struct Move {
    cache: PageCache,
    discussion: DiscussionId,
    has_begun: AtomicBool,
}

impl Move {
    /// The work begins.
    pub(super) fn begin(&self) {
        if !self.has_begun.swap(true, Ordering::AcqRel) {
            *self.cache.moving().entry(self.discussion).or_default() += 1;
        }
    }
}

impl Drop for Move {
    fn drop(&mut self) {
        // First the new epoch, then the cache may be read again.
        self.cache.forget(self.discussion);
        if *self.has_begun.get_mut() {
            let mut moving = self.cache.moving();
            if let Some(writes) = moving.get_mut(&self.discussion) {
                *writes -= 1;
                if *writes == 0 {
                    moving.remove(&self.discussion);
                }
            }
        }
    }
}

impl PageCache {
    /// A write that is about to be sent.
    pub(super) fn a_move(&self, discussion: DiscussionId) -> Move {
        Move {
            cache: self.clone(),
            discussion,
            has_begun: AtomicBool::new(false),
        }
    }

    fn moving(&self) -> MutexGuard<'_, HashMap<DiscussionId, u32>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_moving(&self, discussion: DiscussionId) -> bool {
        self.moving().contains_key(&discussion)
    }

    pub(super) fn new(bytes: u64) -> Self {
        let kept = (bytes > 0).then(|| {
            Cache::builder()
                .max_capacity(bytes)
                .weigher(|_, kept| weight(kept))
                .build()
        });
        // A claimed key names the same discussion for ever, so it needs no epoch.
        let keys = (bytes > 0).then(|| {
            Cache::builder()
                .max_capacity(bytes.div_ceil(KEYS_PART))
                .weigher(|key: &String, _| u32::try_from(key.len() + 100).unwrap_or(u32::MAX))
                .build()
        });
        Self {
            kept,
            keys,
            epochs: Cache::new(EPOCHS_MAX),
            next: Arc::new(AtomicU64::new(0)),
            moving: Arc::default(),
        }
    }

    /// The discussion's epoch; take it before reading, use it to keep what was read.
    pub(super) fn epoch(&self, discussion: DiscussionId, foreign: u64) -> Epoch {
        let local = self
            .epochs
            .get_with(discussion, || self.next.fetch_add(1, Ordering::Relaxed));
        Epoch {
            discussion,
            local,
            foreign,
        }
    }

    /// Nothing kept of the discussion is used again.
    pub(super) fn forget(&self, discussion: DiscussionId) {
        self.epochs
            .insert(discussion, self.next.fetch_add(1, Ordering::Relaxed));
    }

    /// The discussion that a key is known to name.
    pub(super) fn holder(&self, key: &str) -> Option<DiscussionId> {
        self.keys.as_ref()?.get(key)
    }

    pub(super) fn keep_holder(&self, key: &str, discussion: DiscussionId) {
        if let Some(keys) = &self.keys {
            keys.insert(key.to_owned(), discussion);
        }
    }

    pub(super) fn discussion(&self, epoch: Epoch) -> Option<Arc<Discussion>> {
        match self.get(epoch, Key::Discussion)? {
            Kept::Discussion(row) => Some(row),
            Kept::Slice(_) | Kept::Sum(_) => None,
        }
    }

    pub(super) fn slice(
        &self,
        epoch: Epoch,
        layout: u32,
        lane: Lane,
        slice: Slice,
    ) -> Option<Rows> {
        match self.get(epoch, Key::Slice(layout, lane, slice))? {
            Kept::Slice(rows) => Some(rows),
            Kept::Discussion(_) | Kept::Sum(_) => None,
        }
    }

    pub(super) fn sum(&self, epoch: Epoch, layout: u32, head: CommentId) -> Option<Tally> {
        match self.get(epoch, Key::Sum(layout, head))? {
            Kept::Sum(tally) => Some(tally),
            Kept::Discussion(_) | Kept::Slice(_) => None,
        }
    }

    pub(super) fn keep_discussion(&self, epoch: Epoch, row: &Arc<Discussion>) {
        self.keep(epoch, Key::Discussion, Kept::Discussion(Arc::clone(row)));
    }

    pub(super) fn keep_slice(
        &self,
        epoch: Epoch,
        layout: u32,
        (lane, slice): (Lane, Slice),
        rows: &Rows,
    ) {
        self.keep(
            epoch,
            Key::Slice(layout, lane, slice),
            Kept::Slice(Arc::clone(rows)),
        );
    }

    pub(super) fn keep_sum(&self, epoch: Epoch, layout: u32, head: CommentId, tally: Tally) {
        self.keep(epoch, Key::Sum(layout, head), Kept::Sum(tally));
    }

    fn get(&self, epoch: Epoch, key: Key) -> Option<Kept> {
        let kept = self.kept.as_ref()?;
        if self.is_moving(epoch.discussion) {
            return None;
        }
        // A write may have ended since the epoch was taken.
        let is_current = self.epochs.get(&epoch.discussion) == Some(epoch.local);
        is_current.then(|| kept.get(&(epoch, key))).flatten()
    }

    fn keep(&self, epoch: Epoch, key: Key, value: Kept) {
        if let Some(kept) = &self.kept {
            kept.insert((epoch, key), value);
        }
    }
}

/// Bytes a kept value takes, roughly: text and ancestors, plus the fixed parts.
fn weight(kept: &Kept) -> u32 {
    const ENTRY: usize = 200;
    let bytes = match kept {
        Kept::Discussion(row) => ENTRY + row.title.len(),
        Kept::Sum(_) => ENTRY,
        Kept::Slice(rows) => rows
            .iter()
            .map(|row| size_of_val(row) + row.body.len() + row.ancestors.len() * 8)
            .sum::<usize>()
            .saturating_add(ENTRY),
    };
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
