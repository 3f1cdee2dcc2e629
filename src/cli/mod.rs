//! The commands of the binary, one file each.
//!
//! A command reads its arguments, calls the library and prints. Exit codes: 0 done, 1 failed,
//! 2 used or configured wrongly.

pub mod bench;
mod config;
mod import;
mod import_formats;
mod import_forums;
mod memory;
mod output;
mod person;
mod progress;
mod schema;
mod serve;
mod signals;
mod walks;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use crate::config::{Config, Loaded, Problems};

/// Twice what the recursion of parser and executor is measured against.
const STACK_BYTES: usize = 4 << 20;

/// A GraphQL gateway for discussions: threaded and linear, over real stores, with feature flags.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeCommand),
    Import(import::ImportCommand),
    Export(walks::export::ExportCommand),
    Index(walks::index::IndexCommand),
    Recount(walks::recount::RecountCommand),
    Person(person::PersonCommand),
    Config(config::ConfigCommand),
    Schema(schema::SchemaCommand),
    Bench(bench::BenchCommand),
}

/// Which configuration a command works with.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConfigFile {
    /// A TOML file that lies over the default settings; the `THREADLINE_…` environment lies over both
    #[arg(long = "config", value_name = "FILE", env = "THREADLINE_CONFIG")]
    config_file: Option<PathBuf>,
}

impl ConfigFile {
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        Ok(Config::load(self.config_file.as_deref())?)
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The settings are wrong: the caller can mend them.
    #[error(transparent)]
    Configuration(#[from] Problems),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl Failure {
    /// A failure with any error as its cause.
    pub(crate) fn other(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(cause.into())
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration(_) => ExitCode::from(2),
            Self::Other(_) => ExitCode::FAILURE,
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let done = match cli.command {
        Command::Serve(command) => command.run().map(|()| ExitCode::SUCCESS),
        Command::Import(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Index(command) => command.run(),
        Command::Recount(command) => command.run(),
        Command::Person(command) => command.run(),
        Command::Config(command) => command.run().map(|()| ExitCode::SUCCESS),
        Command::Schema(command) => command.run().map(|()| ExitCode::SUCCESS),
        Command::Bench(command) => command.run().map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure);
        failure.exit_code()
    })
}

/// What the commands that work with stores run on.
fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_name("threadline")
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(Failure::other)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
