//! Which entries of a log somebody who follows it has not had yet.
//!
//! An entry's id is minted before it is written, so one with a smaller id may appear after one with
//! a larger. Whoever follows a log therefore reads it again from a minute earlier, now and then, and
//! keeps what it has seen of that minute.

use std::collections::BTreeSet;

use super::ids::{EventId, first_id_of_ms};

/// How far back a log is read again, in ms: longer than a write may be late and clocks may differ.
pub const OVERLAP_MS: i64 = 60_000;
/// How long a log keeps its entries, in ms. Who was away longer starts anew.
pub const LOG_KEPT_MS: i64 = 3_600_000;
/// Events that somebody who was away is given one by one at most; beyond, they start anew.
pub const REPLAY_MAX: usize = 2_000;

/// From where on a log is read so that nothing is missed which became visible after `ms`.
#[must_use]
pub const fn overlap_from(ms: i64) -> EventId {
    EventId::new(first_id_of_ms(if ms > OVERLAP_MS {
        ms - OVERLAP_MS
    } else {
        0
    }))
}

/// Whether the log still has everything that became visible after an event.
#[must_use]
pub const fn is_kept(after: EventId, now_ms: i64) -> bool {
    after.time_ms() - OVERLAP_MS > now_ms - LOG_KEPT_MS
}

/// The events seen lately.
#[derive(Clone, Debug, Default)]
pub struct Window(BTreeSet<EventId>);

impl Window {
    /// Whether an event is seen for the first time; from now on it is not.
    pub fn admit(&mut self, event: EventId) -> bool {
        self.0.insert(event)
    }

    /// Whether nothing has been seen, or all of it is forgotten.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets what is never read again: everything before `floor`.
    pub fn forget_before(&mut self, floor: EventId) {
        self.0 = self.0.split_off(&floor);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_absence_is_judged_by_the_overlap_too() {
        let now_ms = 10 * LOG_KEPT_MS;
        let at = |ms| EventId::new(first_id_of_ms(ms));
        assert!(is_kept(at(now_ms), now_ms));
        assert!(is_kept(at(now_ms - LOG_KEPT_MS + OVERLAP_MS + 1), now_ms));
        assert!(!is_kept(at(now_ms - LOG_KEPT_MS + OVERLAP_MS), now_ms));
        assert_eq!(overlap_from(OVERLAP_MS - 1), EventId::new(0));
        assert_eq!(overlap_from(OVERLAP_MS + 7), at(7));
    }

    proptest! {
        /// Entries appear in another order than their ids, at most a minute late; reading begins a
        /// minute back each time. Each is admitted once, and the window stays small.
        #[test]
        fn everything_that_appears_within_the_overlap_is_admitted_once(
            late in prop::collection::vec((0..OVERLAP_MS, 1..5_000_i64), 1..80),
        ) {
            let mut now_ms = 1_000_000;
            let mut log = BTreeSet::new();
            let (mut window, mut admitted) = (Window::default(), Vec::new());
            for (late_ms, step_ms) in late {
                now_ms += step_ms;
                log.insert(EventId::new(first_id_of_ms(now_ms - late_ms) | i64::try_from(log.len()).unwrap()));
                let from = overlap_from(now_ms);
                admitted.extend(log.range(from..).copied().filter(|event| window.admit(*event)));
                window.forget_before(from);
                prop_assert!(window.0.iter().all(|event| *event >= from));
            }
            admitted.sort_unstable();
            prop_assert_eq!(admitted, log.into_iter().collect::<Vec<_>>());
        }
    }
}
