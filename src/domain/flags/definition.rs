//! A flag's definition, checked and prepared for evaluation: sets are hashed, versions parsed,
//! variants resolved. It is built from a file only (`file.rs`), so an unchecked one does not exist.

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Date;

use super::clients::ClientGate;
use super::key::FlagKey;
use super::share::{Share, part, unit_hash};
use super::value::{Attribute, Kind, Variant};

/// A checked definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    pub(super) key: FlagKey,
    pub(super) description: String,
    pub(super) owner: String,
    pub(super) created: Date,
    pub(super) expires: Date,
    pub(super) kind: Kind,
    pub(super) variants: Vec<Variant>,
    pub(super) on: Variant,
    pub(super) off: Variant,
    pub(super) enabled: bool,
    pub(super) salt: Salt,
    pub(super) clients: Option<ClientGate>,
    pub(super) prerequisites: Vec<Prerequisite>,
    pub(super) deny: HashSet<Box<str>>,
    pub(super) allow: HashSet<Box<str>>,
    pub(super) rules: Vec<Rule>,
    pub(super) rollout: Option<Rollout>,
}

impl Flag {
    /// The name it is asked by.
    #[must_use]
    pub const fn key(&self) -> &FlagKey {
        &self.key
    }

    /// What it switches, for people.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The team to ask.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// When it was written.
    #[must_use]
    pub const fn created(&self) -> Date {
        self.created
    }

    /// When it should be gone from the code. Nothing changes by itself on that day.
    #[must_use]
    pub const fn expires(&self) -> Date {
        self.expires
    }

    /// What kind of value it serves.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// All it can serve, by name in byte order.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Served to those who are in: the allow list, the rollout, everybody when there is no rollout.
    #[must_use]
    pub const fn on(&self) -> &Variant {
        &self.on
    }

    /// Served to those who are out.
    #[must_use]
    pub const fn off(&self) -> &Variant {
        &self.off
    }

    /// Hash input that makes this flag's cohorts its own.
    #[must_use]
    pub fn salt(&self) -> &str {
        self.salt.text()
    }

    /// Which clients may get more than the off value; `None` is all of them.
    #[must_use]
    pub const fn clients(&self) -> Option<&ClientGate> {
        self.clients.as_ref()
    }

    /// What other flags must serve first.
    #[must_use]
    pub fn prerequisites(&self) -> &[Prerequisite] {
        &self.prerequisites
    }

    /// Whether one of its variants has this name.
    #[must_use]
    pub fn has_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| &*variant.name == name)
    }
}

/// The salt, with the bytes that go before a unit ready to hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Salt {
    text: String,
    gate: Box<[u8]>,
    variant: Box<[u8]>,
}

impl Salt {
    /// A checked salt: it holds neither `/` nor a zero byte, so no two salts share a hash input.
    pub(super) fn new(text: String) -> Self {
        let gate = format!("{text}\0").into_bytes().into_boxed_slice();
        // A hash of its own: with the gate's, all who pass a small gate would get the first variant.
        let variant = format!("{text}/variant\0").into_bytes().into_boxed_slice();
        Self {
            text,
            gate,
            variant,
        }
    }

    fn text(&self) -> &str {
        &self.text
    }

    /// Decides membership of rollouts.
    pub(super) fn gate_hash(&self, unit: &str) -> u32 {
        unit_hash(&self.gate, unit)
    }

    /// Decides the variant of those who are in.
    pub(super) fn variant_hash(&self, unit: &str) -> u32 {
        unit_hash(&self.variant, unit)
    }
}

/// Another flag that must serve a variant to the same context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prerequisite {
    /// The other flag.
    pub flag: FlagKey,
    /// What it must serve.
    pub variant: Box<str>,
}

/// Serves something to contexts for which all conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// At least one.
    pub when: Vec<Condition>,
    /// What those contexts get.
    pub serve: Serve,
}

/// What a rule gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Serve {
    /// One variant to all.
    Variant(Variant),
    /// A share of them; the others get the off value, not the next rule.
    Rollout(Rollout),
}

/// A test of one attribute. An attribute that is not given holds for no test.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Its name.
    pub attribute: Box<str>,
    /// What must hold.
    pub test: Test,
}

/// What must hold of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It is this one.
    Equals(Attribute),
    /// It is one of these.
    In(HashSet<Attribute>),
}

impl Rule {
    /// Whether all conditions hold.
    #[must_use]
    pub fn matches(&self, attributes: &BTreeMap<String, Attribute>) -> bool {
        self.when
            .iter()
            .all(|condition| match attributes.get(&*condition.attribute) {
                Some(given) => match &condition.test {
                    Test::Equals(wanted) => given == wanted,
                    Test::In(wanted) => wanted.contains(given),
                },
                None => false,
            })
    }
}

/// A share of units, and how those who are in are split over variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    /// Who is in.
    pub share: Share,
    /// `None`: all who are in get the flag's `on` variant.
    pub split: Option<Split>,
}

/// Variants by weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Each variant with the sum of the weights up to and including it, in name order.
    pub(super) upto: Vec<(u32, Variant)>,
    /// All weights together; at least 1.
    pub(super) total: u32,
}

impl Split {
    /// The variant of a hash.
    pub(super) fn pick(&self, hash: u32) -> Option<&Variant> {
        let place = part(hash, self.total);
        self.upto
            .iter()
            .find(|(upto, _)| place < *upto)
            .map(|(_, variant)| variant)
    }
}
