//! How long branches are, by the day their root was written: what a rollout of threads is judged by.
//!
//! Lengths are counted in powers of two: bucket 0 holds roots without replies, bucket `n` those with
//! `2^(n-1)` to `2^n - 1`. So a histogram stays small whatever it has seen, and two of them add up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::CommentId;

const DAY_MS: i64 = 86_400_000;

/// Branches by day and length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchHistogram {
    /// Days since 1970 (UTC), each with its branches by bucket.
    days: BTreeMap<i64, Vec<u64>>,
}

impl BranchHistogram {
    /// Counts a branch of `replies` under `root`.
    pub fn add(&mut self, root: CommentId, replies: u64) {
        let day = root.time_ms().div_euclid(DAY_MS);
        self.count(day, bucket_of(replies), 1);
    }

    fn count(&mut self, day: i64, bucket: usize, branches: u64) {
        let buckets = self.days.entry(day).or_default();
        if buckets.len() <= bucket {
            buckets.resize(bucket + 1, 0);
        }
        if let Some(count) = buckets.get_mut(bucket) {
            *count += branches;
        }
    }

    /// Adds what another one has seen.
    pub fn merge(&mut self, other: &Self) {
        for (day, buckets) in &other.days {
            for (bucket, branches) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.count(*day, bucket, *branches);
            }
        }
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.days.is_empty()
    }

    /// Each day (since 1970, UTC) with its branches by bucket, oldest first.
    pub fn days(&self) -> impl DoubleEndedIterator<Item = (i64, &[u64])> {
        self.days
            .iter()
            .map(|(day, buckets)| (*day, buckets.as_slice()))
    }

    /// All days together, by bucket.
    #[must_use]
    pub fn total(&self) -> Vec<u64> {
        let mut all = Self::default();
        for (_, buckets) in self.days() {
            for (bucket, branches) in buckets.iter().enumerate() {
                all.count(0, bucket, *branches);
            }
        }
        all.days.remove(&0).unwrap_or_default()
    }
}

fn bucket_of(replies: u64) -> usize {
    usize::try_from(u64::BITS - replies.leading_zeros()).unwrap_or(0)
}

/// The lengths of a bucket: from, to.
#[must_use]
pub fn lengths_of(bucket: usize) -> (u64, u64) {
    let bucket = u32::try_from(bucket).unwrap_or(u32::MAX);
    match bucket {
        0 => (0, 0),
        1..64 => (1 << (bucket - 1), (1 << bucket) - 1),
        _ => (1 << 63, u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::first_id_of_ms;
    use super::*;

    #[test]
    fn every_length_lies_in_its_bucket_and_no_other() {
        for replies in [0, 1, 2, 3, 4, 7, 8, 1_023, 1_024, 200_000, u64::MAX] {
            let (from, to) = lengths_of(bucket_of(replies));
            assert!((from..=to).contains(&replies), "{replies}");
        }
        for bucket in 1..64 {
            assert_eq!(lengths_of(bucket).0, lengths_of(bucket - 1).1 + 1);
        }
    }

    #[test]
    fn two_halves_add_up_to_the_whole_also_through_json() {
        let root = |day: i64| CommentId::new(first_id_of_ms(day * DAY_MS + 5));
        let (mut one, mut two, mut whole) = (
            BranchHistogram::default(),
            BranchHistogram::default(),
            BranchHistogram::default(),
        );
        for (day, replies) in [(1, 0), (1, 3), (2, 9), (1, 0), (3, 1)] {
            let half = if replies % 2 == 0 { &mut one } else { &mut two };
            half.add(root(day), replies);
            whole.add(root(day), replies);
        }
        let json = serde_json::to_string(&two).unwrap();
        one.merge(&serde_json::from_str(&json).unwrap());
        assert_eq!(one, whole);
        assert_eq!(whole.total(), [2, 1, 1, 0, 1]);
    }
}
