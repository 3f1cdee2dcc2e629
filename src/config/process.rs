//! `[telemetry]` and `[clock]`: what the process says about itself, and the time it believes.

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::checks::Checks;

/// The settings of `[telemetry]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// What is logged: a level, or levels by module (`info,threadline::store=debug`).
    pub log: String,
    /// How a log line looks.
    pub log_format: LogFormat,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Text,
    /// One JSON object a line, for machines.
    Json,
}

impl Telemetry {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        if let Err(error) = EnvFilter::builder().parse(&self.log) {
            let must = format!("must be a log filter such as \"info,threadline=debug\": {error}");
            checks.problem("telemetry.log", must);
        }
    }
}

/// The settings of `[clock]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// How far ahead of the machine's clock this instance reads, in milliseconds. Test builds only.
    pub offset_ms: i64,
}

impl Clock {
    /// Whether this build may read a shifted clock. In production a shifted clock makes ids and
    /// deadlines lie, so only builds for tests accept it.
    const MAY_SHIFT: bool = cfg!(debug_assertions) || cfg!(test);

    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        if self.offset_ms != 0 && !Self::MAY_SHIFT {
            checks.problem(
                "clock.offset_ms",
                "must be 0: only test builds shift the clock".into(),
            );
        }
    }
}
