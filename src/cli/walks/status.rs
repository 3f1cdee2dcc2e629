//! `threadline index status`: what is indexed, and how the walks stand.

use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;

use super::{histogram, summary};
use crate::app::{App, AppBuilder};
use crate::cli::{ConfigFile, Failure, output};
use crate::domain::keys::KeyRange;
use crate::store::walks::WalkStatus;
use crate::telemetry;
use crate::worker::walker::tally_of;

/// Discussions read at a time.
const PAGE: u32 = 1_000;
/// Queued discussions counted one by one.
const QUEUE_MAX: u32 = 10_000;

#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// Show the lengths of branches of every day, not of the last ones only
    #[arg(long)]
    all_days: bool,
}

/// How the indexes of the discussions stand.
#[derive(Debug, Default)]
struct Indexes {
    discussions: u64,
    comments: i64,
    complete: u64,
    comments_complete: i64,
    second: u64,
    second_complete: u64,
}

impl StatusArgs {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let config = self.config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        crate::cli::runtime()?.block_on(async {
            let app = AppBuilder::new(config)
                .build()
                .await
                .map_err(Failure::other)?;
            let text = self.text(&app).await;
            app.shutdown().await;
            output::print(&text?)?;
            Ok(ExitCode::SUCCESS)
        })
    }

    async fn text(&self, app: &App) -> Result<String, Failure> {
        let indexes = count(app).await?;
        let comments = &app.service().ports().comments;
        let queued = comments.queued(QUEUE_MAX).await.map_err(Failure::other)?;
        let mut lines = vec![
            format!(
                "index      {} of {} discussions complete ({} of {} comments)",
                indexes.complete, indexes.discussions, indexes.comments_complete, indexes.comments
            ),
            format!(
                "second     {} discussions have a second layout, {} of them complete",
                indexes.second, indexes.second_complete
            ),
            format!("queue      {} discussions wait for a build", queued.len()),
        ];
        let walks = app.walker().walks.walks().await.map_err(Failure::other)?;
        if walks.is_empty() {
            lines.push("walks      none yet".to_owned());
        }
        let mut text = lines.join("\n") + "\n";
        for walk in &walks {
            let tally = tally_of(walk).map_err(Failure::other)?;
            text.push('\n');
            text.push_str(&state(walk));
            text.push_str(&summary::numbers(&walk.name, &tally));
            if tally.found() > 0 {
                let faults = format!("  {:>12} faults found\n", tally.found());
                text.push_str(&faults);
            }
            text.push_str(&histogram::table(&tally.branches, self.all_days));
        }
        Ok(text)
    }
}

fn state(walk: &WalkStatus) -> String {
    let settings = match walk.settings.as_str() {
        "" => String::new(),
        settings => format!(" ({settings})"),
    };
    let stands = match walk.ended_ms {
        Some(ended_ms) => format!("ended {}", moment(ended_ms)),
        None => format!(
            "under way: {} of {} ranges done, {} leased",
            walk.done, walk.parts, walk.leased
        ),
    };
    format!(
        "{}{settings} begun {}, {stands}\n",
        walk.name,
        moment(walk.began_ms)
    )
}

fn moment(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(moment) => format!("{moment:.0}"),
        Err(_) => format!("{ms} ms"),
    }
}

async fn count(app: &App) -> Result<Indexes, Failure> {
    let comments = &app.service().ports().comments;
    let (mut indexes, mut after) = (Indexes::default(), None);
    loop {
        let page = comments.discussions_in(KeyRange::ALL, after, PAGE).await;
        let page = page.map_err(Failure::other)?;
        let Some((last, _)) = page.last() else {
            return Ok(indexes);
        };
        after = Some(*last);
        for (_, discussion) in &page {
            let total = discussion.counts.all.total;
            indexes.discussions += 1;
            indexes.comments += total;
            if discussion.layout.complete {
                indexes.complete += 1;
                indexes.comments_complete += total;
            }
            if let Some(other) = discussion.other_layout {
                indexes.second += 1;
                indexes.second_complete += u64::from(other.complete);
            }
        }
    }
}
