//! The name of a flag.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

/// The most characters in a key.
const KEY_LEN_MAX: usize = 64;

/// A flag's key: `[a-z0-9][a-z0-9-]{0,63}`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct FlagKey(Arc<str>);

impl FlagKey {
    /// Checks a key. The error says what a key may hold.
    pub fn new(text: &str) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.len() > KEY_LEN_MAX {
            return Err(format!(
                "a flag key has 1 to {KEY_LEN_MAX} characters, not {}",
                text.len()
            ));
        }
        if text.starts_with('-') || !text.chars().all(allowed) {
            return Err(format!(
                "flag key {text:?} is not of the form [a-z0-9][a-z0-9-]*"
            ));
        }
        Ok(Self(Arc::from(text)))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for FlagKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(&text)
    }
}

impl Borrow<str> for FlagKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FlagKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_lower_case_and_safe_in_a_file_name() {
        for good in ["a", "0", "comments-threaded", "a--b-", &"k".repeat(64)] {
            assert_eq!(FlagKey::new(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "-a",
            "A",
            "a_b",
            "a.b",
            "a/b",
            "ключ",
            "a b",
            &"k".repeat(65),
        ] {
            assert!(FlagKey::new(bad).is_err(), "{bad}");
        }
    }
}
