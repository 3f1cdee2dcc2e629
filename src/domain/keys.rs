//! Ranges of keys: how a table is cut for many workers.

use std::fmt;

/// Keys of a table from one to another, both included. What a key is, the store knows: the id on
/// an engine that keeps rows by id, the token on one that keeps them by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The first key.
    pub from: i64,
    /// The last key.
    pub to: i64,
}

impl KeyRange {
    /// Every key there can be.
    pub const ALL: Self = Self {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// The whole, cut where each of `starts` (rising) begins a new range: nothing is left out and
    /// nothing lies in two ranges.
    #[must_use]
    pub fn cut(starts: &[i64]) -> Vec<Self> {
        let mut ranges = Vec::with_capacity(starts.len() + 1);
        let mut from = i64::MIN;
        for start in starts.iter().copied().filter(|start| *start > i64::MIN) {
            if start > from {
                ranges.push(Self {
                    from,
                    to: start - 1,
                });
                from = start;
            }
        }
        ranges.push(Self { from, to: i64::MAX });
        ranges
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cut_covers_every_key_once(starts in prop::collection::vec(any::<i64>(), 0..9)) {
            let mut starts = starts;
            starts.sort_unstable();
            let ranges = KeyRange::cut(&starts);
            prop_assert_eq!(ranges.first().unwrap().from, i64::MIN);
            prop_assert_eq!(ranges.last().unwrap().to, i64::MAX);
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].from <= pair[0].to);
                prop_assert_eq!(pair[0].to + 1, pair[1].from);
            }
        }
    }
}
