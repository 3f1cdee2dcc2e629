//! Minting ids: a hybrid clock that never repeats an id and keeps a reply above its parent.
//!
//! A process may mint only while it holds a worker lease; the deadline is checked on the monotonic
//! clock, so a stepped wall clock cannot prolong it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{SEQUENCE_MAX, TIME_SHIFT, WORKER_SHIFT, WORKERS_MAX};
use crate::domain::clock::Clock;

/// How far ahead of this process's clock a parent may be.
pub const PARENT_AHEAD_MAX_MS: i64 = 5_000;

/// Why no id could be minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// The parent's id is from the future: some instance's clock is wrong.
    #[error(
        "the parent is {ahead_ms} ms ahead of this instance's clock (limit {PARENT_AHEAD_MAX_MS} ms)"
    )]
    ClockSkew {
        /// Milliseconds between the parent's time and this clock.
        ahead_ms: i64,
    },
    /// No worker lease is held, or it ran out.
    #[error("no worker lease is held, so no id may be minted")]
    NoLease,
}

/// The right to mint as one worker until a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// 0–511.
    pub worker: u16,
    /// On the monotonic clock of the holder.
    pub deadline: Duration,
    /// Ids must be of a later millisecond than this: the last holder may have used it.
    pub after_ms: i64,
}

#[derive(Debug)]
struct State {
    lease: Option<Lease>,
    last_ms: i64,
    sequence: i64,
}

/// Mints ids as one worker. Shared by reference; locked for a few instructions.
#[derive(Debug)]
pub struct IdGenerator {
    clock: Clock,
    state: Mutex<State>,
}

