//! `threadline import`: other systems' exports into the stores.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;

use super::import_formats::{self as formats, IssoArgs, WxrArgs};
use super::import_forums::{self as forums, DiscourseArgs, JsonlArgs, RedditArgs};
use super::{ConfigFile, Failure, output, progress};
use crate::app::{App, AppBuilder};
use crate::config::Config;
use crate::import::input::{self, Input};
use crate::import::rewrite::{Rewritten, UrlRewrite};
use crate::import::{ExportReader, Format, ImportOptions, Importer, Report, isso};
use crate::tasks::Tasks;
use crate::telemetry;

const AFTER_HELP: &str = "\
The file is read to its end before anything is written: a broken file imports nothing and the place
is named. It may be plain, gzip or zstd; `-` is standard input. Rows are known by their source name
and id, so importing the same file again imports nothing, and an interrupted import is run again.

A discussion is found by the address of its page. If the pages have moved since the export,
--rewrite-url says where to; otherwise their comments are imported and shown nowhere.

Exit codes: 0 all well, skipped rows included; 1 the file is broken or the store failed; 3 done, but
some rows were rejected or texts lost, or all comments were left out (see the report); 130
interrupted.";

const EXAMPLES: &str = "\
Examples:
  threadline import disqus export.xml.gz --dry-run --report report.json
  threadline import wxr export.xml --zone Europe/Helsinki
  threadline import discourse posts.jsonl.zst --site https://forum.example
  threadline import jsonl - --source forum < comments.jsonl
  threadline import jsonl --restore backup.jsonl.zst

Each format's own help says where its file comes from: threadline import wxr --help";

/// Import comments from another system
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = format!("{AFTER_HELP}\n\n{EXAMPLES}"))]
pub(crate) struct ImportCommand {
    #[command(subcommand)]
    format: ImportFormat,
}

#[derive(Debug, Subcommand)]
enum ImportFormat {
    /// Posts of a Discourse forum: JSON of its API
    #[command(long_about = forums::DISCOURSE_ABOUT, after_help = AFTER_HELP)]
    Discourse(DiscourseArgs),
    /// A Disqus export: XML with `<thread>` and `<post>`
    #[command(long_about = formats::DISQUS_ABOUT, after_help = AFTER_HELP)]
    Disqus(FileArgs),
    /// An Isso database: a SQLite file
    #[command(long_about = formats::ISSO_ABOUT, after_help = AFTER_HELP)]
    Isso(IssoArgs),
    /// JSON lines: our own format, or another's whose fields `--map` names
    #[command(long_about = forums::JSONL_ABOUT, after_help = AFTER_HELP)]
    Jsonl(JsonlArgs),
    /// Comments of Reddit: a table or a dump of JSON lines
    #[command(long_about = forums::REDDIT_ABOUT, after_help = AFTER_HELP)]
    Reddit(RedditArgs),
    /// A remark42 backup: lines of JSON in a .gz file
    #[command(long_about = formats::REMARK42_ABOUT, after_help = AFTER_HELP)]
    Remark42(FileArgs),
    /// A WordPress export: XML with posts and their comments
    #[command(long_about = formats::WXR_ABOUT, after_help = AFTER_HELP)]
    Wxr(WxrArgs),
}

impl ImportFormat {
    fn args(&self) -> &FileArgs {
        match self {
            Self::Disqus(args) | Self::Remark42(args) => args,
            Self::Discourse(args) => &args.file,
            Self::Isso(args) => &args.file,
            Self::Jsonl(args) => &args.file,
            Self::Reddit(args) => &args.file,
            Self::Wxr(args) => &args.file,
        }
    }

    /// The name rows are known under unless another is given.
    fn source(&self) -> &'static str {
        match self {
            Self::Discourse(_) => Format::Discourse.source(),
            Self::Disqus(_) => Format::Disqus.source(),
            Self::Isso(_) => isso::SOURCE,
            Self::Jsonl(_) => Format::Jsonl.source(),
            Self::Reddit(_) => Format::Reddit.source(),
            Self::Remark42(_) => Format::Remark42.source(),
            Self::Wxr(_) => Format::Wxr.source(),
        }
    }

    fn restores(&self) -> bool {
        matches!(self, Self::Jsonl(args) if args.restore)
    }

    fn reader(&self, bar: &ProgressBar, tasks: &Tasks) -> Result<Box<dyn ExportReader>, Failure> {
        let reader = match self {
            Self::Discourse(args) => args.reader(bar)?,
            Self::Disqus(args) => Format::Disqus.reader(args.input(bar)?),
            Self::Isso(args) => args.reader(bar, tasks)?,
            Self::Jsonl(args) => args.reader(bar)?,
            Self::Reddit(args) => args.reader(bar)?,
            Self::Remark42(args) => Format::Remark42.reader(args.input(bar)?),
            Self::Wxr(args) => args.reader(bar)?,
        };
        Ok(Rewritten::wrap(reader, self.args().rewrite_url.clone()))
    }
}

