//! `threadline bench index`: building an index beside a bare ordered scan with inserts.

use std::time::Duration;

use clap::Args;

use super::{Failure, Fallible, Place, place};
use crate::cli::output;
use crate::domain::clock::Clock;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::DiscussionId;
use crate::service::Service;
use crate::store::comments::WRITE_ROWS_MAX;
use crate::telemetry;

pub(super) const HELP: &str = "\
A temporary store gets one discussion. Its index is built from nothing in three ways, in turns:

  bare     the rows read in order, 500 at a time, and inserted into the index as they say they lie:
           nothing is resolved, checked or kept of a build
  build    what `threadline index build` does for a discussion
  second   the same for a layout beside the first one, whose branches are counted on the way

Each writes the same rows into the same file; what it wrote is removed before the next. The median
of the rounds is printed, and its ratio to `bare`.

Example:
  threadline bench index --comments 200000 --rounds 5";

/// A layout number that no build uses.
const BARE_LAYOUT: u32 = 1_000_000;

#[derive(Args, Debug)]
pub(super) struct IndexArgs {
    /// Comments in the discussion
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    comments: u32,
    /// How often each way is measured
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

impl IndexArgs {
    pub(super) fn run(&self) -> Result<(), Failure> {
        super::warn_if_slow();
        let config = place::config(std::path::Path::new("."), None)?;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        let text = crate::cli::runtime()?.block_on(self.measure())?;
        output::print(&text)
    }

    async fn measure(&self) -> Fallible<String> {
        let place = Place::open().await?;
        let discussion = place.fill(self.comments, |_| {}).await?;
        let bench = Bench {
            place: &place,
            id: discussion.id,
        };
        let (mut bare, mut build, mut second) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            bare.push(bench.bare().await?);
            build.push(bench.build().await?);
            second.push(bench.second().await?);
        }
        place.close().await?;
        let rows = f64::from(self.comments);
        let per_second = |times: &mut Vec<Duration>| rows / median(times).as_secs_f64();
        let bare = per_second(&mut bare);
        let mut lines = vec![
            format!("{} comments, median of {}", self.comments, self.rounds),
            format!("  bare    {bare:>10.0} rows/s"),
        ];
        for (name, times) in [("build", &mut build), ("second", &mut second)] {
            let speed = per_second(times);
            let ratio = speed / bare;
            lines.push(format!(
                "  {name:<7} {speed:>10.0} rows/s   {ratio:.2} of bare"
            ));
        }
        Ok(lines.join("\n") + "\n")
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

struct Bench<'a> {
    place: &'a Place,
    id: DiscussionId,
}

impl Bench<'_> {
    fn service(&self) -> &Service {
        self.place.hot().service()
    }

    async fn discussion(&self) -> Fallible<std::sync::Arc<Discussion>> {
        let found = self.service().discussions(&[self.id]).await?.pop();
        found.ok_or_else(|| "the discussion is gone".into())
    }

    async fn bare(&self) -> Fallible<Duration> {
        let clock = Clock::system();
        let comments = self.place.comments();
        let rows = u32::try_from(WRITE_ROWS_MAX)?;
        comments.bare_index(self.id, BARE_LAYOUT, rows).await?;
        let took = clock.monotonic();
        self.clear(BARE_LAYOUT).await?;
        Ok(took)
    }

    async fn build(&self) -> Fallible<Duration> {
        let layout = self.discussion().await?.layout;
        self.clear(layout.number).await?;
        self.timed(layout).await
    }

    async fn second(&self) -> Fallible<Duration> {
        let comments = &self.service().ports().comments;
        // The first of `bulk` has the usual limit; the rows of the second are as many.
        let added = comments.add_layout(self.id, 2).await?;
        let took = self.timed(added.ok_or("there is a second layout")?).await?;
        comments.drop_other_layout(self.id).await?;
        while comments.sweep(self.id).await? {}
        Ok(took)
    }

    async fn timed(&self, layout: Layout) -> Fallible<Duration> {
        let clock = Clock::system();
        let report = self.service().build(self.id, layout).await?;
        let took = clock.monotonic();
        if report.complete {
            Ok(took)
        } else {
            Err("the build is not complete".into())
        }
    }

    /// Removes every row of a layout.
    async fn clear(&self, layout: u32) -> Fallible<()> {
        let ports = self.service().ports();
        loop {
            let rows = u32::try_from(WRITE_ROWS_MAX)?;
            let page = ports
                .comments
                .scan_index(self.id, layout, None, rows)
                .await?;
            if page.is_empty() {
                return Ok(());
            }
            let places = page.into_iter().map(|(branch, row)| (branch, row.id));
            let marker = ports.ids.mint()?;
            ports
                .comments
                .remove_index(self.id, layout, places.collect(), marker)
                .await?;
        }
    }
}
