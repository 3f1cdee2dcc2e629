//! The kinds of value that a setting can have beside numbers, booleans and text.
//!
//! Each parses from text with an error that says what was expected, and prints so that a secret
//! never reaches a log: `Debug`, `Display` and `Serialize` of everything here are safe to show.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is shown instead of a secret.
pub const MASK: &str = "***";

/// A value that must not be seen. It prints as `***` wherever it is formatted.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl FromStr for Secret {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self::new(text))
    }
}

/// A length of time, written as a whole number and a unit: `250ms`, `10s`, `5m`, `24h`, `7d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(Duration);

/// The units of a [`HumanDuration`], smallest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

impl HumanDuration {
    /// A length of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// The length as the standard library knows it.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let fits = |(_, unit_ms): &&(&str, u64)| ms > 0 && ms.is_multiple_of(*unit_ms);
        let (unit, unit_ms) = UNITS.iter().rev().find(fits).unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", ms / unit_ms)
    }
}

impl FromStr for HumanDuration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "a whole number with a unit of ms, s, m, h or d, such as \"250ms\"".into();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.strip_prefix(digits).unwrap_or_default();
        let count: u64 = digits.parse().map_err(|_parse| expected())?;
        let (_, unit_ms) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(expected)?;
        count
            .checked_mul(*unit_ms)
            .map(Self::from_millis)
            .ok_or_else(expected)
    }
}

/// Where a store is: `sqlite:data/comments.db`, `folder:flags`. A password in it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The part before the first colon: which engine opens the rest.
    pub fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(scheme, _)| scheme)
    }

    /// The part after the first colon, as that engine understands it.
    pub fn rest(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, rest)| rest)
    }

    /// The whole URL with its password, for the engine that opens it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask_password(&self.0))
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Self(text.to_owned());
        let is_whole = !url.scheme().is_empty() && !url.rest().is_empty();
        is_whole
            .then_some(url)
            .ok_or_else(|| "a URL such as \"sqlite:data/comments.db\"".into())
    }
}

/// Hides the password of a URL (`scheme://user:password@host`); other text stays as it is.
pub(super) fn mask_password(text: &str) -> String {
    let masked = || {
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (account, host) = authority.rsplit_once('@')?;
        let (name, _) = account.split_once(':')?;
        Some(format!("{scheme}://{name}:{MASK}@{host}{path}"))
    };
    masked().unwrap_or_else(|| text.to_owned())
}

/// Serde through `FromStr` and `Display`.
macro_rules! through_text {
    ($($kind:ty),+) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}
through_text!(HumanDuration, StoreUrl);

/// Serde of settings that are off when they are empty text: the file can then list every setting.
pub(super) mod empty_is_off {
    use std::fmt;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: fmt::Display>,
    {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(serde::de::Error::custom)
    }

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub(crate) fn serialize<S, T>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        T: Serialize,
    {
        match value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_whole_number_and_a_unit() {
        for (text, ms) in [
            ("250ms", 250),
            ("10s", 10_000),
            ("5m", 300_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(text.parse(), Ok(HumanDuration::from_millis(ms)), "{text}");
        }
        for text in [
            "",
            "10",
            "s",
            "1.5s",
            "-1s",
            "10 s",
            "10S",
            "10w",
            "99999999999999999999d",
        ] {
            assert!(text.parse::<HumanDuration>().is_err(), "{text}");
        }
        assert!(
            "18446744073709551615d".parse::<HumanDuration>().is_err(),
            "must not wrap"
        );
    }

    #[test]
    fn a_duration_prints_in_its_largest_whole_unit() {
        for text in ["250ms", "10s", "5m", "7h", "7d", "0ms", "1500ms"] {
            assert_eq!(text.parse::<HumanDuration>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_password_is_hidden_and_the_rest_stays() {
        let hidden = |text: &str| text.parse::<StoreUrl>().unwrap().to_string();
        assert_eq!(
            hidden("mysql://app:p@ss@db:3306/x"),
            "mysql://app:***@db:3306/x"
        );
        assert_eq!(hidden("redis://:secret@cache"), "redis://:***@cache");
        assert_eq!(hidden("sqlite:data/a@b.db"), "sqlite:data/a@b.db");
        assert_eq!(hidden("cassandra://a,b/ks"), "cassandra://a,b/ks");
    }

    #[test]
    fn a_secret_is_never_formatted() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), MASK);
    }
}
