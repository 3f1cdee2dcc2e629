//! JSON values whose kind differs from export to export: an id is a number here and text there.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Text, or a number or truth value in its usual spelling. Lists and objects are errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Loose(pub(super) String);

impl Loose {
    /// The text; nothing at all counts as empty.
    pub(super) fn text(value: Option<Self>) -> String {
        value.map(|value| value.0).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Loose;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a number")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Loose, E> {
                Ok(Loose(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Loose, E> {
                Ok(Loose(text))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// Tells the first time an id comes by, at eight bytes an id. Two ids that are taken for one (never,
/// in practice) cost the second its title, nothing else.
#[derive(Default)]
pub(super) struct Firsts {
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl fmt::Debug for Firsts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Firsts").field(&self.seen.len()).finish()
    }
}

impl Firsts {
    /// Whether `id` comes by for the first time.
    pub(super) fn is_first(&mut self, id: &str) -> bool {
        self.seen.insert(self.hasher.hash_one(id))
    }
}
