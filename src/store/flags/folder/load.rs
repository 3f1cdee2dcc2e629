//! Reads the folder and the state file, and remembers the last good of each.
//!
//! Nothing here is an error that stops: a broken file is a rejection, an unreadable folder leaves all
//! as it was. Files are parsed only when their bytes changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::RejectedFlag;
use crate::domain::flags::{FLAG_FILE_BYTES_MAX, Flag, FlagKey, FlagSet, StateOverride, States};

/// The most flag files that are read.
const FILES_MAX: usize = 1_024;
/// The largest state file, in bytes.
const STATE_FILE_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Loader {
    folder: PathBuf,
    state_file: PathBuf,
    /// By file name.
    files: BTreeMap<String, Seen>,
    /// Files the last reading did not find, that the one before did.
    missing: BTreeSet<String>,
    /// Names above the limit, not read.
    above_limit: Vec<String>,
    states: SeenStates,
}

/// A flag file as last read.
#[derive(Debug, Default)]
struct Seen {
    /// `None` when it could not be read.
    bytes: Option<Vec<u8>>,
    good: Option<Arc<Flag>>,
    problem: Option<String>,
}

/// The state file as last read.
#[derive(Debug, Default)]
struct SeenStates {
    bytes: Option<Vec<u8>>,
    missing: bool,
    good: BTreeMap<FlagKey, StateOverride>,
    /// By entry; the empty name is the whole file.
    problems: BTreeMap<String, String>,
}

impl Loader {
    pub(super) fn new(folder: PathBuf, state_file: PathBuf) -> Self {
        Self {
            folder,
            state_file,
            files: BTreeMap::new(),
            missing: BTreeSet::new(),
            above_limit: Vec::new(),
            states: SeenStates::default(),
        }
    }

    /// Whether a file was not found once and should be looked for again.
    pub(super) fn has_missing(&self) -> bool {
        !self.missing.is_empty() || self.states.missing
    }

