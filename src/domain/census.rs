//! A whole discussion counted from its rows, in few bytes a row.
//!
//! This is the judge of every stored count: [`Census`] takes rows oldest first (18 bytes each, so a
//! million are 18 MB) and works out, in one pass down and one up, what each contributes. Runs and
//! sums follow from that. It agrees with [`super::counts::branch_tallies`], which works on one
//! branch held in full; a property test holds the two together.

use super::comment::CommentState;
use super::counts::{CountedRow, DiscussionCounts, RUN_ROWS_MAX, Run, Tally, contribution};
use super::ids::CommentId;

/// No row.
const NONE: u32 = u32::MAX;

/// Rows taken in, not yet counted.
#[derive(Debug, Default)]
pub struct Census {
    ids: Vec<CommentId>,
    parents: Vec<u32>,
    states: Vec<CommentState>,
    stored_live: Vec<bool>,
    depths: Vec<u16>,
}

impl Census {
    /// Takes the next row; rows come in rising order of id. An ancestor that is not there is passed
    /// over: what hangs below counts as hanging below the next one up.
    pub fn add(&mut self, row: &CountedRow) {
        let mut above = row.ancestors.iter().rev();
        let parent = above
            .find_map(|id| self.position(*id))
            .and_then(|at| u32::try_from(at).ok());
        self.ids.push(row.id);
        self.parents.push(parent.unwrap_or(NONE));
        self.states.push(row.state);
        self.stored_live.push(row.live_below);
        self.depths
            .push(u16::try_from(row.ancestors.len()).unwrap_or(u16::MAX));
    }

    fn position(&self, id: CommentId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Counts.
    #[must_use]
    pub fn count(self) -> Counted {
        let rows = self.ids.len();
        let mut live_below = vec![false; rows];
        // Up: children come after their parents, so each is settled when it is reached.
        for at in (0..rows).rev() {
            let reaches = match self.states.get(at) {
                Some(CommentState::Published) => true,
                Some(CommentState::Buried) => live_below.get(at) == Some(&true),
                Some(CommentState::Hidden | CommentState::Pending) | None => false,
            };
            if reaches
                && let Some(parent) = self.parent(at)
                && let Some(live) = live_below.get_mut(parent)
            {
                *live = true;
            }
        }
        // A published row says nothing about what is below it; only buried ones are tombstones.
        for (live, state) in live_below.iter_mut().zip(&self.states) {
            *live &= *state == CommentState::Buried;
        }
        let mut hidden_above = vec![false; rows];
        for at in 0..rows {
            let hidden = self.parent(at).is_some_and(|parent| {
                hidden_above.get(parent) == Some(&true)
                    || self
                        .states
                        .get(parent)
                        .is_some_and(|state| state.hides_below())
            });
            if let Some(slot) = hidden_above.get_mut(at) {
                *slot = hidden;
            }
        }
        Counted {
            census: self,
            live_below,
            hidden_above,
        }
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.parents.get(at).copied().filter(|row| *row != NONE)?;
        usize::try_from(parent).ok()
    }
}

/// A discussion counted.
#[derive(Debug)]
pub struct Counted {
    census: Census,
    live_below: Vec<bool>,
    hidden_above: Vec<bool>,
}

impl Counted {
    /// Rows counted.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.census.ids.len()
    }

    fn tally(&self, at: usize) -> Tally {
        let (Some(state), Some(live), Some(hidden)) = (
            self.census.states.get(at),
            self.live_below.get(at),
            self.hidden_above.get(at),
        ) else {
            return Tally::default();
        };
        contribution(*state, *live, *hidden)
    }

    /// The sums of the discussion.
    #[must_use]
    pub fn sums(&self) -> DiscussionCounts {
        let mut sums = DiscussionCounts::default();
        for (at, depth) in self.census.depths.iter().enumerate() {
            let tally = self.tally(at);
            sums.all += tally;
            if *depth == 0 {
                sums.roots += tally;
            }
        }
        sums
    }

