//! What a flag answers for a context. The order of steps is fixed; the first that decides wins:
//!
//! kill → enabled → client gate → prerequisites → deny → allow → rules → rollout → default
//!
//! The gate comes before any hash, so no list, rule or ramp reaches an old client. Each unit is hashed
//! once. Without a unit nobody is in a cohort: a rollout then serves the off value, reason DEFAULT.

use std::sync::Arc;

use super::Context;
use super::definition::{Flag, Rollout, Serve, Split};
use super::set::{Entry, FlagSet};
use super::share::{Share, slot16};
use super::value::{Value, Variant};

/// The step that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The kill switch: off for everyone.
    Killed,
    /// The flag is not enabled: off for everyone.
    Disabled,
    /// The client is too old or unknown: off, and no ramp overrides it.
    Client,
    /// Another flag does not serve what this one requires: off.
    Prerequisite,
    /// The unit is on the deny list: off.
    Denied,
    /// The unit is on the allow list: on.
    Allowed,
    /// A rule's conditions hold; its variant, or its own rollout, decided.
    Rule,
    /// The flag's rollout decided, either way.
    Rollout,
    /// Nothing of the above: on when the flag has no rollout, off when there is no unit to hash.
    Default,
    /// No such flag: false.
    Missing,
}

impl Reason {
    /// As GraphQL and OFREP write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "KILLED",
            Self::Disabled => "DISABLED",
            Self::Client => "CLIENT",
            Self::Prerequisite => "PREREQUISITE",
            Self::Denied => "DENIED",
            Self::Allowed => "ALLOWED",
            Self::Rule => "RULE",
            Self::Rollout => "ROLLOUT",
            Self::Default => "DEFAULT",
            Self::Missing => "MISSING",
        }
    }
}

/// A flag's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// What to use.
    pub value: Value,
    /// Its name; empty for a missing flag.
    pub variant: Arc<str>,
    /// The step that decided.
    pub reason: Reason,
    /// The unit's hash under the flag's salt, when a rollout was asked.
    pub hash: Option<u32>,
    /// The hash's slot of 16, for people.
    pub slot16: Option<u8>,
}

impl Evaluation {
    /// Whether a boolean flag is on; false for flags of other kinds and for missing ones.
    #[must_use]
    pub fn is_on(&self) -> bool {
        matches!(self.value, Value::Bool(true))
    }

    fn of(variant: &Variant, reason: Reason, hash: Option<u32>) -> Self {
        Self {
            value: variant.value.clone(),
            variant: Arc::clone(&variant.name),
            reason,
            hash,
            slot16: hash.map(slot16),
        }
    }
}

/// Evaluates a flag. Total: a flag that does not exist answers false with [`Reason::Missing`].
#[must_use]
pub fn evaluate(set: &FlagSet, key: &str, context: &Context) -> Evaluation {
    match set.get(key) {
        Some(entry) => decide(set, entry, context),
        None => Evaluation {
            value: Value::Bool(false),
            variant: Arc::from(""),
            reason: Reason::Missing,
            hash: None,
            slot16: None,
        },
    }
}

fn decide(set: &FlagSet, entry: &Entry, context: &Context) -> Evaluation {
    let flag = &*entry.flag;
    let off = |reason| Evaluation::of(&flag.off, reason, None);
    if entry.state.kill {
        return off(Reason::Killed);
    }
    if !entry.state.enabled {
        return off(Reason::Disabled);
    }
    if flag
        .clients
        .as_ref()
        .is_some_and(|gate| !gate.admits(&context.client))
    {
        return off(Reason::Client);
    }
    let serves = |key: &str, variant: &str| {
        set.get(key)
            .is_some_and(|other| &*decide(set, other, context).variant == variant)
    };
    if !flag
        .prerequisites
        .iter()
        .all(|one| serves(one.flag.as_str(), &one.variant))
    {
        return off(Reason::Prerequisite);
    }
    let unit = context.unit();
    if unit.is_some_and(|unit| flag.deny.contains(unit)) {
        return off(Reason::Denied);
    }
    if unit.is_some_and(|unit| flag.allow.contains(unit)) {
        return Evaluation::of(&flag.on, Reason::Allowed, None);
    }
    if let Some(rule) = flag
        .rules
        .iter()
        .find(|rule| rule.matches(&context.attributes))
    {
        return match &rule.serve {
            Serve::Variant(variant) => Evaluation::of(variant, Reason::Rule, None),
            Serve::Rollout(Rollout { share, split }) => {
                place(flag, unit, *share, split.as_ref(), Reason::Rule)
            }
        };
    }
    match entry.state.rollout {
        Some(share) => {
            let split = flag
                .rollout
                .as_ref()
                .and_then(|rollout| rollout.split.as_ref());
            place(flag, unit, share, split, Reason::Rollout)
        }
        None => Evaluation::of(&flag.on, Reason::Default, None),
    }
}

/// Places a unit inside or outside a share.
fn place(
    flag: &Flag,
    unit: Option<&str>,
    share: Share,
    split: Option<&Split>,
    reason: Reason,
) -> Evaluation {
    let Some(unit) = unit else {
        return Evaluation::of(&flag.off, Reason::Default, None);
    };
    let hash = flag.salt.gate_hash(unit);
    if !share.contains(hash) {
        return Evaluation::of(&flag.off, reason, Some(hash));
    }
    let variant = split.and_then(|split| split.pick(flag.salt.variant_hash(unit)));
    Evaluation::of(variant.unwrap_or(&flag.on), reason, Some(hash))
}
