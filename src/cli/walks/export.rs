//! `threadline export`: every discussion in our own format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use tokio::io::AsyncWriteExt as _;

use super::{WalkArgs, walk_help};
use crate::app::{App, AppBuilder};
use crate::cli::Failure;
use crate::domain::keys::KeyRange;
use crate::export::{Ports, export_discussion};
use crate::service::pace::{PacedError, Unpaced};
use crate::telemetry;
use crate::worker::jobs::export::{BYTES, EXPORT_WALK, ExportJob};
use crate::worker::walker::{WalkOptions, tally_of};

/// Discussions read at a time.
const PAGE: u32 = 100;

/// Write every discussion as JSON lines that `import jsonl` reads
#[derive(Args, Debug)]
#[command(after_help = concat!(
    "Everything is written: pending, hidden and deleted comments, earlier texts, and where rows were\n\
     imported from. `threadline import jsonl --restore FILE` brings all of it back as it was, with\n\
     its ids; without --restore, or in another system, the plain fields are read. Not written are\n\
     posting keys, the log of changes, and which sign-in belongs to which user.\n\n\
     An export to a file that is interrupted goes on when it is run again; one to standard output\n\
     begins anew. One process writes a file.\n\n",
    walk_help!(),
    "\n\nExamples:\n  \
     threadline export comments.jsonl\n  \
     threadline export - | zstd > comments.jsonl.zst\n  \
     threadline import jsonl --restore comments.jsonl"
))]
pub(crate) struct ExportCommand {
    #[command(flatten)]
    walk: WalkArgs,
    /// The file to write; `-` is standard output
    file: PathBuf,
}

impl ExportCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let config = self.walk.config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        crate::cli::runtime()?.block_on(async {
            let app = AppBuilder::new(config)
                .build()
                .await
                .map_err(Failure::other)?;
            let exported = if self.file == Path::new("-") || self.walk.discussion.is_some() {
                self.stream(&app).await
            } else {
                self.file(&app).await
            };
            app.shutdown().await;
            exported
        })
    }

    /// Writes in one go.
    async fn stream(&self, app: &App) -> Result<ExitCode, Failure> {
        if self.file == Path::new("-") {
            return self.pour(app, tokio::io::stdout()).await;
        }
        let file = tokio::fs::File::create_new(&self.file).await;
        let file = file.map_err(|error| {
            Failure::other(format!("cannot write {}: {error}", self.file.display()))
        })?;
        self.pour(app, file).await
    }

    async fn pour<W>(&self, app: &App, out: W) -> Result<ExitCode, Failure>
    where
        W: tokio::io::AsyncWrite + Unpin + Send,
    {
        let stop = super::interruptible(app);
        let mut out = tokio::io::BufWriter::new(out);
        let poured = stop
            .run_until_cancelled(pour(app, self.walk.discussion, &mut out))
            .await;
        stop.cancel();
        let Some(poured) = poured else {
            return Ok(ExitCode::from(130));
        };
        match poured {
            Ok(()) => {}
            // Whoever reads has enough (`| head`).
            Err(PacedError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                return Ok(ExitCode::SUCCESS);
            }
            Err(error) => return Err(Failure::other(error)),
        }
        out.flush().await.map_err(Failure::other)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes into a file, from where an interrupted export ended.
    async fn file(&self, app: &App) -> Result<ExitCode, Failure> {
        let path = std::path::absolute(&self.file).map_err(Failure::other)?;
        let walker = app.walker();
        let host = walker.owner.split('/').next().unwrap_or_default();
        let target = format!("to {host}:{}", path.display());
        let keep = self.kept(app, &path, &target).await?;
        let service = app.service().clone();
        let job = ExportJob::open(service, &path, target, keep).await;
        let job = Arc::new(job.map_err(Failure::other)?);
        let options = WalkOptions {
            // The file has one end.
            workers: 1,
            ..self.walk.options(app.config())
        };
        let clock = &app.service().ports().clock;
        let began = clock.monotonic();
        let end = self.walk.all(app, Arc::clone(&job), options).await?;
        job.close().await.map_err(Failure::other)?;
        let took = clock.monotonic().saturating_sub(began);
        self.walk.tell(EXPORT_WALK, &end, took)
    }

    /// How much of the file an export that is under way has stored. A file that none is writing is
    /// not touched.
    async fn kept(&self, app: &App, path: &Path, target: &str) -> Result<u64, Failure> {
        if self.walk.restart {
            return Ok(0);
        }
        let walks = app.walker().walks.walks().await.map_err(Failure::other)?;
        let under_way = walks
            .iter()
            .find(|walk| walk.name == EXPORT_WALK && walk.ended_ms.is_none());
        match under_way {
            Some(walk) if walk.settings == target => {
                Ok(tally_of(walk).map_err(Failure::other)?.sum(BYTES))
            }
            Some(walk) => Err(Failure::other(format!(
                "an export {} is under way: let it end, or give it up with --restart",
                walk.settings
            ))),
            None if path.metadata().is_ok_and(|file| file.len() > 0) => {
                Err(Failure::other(format!(
                    "{} is there already: name another file, or replace it with --restart",
                    path.display()
                )))
            }
            None => Ok(0),
        }
    }
}

async fn pour<W>(
    app: &App,
    only: Option<crate::domain::ids::DiscussionId>,
    out: &mut W,
) -> Result<(), PacedError>
where
    W: tokio::io::AsyncWrite + Unpin + Send,
{
    let ports = app.service().ports();
    let from = Ports {
        comments: &*ports.comments,
        users: &*ports.users,
        clock: &ports.clock,
    };
    if let Some(id) = only {
        let found = app.service().discussions(&[id]).await?;
        let discussion = found
            .first()
            .ok_or_else(|| std::io::Error::other(format!("there is no discussion {id}")))?;
        export_discussion(from, discussion, out, &mut Unpaced).await?;
        return Ok(());
    }
    let mut after = None;
    loop {
        let page = ports
            .comments
            .discussions_in(KeyRange::ALL, after, PAGE)
            .await?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        after = Some(*last);
        for (_, discussion) in &page {
            export_discussion(from, discussion, out, &mut Unpaced).await?;
        }
    }
}
