//! Collects everything that is wrong with a configuration, so that it is all reported at once.

use std::collections::BTreeSet;
use std::fmt;

use super::layers::Layers;
use super::values::HumanDuration;

/// One thing that is wrong: the setting, its value where it may be shown, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The setting (`server.listen`), or the file or variable that could not be read.
    pub key: String,
    /// The value as it was written, with secrets hidden; `None` where showing it is no help.
    pub value: Option<String>,
    /// The file or variable that it comes from; empty where the key is that.
    pub source: String,
    /// What is expected: a sentence that follows the value.
    pub must: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(value) = &self.value {
            write!(f, " = {value}")?;
        }
        if !self.source.is_empty() {
            write!(f, " ({})", self.source)?;
        }
        write!(f, ": {}", self.must)
    }
}

/// Everything that is wrong with a configuration; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "the configuration has {count} problem{plural}:")?;
        self.0
            .iter()
            .try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

/// The problems found so far. A setting that has one is not blamed again.
#[derive(Debug)]
pub(super) struct Checks<'a> {
    layers: &'a Layers,
    blamed: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(layers: &'a Layers, problems: Vec<Problem>) -> Self {
        let blamed = problems.iter().map(|problem| problem.key.clone()).collect();
        Self {
            layers,
            blamed,
            problems,
        }
    }

    /// Blames the setting `key`; `must` says what it must be.
    pub(super) fn problem(&mut self, key: &str, must: String) {
        if self.blamed.insert(key.to_owned()) {
            self.problems.push(self.layers.blame(key, must));
        }
    }

    /// Blames a number outside `min..=max`.
    pub(super) fn between<N>(&mut self, key: &str, value: N, min: N, max: N)
    where
        N: PartialOrd + fmt::Display + Copy,
    {
        if value < min || value > max {
            self.problem(key, format!("must be from {min} to {max}"));
        }
    }

    /// Blames a length of time outside the two limits.
    pub(super) fn lasts(&mut self, key: &str, value: HumanDuration, limits: (&str, &str)) {
        let (min, max) = limits;
        let is_within = |limit: &str, keeps: fn(HumanDuration, HumanDuration) -> bool| {
            limit.parse().is_ok_and(|limit| keeps(value, limit))
        };
        if !is_within(min, |value, min| value >= min) || !is_within(max, |value, max| value <= max)
        {
            self.problem(key, format!("must be from \"{min}\" to \"{max}\""));
        }
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}
