//! What the commands that walk over the stores share: arguments, the walk itself, its summary.

pub(crate) mod export;
mod histogram;
pub(crate) mod index;
pub(crate) mod recount;
mod status;
mod summary;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use self::summary::Summary;
use super::signals::Stop;
use super::{ConfigFile, Failure, output, progress};
use crate::app::{App, AppBuilder};
use crate::config::{Config, HumanDuration};
use crate::domain::discussion::Discussion;
use crate::domain::ids::DiscussionId;
use crate::domain::ids::opaque::GlobalId;
use crate::service::pace::Unpaced;
use crate::telemetry;
use crate::worker::jobs::Discussions;
use crate::worker::walker::throttle::Limits;
use crate::worker::walker::{WalkEnd, WalkJob, WalkOptions, WalkTally};

/// What every walk has in common; a part of the help of its command.
macro_rules! walk_help {
    () => {
        "\
A walk goes over the discussions in ranges. Any number of processes may run the same command at
once, on any machines that see the stores, while the gateway serves: they share the ranges. Each
stores how far it is, so after Ctrl-C, a crash or a power cut the same command goes on where it was.
The flag `walker-pause` makes all of them wait while it is enabled.

Exit codes: 0 done, nothing wrong; 1 failed; 2 used or configured wrongly; 3 done, and something
wrong is reported; 130 interrupted."
    };
}
use walk_help;

/// How to walk.
#[derive(Args, Clone, Debug)]
pub(crate) struct WalkArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// Only this discussion: its id as GraphQL shows it, or as a number
    #[arg(long, value_name = "ID", value_parser = discussion_id)]
    discussion: Option<DiscussionId>,
    /// Workers of this process [default: `walker.workers`]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Option<u32>,
    /// The most rows a second of this process; 0: no limit [default: `walker.rows_per_second_max`]
    #[arg(long, value_name = "ROWS")]
    rate: Option<u32>,
    /// Wait when a batch takes the store longer, such as 50ms [default: `walker.latency_max`]
    #[arg(long, value_name = "TIME")]
    latency_max: Option<HumanDuration>,
    /// Give up the walk of this kind that is under way, and begin anew
    #[arg(long)]
    restart: bool,
    /// Write what was found as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl WalkArgs {
    fn options(&self, config: &Config) -> WalkOptions {
        let walker = &config.walker;
        let rate = self.rate.unwrap_or(walker.rows_per_second_max);
        let latency = self.latency_max.unwrap_or(walker.latency_max);
        WalkOptions {
            workers: self.workers.unwrap_or(walker.workers),
            limits: Limits {
                rows_per_second: NonZeroU32::new(rate),
                latency_max: Some(latency.get()),
            },
            lease: walker.lease.get(),
            anew: self.restart,
        }
    }

    /// Runs a job over what the arguments name, and prints what it found.
    pub(crate) fn walk<J>(&self, job: impl FnOnce(&App) -> J + Send) -> Result<ExitCode, Failure>
    where
        J: WalkJob<Item = Arc<Discussion>> + 'static,
    {
        let config = self.config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        super::runtime()?.block_on(async {
            let app = AppBuilder::new(config)
                .build()
                .await
                .map_err(Failure::other)?;
            let job = Arc::new(job(&app));
            let walked = self.walk_in(&app, job).await;
            app.shutdown().await;
            walked
        })
    }

    async fn walk_in<J>(&self, app: &App, job: Arc<J>) -> Result<ExitCode, Failure>
    where
        J: WalkJob<Item = Arc<Discussion>> + 'static,
    {
        let name = job.name();
        let clock = &app.service().ports().clock;
        let began = clock.monotonic();
        let end = match self.discussion {
            Some(id) => one(app, &*job, id).await?,
            None => self.all(app, job, self.options(app.config())).await?,
        };
        self.tell(name, &end, clock.monotonic().saturating_sub(began))
    }

    /// Prints what a walk found and writes the report.
    fn tell(&self, name: &'static str, end: &WalkEnd, took: Duration) -> Result<ExitCode, Failure> {
        let summary = Summary { name, end, took };
        if let Some(path) = &self.report {
            let json = serde_json::to_vec_pretty(&end.tally).map_err(Failure::other)?;
            std::fs::write(path, json).map_err(|error| {
                Failure::other(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        output::print(&summary.text())?;
        Ok(summary.exit_code())
    }

    async fn all<J>(&self, app: &App, job: Arc<J>, options: WalkOptions) -> Result<WalkEnd, Failure>
    where
        J: WalkJob<Item = Arc<Discussion>> + 'static,
    {
        let comments = Arc::clone(&app.service().ports().comments);
        let bar = progress::bar(comments.size().await.map_err(Failure::other)?);
        let stop = interruptible(app);
        let table = Arc::new(Discussions(comments));
        let walked = app.walker().run(table, job, options, &bar, &stop).await;
        bar.finish_and_clear();
        stop.cancel();
        walked.map_err(Failure::other)
    }
}

/// One discussion, without a walk.
async fn one<J>(app: &App, job: &J, id: DiscussionId) -> Result<WalkEnd, Failure>
where
    J: WalkJob<Item = Arc<Discussion>>,
{
    let found = app
        .service()
        .discussions(&[id])
        .await
        .map_err(Failure::other)?;
    let discussion = found
        .first()
        .ok_or_else(|| Failure::other(format!("there is no discussion {id}")))?;
    let tally: WalkTally = job
        .work(discussion, false, &mut Unpaced)
        .await
        .map_err(Failure::other)?;
    Ok(WalkEnd {
        complete: true,
        joined: false,
        tally,
    })
}

/// A token that Ctrl-C, SIGTERM and the end of the app cancel.
pub(crate) fn interruptible(app: &App) -> CancellationToken {
    let tasks = &app.service().ports().tasks;
    let stop = tasks.stopping().child_token();
    let listening = stop.clone();
    tasks.spawn(async move {
        match Stop::listen() {
            Ok(mut signals) => {
                if listening
                    .run_until_cancelled(signals.asked())
                    .await
                    .is_some()
                {
                    listening.cancel();
                }
            }
            Err(error) => tracing::warn!(%error, "Ctrl-C is not heard"),
        }
    });
    stop
}

/// Reads a discussion's id as GraphQL shows it, or its number.
fn discussion_id(text: &str) -> Result<DiscussionId, String> {
    if let Ok(number) = text.parse() {
        return Ok(DiscussionId::new(number));
    }
    match GlobalId::decode(text) {
        Ok(GlobalId::Discussion(id)) => Ok(id),
        Ok(_) | Err(_) => Err("this is no discussion's id".to_owned()),
    }
}
