//! The hold of one worker on one range: how far it is, what it found, and its lease.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use super::tally::WalkTally;
use super::throttle::Throttle;
use crate::domain::clock::Clock;
use crate::service::pace::{Interrupted, Pace};
use crate::store::StoreError;
use crate::store::walks::{RangeLease, WalkStore};

/// How often a paused walk looks whether it may go on.
const PAUSE_LOOK: Duration = Duration::from_millis(500);
/// How often a range stores how far it is.
const CHECKPOINT_PERIOD: Duration = Duration::from_secs(1);

/// What the workers of a walk share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) walks: Arc<dyn WalkStore>,
    pub(super) clock: Clock,
    pub(super) throttle: Arc<Throttle>,
    pub(super) progress: ProgressBar,
    pub(super) stop: CancellationToken,
    pub(super) lease_ms: i64,
    pub(super) job: &'static str,
}

/// Why work on a range ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The walk was told to stop.
    Stopped,
    /// Somebody else has the range now.
    LeaseLost,
}

/// A range being worked on.
#[derive(Debug)]
pub(super) struct RangeHold {
    shared: Shared,
    lease: RangeLease,
    done_to: Option<i64>,
    tally: WalkTally,
    stored_at: Duration,
    ended: Option<Ended>,
    /// Rows that the item under way has moved the progress by.
    shown: u64,
}

impl RangeHold {
    pub(super) fn new(shared: Shared, lease: RangeLease) -> Result<Self, StoreError> {
        let tally = if lease.tally.is_empty() {
            WalkTally::default()
        } else {
            serde_json::from_str(&lease.tally)
                .map_err(|_unreadable| StoreError::corrupt("walk_ranges", lease.part, "tally"))?
        };
        Ok(Self {
            stored_at: shared.clock.monotonic(),
            done_to: lease.done_to,
            ended: None,
            shown: 0,
            tally,
            lease,
            shared,
        })
    }

    pub(super) fn lease(&self) -> &RangeLease {
        &self.lease
    }

    pub(super) fn done_to(&self) -> Option<i64> {
        self.done_to
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Takes an item as done; it is stored with the next checkpoint.
    pub(super) fn done(&mut self, key: i64, found: WalkTally) {
        self.done_to = Some(key);
        // A job may read the rows of an item more than once.
        let shown = std::mem::take(&mut self.shown);
        self.shared.progress.inc(found.rows.saturating_sub(shown));
        self.shared.progress.dec(shown.saturating_sub(found.rows));
        self.tally.merge(found);
    }

    /// Stores how far the range is. An error here is no reason to end: the next try may succeed, and
    /// without one the lease runs out.
    pub(super) async fn checkpoint(&mut self) -> Result<(), StoreError> {
        let (walks, lease_ms) = (&self.shared.walks, self.shared.lease_ms);
        let tally = self.tally_text();
        let stored = walks
            .checkpoint(&self.lease, self.done_to, &tally, lease_ms)
            .await?;
        self.stored_at = self.shared.clock.monotonic();
        if !stored {
            self.ended = Some(Ended::LeaseLost);
        }
        Ok(())
    }

    /// Ends the range, done. `false`: the lease was lost.
    pub(super) async fn finish(&mut self) -> Result<bool, StoreError> {
        let tally = self.tally_text();
        let stored = self.shared.walks.finish(&self.lease, &tally).await?;
        if !stored {
            self.ended = Some(Ended::LeaseLost);
        }
        Ok(stored)
    }

    fn tally_text(&self) -> String {
        // Numbers and texts only: this cannot fail.
        serde_json::to_string(&self.tally).unwrap_or_default()
    }

    async fn keep(&mut self) {
        let since = self.shared.clock.monotonic().saturating_sub(self.stored_at);
        if since < CHECKPOINT_PERIOD {
            return;
        }
        if let Err(error) = self.checkpoint().await {
            tracing::warn!(%error, range = self.lease.part, "a checkpoint could not be stored");
        }
    }

    /// Waits, keeping the lease; ends early when the walk is told to stop.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<(), Interrupted> {
        let mut left = time;
        while left > Duration::ZERO {
            let nap = left.min(PAUSE_LOOK);
            let stop = self.shared.stop.clone();
            if stop
                .run_until_cancelled(tokio::time::sleep(nap))
                .await
                .is_none()
            {
                break;
            }
            left -= nap;
            self.keep().await;
            self.look()?;
        }
        self.look()
    }

    /// Whether the work may go on.
    fn look(&mut self) -> Result<(), Interrupted> {
        if self.shared.stop.is_cancelled() {
            self.ended.get_or_insert(Ended::Stopped);
        }
        match self.ended {
            Some(_) => Err(Interrupted),
            None => Ok(()),
        }
    }

    async fn wait_out_pause(&mut self) -> Result<(), Interrupted> {
        let gauge = metrics::gauge!("threadline_walker_paused", "job" => self.shared.job);
        while self.shared.throttle.is_paused() {
            gauge.set(1.0);
            self.shared.progress.set_message("paused by flag");
            self.wait(PAUSE_LOOK).await?;
            if !self.shared.throttle.is_paused() {
                self.shared.progress.set_message("");
            }
        }
        gauge.set(0.0);
        Ok(())
    }
}

#[async_trait]
impl Pace for RangeHold {
    async fn step(&mut self, rows: u64, took: Duration) -> Result<(), Interrupted> {
        let job = self.shared.job;
        metrics::counter!("threadline_walker_rows_total", "job" => job).increment(rows);
        metrics::histogram!("threadline_walker_batch_seconds", "job" => job)
            .record(took.as_secs_f64());
        self.shared.progress.inc(rows);
        self.shown += rows;
        self.look()?;
        self.wait_out_pause().await?;
        let wait = self.shared.throttle.wait_after(took);
        metrics::gauge!("threadline_walker_brake_seconds", "job" => job).set(wait.as_secs_f64());
        self.wait(wait).await?;
        let throttle = Arc::clone(&self.shared.throttle);
        let stop = self.shared.stop.clone();
        stop.run_until_cancelled(throttle.admit(rows)).await;
        self.keep().await;
        self.look()
    }
}