/// What every format is asked.
#[derive(Args, Debug)]
pub(super) struct FileArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// The export; `-` reads standard input
    pub(super) file: PathBuf,
    /// The name the rows are known under; another name imports them again
    #[arg(long, value_name = "NAME", value_parser = source_name)]
    source: Option<String>,
    /// Move addresses that begin with OLD to NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    rewrite_url: Vec<UrlRewrite>,
    /// Read, decide and report, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the report as JSON, with the first 10,000 odd rows
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl ImportCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let config = self.format.args().config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        let runtime = super::runtime()?;
        let imported = runtime.block_on(self.import_into(config));
        // A reader that still waits for its input is not waited for.
        runtime.shutdown_background();
        imported
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
        let args = self.format.args();
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
            source: (args.source.clone()).unwrap_or_else(|| self.format.source().to_owned()),
            dry_run: args.dry_run,
            restore: self.format.restores(),
            limits: settings.text,
            comments_max: settings.comments_per_discussion_max,
            depth_limit: settings.depth_limit,
            kept_parameters: settings.url_query_parameters_kept.clone(),
        };
        let bar = progress::bar(None);
        let report_file = args.report_file()?;
        let reader = self.format.reader(&bar, tasks)?;
        let stop = tasks.stopping().child_token();
        let listening = stop.clone();
        let listener = tasks.spawn(async move {
            tokio::select! {
                pressed = tokio::signal::ctrl_c() => if pressed.is_ok() { listening.cancel() },
                () = listening.cancelled() => {}
            }
        });
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
    pub(super) fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    pub(super) fn input(&self, bar: &ProgressBar) -> Result<Input, Failure> {
        input::open(&self.file, bar).map_err(|error| {
            Failure::other(format!("cannot read {}: {error}", self.file.display()))
        })
    }

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

    #[derive(Debug, Parser)]
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
            rewrite_url: Vec::new(),
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

    #[test]
    fn what_only_one_format_needs_is_checked_before_anything_is_read() {
        let parse = |words: &str| Alone::try_parse_from(words.split(' ')).map(|_| ());
        for zone in ["Europe/Helsinki", "+02:00", "UTC"] {
            assert!(parse(&format!("x wxr a --zone {zone} --pings")).is_ok());
        }
        let unknown = parse("x wxr a --zone Europe/Atlantis").unwrap_err();
        assert!(unknown.to_string().contains("Europe/Helsinki"), "{unknown}");
        assert!(
            parse("x isso a").is_err(),
            "without a site no page would be found"
        );
        assert!(parse("x isso a --site blog.example").is_err());
        assert!(parse("x isso a --site https://blog.example").is_ok());
        let moved = "x remark42 a --rewrite-url http://a.example=https://b.example";
        assert!(parse(moved).is_ok());
        assert!(parse("x remark42 a --rewrite-url a=b").is_err());
        assert!(parse("x discourse a").is_err());
        assert!(parse("x reddit a --posts b --with-submission-texts").is_ok());
        assert!(parse("x jsonl a --map id=id,body=text --map parent=author.id").is_ok());
        assert!(parse("x jsonl a --map format:=markdown").is_ok());
        assert!(parse("x jsonl a --restore --map id=id").is_err());
        let unknown = parse("x jsonl a --map subject=s").unwrap_err();
        assert!(unknown.to_string().contains("created_at"), "{unknown}");
    }

    #[test]
    fn every_format_says_where_its_file_comes_from_and_gives_examples() {
        let formats = [
            "discourse",
            "disqus",
            "isso",
            "jsonl",
            "reddit",
            "remark42",
            "wxr",
        ];
        for format in formats {
            let help = Alone::try_parse_from(["x", format, "--help"]).unwrap_err();
            let help = help.to_string();
            let example = format!("threadline import {format} ");
            for part in [
                example.as_str(),
                "Exit codes",
                "--rewrite-url",
                "standard input",
            ] {
                assert!(help.contains(part), "{format}: {part}\n{help}");
            }
            assert!(
                help.lines().all(|line| line.chars().count() <= 110),
                "{help}"
            );
        }
    }
}
