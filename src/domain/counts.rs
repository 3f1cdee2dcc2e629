//! What is counted, and what one change of a branch does to the counts.
//!
//! `total` = all rows; `published` = not hidden, buried or pending; `visible` = published without a
//! hidden or pending ancestor; `shown` = visible + tombstones. Everything here is derived from rows alone, so a
//! recount is always possible and always wins.

use std::collections::HashMap;

use super::comment::{Comment, CommentState};
use super::ids::CommentId;

/// The four sums of a list of comments (or the difference between two).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All rows.
    pub total: i64,
    /// Rows that are neither hidden, buried nor pending.
    pub published: i64,
    /// Published rows without a hidden ancestor.
    pub visible: i64,
    /// Visible rows and tombstones: what a page lists.
    pub shown: i64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.published += other.published;
        self.visible += other.visible;
        self.shown += other.shown;
    }
}

impl std::ops::Sub for Tally {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            total: self.total - other.total,
            published: self.published - other.published,
            visible: self.visible - other.visible,
            shown: self.shown - other.shown,
        }
    }
}

/// The sums of a whole discussion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiscussionCounts {
    /// Every comment.
    pub all: Tally,
    /// The roots among them.
    pub roots: Tally,
}

impl DiscussionCounts {
    /// Visible replies.
    #[must_use]
    pub const fn replies_visible(&self) -> i64 {
        self.all.visible - self.roots.visible
    }
}

/// Consecutive rows of one list, counted together: [`RUN_ROWS_MAX`] at most where a list grows at
/// its end, twice as many where it grows in its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The smallest id of the run.
    pub from_id: CommentId,
    /// The largest id of the run.
    pub to_id: CommentId,
    /// Its sums.
    pub tally: Tally,
}

/// Rows in a run before the next one begins.
pub const RUN_ROWS_MAX: i64 = 1_000;

/// The facts of a row that counting needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedRow {
    /// The row's id.
    pub id: CommentId,
    /// Everything above it, root first.
    pub ancestors: Vec<CommentId>,
    /// Where it stands.
    pub state: CommentState,
    /// As stored: whether a buried row is shown as a tombstone.
    pub live_below: bool,
}

impl From<&Comment> for CountedRow {
    fn from(row: &Comment) -> Self {
        Self {
            id: row.id,
            ancestors: row.ancestors.clone(),
            state: row.state,
            live_below: row.live_below,
        }
    }
}

/// One row's contribution, given whether anything above it is hidden.
#[must_use]
pub fn contribution(state: CommentState, live_below: bool, hidden_above: bool) -> Tally {
    let published = state == CommentState::Published;
    let visible = published && !hidden_above;
    let tombstone = state == CommentState::Buried && live_below && !hidden_above;
    Tally {
        total: 1,
        published: i64::from(published),
        visible: i64::from(visible),
        shown: i64::from(visible || tombstone),
    }
}

/// What every row of a whole branch (root and all below) contributes, and its right `live_below`.
///
/// `live_below` of a buried row: a published row hangs below with nothing hidden between. It is
/// worked out here from the states, whatever is stored. Rows may come in any order; ancestors that
/// are not among the rows count as published.
#[must_use]
pub fn branch_tallies(rows: &[CountedRow]) -> HashMap<CommentId, (Tally, bool)> {
    let states: HashMap<CommentId, CommentState> =
        rows.iter().map(|row| (row.id, row.state)).collect();
    let state_of = |id: &CommentId| states.get(id).copied().unwrap_or(CommentState::Published);
    let mut live: HashMap<CommentId, bool> = HashMap::with_capacity(rows.len());
    for row in rows
        .iter()
        .filter(|row| row.state == CommentState::Published)
    {
        // Upwards, until something hidden cuts the row off from what is above.
        for ancestor in row.ancestors.iter().rev() {
            match state_of(ancestor) {
                CommentState::Hidden | CommentState::Pending => break,
                CommentState::Buried => {
                    live.insert(*ancestor, true);
                }
                CommentState::Published => {}
            }
        }
    }
    rows.iter()
        .map(|row| {
            let hidden_above = row.ancestors.iter().any(|id| state_of(id).hides_below());
            let live_below = live.get(&row.id).copied().unwrap_or(false);
            (
                row.id,
                (
                    contribution(row.state, live_below, hidden_above),
                    live_below,
                ),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use CommentState::{Buried, Hidden, Pending, Published};

    fn row(id: i64, ancestors: &[i64], state: CommentState) -> CountedRow {
        CountedRow {
            id: CommentId::new(id),
            ancestors: ancestors.iter().copied().map(CommentId::new).collect(),
            state,
            live_below: false,
        }
    }

    fn sums(rows: &[CountedRow]) -> Tally {
        let mut sum = Tally::default();
        for (tally, _) in branch_tallies(rows).into_values() {
            sum += tally;
        }
        sum
    }

    #[test]
    fn replies_under_a_hidden_root_are_published_but_not_visible() {
        let mut rows = vec![row(1, &[], Hidden)];
        rows.extend((2..12).map(|id| row(id, &[1], Published)));
        assert_eq!(
            sums(&rows),
            Tally {
                total: 11,
                published: 10,
                visible: 0,
                shown: 0
            }
        );
        rows[0].state = Published;
        assert_eq!(
            sums(&rows),
            Tally {
                total: 11,
                published: 11,
                visible: 11,
                shown: 11
            }
        );
    }

    #[test]
    fn with_two_hidden_ancestors_restoring_one_shows_nothing() {
        let rows = [
            row(1, &[], Hidden),
            row(2, &[1], Published),
            row(3, &[1, 2], Published),
        ];
        assert_eq!(sums(&rows).visible, 0);
        let rows = [
            row(1, &[], Hidden),
            row(2, &[1], Hidden),
            row(3, &[1, 2], Published),
        ];
        assert_eq!(sums(&rows).visible, 0);
    }

    #[test]
    fn a_buried_row_is_a_tombstone_only_over_something_readable() {
        let rows = [
            row(1, &[], Published),
            row(2, &[1], Buried),
            row(3, &[1, 2], Published),
        ];
        assert_eq!(
            sums(&rows),
            Tally {
                total: 3,
                published: 2,
                visible: 2,
                shown: 3
            }
        );
        let leaf = [row(1, &[], Published), row(2, &[1], Buried)];
        assert_eq!(
            sums(&leaf),
            Tally {
                total: 2,
                published: 1,
                visible: 1,
                shown: 1
            }
        );
        let over_hidden = [
            row(1, &[], Buried),
            row(2, &[1], Hidden),
            row(3, &[1, 2], Published),
        ];
        assert_eq!(sums(&over_hidden).shown, 0);
        let under_pending = [
            row(1, &[], Pending),
            row(2, &[1], Published),
            row(3, &[1, 2], Buried),
        ];
        assert_eq!(
            sums(&under_pending),
            Tally {
                total: 3,
                published: 1,
                visible: 0,
                shown: 0
            }
        );
        let over_pending = [row(1, &[], Buried), row(2, &[1], Pending)];
        assert_eq!(sums(&over_pending).shown, 0);
        let chain = [
            row(1, &[], Buried),
            row(2, &[1], Buried),
            row(3, &[1, 2], Published),
        ];
        assert_eq!(
            sums(&chain),
            Tally {
                total: 3,
                published: 1,
                visible: 1,
                shown: 3
            }
        );
    }
}
