//! Feature flags: what a flag is, and what it answers for a viewer. Pure: no files, no clock.
//!
//! A flag is two things. The *definition* ([`Flag`]) is code: owner, variants, gates, rules, salt. The
//! *state* ([`FlagState`]) is what runs: enabled, kill, rollout; it wins over the definition's initial
//! values. A [`FlagSet`] holds both for every flag and never changes: stores swap whole sets.
//!
//! Invariant: [`evaluate()`] is a function of the set, the key and the context alone, so every instance
//! gives a viewer the same answer, and membership of a rollout depends on salt, unit and share only.

mod clients;
mod definition;
mod error;
mod evaluate;
mod file;
mod graph;
mod key;
mod set;
mod share;
mod state;
mod value;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;

use std::collections::BTreeMap;

pub use clients::{ClientGate, UnknownClients, lenient_version};
pub use definition::{Condition, Flag, Prerequisite, Rollout, Rule, Serve, Split, Test};
pub use error::FlagError;
pub use evaluate::{Evaluation, Reason, evaluate};
pub use file::FLAG_FILE_BYTES_MAX;
pub use key::FlagKey;
pub use set::{Entry, FlagSet};
pub use share::{DEN_MAX, Share, slot16, unit_hash};
pub use state::{FlagState, StateOverride, States};
pub use value::{Attribute, Kind, Value, Variant};

use super::viewer::ClientInfo;

/// What a flag looks at: who asks, with which client, and what is known about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// What rollouts hash and lists name: a user id in decimal, a device id; bytes as given. An empty
    /// string counts as none, or all who send an empty header would share one cohort.
    pub unit: Option<String>,
    /// The application, as it names itself.
    pub client: ClientInfo,
    /// What rules compare, by name.
    pub attributes: BTreeMap<String, Attribute>,
}

impl Context {
    /// The context of one unit, without client or attributes.
    #[must_use]
    pub fn of_unit(unit: impl Into<String>) -> Self {
        Self {
            unit: Some(unit.into()),
            ..Self::default()
        }
    }

    /// The unit, if there is one that can be hashed.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|unit| !unit.is_empty())
    }
}
