//! All flags at one revision. A set never changes; stores swap a whole one for the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::definition::Flag;
use super::error::FlagError;
use super::graph::{Flags, settle};
use super::key::FlagKey;
use super::state::{FlagState, StateOverride};

/// A flag and the state it runs in.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The definition.
    pub flag: Arc<Flag>,
    /// What runs.
    pub state: FlagState,
}

/// Definitions and states of all flags at one revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlagSet {
    revision: u64,
    entries: BTreeMap<FlagKey, Entry>,
}

impl FlagSet {
    /// A set of these definitions in their initial states, revision 0. An error is the first broken
    /// prerequisite. Of two definitions of one key the later counts.
    pub fn from_definitions(flags: Vec<Flag>) -> Result<Self, FlagError> {
        let candidates = flags.into_iter().map(Arc::new).collect();
        let (set, rejected) = Self::default().next(candidates, &BTreeMap::new());
        match rejected.into_values().next() {
            Some(error) => Err(error),
            None => Ok(set),
        }
    }

    /// The set that follows this one, with what was rejected and why. A rejected flag keeps its
    /// definition of this set, or is left out when it has none. The revision is this set's when
    /// nothing changed for evaluation, else one more.
    #[must_use]
    pub fn next(
        &self,
        candidates: Vec<Arc<Flag>>,
        states: &BTreeMap<FlagKey, StateOverride>,
    ) -> (Self, BTreeMap<FlagKey, FlagError>) {
        let live: Flags = self
            .iter()
            .map(|one| (one.flag.key.clone(), Arc::clone(&one.flag)))
            .collect();
        let candidates = candidates
            .into_iter()
            .map(|flag| (flag.key.clone(), flag))
            .collect();
        let (flags, rejected) = settle(candidates, &live);
        let entries: BTreeMap<FlagKey, Entry> = flags
            .into_iter()
            .map(|(key, flag)| {
                let state = states.get(&key).copied().unwrap_or_default();
                let state = state.over(FlagState::initial(&flag));
                (key, Entry { flag, state })
            })
            .collect();
        let revision = self.revision + u64::from(entries != self.entries);
        (Self { revision, entries }, rejected)
    }

    /// Grows by one with each change of a definition or a state.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// One flag.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// All flags, by key in byte order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// How many flags there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
