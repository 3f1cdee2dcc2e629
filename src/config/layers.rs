//! The layers of the configuration: the embedded default file, a file, the environment.
//!
//! The default file lists every setting, so it says which keys exist and of which kind they are.
//! Each value of a later layer is tried alone over the defaults: a bad one is blamed with its
//! source and left out, and the others are still looked at.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use figment::error::Kind;
use figment::providers::{Format, Toml};
use figment::value::{Dict, Value};

use super::Config;
use super::checks::Problem;
use super::values::{MASK, mask_password};

/// What a setting is set to and where that was said.
#[derive(Clone, Debug)]
struct Setting {
    value: Value,
    source: String,
}

/// Every setting with the value of the last layer that has a good one.
#[derive(Debug)]
pub(super) struct Layers {
    defaults: Dict,
    settings: BTreeMap<String, Setting>,
    problems: Vec<Problem>,
}

/// The settings whose value is never shown.
const SECRETS: [&str; 1] = ["auth.hs256_secret"];

/// The prefix of every environment variable that is read.
const PREFIX: &str = "THREADLINE_";

/// Variables with the prefix that are not settings: the file's own name, what only tests read, and
/// what Kubernetes sets beside a service that is called threadline.
const NOT_SETTINGS: [&str; 4] = ["CONFIG", "TEST_", "SERVICE_", "PORT"];

impl Layers {
    /// Starts with the text of the default file.
    pub(super) fn new(defaults: &str) -> Self {
        let mut layers = Self {
            defaults: Dict::new(),
            settings: BTreeMap::new(),
            problems: Vec::new(),
        };
        match Toml::from_str::<Dict>(defaults) {
            Ok(defaults) => {
                for (key, value) in flatten(&defaults) {
                    layers.settings.insert(
                        key,
                        Setting {
                            value,
                            source: "default".into(),
                        },
                    );
                }
                layers.defaults = defaults;
            }
            Err(error) => layers.unreadable("default file", &error.to_string()),
        }
        layers
    }

    /// Lays a file over what is there.
    pub(super) fn file(&mut self, path: &Path) {
        let name = path.display().to_string();
        let parsed = std::fs::read_to_string(path)
            .map_err(|error| format!("must be a readable file: {error}"))
            .and_then(|text| {
                Toml::from_str::<Dict>(&text).map_err(|error| not_toml(&error.to_string()))
            });
        match parsed {
            Ok(values) => {
                for (key, value) in flatten(&values) {
                    self.set(&key, value, &name);
                }
            }
            Err(must) => self.unreadable(&name, &must),
        }
    }

    /// Lays environment variables over what is there; those without the prefix are passed by.
    pub(super) fn environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) {
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            let rest = name.strip_prefix(PREFIX).unwrap_or_default();
            if NOT_SETTINGS.iter().any(|known| rest.starts_with(known)) {
                continue;
            }
            let Some(text) = value.to_str() else {
                self.unreadable(name, "must be UTF-8");
                continue;
            };
            let key = rest.to_lowercase().replace("__", ".");
            let value = self.typed(&key, text);
            self.set(&key, value, name);
        }
    }

    /// A variable is text; the kind of the default says how it is meant, so that a secret made of
    /// digits stays text.
    fn typed(&self, key: &str, text: &str) -> Value {
        match self.settings.get(key) {
            Some(Setting {
                value: Value::String(..),
                ..
            }) => Value::from(text),
            _ => text.parse().unwrap_or_else(|never| match never {}),
        }
    }

    fn set(&mut self, key: &str, value: Value, source: &str) {
        let shown = show(key, &value);
        let problem = |value, must| Problem {
            key: key.into(),
            value,
            source: source.into(),
            must,
        };
        let Some(default) = self.settings.get(key) else {
            self.problems.push(problem(None, self.unknown(key)));
            return;
        };
        let mut alone = self.defaults.clone();
        place(&mut alone, key, value.clone());
        if let Err(error) = Config::from_value(&Value::from(alone)) {
            let must = expectation(&error.kind, &show(key, &default.value));
            self.problems.push(problem(Some(shown), must));
            return;
        }
        self.settings.insert(
            key.into(),
            Setting {
                value,
                source: source.into(),
            },
        );
    }

    /// What to say about a key that does not exist: the ones that do.
    fn unknown(&self, key: &str) -> String {
        let (section, _) = key.split_once('.').unwrap_or((key, ""));
        let names = |prefix: &str| -> Vec<&str> {
            self.settings
                .keys()
                .filter_map(|known| known.strip_prefix(prefix))
                .collect()
        };
        let in_section = names(&format!("{section}."));
        if in_section.is_empty() {
            let sections: Vec<&str> = self.defaults.keys().map(String::as_str).collect();
            let sections = sections.join(", ");
            return format!(
                "is not a setting; the sections are {sections} (a variable is \
                 {PREFIX}SECTION__SETTING)"
            );
        }
        format!(
            "is not a setting; [{section}] has {}",
            in_section.join(", ")
        )
    }

    fn unreadable(&mut self, what: &str, must: &str) {
        let (key, must) = (what.to_owned(), must.trim_end().replace('\n', "\n    "));
        self.problems.push(Problem {
            key,
            value: None,
            source: String::new(),
            must,
        });
    }

    /// The problem of a setting, with the value and the source that it has now.
    pub(super) fn blame(&self, key: &str, must: String) -> Problem {
        let setting = self.settings.get(key);
        Problem {
            key: key.into(),
            value: setting.map(|setting| show(key, &setting.value)),
            source: setting
                .map(|setting| setting.source.clone())
                .unwrap_or_default(),
            must,
        }
    }

    /// The problems so far, and the configuration that the good values make.
    pub(super) fn merged(&self) -> (Vec<Problem>, Option<Config>) {
        let mut values = self.defaults.clone();
        for (key, setting) in &self.settings {
            place(&mut values, key, setting.value.clone());
        }
        let mut problems = self.problems.clone();
        match Config::from_value(&Value::from(values)) {
            Ok(config) => (problems, Some(config)),
            Err(error) => {
                // Only a default file that lacks a setting comes here; a test keeps it whole.
                let (key, must) = (error.path.join("."), error.kind.to_string());
                problems.push(Problem {
                    key,
                    value: None,
                    source: "default".into(),
                    must,
                });
                (problems, None)
            }
        }
    }

    /// Where each setting that is not a default was set.
    pub(super) fn sources(&self) -> BTreeMap<String, String> {
        let changed = self
            .settings
            .iter()
            .filter(|(_, setting)| setting.source != "default");
        changed
            .map(|(key, setting)| (key.clone(), setting.source.clone()))
            .collect()
    }
}

