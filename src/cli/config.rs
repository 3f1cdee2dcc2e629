//! `threadline config`: what the settings are in the end, and where each comes from.

use clap::Args;

use super::{ConfigFile, Failure, output};
use crate::config::DEFAULT_FILE;

/// Print the settings that hold, and where they come from; secrets are hidden
#[derive(Args, Debug)]
pub(crate) struct ConfigCommand {
    #[command(flatten)]
    config: ConfigFile,
    /// Print the default file instead: every setting, explained
    #[arg(long)]
    default: bool,
}

impl ConfigCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        if self.default {
            return output::print(DEFAULT_FILE);
        }
        let loaded = self.config.load()?;
        for warning in loaded.config.warnings() {
            output::warn(&warning);
        }
        output::print(&loaded.to_toml().map_err(Failure::other)?)
    }
}
