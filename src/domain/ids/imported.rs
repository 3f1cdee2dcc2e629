//! Ids of imported rows: a function of the source's own id, so every run on every engine agrees.
//!
//! `source_ms << 21 | 1 << 20 | (murmur3(source ‖ 0 ‖ source_id) & 0xFFFFF)`, raised above the
//! parent's, then probed upward while another source id holds the place.

use super::{IMPORTED_BIT, TIME_SHIFT};
use crate::domain::hash::murmur3_32;

/// The largest millisecond an id can hold.
const TIME_MAX_MS: i64 = (1 << 42) - 1;

/// The first place to try for a row of another system.
///
/// The result lies above `parent` when one is given: a reply never sorts before what it answers,
/// even when the source's clocks disagreed.
#[must_use]
pub fn first_place(source: &str, source_id: &str, source_ms: i64, parent: Option<i64>) -> i64 {
    let mut key = Vec::with_capacity(source.len() + source_id.len() + 1);
    key.extend_from_slice(source.as_bytes());
    key.push(0);
    key.extend_from_slice(source_id.as_bytes());
    let low = i64::from(murmur3_32(&key)) & (IMPORTED_BIT - 1);
    let id = source_ms.clamp(1, TIME_MAX_MS) << TIME_SHIFT | IMPORTED_BIT | low;
    match parent {
        Some(parent) if parent >= id => ((parent >> TIME_SHIFT) + 1) << TIME_SHIFT | IMPORTED_BIT | low,
        _ => id,
    }
}

/// The place to try after `id` was found taken by another source id.
#[must_use]
pub fn next_place(id: i64) -> i64 {
    // Within the millisecond while there is room, then into the next one; always an imported id.
    (id + 1) | IMPORTED_BIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_a_function_of_the_source_id() {
        let a = first_place("disqus", "1", 1_290_000_000_000, None);
        assert_eq!(a, first_place("disqus", "1", 1_290_000_000_000, None));
        assert_ne!(a, first_place("disqus", "2", 1_290_000_000_000, None));
        assert_ne!(a, first_place("jsonl", "1", 1_290_000_000_000, None));
        assert_eq!(a >> TIME_SHIFT, 1_290_000_000_000);
        assert_eq!(a & IMPORTED_BIT, IMPORTED_BIT);
    }

    #[test]
    fn a_reply_is_raised_above_a_newer_parent() {
        let parent = first_place("s", "p", 2_000_000, None);
        let reply = first_place("s", "r", 1_000_000, Some(parent));
        assert!(reply > parent);
        assert_eq!(reply & IMPORTED_BIT, IMPORTED_BIT);
    }

    #[test]
    fn probing_rises_and_stays_imported_across_a_full_millisecond() {
        let last_of_ms = 5 << TIME_SHIFT | IMPORTED_BIT | (IMPORTED_BIT - 1);
        let next = next_place(last_of_ms);
        assert!(next > last_of_ms);
        assert_eq!(next >> TIME_SHIFT, 6);
        assert_eq!(next & IMPORTED_BIT, IMPORTED_BIT);
    }
}