    /// Buried rows whose stored mark says otherwise than the rows below them, with the right one.
    pub fn wrong_tombstones(&self) -> impl Iterator<Item = (CommentId, bool)> + '_ {
        let stored = self.census.stored_live.iter();
        let rows = self.census.ids.iter().zip(&self.census.states);
        rows.zip(stored.zip(&self.live_below))
            .filter(|((_, state), (stored, right))| {
                **state == CommentState::Buried && stored != right
            })
            .map(|((id, _), (_, right))| (*id, *right))
    }

    /// The rows of the linear list, as one list.
    #[must_use]
    pub fn linear(&self) -> Lists<'_> {
        Lists {
            counted: self,
            order: (0..narrow(self.rows())).map(|row| (-1, row)).collect(),
        }
    }

    /// The roots, as one list.
    #[must_use]
    pub fn roots(&self) -> Lists<'_> {
        let depths = self.census.depths.iter().zip(0_u32..);
        Lists {
            counted: self,
            order: depths
                .filter(|(depth, _)| **depth == 0)
                .map(|(_, row)| (0, row))
                .collect(),
        }
    }

    /// The replies up to `to`, a list for each branch of a layout with this depth limit.
    #[must_use]
    pub fn branches(&self, depth_limit: u16, to: CommentId) -> Lists<'_> {
        let limit = depth_limit.max(1);
        let rows = self.rows();
        // A row's branch is its parent down to the limit, and its parent's branch below.
        let mut heads = vec![0_i64; rows];
        for at in 0..rows {
            let depth = self.census.depths.get(at).copied().unwrap_or(0);
            let parent = self.census.parent(at);
            let head = match parent {
                None => 0,
                Some(parent) if depth <= limit => {
                    self.census.ids.get(parent).map_or(0, |id| id.get())
                }
                Some(parent) => heads.get(parent).copied().unwrap_or(0),
            };
            if let Some(slot) = heads.get_mut(at) {
                *slot = head;
            }
        }
        let counted = self.census.ids.partition_point(|id| *id <= to);
        let mut order: Vec<(i64, u32)> = heads
            .into_iter()
            .take(counted)
            .zip(0_u32..)
            .filter(|(head, _)| *head != 0)
            .collect();
        order.sort_unstable();
        Lists {
            counted: self,
            order,
        }
    }
}

fn narrow(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(NONE)
}

/// Lists of rows, each by its branch and within it by id.
#[derive(Debug)]
pub struct Lists<'a> {
    counted: &'a Counted,
    order: Vec<(i64, u32)>,
}

/// One list: its rows and what each contributes.
#[derive(Debug)]
pub struct List<'a> {
    counted: &'a Counted,
    /// The branch: -1 linear, 0 roots, else the id of the branch's head.
    pub branch: i64,
    rows: &'a [(i64, u32)],
}

impl Lists<'_> {
    /// Each list once, by rising branch.
    pub fn each(&self) -> impl Iterator<Item = List<'_>> {
        let pieces = self.order.chunk_by(|a, b| a.0 == b.0);
        pieces.filter_map(|rows| {
            Some(List {
                counted: self.counted,
                branch: rows.first()?.0,
                rows,
            })
        })
    }
}

