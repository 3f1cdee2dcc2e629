//! What the rows of a batch add to the counts, worked out in their order in memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::SqliteConnection;

use super::super::counting;
use super::super::create::states_of;
use crate::domain::comment::{Comment, CommentState};
use crate::domain::counts::{CountedRow, Tally, contribution};
use crate::domain::discussion::Discussion;
use crate::domain::ids::CommentId;
use crate::store::StoreError;

/// What new rows count, and what they change about rows above them.
#[derive(Debug)]
pub(super) struct Tallies {
    new: HashMap<CommentId, Tally>,
    /// Tombstones that were there and are shown from now on, with the difference that makes.
    woken: BTreeMap<CommentId, (CountedRow, Tally)>,
}

impl Tallies {
    /// Counts `comments`, and sets which of the buried ones among them are shown.
    pub(super) async fn of(
        db: &mut SqliteConnection,
        discussion: &Discussion,
        comments: &mut [Comment],
    ) -> Result<Self, StoreError> {
        let own: HashSet<CommentId> = comments.iter().map(|comment| comment.id).collect();
        let above = comments.iter().flat_map(|comment| &comment.ancestors);
        let mut above: Vec<CommentId> = above.filter(|id| !own.contains(id)).copied().collect();
        above.sort_unstable();
        above.dedup();
        let mut facts: HashMap<CommentId, CountedRow> = HashMap::new();
        for row in states_of(db, discussion.id, &above).await? {
            facts.insert(row.id, row);
        }
        let mut tallies = Self {
            new: HashMap::with_capacity(comments.len()),
            woken: BTreeMap::new(),
        };
        for comment in comments.iter() {
            tallies.count(comment, &mut facts);
        }
        for comment in comments {
            let fact = facts.get(&comment.id);
            comment.live_below = fact.is_some_and(|fact| fact.live_below);
        }
        Ok(tallies)
    }

    /// Counts one row, and wakes the tombstones above it.
    fn count(&mut self, comment: &Comment, facts: &mut HashMap<CommentId, CountedRow>) {
        let hides = |id: &&CommentId| {
            let fact = facts.get(id);
            fact.is_some_and(|fact| fact.state.hides_below())
        };
        let hidden: Vec<CommentId> = comment.ancestors.iter().filter(hides).copied().collect();
        let tally = contribution(comment.state, false, !hidden.is_empty());
        self.new.insert(comment.id, tally);
        let fact = CountedRow {
            id: comment.id,
            ancestors: comment.ancestors.clone(),
            state: comment.state,
            live_below: false,
        };
        facts.insert(comment.id, fact);
        if comment.state != CommentState::Published {
            return;
        }
        // Upwards, until something hidden cuts the new row off.
        for id in comment.ancestors.iter().rev() {
            let Some(fact) = facts.get_mut(id) else {
                continue;
            };
            if fact.state.hides_below() {
                break;
            }
            if fact.state != CommentState::Buried || fact.live_below {
                continue;
            }
            fact.live_below = true;
            let hidden_above = fact.ancestors.iter().any(|id| hidden.contains(id));
            let shown = Tally {
                shown: i64::from(!hidden_above),
                ..Tally::default()
            };
            match self.new.get_mut(id) {
                Some(tally) => *tally += shown,
                None => {
                    self.woken.insert(*id, (fact.clone(), shown));
                }
            }
        }
    }

    /// What a new row counts.
    pub(super) fn tally(&self, id: CommentId) -> Tally {
        self.new.get(&id).copied().unwrap_or_default()
    }

    /// Writes what changed about rows that were there.
    pub(super) async fn adjust(
        &self,
        db: &mut SqliteConnection,
        discussion: &Discussion,
    ) -> Result<(), StoreError> {
        if self.woken.is_empty() {
            return Ok(());
        }
        for id in self.woken.keys() {
            counting::set_live_below(db, discussion.id, *id, true).await?;
        }
        let changes: Vec<(&CountedRow, Tally)> = self
            .woken
            .values()
            .map(|(row, difference)| (row, *difference))
            .collect();
        counting::adjust(db, discussion, &changes).await
    }
}
