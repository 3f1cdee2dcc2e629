//! `threadline bench`: how fast this build is on this machine, beside what bounds it.
//!
//! Times of one machine say little, so everything is measured beside its bound in the same run, in
//! turns, and ratios are printed. [`Place`] is public for the benchmarks of single parts.

mod client;
mod cpu;
mod import;
mod index;
mod live;
mod pages;
mod place;
mod report;
mod shape;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

pub use self::place::{BareStatements, Place};
pub use self::shape::{PAGE_ROWS, PageShape, REPLIES, VIEWER};

use super::{Failure, output};
use crate::telemetry;

/// The result of a step of a benchmark; the error is for people.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const LARGEST: i64 = 1_000_000;

const PAGES_HELP: &str = "\
A temporary store is filled with one discussion of each size: one comment in ten is a root, fifty
people write, a body has about 120 characters. Three pages of 50 are asked for:

  linear    by date, by nobody in particular
  threads   roots with author, counts and what the viewer may do, by a signed-in reader
  replies   the same, each root with its first 3 replies

and each of them in five ways, in turns, so that whatever else the machine does hits all alike:

  static    HTTP: a handler that holds the finished bytes; the bound of any gateway
  hot       HTTP: the gateway, rows in its page cache
  cold      HTTP: the gateway without a page cache
  load      in this process: what the service does for a cold page, without HTTP and GraphQL
  bare      in this process: only the page's SQL statements, rows fetched and not read

HTTP is asked over 8 connections from a thread of this process, so at 2 cores `req/s` holds the
client's work too and its ratios flatter; `cpu` does not: it is the server's processor time for a
request. `load` and `bare` run one after another. Before anything counts, every answer is read
once: it must hold the whole page and no errors, hot and cold must be equal, and a later answer of
another length or status ends the run.

Build with optimisation, keep the machine quiet, and compare ratios only.

Examples:
  threadline bench pages
  threadline bench pages --sizes 1000 --seconds 5 --json pages.json";

/// Measure this build on this machine
#[derive(Args, Debug)]
pub(crate) struct BenchCommand {
    #[command(subcommand)]
    what: BenchWhat,
}

#[derive(Debug, Subcommand)]
enum BenchWhat {
    /// Pages of small and large discussions, hot and cold, beside what bounds them
    #[command(after_help = PAGES_HELP)]
    Pages(PagesArgs),
    /// An import of a made-up export: rows per second, peak memory, sizes of files
    #[command(after_help = import::HELP)]
    Import(import::ImportArgs),
    /// Building an index, beside a bare ordered scan with inserts
    #[command(after_help = index::HELP)]
    Index(index::IndexArgs),
    /// Open sockets: memory of each, latency of an event, executions
    #[command(after_help = live::HELP)]
    Live(live::LiveArgs),
}

#[derive(Args, Debug)]
struct PagesArgs {
    /// How long each case is measured for each size, in seconds
    #[arg(long, default_value = "2", value_parser = seconds)]
    seconds: Duration,
    /// Comments in the discussions, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000],
          value_parser = clap::value_parser!(u32).range(1..=LARGEST))]
    sizes: Vec<u32>,
    /// Write every measured case as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl BenchCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.what {
            BenchWhat::Pages(args) => args.run(),
            BenchWhat::Import(args) => args.run(),
            BenchWhat::Index(args) => args.run(),
            BenchWhat::Live(args) => args.run(),
        }
    }
}

impl PagesArgs {
    fn run(self) -> Result<(), Failure> {
        warn_if_slow();
        // Made before the run: a path that cannot be written should be known then, not after.
        let json = self.json.as_ref().map(File::create).transpose();
        let json = json.map_err(|error| Failure::other(format!("cannot write: {error}")))?;
        let runtime = super::runtime()?;
        let config = place::config(std::path::Path::new("."), None)?;
        // A log as a server has it: spans cost something also when nobody reads them.
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        let run = pages::Run {
            seconds: self.seconds,
            sizes: self.sizes,
        };
        let report = runtime.block_on(run.measure())?;
        output::print(&report.table())?;
        if let Some(mut file) = json {
            let text = serde_json::to_string_pretty(&report).map_err(Failure::other)?;
            writeln!(file, "{text}").map_err(Failure::other)?;
        }
        Ok(())
    }
}

fn warn_if_slow() {
    if cfg!(debug_assertions) {
        output::warn("this build is not optimised: what it measures means nothing");
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.01..=600.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("use 0.01 to 600".to_owned())
    }
}