impl List<'_> {
    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no row: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn counted_rows(&self) -> impl Iterator<Item = (CommentId, Tally)> + '_ {
        self.rows.iter().filter_map(|(_, row)| {
            let at = usize::try_from(*row).ok()?;
            Some((*self.counted.census.ids.get(at)?, self.counted.tally(at)))
        })
    }

    /// The runs it should have, each of the usual size.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (id, tally) in self.counted_rows() {
            match runs.last_mut() {
                Some(run) if run.tally.total < RUN_ROWS_MAX => {
                    run.to_id = id;
                    run.tally += tally;
                }
                _ => runs.push(Run {
                    from_id: id,
                    to_id: id,
                    tally,
                }),
            }
        }
        runs
    }

    /// Whether `stored` (oldest first) covers every row once, in runs of bounded size with the
    /// right sums. How the rows are cut into runs does not matter.
    #[must_use]
    pub fn agrees_with(&self, stored: &[Run]) -> bool {
        let mut runs = stored.iter();
        let mut rows = self.counted_rows().peekable();
        for run in runs.by_ref() {
            let mut sum = Tally::default();
            let mut first = None;
            while let Some((id, tally)) = rows.next_if(|(id, _)| *id <= run.to_id) {
                first.get_or_insert(id);
                sum += tally;
            }
            let is_right = sum == run.tally
                && first.is_some_and(|first| first >= run.from_id)
                && sum.total <= 2 * RUN_ROWS_MAX;
            if !is_right {
                return false;
            }
        }
        rows.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::comment::branch_of;
    use super::super::counts::branch_tallies;
    use super::*;

    fn any_rows() -> impl Strategy<Value = Vec<CountedRow>> {
        let state = prop_oneof![
            4 => Just(CommentState::Published),
            2 => Just(CommentState::Buried),
            1 => Just(CommentState::Hidden),
            1 => Just(CommentState::Pending),
        ];
        prop::collection::vec(
            (any::<prop::sample::Index>(), 0_u8..5, state, any::<bool>()),
            1..40,
        )
        .prop_map(|drawn| {
            let mut rows: Vec<CountedRow> = Vec::new();
            for (parent, reply, state, live_below) in drawn {
                let mut ancestors = Vec::new();
                if reply > 0 && !rows.is_empty() {
                    let parent = &rows[parent.index(rows.len())];
                    ancestors.clone_from(&parent.ancestors);
                    ancestors.push(parent.id);
                }
                let id = CommentId::new(i64::try_from(rows.len()).unwrap() + 1);
                rows.push(CountedRow {
                    id,
                    ancestors,
                    state,
                    live_below,
                });
            }
            rows
        })
    }

    fn counted(rows: &[CountedRow]) -> Counted {
        let mut census = Census::default();
        for row in rows {
            census.add(row);
        }
        census.count()
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_rule_for_a_branch(rows in any_rows(), limit in 1_u16..4) {
            let right = branch_tallies(&rows);
            let counted = counted(&rows);
            let mut sums = DiscussionCounts::default();
            for row in &rows {
                sums.all += right[&row.id].0;
                if row.ancestors.is_empty() {
                    sums.roots += right[&row.id].0;
                }
            }
            prop_assert_eq!(counted.sums(), sums);
            let wrong: HashMap<CommentId, bool> = counted.wrong_tombstones().collect();
            for row in rows.iter().filter(|row| row.state == CommentState::Buried) {
                let live = right[&row.id].1;
                let said = wrong.get(&row.id).copied().unwrap_or(row.live_below);
                prop_assert_eq!(said, live);
            }
            let mut branches: HashMap<i64, Tally> = HashMap::new();
            for row in rows.iter().filter(|row| !row.ancestors.is_empty()) {
                *branches.entry(branch_of(&row.ancestors, limit)).or_default() += right[&row.id].0;
            }
            let lists = counted.branches(limit, CommentId::new(i64::MAX));
            let mut seen = 0;
            for list in lists.each() {
                let mut sum = Tally::default();
                for run in list.runs() {
                    sum += run.tally;
                }
                prop_assert_eq!(sum, branches[&list.branch]);
                prop_assert!(list.agrees_with(&list.runs()));
                seen += 1;
            }
            prop_assert_eq!(seen, branches.len());
        }

        #[test]
        fn a_stored_run_that_is_wrong_in_any_way_is_seen(rows in any_rows(), what in 0_u8..5) {
            let counted = counted(&rows);
            let lists = counted.linear();
            let list = lists.each().next().unwrap();
            let mut runs = list.runs();
            let run = runs.first_mut().unwrap();
            match what {
                0 => run.tally.visible += 1,
                1 => run.to_id = CommentId::new(run.to_id.get() - 1),
                2 => run.from_id = CommentId::new(run.from_id.get() + 1),
                3 => drop(runs.pop()),
                _ => { let more = *run; runs.push(more); }
            }
            prop_assert!(!list.agrees_with(&runs));
        }
    }
}
