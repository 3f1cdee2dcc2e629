//! What a walk has found: numbers that add up, stored with the place they stand for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::branches::BranchHistogram;

/// Faults that a range keeps in words; the count goes on beyond.
const FAULTS_MAX: usize = 100;

/// Something wrong that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// In which item: the id of a discussion.
    pub item: String,
    /// What is wrong, for people.
    pub what: String,
}

/// What was found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalkTally {
    /// Items done.
    pub items: u64,
    /// Rows read or written for them.
    pub rows: u64,
    /// Items by what became of them.
    pub outcomes: BTreeMap<String, u64>,
    /// Further sums, by what they count.
    pub sums: BTreeMap<String, u64>,
    /// What is wrong: the first of it.
    pub faults: Vec<Fault>,
    /// What is wrong and found no place in the list.
    pub faults_left_out: u64,
    /// How long branches are.
    #[serde(skip_serializing_if = "BranchHistogram::is_empty")]
    pub branches: BranchHistogram,
}

impl WalkTally {
    /// One item, with what became of it.
    #[must_use]
    pub fn of_item(outcome: &str, rows: u64) -> Self {
        Self {
            items: 1,
            rows,
            outcomes: BTreeMap::from([(outcome.to_owned(), 1)]),
            ..Self::default()
        }
    }

    /// Adds to a sum; nothing is noted for 0.
    pub fn add(&mut self, what: &str, number: u64) {
        if number > 0 {
            *self.sums.entry(what.to_owned()).or_default() += number;
        }
    }

    /// Notes something wrong.
    pub fn fault(&mut self, item: &(impl ToString + ?Sized), what: &(impl ToString + ?Sized)) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(Fault {
                item: item.to_string(),
                what: what.to_string(),
            });
        } else {
            self.faults_left_out += 1;
        }
    }

    /// Adds what another one has found.
    pub fn merge(&mut self, other: Self) {
        self.items += other.items;
        self.rows += other.rows;
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        for (what, count) in other.sums {
            *self.sums.entry(what).or_default() += count;
        }
        for fault in other.faults {
            self.fault(&fault.item, &fault.what);
        }
        self.faults_left_out += other.faults_left_out;
        self.branches.merge(&other.branches);
    }

    /// How much is wrong.
    #[must_use]
    pub fn found(&self) -> u64 {
        u64::try_from(self.faults.len()).unwrap_or(u64::MAX) + self.faults_left_out
    }

    /// A sum of [`WalkTally::add`].
    #[must_use]
    pub fn sum(&self, what: &str) -> u64 {
        self.sums.get(what).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_come_back_from_text() {
        let mut whole = WalkTally::default();
        for item in 0..300 {
            let mut one = WalkTally::of_item("built", 2);
            one.add("orphans", item % 2);
            one.fault(&item, &"odd");
            let text = serde_json::to_string(&one).unwrap();
            whole.merge(serde_json::from_str(&text).unwrap());
        }
        assert_eq!((whole.items, whole.rows, whole.found()), (300, 600, 300));
        assert_eq!((whole.sum("orphans"), whole.outcomes["built"]), (150, 300));
        assert_eq!(whole.faults.len(), FAULTS_MAX);
        assert_eq!(
            serde_json::from_str::<WalkTally>("{}").unwrap(),
            WalkTally::default()
        );
    }
}
