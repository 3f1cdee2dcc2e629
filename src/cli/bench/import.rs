//! `threadline bench import`: a made-up export through the whole pipeline into new stores.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Failure, Fallible, place};
use crate::app::{App, AppBuilder};
use crate::cli::{memory, output};
use crate::domain::clock::Clock;
use crate::import::synthetic::{ExportShape, write_export};
use crate::import::{Format, ImportOptions, Importer, Outcome, Report, input};
use crate::telemetry;

pub(super) const HELP: &str = "\
An export in our own format is made, read by a dry run and then imported into new SQLite stores.
For each step: how long it took, rows per second, and the most memory this process has had so far.
The largest discussion's comments lie evenly among all others; in it is a branch of any length.

The folder named by --into must be empty; the export and the stores stay in it. Otherwise all of it
lies in a temporary folder and goes at the end.

Examples:
  threadline bench import
  threadline bench import --comments 3000000 --discussions 10000 --largest 1000000 --branch 200000";

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    /// Comments in the export
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    comments: u32,
    /// Discussions in the export
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    discussions: u32,
    /// Comments of the largest discussion
    #[arg(long, default_value_t = 20_000)]
    largest: u32,
    /// Replies in one branch of it
    #[arg(long, default_value_t = 1_000)]
    branch: u32,
    /// Only make the export and read it; import nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep the export and the stores in this empty folder
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Write what was measured as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A step that was measured.
#[derive(Clone, Debug, Serialize)]
struct Step {
    name: &'static str,
    rows: u64,
    seconds: f64,
    rows_per_second: f64,
    /// The most memory the process has had so far; absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    steps: Vec<Step>,
    /// Names and bytes.
    files: Vec<(String, u64)>,
    report: Report,
}

impl ImportArgs {
    pub(super) fn run(self) -> Result<(), Failure> {
        super::warn_if_slow();
        let json = self.json.as_ref().map(File::create).transpose();
        let json = json.map_err(|error| Failure::other(format!("cannot write: {error}")))?;
        let temporary = tempfile::tempdir().map_err(Failure::other)?;
        let folder = self.into.as_deref().unwrap_or(temporary.path());
        fs::create_dir_all(folder).map_err(Failure::other)?;
        if fs::read_dir(folder)
            .map_err(Failure::other)?
            .next()
            .is_some()
        {
            return Err(Failure::other(format!("{} is not empty", folder.display())));
        }
        let config = place::config(folder, None)?;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        let runtime = crate::cli::runtime()?;
        let measured = runtime.block_on(self.measure(folder))?;
        output::print(&measured.table())?;
        if let Some(mut file) = json {
            let text = serde_json::to_string_pretty(&measured).map_err(Failure::other)?;
            writeln!(file, "{text}").map_err(Failure::other)?;
        }
        match &measured.report.outcome {
            Outcome::Complete => Ok(()),
            ended @ (Outcome::InputBroken(_) | Outcome::StoreFailed(_) | Outcome::Interrupted) => {
                Err(Failure::other(format!("the import ended early: {ended:?}")))
            }
        }
    }

    fn shape(&self) -> ExportShape {
        let largest = self.largest.min(self.comments);
        ExportShape {
            comments: self.comments,
            discussions: self.discussions,
            largest,
            branch: self.branch.min(largest.saturating_sub(1)),
        }
    }

    async fn measure(&self, folder: &Path) -> Fallible<Measured> {
        let clock = Clock::system();
        let file = folder.join("export.jsonl");
        let began = clock.monotonic();
        let mut out = BufWriter::new(File::create(&file)?);
        write_export(&mut out, self.shape(), clock.now_ms())?;
        out.flush()?;
        drop(out);
        let rows = u64::from(self.comments);
        let mut steps = vec![Step::new(
            "make",
            rows,
            clock.monotonic().saturating_sub(began),
        )];
        let flags = folder.join("flags");
        fs::create_dir(&flags)?;
        let app = AppBuilder::new(place::config(folder, None)?).build();
        let app = Box::pin(app).await?;
        let mut reports = Vec::new();
        for (name, dry_run) in [("dry run", true), ("import", false)] {
            if !dry_run && self.dry_run {
                continue;
            }
            let began = clock.monotonic();
            let report = import(&app, &file, dry_run, self.largest).await?;
            let took = clock.monotonic().saturating_sub(began);
            steps.push(Step::new(name, report.comments.imported, took));
            reports.push(report);
        }
        let ended = app.shutdown().await;
        let report = reports.pop().filter(|_| ended);
        Ok(Measured {
            steps,
            files: sizes(folder)?,
            report: report.ok_or("something did not stop")?,
        })
    }
}

async fn import(app: &App, file: &Path, dry_run: bool, largest: u32) -> Fallible<Report> {
    let (ports, settings) = (app.service().ports(), app.service().settings());
    let importer = Importer {
        comments: Arc::clone(&ports.comments),
        users: Arc::clone(&ports.users),
        ids: Arc::clone(&ports.ids),
        clock: ports.clock.clone(),
        tasks: ports.tasks.clone(),
    };
    let options = ImportOptions {
        source: "bench".to_owned(),
        dry_run,
        restore: false,
        limits: settings.text,
        comments_max: settings.comments_per_discussion_max.max(i64::from(largest)),
        depth_limit: settings.depth_limit,
        kept_parameters: settings.url_query_parameters_kept.clone(),
    };
    let (stop, bar) = (CancellationToken::new(), ProgressBar::hidden());
    let reader = Format::Jsonl.reader(input::open(file, &bar)?);
    Ok(importer.run(reader, &options, &stop, &bar).await)
}

/// The files of a folder, by name.
fn sizes(folder: &Path) -> Fallible<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, metadata.len()));
        }
    }
    files.sort();
    Ok(files)
}

impl Step {
    fn new(name: &'static str, rows: u64, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        // Beyond 32 bits of rows the speed is no longer exact to the row.
        let count = f64::from(u32::try_from(rows).unwrap_or(u32::MAX));
        Self {
            name,
            rows,
            seconds,
            rows_per_second: count / seconds.max(f64::EPSILON),
            peak_memory_bytes: memory::peak(),
        }
    }
}

impl Measured {
    fn table(&self) -> String {
        let mut lines = vec![format!(
            "{:<14}{:>12}{:>10}{:>12}{:>16}",
            "step", "rows", "seconds", "rows/s", "peak memory MiB"
        )];
        for step in &self.steps {
            let memory = step.peak_memory_bytes.map(mib);
            lines.push(format!(
                "{:<14}{:>12}{:>10.2}{:>12.0}{:>16}",
                step.name,
                step.rows,
                step.seconds,
                step.rows_per_second,
                memory.unwrap_or_else(|| "unknown".to_owned()),
            ));
        }
        for (name, bytes) in &self.files {
            lines.push(format!("{name:<38} {:>12} MiB", mib(*bytes)));
        }
        format!("{}\n\n{}", lines.join("\n"), self.report.table())
    }
}

/// Whole units, rounded up.
fn mib(bytes: u64) -> String {
    bytes.div_ceil(1 << 20).to_string()
}