impl IdGenerator {
    /// A generator that mints nothing until it gets a lease.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            state: Mutex::new(State {
                lease: None,
                last_ms: 0,
                sequence: 0,
            }),
        }
    }

    /// Installs a new or renewed lease. `None` stops minting at once.
    pub fn set_lease(&self, lease: Option<Lease>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lease) = lease
            && lease.after_ms >= state.last_ms
        {
            state.last_ms = lease.after_ms;
            // The whole millisecond counts as used.
            state.sequence = SEQUENCE_MAX;
        }
        state.lease = lease.filter(|lease| lease.worker < WORKERS_MAX);
    }

    /// The latest millisecond an id was minted in: the high-water mark to store with the lease.
    pub fn last_ms(&self) -> i64 {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last_ms
    }

    /// Whether a mint would be refused for want of a lease.
    pub fn has_lease(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .lease
            .is_some_and(|lease| self.clock.monotonic() < lease.deadline)
    }

    /// A new id, above every id this generator gave before.
    pub fn mint(&self) -> Result<i64, MintError> {
        self.mint_above(None)
    }

    /// A new id of a later millisecond than `parent`.
    pub fn mint_reply(&self, parent: i64) -> Result<i64, MintError> {
        self.mint_above(Some(parent))
    }

    fn mint_above(&self, parent: Option<i64>) -> Result<i64, MintError> {
        let now_ms = self.clock.now_ms();
        let floor_ms = match parent {
            None => now_ms,
            Some(parent) => {
                let parent_ms = parent >> TIME_SHIFT;
                let ahead_ms = parent_ms.saturating_sub(now_ms);
                if ahead_ms > PARENT_AHEAD_MAX_MS {
                    return Err(MintError::ClockSkew { ahead_ms });
                }
                now_ms.max(parent_ms + 1)
            }
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lease = state.lease.ok_or(MintError::NoLease)?;
        if self.clock.monotonic() >= lease.deadline {
            return Err(MintError::NoLease);
        }
        if floor_ms > state.last_ms {
            state.last_ms = floor_ms;
            state.sequence = 0;
        } else if state.sequence >= SEQUENCE_MAX {
            state.last_ms += 1;
            state.sequence = 0;
        }
        let id =
            state.last_ms << TIME_SHIFT | i64::from(lease.worker) << WORKER_SHIFT | state.sequence;
        state.sequence += 1;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    fn leased(clock: &Clock, worker: u16) -> IdGenerator {
        let ids = IdGenerator::new(clock.clone());
        ids.set_lease(Some(Lease {
            worker,
            deadline: Duration::from_secs(30),
            after_ms: 0,
        }));
        ids
    }

    #[test]
    fn without_a_lease_nothing_is_minted() {
        let clock = Clock::manual(NOW_MS);
        let ids = IdGenerator::new(clock.clone());
        assert_eq!(ids.mint(), Err(MintError::NoLease));
        ids.set_lease(Some(Lease {
            worker: 3,
            deadline: Duration::from_secs(30),
            after_ms: 0,
        }));
        assert!(ids.mint().is_ok());
        clock.advance(Duration::from_secs(30));
        assert_eq!(
            ids.mint(),
            Err(MintError::NoLease),
            "the deadline itself is too late"
        );
    }

    #[test]
    fn a_stepped_clock_neither_prolongs_the_lease_nor_repeats_an_id() {
        let clock = Clock::manual(NOW_MS);
        let ids = leased(&clock, 1);
        let first = ids.mint().unwrap();
        clock.advance(Duration::from_secs(20));
        let second = ids.mint().unwrap();
        clock.step_back(Duration::from_hours(1));
        let third = ids.mint().unwrap();
        assert!(first < second && second < third);
        clock.advance(Duration::from_secs(10));
        assert_eq!(ids.mint(), Err(MintError::NoLease));
    }

    #[test]
    fn a_reply_is_of_a_later_millisecond_than_its_parent_even_from_a_higher_worker() {
        let clock = Clock::manual(NOW_MS);
        let (high, low) = (leased(&clock, 500), leased(&clock, 2));
        let parent = high.mint().unwrap();
        let reply = low.mint_reply(parent).unwrap();
        assert!(reply > parent);
        assert!(reply >> TIME_SHIFT > parent >> TIME_SHIFT);
    }

    #[test]
    fn a_parent_from_the_future_is_refused_past_five_seconds() {
        let clock = Clock::manual(NOW_MS);
        let ids = leased(&clock, 2);
        let at = |ahead_ms: i64| (NOW_MS + ahead_ms) << TIME_SHIFT;
        assert!(ids.mint_reply(at(5_000)).is_ok());
        assert_eq!(
            ids.mint_reply(at(5_001)),
            Err(MintError::ClockSkew { ahead_ms: 5_001 })
        );
    }

    #[test]
    fn a_new_holder_starts_after_the_last_one() {
        let clock = Clock::manual(NOW_MS);
        let ids = IdGenerator::new(clock);
        let deadline = Duration::from_secs(30);
        ids.set_lease(Some(Lease {
            worker: 7,
            deadline,
            after_ms: NOW_MS + 40,
        }));
        assert!(ids.mint().unwrap() >> TIME_SHIFT > NOW_MS + 40);
    }

    #[test]
    fn more_ids_than_a_millisecond_holds_run_into_the_next() {
        let clock = Clock::manual(NOW_MS);
        let ids = leased(&clock, 0);
        let minted: HashSet<i64> = (0..=(SEQUENCE_MAX * 2))
            .map(|_| ids.mint().unwrap())
            .collect();
        assert_eq!(i64::try_from(minted.len()).unwrap(), SEQUENCE_MAX * 2 + 1);
        assert_eq!(ids.last_ms(), NOW_MS + 2);
    }

    proptest! {
        #[test]
        fn ids_only_rise_whatever_the_clock_does(steps in prop::collection::vec((any::<bool>(), 0_u64..5_000), 1..60)) {
            let clock = Clock::manual(NOW_MS);
            let ids = IdGenerator::new(clock.clone());
            ids.set_lease(Some(Lease { worker: 9, deadline: Duration::from_hours(24), after_ms: 0 }));
            let mut last = 0;
            for (back, ms) in steps {
                if back { clock.step_back(Duration::from_millis(ms)); } else { clock.advance(Duration::from_millis(ms)); }
                let id = ids.mint().unwrap();
                prop_assert!(id > last);
                last = id;
            }
        }
    }
}
