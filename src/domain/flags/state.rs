//! A flag's runtime state, and the file that overrides the definitions' initial values.
//!
//! The definition lies in git; what runs does not. State names a flag and the fields it sets; it may
//! outlive the flag, and waits for it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::definition::Flag;
use super::error::FlagError;
use super::key::FlagKey;
use super::share::Share;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagState {
    /// Whether the flag serves anything but its off value.
    pub enabled: bool,
    /// The emergency brake: off for everyone, before anything else. Only state can set it.
    pub kill: bool,
    /// The share of the main rollout; `None` is a flag without one.
    pub rollout: Option<Share>,
}

impl FlagState {
    /// The state a definition starts with.
    #[must_use]
    pub fn initial(flag: &Flag) -> Self {
        Self {
            enabled: flag.enabled,
            kill: false,
            rollout: flag.rollout.as_ref().map(|rollout| rollout.share),
        }
    }
}

/// The fields of a flag's state that are set; the others keep the definition's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateOverride {
    /// Wins over the definition's.
    pub enabled: Option<bool>,
    /// Wins over "not killed".
    pub kill: Option<bool>,
    /// Wins over the share of the definition's rollout; gives one to a flag that has none.
    pub rollout: Option<Share>,
}

impl StateOverride {
    /// What runs when this lies over a definition's initial state.
    #[must_use]
    pub fn over(self, initial: FlagState) -> FlagState {
        FlagState {
            enabled: self.enabled.unwrap_or(initial.enabled),
            kill: self.kill.unwrap_or(initial.kill),
            rollout: self.rollout.or(initial.rollout),
        }
    }
}

/// What a state file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// By flag.
    pub set: BTreeMap<FlagKey, StateOverride>,
    /// Entries that are not understood, by the name as written.
    pub rejected: BTreeMap<String, FlagError>,
}

impl States {
    /// Reads `flags.state.toml`: a table a flag. A file that is not TOML is an error as a whole; one
    /// bad entry is rejected alone.
    pub fn from_toml(text: &str) -> Result<Self, FlagError> {
        let table =
            toml::from_str::<toml::Table>(text).map_err(|error| FlagError::form(text, &error))?;
        let mut states = Self::default();
        for (name, value) in table {
            let entry = FlagKey::new(&name).and_then(|key| {
                let state = value.try_into::<StateOverride>();
                Ok((key, state.map_err(|error| error.message().to_owned())?))
            });
            match entry {
                Ok((key, state)) => {
                    states.set.insert(key, state);
                }
                Err(problem) => {
                    states
                        .rejected
                        .insert(name.clone(), FlagError::field(name, problem));
                }
            }
        }
        Ok(states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_sets_only_the_fields_it_names() {
        let initial = FlagState {
            enabled: false,
            kill: false,
            rollout: Some(Share::new(1, 16).unwrap()),
        };
        let states = States::from_toml("[a]\n[b]\nkill = true\nrollout = { num = 1, den = 4 }");
        let states = states.unwrap();
        assert!(states.rejected.is_empty());
        assert_eq!(states.set["a"].over(initial), initial);
        let rollout = Some(Share::new(1, 4).unwrap());
        assert_eq!(
            states.set["b"].over(initial),
            FlagState {
                enabled: false,
                kill: true,
                rollout
            }
        );
    }

    // cases/flags.md row 21: state cannot set a share above the whole either.
    #[test]
    fn a_bad_entry_is_rejected_alone_and_says_why() {
        let text =
            "[a]\nrollout = { num = 150, den = 100 }\n[b]\nkill = true\n[c]\nkil = true\n[D]";
        let states = States::from_toml(text).unwrap();
        assert_eq!(states.set.len(), 1);
        assert_eq!(states.set["b"].kill, Some(true));
        for (name, problem) in [("a", "rollout.num is 150"), ("c", "kil"), ("D", "flag key")] {
            let error = states.rejected[name].to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_toml_is_an_error_with_its_line() {
        let error = States::from_toml("[a]\nkill = maybe")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("line 2, "), "{error}");
    }
}
