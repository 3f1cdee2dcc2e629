//! Resolving parents: from rows that say "I answer that one" to a tree that loses nobody.
//!
//! Rows come oldest first, so every parent that can be right was seen before. A parent that was
//! not seen (missing, of another discussion, newer, or part of a cycle) makes the row a root.

use super::branches::BranchHistogram;
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

/// No parent.
const NONE: u32 = u32::MAX;

/// Remembers, for each row seen, what it hangs under: 12 bytes a row, whatever its depth, so that
/// a discussion of a million comments takes 12 MB.
#[derive(Debug, Default)]
pub struct TreeResolver {
    /// Rising, because rows come that way; a row's position here is its short name.
    ids: Vec<CommentId>,
    parents: Vec<u32>,
}

impl TreeResolver {
    /// A resolver that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no row was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The rows seen, rising.
    #[must_use]
    pub fn ids(&self) -> &[CommentId] {
        &self.ids
    }

    /// Where among the rows seen an id stands.
    #[must_use]
    pub fn position(&self, id: CommentId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Places the next row; rows come in rising order of id.
    pub fn place(&mut self, id: CommentId, parent_id: Option<CommentId>) -> Place {
        debug_assert!(
            self.ids.last().is_none_or(|last| *last < id),
            "{id} is late"
        );
        let found = parent_id.and_then(|parent| self.position(parent));
        let (place, parent) = match found {
            Some(parent) => self.under(parent),
            None => (
                Place {
                    parent_id: None,
                    ancestors: Vec::new(),
                    oddity: parent_id.map(|_| Oddity::ParentNotBefore),
                },
                NONE,
            ),
        };
        self.ids.push(id);
        self.parents.push(parent);
        place
    }

    /// Everything above a row seen, root first.
    #[must_use]
    pub fn ancestors(&self, position: usize) -> Vec<CommentId> {
        let parent = self.parents.get(position).copied().unwrap_or(NONE);
        self.chain(parent).into_iter().map(|(id, _)| id).collect()
    }

    /// How long the branch under each root is: everything below it counts.
    #[must_use]
    pub fn branches(&self) -> BranchHistogram {
        let mut histogram = BranchHistogram::default();
        let mut below = vec![0_u32; self.ids.len()];
        // From the newest up: a row's count is whole before it is added to its parent's.
        for at in (0..self.ids.len()).rev() {
            let own = below.get(at).copied().unwrap_or(0);
            let parent = self.parents.get(at).copied().unwrap_or(NONE);
            match usize::try_from(parent)
                .ok()
                .and_then(|row| below.get_mut(row))
            {
                Some(above) => *above += own + 1,
                None => {
                    if let Some(root) = self.ids.get(at) {
                        histogram.add(*root, u64::from(own));
                    }
                }
            }
        }
        histogram
    }

    /// A row and everything above it, root first, with the short name of each.
    fn chain(&self, row: u32) -> Vec<(CommentId, u32)> {
        let mut chain = Vec::new();
        let mut at = row;
        // Ends: each step leads to an older row.
        while let Some((id, parent)) = self.row(at) {
            chain.push((id, at));
            at = parent;
        }
        chain.reverse();
        chain
    }

    fn row(&self, row: u32) -> Option<(CommentId, u32)> {
        let at = usize::try_from(row).ok()?;
        Some((*self.ids.get(at)?, *self.parents.get(at)?))
    }

    fn under(&self, parent: usize) -> (Place, u32) {
        let mut chain = self.chain(u32::try_from(parent).unwrap_or(NONE));
        let too_deep = chain.len() > usize::from(DEPTH_MAX);
        chain.truncate(usize::from(DEPTH_MAX));
        let parent = chain.last().copied();
        let place = Place {
            parent_id: parent.map(|(id, _)| id),
            ancestors: chain.into_iter().map(|(id, _)| id).collect(),
            oddity: too_deep.then_some(Oddity::TooDeep),
        };
        (place, parent.map_or(NONE, |(_, row)| row))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

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
                prop_assert_eq!(&tree.ancestors(at), &place.ancestors);
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
