//! `[walker]`: how fast work over whole tables may go.

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::HumanDuration;

/// The settings of `[walker]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Walker {
    /// Workers in one process.
    pub workers: u32,
    /// The most rows a second of one process; 0: as many as the store gives.
    pub rows_per_second_max: u32,
    /// A batch that takes the store longer makes the work wait.
    pub latency_max: HumanDuration,
    /// How long a range stays leased to a worker that says nothing.
    pub lease: HumanDuration,
}

impl Walker {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        checks.between("walker.workers", self.workers, 1, 64);
        checks.lasts("walker.latency_max", self.latency_max, ("1ms", "1m"));
        checks.lasts("walker.lease", self.lease, ("5s", "1h"));
    }
}
