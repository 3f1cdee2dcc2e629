//! `[stores]`: one URL a port; its scheme chooses the engine.

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::{HumanDuration, StoreUrl};

/// The engines that each port has, by URL scheme.
const SCHEMES: [(&str, &[&str]); 3] = [
    ("comments", &["sqlite"]),
    ("users", &["sqlite"]),
    ("flags", &["folder"]),
];

/// The settings of `[stores]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stores {
    /// Comments, discussions, the tree index and the log.
    pub comments: StoreUrl,
    /// Users, and who a token's `sub` is.
    pub users: StoreUrl,
    /// Flag definitions.
    pub flags: StoreUrl,
    /// Which application's states are read and written, where several share a store.
    pub app_id: u32,
    /// How often files are rewritten at most, to leave nothing in them of what people had erased.
    pub scrub_interval: HumanDuration,
}

impl Stores {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        checks.lasts("stores.scrub_interval", self.scrub_interval, ("1s", "30d"));
        for (port, schemes) in SCHEMES {
            let url = match port {
                "comments" => &self.comments,
                "users" => &self.users,
                _ => &self.flags,
            };
            if !schemes.contains(&url.scheme()) {
                let known: Vec<String> = schemes.iter().map(|s| format!("\"{s}:…\"")).collect();
                let must = format!("must start with a scheme it knows: {}", known.join(", "));
                checks.problem(&format!("stores.{port}"), must);
            }
        }
    }
}