    /// Reads every flag file. An error leaves all as it was.
    pub(super) fn read_flags(&mut self) -> Result<(), String> {
        let mut names =
            list(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        self.above_limit = names.split_off(names.len().min(FILES_MAX));
        let mut found = BTreeSet::new();
        for name in names {
            let bytes = read(&self.folder.join(&name), FLAG_FILE_BYTES_MAX);
            if matches!(bytes, Ok(None)) {
                continue;
            }
            self.files
                .entry(name.clone())
                .or_default()
                .take(&name, bytes);
            found.insert(name);
        }
        let was_missing = std::mem::take(&mut self.missing);
        for name in self.files.keys().filter(|name| !found.contains(*name)) {
            self.missing.insert(name.clone());
        }
        let deleted: Vec<String> = self.missing.intersection(&was_missing).cloned().collect();
        for name in deleted {
            self.missing.remove(&name);
            self.files.remove(&name);
        }
        Ok(())
    }

    /// Reads the state file, which need not exist. An error leaves the states as they were.
    pub(super) fn read_states(&mut self) -> Result<(), String> {
        let read = read(&self.state_file, STATE_FILE_BYTES_MAX);
        let states = &mut self.states;
        let Some(bytes) =
            read.map_err(|error| format!("{}: {error}", self.state_file.display()))?
        else {
            let known = states.bytes.is_some();
            if known && !states.missing {
                states.missing = true;
            } else {
                *states = SeenStates::default();
            }
            return Ok(());
        };
        states.missing = false;
        if states.bytes.as_deref() != Some(&*bytes) {
            states.take(&bytes);
            states.bytes = Some(bytes);
        }
        Ok(())
    }

    /// What is wrong with the state file.
    pub(super) fn state_problems(&self) -> Vec<RejectedFlag> {
        let file = self
            .state_file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let entry = |(entry, error): (&String, &String)| RejectedFlag {
            place: if entry.is_empty() {
                file.to_string()
            } else {
                format!("{file} [{entry}]")
            },
            error: error.clone(),
            keeps_last_good: entry.is_empty() || self.states.good.contains_key(entry.as_str()),
        };
        self.states.problems.iter().map(entry).collect()
    }

    /// The set after `before`, and everything that is not as the files say.
    pub(super) fn build(&self, before: &FlagSet) -> (FlagSet, Vec<RejectedFlag>) {
        let candidates = self
            .files
            .values()
            .filter_map(|seen| seen.good.clone())
            .collect();
        let (set, broken) = before.next(candidates, &self.states.good);
        let mut rejected = self.state_problems();
        for (name, seen) in &self.files {
            if let Some(error) = &seen.problem {
                let stem = name.strip_suffix(".toml").unwrap_or(name);
                let keeps_last_good = set.get(stem).is_some();
                rejected.push(RejectedFlag {
                    place: name.clone(),
                    error: error.clone(),
                    keeps_last_good,
                });
            }
        }
        for name in &self.above_limit {
            let error = format!("not read: the folder holds more than {FILES_MAX} flags");
            rejected.push(RejectedFlag {
                place: name.clone(),
                error,
                keeps_last_good: false,
            });
        }
        for (key, error) in broken {
            rejected.push(RejectedFlag {
                place: format!("{key}.toml"),
                error: error.to_string(),
                keeps_last_good: set.get(key.as_str()).is_some(),
            });
        }
        rejected.sort();
        (set, rejected)
    }
}

impl Seen {
    fn take(&mut self, name: &str, bytes: Result<Option<Vec<u8>>, String>) {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(problem) => {
                self.bytes = None;
                self.problem = Some(problem);
                return;
            }
        };
        if bytes.is_some() && bytes == self.bytes {
            return;
        }
        match parse(name, bytes.as_deref().unwrap_or_default()) {
            Ok(flag) => {
                self.good = Some(Arc::new(flag));
                self.problem = None;
            }
            Err(problem) => self.problem = Some(problem),
        }
        self.bytes = bytes;
    }
}

impl SeenStates {
    fn take(&mut self, bytes: &[u8]) {
        let parsed =
            text(bytes).and_then(|text| States::from_toml(text).map_err(|error| error.to_string()));
        match parsed {
            Ok(mut states) => {
                // A broken entry keeps its last good value; an entry taken out is gone.
                for name in states.rejected.keys() {
                    if let Some((key, last)) = self.good.get_key_value(name.as_str()) {
                        states.set.insert(key.clone(), *last);
                    }
                }
                self.good = states.set;
                let problems = states.rejected.into_iter();
                self.problems = problems
                    .map(|(name, error)| (name, error.to_string()))
                    .collect();
            }
            Err(problem) => self.problems = BTreeMap::from([(String::new(), problem)]),
        }
    }
}

fn parse(name: &str, bytes: &[u8]) -> Result<Flag, String> {
    let flag = Flag::from_toml(text(bytes)?).map_err(|error| error.to_string())?;
    // One file a key: two files can then never fight over one flag.
    if name.strip_suffix(".toml") != Some(flag.key().as_str()) {
        return Err(format!(
            "key: `{}` must be the file's name without .toml",
            flag.key()
        ));
    }
    Ok(flag)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("is not UTF-8: {error}"))
}

/// Names of the flag files, sorted. Hidden files are editors' and mounts' own.
fn list(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.strip_suffix(".toml").is_some() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A file's bytes; `None` if there is none.
fn read(path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, String> {
    let result = regular(path).and_then(|()| {
        let mut bytes = Vec::new();
        let limit = u64::try_from(bytes_max)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match result {
        Ok(bytes) if bytes.len() > bytes_max => {
            Err(format!("is larger than the limit of {bytes_max} bytes"))
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Refuses what is not a file: reading a pipe would wait for ever.
fn regular(path: &Path) -> std::io::Result<()> {
    if fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(std::io::Error::other("is not a regular file"))
}
