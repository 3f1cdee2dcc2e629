//! `threadline import`: other systems' exports into the stores.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use super::{ConfigFile, Failure, output};
use crate::app::{App, AppBuilder};
use crate::config::Config;
use crate::import::{Format, ImportOptions, Importer, Report, input};
use crate::tasks::Tasks;
use crate::telemetry;

const AFTER_HELP: &str = "\
The file is read to its end before anything is written: a broken file imports nothing and the place
is named. It may be plain, gzip or zstd; `-` is standard input. Rows are known by their source name
and id, so importing the same file again imports nothing, and an interrupted import is run again.

Exit codes: 0 all well, skipped rows included; 1 the file is broken or the store failed; 3 done, but
some rows were rejected or texts lost (see the report); 130 interrupted.

Examples:
  threadline import disqus export.xml.gz --dry-run --report report.json
  threadline import jsonl - --source forum < comments.jsonl
  threadline import jsonl --restore backup.jsonl.zst";

/// Import comments from another system
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ImportCommand {
    #[command(subcommand)]
    format: ImportFormat,
}

#[derive(Debug, Subcommand)]
enum ImportFormat {
    /// A Disqus export: XML with `<thread>` and `<post>`
    #[command(after_help = AFTER_HELP)]
    Disqus(FileArgs),
    /// Our own format: one JSON object a line, discussions and comments in any order
    #[command(after_help = AFTER_HELP)]
    Jsonl(JsonlArgs),
}

#[derive(Args, Debug)]
struct JsonlArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Bring rows that `threadline export` wrote back as they were, under their ids
    ///
    /// Discussions and comments keep their ids, comments also authors, revisions and states, and
    /// what was imported is known by where it came from: importing the first export again adds
    /// nothing. The file is believed, so restore only what you exported yourself. Rows that are
    /// there already stay as they are; a discussion whose id another one holds gets its own and is
    /// reported. Not in an export, and so not restored: the log of changes, posting keys, and which
    /// sign-in belongs to which user (the users' store needs a copy of its own for that).
    #[arg(long, verbatim_doc_comment)]
    restore: bool,
}

#[derive(Args, Debug)]
struct FileArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// The export; `-` reads standard input
    file: PathBuf,
    /// The name the rows are known under; another name imports them again
    #[arg(long, value_name = "NAME", value_parser = source_name)]
    source: Option<String>,
    /// Read, decide and report, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the report as JSON, with the first 10,000 odd rows
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl ImportCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let config = self.args().config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        let runtime = super::runtime()?;
        let imported = runtime.block_on(self.import_into(config));
        // A reader that still waits for its input is not waited for.
        runtime.shutdown_background();
        imported
    }

    fn args(&self) -> &FileArgs {
        match &self.format {
            ImportFormat::Disqus(args) => args,
            ImportFormat::Jsonl(args) => &args.file,
        }
    }

    /// The stores are opened as for serving, so a gateway may be running on them meanwhile.
    async fn import_into(&self, config: Config) -> Result<ExitCode, Failure> {
        let built = AppBuilder::new(config).build().await;
        let app = built.map_err(Failure::other)?;
        let imported = self.import(&app).await;
        app.shutdown().await;
        imported
    }

    /// Imports. The app keeps its lease until this returns.
    async fn import(&self, app: &App) -> Result<ExitCode, Failure> {
        let (args, format) = match &self.format {
            ImportFormat::Disqus(args) => (args, Format::Disqus),
            ImportFormat::Jsonl(args) => (&args.file, Format::Jsonl),
        };
        let restore = match &self.format {
            ImportFormat::Disqus(_) => false,
            ImportFormat::Jsonl(args) => args.restore,
        };
        let (ports, settings) = (app.service().ports(), app.service().settings());
        let tasks: &Tasks = &ports.tasks;
        let importer = Importer {
            comments: Arc::clone(&ports.comments),
            users: Arc::clone(&ports.users),
            ids: Arc::clone(&ports.ids),
            clock: ports.clock.clone(),
            tasks: ports.tasks.clone(),
        };
        let options = ImportOptions {
            source: args.source.clone().unwrap_or(format.source().to_owned()),
            dry_run: args.dry_run,
            restore,
            limits: settings.text,
            comments_max: settings.comments_per_discussion_max,
            depth_limit: settings.depth_limit,
            kept_parameters: settings.url_query_parameters_kept.clone(),
        };
        let bar = progress_bar();
        let input = input::open(&args.file, &bar).map_err(|error| {
            Failure::other(format!("cannot read {}: {error}", args.file.display()))
        })?;
        let report_file = args.report_file()?;
        let stop = tasks.stopping().child_token();
        let listening = stop.clone();
        let listener = tasks.spawn(async move {
            tokio::select! {
                pressed = tokio::signal::ctrl_c() => if pressed.is_ok() { listening.cancel() },
                () = listening.cancelled() => {}
            }
        });
        let reader = format.reader(input);
        let report = importer.run(reader, &options, &stop, &bar).await;
        stop.cancel();
        bar.finish_and_clear();
        listener.await.map_err(Failure::other)?;
        if let Some(file) = report_file {
            write_report(file, &report)?;
        }
        output::print(&report.table())?;
        Ok(ExitCode::from(report.exit_code()))
    }
}

impl FileArgs {
    /// Made before the import: a path that cannot be written should be known then, not after.
    fn report_file(&self) -> Result<Option<File>, Failure> {
        let Some(path) = &self.report else {
            return Ok(None);
        };
        if let (Ok(report), Ok(export)) = (path.canonicalize(), self.file.canonicalize())
            && report == export
        {
            return Err(Failure::other("the report would overwrite the export"));
        }
        File::create(path)
            .map(Some)
            .map_err(|error| Failure::other(format!("cannot write {}: {error}", path.display())))
    }
}

fn write_report(mut file: File, report: &Report) -> Result<(), Failure> {
    let json = serde_json::to_vec_pretty(report).map_err(Failure::other)?;
    let written = file.write_all(&json).and_then(|()| file.write_all(b"\n"));
    written.map_err(|error| Failure::other(format!("cannot write the report: {error}")))
}

/// Draws on standard error, and only when that is a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    let template = "{bar:30} {percent:>3} % {per_sec} {eta}";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn source_name(text: &str) -> Result<String, String> {
    let allowed = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || "._-".contains(ch);
    if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("use 1 to 64 of a–z, 0–9, `.`, `_` and `-`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        import: ImportCommand,
    }

    #[test]
    fn a_report_never_overwrites_the_export() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("export.xml");
        std::fs::write(&file, "kept").unwrap();
        let args = FileArgs {
            config: ConfigFile { config_file: None },
            report: Some(folder.path().join(".").join("export.xml")),
            file: file.clone(),
            source: None,
            dry_run: false,
        };
        assert!(args.report_file().is_err());
        assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
    }

    #[test]
    fn the_arguments_are_well_formed_and_a_source_name_is_checked() {
        Alone::command().debug_assert();
        assert!(Alone::try_parse_from(["x", "disqus", "-", "--source", "my-forum"]).is_ok());
        assert!(Alone::try_parse_from(["x", "jsonl", "a", "--source", "Forum\u{0}"]).is_err());
        assert!(Alone::try_parse_from(["x", "jsonl", "a", "--restore"]).is_ok());
        assert!(Alone::try_parse_from(["x", "disqus", "a", "--restore"]).is_err());
    }
}
