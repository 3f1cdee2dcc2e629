//! The settings of the process: read once at the start, checked as a whole, never changed.
//!
//! `deploy/threadline.toml` is the default, the list and the documentation of every setting; it is
//! part of the binary. A file lies over it, the `THREADLINE_…` environment over both. Unknown keys
//! are errors, all problems are reported at once, and secrets print as `***`. Feature flags are not
//! settings: they change while the process runs.

mod auth;
mod checks;
mod comments;
mod layers;
mod live;
mod moderation;
mod process;
mod server;
mod stores;
mod values;
mod walker;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::auth::Auth;
pub use self::checks::{Problem, Problems};
pub use self::comments::Comments;
pub use self::live::Live;
pub use self::moderation::Moderation;
pub use self::process::{Clock, LogFormat, Telemetry};
pub use self::server::Server;
pub use self::stores::Stores;
pub use self::values::{HumanDuration, MASK, Secret, StoreUrl};
pub use self::walker::Walker;

use self::checks::Checks;
use self::layers::Layers;

/// The default file: every setting with its default and what it does.
pub const DEFAULT_FILE: &str = include_str!("../../deploy/threadline.toml");

/// Every setting, one field a section of the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the gateway listens and what a request may cost.
    pub server: Server,
    /// How the gateway learns who is asking.
    pub auth: Auth,
    /// Where the data is.
    pub stores: Stores,
    /// Limits of discussions and their pages.
    pub comments: Comments,
    /// Words that hold or refuse a text, and who tells spam.
    pub moderation: Moderation,
    /// How fast work over whole tables may go.
    pub walker: Walker,
    /// Connections that stay open.
    pub live: Live,
    /// What the process says about itself.
    pub telemetry: Telemetry,
    /// The time that the process believes.
    pub clock: Clock,
}

/// A configuration and where its values come from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings, checked.
    pub config: Config,
    /// The file or variable of each setting (`server.listen`) that is not a default.
    pub sources: BTreeMap<String, String>,
}

impl Config {
    /// Reads the default file, then `file` if there is one, then the process's environment.
    /// Fails with everything that is wrong in any of them.
    pub fn load(file: Option<&Path>) -> Result<Loaded, Problems> {
        Self::load_from(file, std::env::vars_os())
    }

    /// As [`Config::load`], with the environment given.
    pub fn load_from(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Loaded, Problems> {
        let mut layers = Layers::new(DEFAULT_FILE);
        if let Some(path) = file {
            layers.file(path);
        }
        layers.environment(environment);
        let (problems, config) = layers.merged();
        let Some(config) = config else {
            return Err(Problems(problems));
        };
        let mut checks = Checks::new(&layers, problems);
        config.check(&mut checks);
        match checks.into_problems() {
            problems if problems.is_empty() => Ok(Loaded {
                config,
                sources: layers.sources(),
            }),
            problems => Err(Problems(problems)),
        }
    }

    /// The settings of the default file alone, for tests and tools that read no other.
    pub fn defaults() -> Result<Self, Problems> {
        Self::load_from(None, []).map(|loaded| loaded.config)
    }

    /// What is allowed but risky; to be logged at the start, loudly.
    pub fn warnings(&self) -> Vec<String> {
        self.auth.warnings(&self.server)
    }

    fn check(&self, checks: &mut Checks<'_>) {
        self.server.check(checks);
        self.auth.check(&self.server, checks);
        self.stores.check(checks);
        self.comments.check(checks);
        self.moderation.check(checks);
        self.walker.check(checks);
        self.live.check(checks);
        self.telemetry.check(checks);
        self.clock.check(checks);
    }
}

impl Loaded {
    /// The settings as a TOML file, secrets hidden, with the source of each one that is not a
    /// default behind it.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let mut section = String::new();
        let mut annotated = String::new();
        for line in toml::to_string(&self.config)?.lines() {
            annotated.push_str(line);
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                name.clone_into(&mut section);
            } else if let Some((name, _)) = line.split_once(" = ")
                && let Some(source) = self.sources.get(&format!("{section}.{name}"))
            {
                annotated.push_str("  # ");
                annotated.push_str(source);
            }
            annotated.push('\n');
        }
        Ok(annotated)
    }
}
