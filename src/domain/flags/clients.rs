//! The client gate: which applications, from which version, a flag may turn something on for.
//!
//! Old clients are pinned before any hash; no list, rule or ramp overrides it. What a client says of
//! itself is not trusted and not always well formed: a version that cannot be read is an unknown one.

use std::collections::BTreeMap;

use semver::{Prerelease, Version};
use serde::Deserialize;

use super::error::FlagError;
use crate::domain::viewer::ClientInfo;

/// The most clients a gate names.
const CLIENTS_MAX: usize = 64;
/// The longest client name or version that is looked at, in bytes.
const TEXT_LEN_MAX: usize = 64;

/// What clients get that the gate does not name, or that give no readable version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownClients {
    /// The off value: they may not understand what the flag turns on.
    #[default]
    Pinned,
    /// They pass the gate.
    Allowed,
}

/// The smallest version of each client that passes.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientGate {
    minimum: BTreeMap<Box<str>, Version>,
    unknown: UnknownClients,
}

/// How a gate is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientsForm {
    #[serde(default)]
    unknown: UnknownClients,
    #[serde(default)]
    minimum: BTreeMap<String, String>,
}

impl ClientGate {
    /// Whether a client passes.
    #[must_use]
    pub fn admits(&self, client: &ClientInfo) -> bool {
        let minimum = client
            .name
            .as_deref()
            .and_then(|name| self.minimum.get(name));
        let version = client.version.as_deref().and_then(lenient_version);
        match (minimum, version) {
            (Some(minimum), Some(version)) => version >= *minimum,
            (None, _) | (_, None) => self.unknown == UnknownClients::Allowed,
        }
    }

    /// The clients named, with the smallest version that passes.
    pub fn minimums(&self) -> impl Iterator<Item = (&str, &Version)> {
        self.minimum
            .iter()
            .map(|(name, version)| (&**name, version))
    }

    /// What all other clients get.
    #[must_use]
    pub const fn unknown(&self) -> UnknownClients {
        self.unknown
    }
}

impl TryFrom<ClientsForm> for ClientGate {
    type Error = FlagError;

    fn try_from(form: ClientsForm) -> Result<Self, FlagError> {
        if form.minimum.len() > CLIENTS_MAX {
            let problem = format!(
                "names {} clients; the limit is {CLIENTS_MAX}",
                form.minimum.len()
            );
            return Err(FlagError::field("clients.minimum", problem));
        }
        let mut minimum = BTreeMap::new();
        for (name, version) in form.minimum {
            let field = format!("clients.minimum.{name}");
            if !is_client_name(&name) {
                let problem = format!("a client name has 1 to {TEXT_LEN_MAX} of [A-Za-z0-9._-]");
                return Err(FlagError::field(field, problem));
            }
            let version = lenient_version(&version).ok_or_else(|| {
                FlagError::field(field, format!("{version:?} is not a version such as 2.0.0"))
            })?;
            minimum.insert(name.into_boxed_str(), version);
        }
        Ok(Self {
            minimum,
            unknown: form.unknown,
        })
    }
}

fn is_client_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    !name.is_empty() && name.len() <= TEXT_LEN_MAX && name.bytes().all(allowed)
}

/// Reads a version as clients write them: `8`, `1.2`, `1.2.3.4`, `v2.0.0-beta.1+build`. Missing parts
/// are 0, numbers after the third and build data do not count, and a pre-release comes before its
/// release. `None` is a text with anything else in it.
#[must_use]
pub fn lenient_version(text: &str) -> Option<Version> {
    let text = text.trim();
    if text.len() > TEXT_LEN_MAX {
        return None;
    }
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let text = text
        .split_once('+')
        .map_or(text, |(version, _build)| version);
    let (numbers, pre) = text
        .split_once('-')
        .map_or((text, None), |(n, pre)| (n, Some(pre)));
    let mut parts = [0_u64; 3];
    for (position, number) in numbers.split('.').enumerate() {
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        if let Some(part) = parts.get_mut(position) {
            *part = number.parse().ok()?;
        }
    }
    let [major, minor, patch] = parts;
    let mut version = Version::new(major, minor, patch);
    if let Some(pre) = pre {
        version.pre = Prerelease::new(pre).ok().filter(|pre| !pre.is_empty())?;
    }
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(unknown: &str) -> ClientGate {
        let text = format!("unknown = {unknown:?}\nminimum = {{ web = '2.0.0', ios = '8' }}");
        toml::from_str::<ClientsForm>(&text)
            .unwrap()
            .try_into()
            .unwrap()
    }

    fn client(name: Option<&str>, version: Option<&str>) -> ClientInfo {
        ClientInfo {
            name: name.map(str::to_owned),
            version: version.map(str::to_owned),
        }
    }

    #[test]
    fn versions_are_read_as_clients_write_them() {
        for (text, want) in [
            ("8", "8.0.0"),
            ("1.2", "1.2.0"),
            ("1.2.3.4", "1.2.3"),
            ("1.2.3.99999999999999999999999", "1.2.3"),
            (" v2.0.0 ", "2.0.0"),
            ("2024.01.05", "2024.1.5"),
            ("2.0.0-beta.1+77", "2.0.0-beta.1"),
            ("2.1-rc1", "2.1.0-rc1"),
        ] {
            assert_eq!(lenient_version(text).unwrap().to_string(), want, "{text}");
        }
        let long = "1.".repeat(64) + "1";
        for bad in [
            "",
            "x",
            "1.",
            ".1",
            "1..2",
            "1.x",
            "+1",
            "1.-",
            "99999999999999999999",
            &long,
        ] {
            assert_eq!(lenient_version(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_named_client_passes_from_its_version_on() {
        for unknown in ["pinned", "allowed"] {
            let gate = gate(unknown);
            for (name, version, want) in [
                ("web", "2.0.0", true),
                ("web", "2", true),
                ("web", "10.0", true),
                ("web", "1.99.99", false),
                ("web", "2.0.0-beta.1", false),
                ("ios", "8.0", true),
                ("ios", "7.9.9.9", false),
            ] {
                let got = gate.admits(&client(Some(name), Some(version)));
                assert_eq!(got, want, "{name} {version} {unknown}");
            }
        }
    }

    #[test]
    fn whoever_gives_no_known_name_and_readable_version_is_unknown() {
        for (name, version) in [
            (None, None),
            (None, Some("9.0.0")),
            (Some("curl"), Some("9.0.0")),
            (Some("WEB"), Some("9.0.0")),
            (Some("web"), None),
            (Some("web"), Some("latest")),
        ] {
            assert!(
                !gate("pinned").admits(&client(name, version)),
                "{name:?} {version:?}"
            );
            assert!(
                gate("allowed").admits(&client(name, version)),
                "{name:?} {version:?}"
            );
        }
    }

    #[test]
    fn a_gate_with_a_broken_name_or_version_is_rejected_by_name() {
        for (text, name) in [
            ("web = 'new'", "clients.minimum.web"),
            ("'w b' = '1'", "w b"),
        ] {
            let form = toml::from_str::<ClientsForm>(&format!("[minimum]\n{text}")).unwrap();
            let error = ClientGate::try_from(form).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
