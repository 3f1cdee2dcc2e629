//! Resolving parents: from rows that say "I answer that one" to a tree that loses nobody.
//!
//! Rows come oldest first, so every parent that can be right was seen before. A parent that was
//! not seen (missing, of another discussion, newer, or part of a cycle) makes the row a root.

use std::collections::HashMap;

use super::comment::DEPTH_MAX;
use super::ids::CommentId;

/// What was odd about a row's parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oddity {
    /// Not among the older rows of the discussion: the row became a root.
    ParentNotBefore,
    /// On the deepest level: the row hangs beside its parent instead.
    TooDeep,
}

/// A row's place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it answers, once resolved.
    pub parent_id: Option<CommentId>,
    /// Everything above it, root first.
    pub ancestors: Vec<CommentId>,
    /// What was odd, if anything.
    pub oddity: Option<Oddity>,
}

/// Remembers, for each row seen, what it hangs under: 24 bytes a row, whatever its depth.
#[derive(Debug, Default)]
pub struct TreeResolver {
    parents: HashMap<CommentId, Option<CommentId>>,
}

impl TreeResolver {
    /// A resolver that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Places the next row; rows come in rising order of id.
    pub fn place(&mut self, id: CommentId, parent_id: Option<CommentId>) -> Place {
        let place = match parent_id {
            None => Place {
                parent_id: None,
                ancestors: Vec::new(),
                oddity: None,
            },
            Some(parent) if !self.parents.contains_key(&parent) => Place {
                parent_id: None,
                ancestors: Vec::new(),
                oddity: Some(Oddity::ParentNotBefore),
            },
            Some(parent) => self.under(parent),
        };
        self.parents.insert(id, place.parent_id);
        place
    }

    fn under(&self, parent: CommentId) -> Place {
        let mut ancestors = vec![parent];
        let mut at = parent;
        // Ends: each step leads to an older row.
        while let Some(Some(above)) = self.parents.get(&at) {
            ancestors.push(*above);
            at = *above;
        }
        ancestors.reverse();
        let too_deep = ancestors.len() > usize::from(DEPTH_MAX);
        ancestors.truncate(usize::from(DEPTH_MAX));
        Place {
            parent_id: ancestors.last().copied(),
            ancestors,
            oddity: too_deep.then_some(Oddity::TooDeep),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(raw: &[i64]) -> Vec<CommentId> {
        raw.iter().copied().map(CommentId::new).collect()
    }

    #[test]
    fn missing_parents_and_cycles_make_roots_and_lose_nobody() {
        let mut tree = TreeResolver::new();
        let mut place =
            |id, parent: Option<i64>| tree.place(CommentId::new(id), parent.map(CommentId::new));
        assert_eq!(place(1, None).ancestors, ids(&[]));
        assert_eq!(place(2, Some(1)).ancestors, ids(&[1]));
        assert_eq!(place(3, Some(99)).oddity, Some(Oddity::ParentNotBefore));
        // A cycle 4 > 5 > 4: the older one becomes a root, the newer one its reply.
        assert_eq!(place(4, Some(5)).oddity, Some(Oddity::ParentNotBefore));
        assert_eq!(place(5, Some(4)).ancestors, ids(&[4]));
        assert_eq!(place(6, Some(6)).oddity, Some(Oddity::ParentNotBefore));
        assert_eq!(place(7, Some(2)).ancestors, ids(&[1, 2]));
    }

    #[test]
    fn a_row_below_the_deepest_level_hangs_beside_its_parent() {
        let mut tree = TreeResolver::new();
        tree.place(CommentId::new(1), None);
        for id in 2..=i64::from(DEPTH_MAX) + 1 {
            assert_eq!(
                tree.place(CommentId::new(id), Some(CommentId::new(id - 1)))
                    .oddity,
                None
            );
        }
        let deepest = i64::from(DEPTH_MAX) + 1;
        let place = tree.place(CommentId::new(deepest + 1), Some(CommentId::new(deepest)));
        assert_eq!(place.oddity, Some(Oddity::TooDeep));
        assert_eq!(place.parent_id, Some(CommentId::new(deepest - 1)));
        assert_eq!(place.ancestors.len(), usize::from(DEPTH_MAX));
    }

    proptest! {
        #[test]
        fn every_row_gets_a_place_that_agrees_with_its_parents(
            parents in prop::collection::vec(prop::option::of(0_i64..60), 1..60)
        ) {
            let mut tree = TreeResolver::new();
            let mut places: HashMap<CommentId, Vec<CommentId>> = HashMap::new();
            for (at, parent) in parents.into_iter().enumerate() {
                let id = CommentId::new(i64::try_from(at).unwrap());
                let place = tree.place(id, parent.map(CommentId::new));
                prop_assert_eq!(place.ancestors.last().copied(), place.parent_id);
                if let Some(parent) = place.parent_id {
                    let mut expected = places[&parent].clone();
                    expected.push(parent);
                    prop_assert_eq!(&place.ancestors, &expected);
                    prop_assert!(parent < id);
                }
                places.insert(id, place.ancestors);
            }
        }
    }
}
