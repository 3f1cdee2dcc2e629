//! What was read of people lately, in memory.
//!
//! As with pages, what is kept is never older than the last acknowledged write of this process, and
//! at most 250 ms older than another process's: a key holds the moment as it was before the read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::sync::Cache;

use crate::domain::ids::UserId;

/// Writes are told apart by so many groups of ids, so that one forgets few others. A prime: ids end
/// in counters that are often 0.
const SHARDS: u16 = 251;
/// Bytes of an entry beside what is kept in it.
const ENTRY_BYTES: usize = 150;

/// A user at a moment: the number of writes to their shard and of other processes' writes before.
pub(super) type Moment = (UserId, u64, u64);

/// Something of users in memory.
#[derive(Clone, Debug)]
pub(super) struct Known<V: Clone + Send + Sync + 'static> {
    kept: Option<Cache<Moment, V>>,
    writes: Arc<[AtomicU64]>,
}

impl<V: Clone + Send + Sync + 'static> Known<V> {
    /// Room for so many bytes; 0 keeps nothing. `bytes_of` says how many a value has.
    pub(super) fn new(bytes: u64, bytes_of: fn(&V) -> usize) -> Self {
        let kept = (bytes > 0).then(|| {
            Cache::builder()
                .max_capacity(bytes)
                .weigher(move |_, value: &V| {
                    u32::try_from(bytes_of(value) + ENTRY_BYTES).unwrap_or(u32::MAX)
                })
                .build()
        });
        Self {
            kept,
            writes: (0..SHARDS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn shard(&self, id: UserId) -> Option<&AtomicU64> {
        let shard = id.get().rem_euclid(i64::from(SHARDS));
        self.writes.get(usize::try_from(shard).unwrap_or_default())
    }

    /// Take it before reading; what was read is kept under it.
    pub(super) fn moment(&self, id: UserId, foreign: u64) -> Moment {
        let writes = self.shard(id);
        let writes = writes.map_or(0, |writes| writes.load(Ordering::Acquire));
        (id, writes, foreign)
    }

    /// Nothing kept of this user is used again.
    pub(super) fn forget(&self, id: UserId) {
        if let Some(writes) = self.shard(id) {
            writes.fetch_add(1, Ordering::AcqRel);
        }
    }

    pub(super) fn get(&self, moment: Moment) -> Option<V> {
        self.kept.as_ref()?.get(&moment)
    }

    pub(super) fn keep(&self, moment: Moment, value: V) {
        if let Some(kept) = &self.kept {
            kept.insert(moment, value);
        }
    }
}