impl Config {
    fn from_value(values: &Value) -> Result<Self, Box<figment::Error>> {
        values.deserialize().map_err(Box::new)
    }
}

/// `section.name` for every value that is not itself a table.
fn flatten(values: &Dict) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (name, value) in values {
        if let Some(inner) = value.as_dict() {
            let inner = flatten(inner).into_iter();
            flat.extend(inner.map(|(key, value)| (format!("{name}.{key}"), value)));
        } else {
            flat.push((name.clone(), value.clone()));
        }
    }
    flat
}

/// Puts the value at `section.name`.
fn place(values: &mut Dict, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            values.insert(key.into(), value);
        }
        Some((section, rest)) => {
            let inner = values
                .entry(section.into())
                .or_insert_with(|| Value::from(Dict::new()));
            if let Value::Dict(_, inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// Why a file does not parse and where, without the line itself: a secret may stand in it.
fn not_toml(error: &str) -> String {
    let is_quote = |line: &&str| {
        line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit())
            .starts_with('|')
    };
    let reasons: Vec<&str> = error
        .trim_end()
        .lines()
        .filter(|line| !is_quote(line))
        .collect();
    format!("must be TOML: {}", reasons.join("; "))
}

/// A value as TOML would have it, with secrets hidden.
fn show(key: &str, value: &Value) -> String {
    if SECRETS.contains(&key) {
        return MASK.into();
    }
    if let Some(text) = value.as_str() {
        return format!("{:?}", mask_password(text));
    }
    if let Some(items) = value.as_array() {
        let items: Vec<String> = items.iter().map(|item| show(key, item)).collect();
        return format!("[{}]", items.join(", "));
    }
    let number = value.to_i128().map(|number| number.to_string());
    let number = number.or_else(|| value.to_u128().map(|number| number.to_string()));
    let number = number.or_else(|| value.to_f64().map(|number| number.to_string()));
    number
        .or_else(|| value.to_bool().map(|is| is.to_string()))
        .unwrap_or_else(|| "{…}".into())
}

/// What a value that does not parse must be; `example` is the default, which does.
fn expectation(kind: &Kind, example: &str) -> String {
    if let Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) = kind {
        return match expected.as_str() {
            "usize" | "u64" | "u32" => "must be a whole number, 0 or more".into(),
            "isize" | "i64" | "i32" => "must be a whole number".into(),
            "a boolean" | "bool" => "must be true or false".into(),
            "a string" | "string" | "str" => format!("must be text in quotes, such as {example}"),
            "a sequence" | "sequence" => "must be a list, such as [\"one\", \"two\"]".into(),
            other => format!("must be {other}, such as {example}"),
        };
    }
    if let Kind::UnknownVariant(_, known) = kind {
        let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        return format!("must be one of {}", known.join(", "));
    }
    if let Kind::Message(reason) = kind
        && example == "\"\""
    {
        return format!("must be valid: {reason}");
    }
    format!("must be like {example}: {kind}")
}
