//! Goes once over a table, in ranges that any number of workers in any number of processes share.
//!
//! [`WalkTable`] cuts a table into ranges and reads it page by page; [`WalkJob`] does something with
//! each item; [`TableWalker`] brings the two together: it leases ranges, stores how far they are
//! ([`crate::store::walks`]), goes on where another worker ended, and goes no faster than it may
//! ([`throttle`]). An item may be worked on more than once (after a crash, or when a lease was lost),
//! so jobs repeat safely; what they find is counted exactly once all the same.

mod pace;
pub mod tally;
pub mod throttle;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use self::pace::{Ended, RangeHold, Shared};
pub use self::tally::WalkTally;
use self::throttle::{Limits, Throttle};
use crate::domain::clock::Clock;
use crate::domain::keys::KeyRange;
use crate::service::ServiceError;
use crate::service::pace::{Pace, PacedError};
use crate::store::flags::FlagStore;
use crate::store::walks::{Opening, RangeLease, WalkPlan, WalkStatus, WalkStore};
use crate::store::{StoreError, StoreErrorKind};
use crate::tasks::Tasks;

/// Ranges of a walk: enough that the last ones do not wait for one worker, few enough to list.
const PARTS: u32 = 64;
/// Items read at a time.
const PAGE_ITEMS: u32 = 100;
/// How often a worker without a range looks for one that another one lost.
const IDLE_LOOK: Duration = Duration::from_secs(1);
/// How often an item is tried while its store fails, and the waits between.
const TRIES_MAX: u32 = 8;
const RETRY_FIRST: Duration = Duration::from_millis(250);

/// A table that can be walked over.
#[async_trait]
pub trait WalkTable: Send + Sync + Debug {
    /// What it holds.
    type Item: Send + Sync;

    /// Cuts it into about `parts` ranges.
    async fn split(&self, parts: u32) -> Result<Vec<KeyRange>, StoreError>;

    /// Items of a range above the key `after`, by rising key.
    async fn page(
        &self,
        range: KeyRange,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Self::Item)>, StoreError>;
}

/// What is done with each item.
#[async_trait]
pub trait WalkJob: Send + Sync + Debug {
    /// What it works on.
    type Item: Send + Sync;

    /// Its name: walks of one name are one walk.
    fn name(&self) -> &'static str;

    /// What it was asked to do, as text: workers of one walk must agree on it.
    fn settings(&self) -> String;

    /// What an item is called in a report.
    fn label(&self, item: &Self::Item) -> String;

    /// Does it. Must be safe to repeat; `again`: a worker that was lost may have done it already,
    /// and what it found is not counted.
    async fn work(
        &self,
        item: &Self::Item,
        again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError>;
}

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkOptions {
    /// Workers in this process.
    pub workers: u32,
    /// How fast.
    pub limits: Limits,
    /// How long a range stays leased to a worker that says nothing.
    pub lease: Duration,
    /// Whether to give up a walk of this name that is under way, and begin anew.
    pub anew: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            workers: 2,
            limits: Limits::default(),
            lease: Duration::from_secs(30),
            anew: false,
        }
    }
}

/// How a walk ended for this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEnd {
    /// Whether every range is done; otherwise it was told to stop.
    pub complete: bool,
    /// Whether it went on with a walk that was under way.
    pub joined: bool,
    /// What all workers of all processes found together.
    pub tally: WalkTally,
}

/// Why a walk failed.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// Another one is under way.
    #[error(
        "a walk \"{name}\" with other settings is under way ({settings}): run it with the same \
         settings until it ends, or give it up with --restart"
    )]
    Other {
        /// Its name.
        name: &'static str,
        /// Its settings.
        settings: String,
    },
    /// The store failed for good; the walk goes on from its last checkpoint when it is run again.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// An item could not be worked on.
    #[error("{item}: {cause}")]
    Item {
        /// Which one.
        item: String,
        /// Why.
        cause: PacedError,
    },
    /// A worker panicked.
    #[error("a worker ended: {0}")]
    Worker(#[from] tokio::task::JoinError),
}

/// Walks over tables.
#[derive(Clone, Debug)]
pub struct TableWalker {
    /// Where walks are kept.
    pub walks: Arc<dyn WalkStore>,
    /// Where the pause flag is.
    pub flags: Arc<dyn FlagStore>,
    /// Time.
    pub clock: Clock,
    /// Where workers run.
    pub tasks: Tasks,
    /// A name for this process that no other has.
    pub owner: Arc<str>,
}

impl TableWalker {
    /// Walks until every range is done, by whichever worker, or `stop` is given.
    pub async fn run<T, J>(
        &self,
        table: Arc<T>,
        job: Arc<J>,
        options: WalkOptions,
        progress: &ProgressBar,
        stop: &CancellationToken,
    ) -> Result<WalkEnd, WalkError>
    where
        T: WalkTable + 'static,
        J: WalkJob<Item = T::Item> + 'static,
    {
        let plan = WalkPlan {
            name: job.name().to_owned(),
            settings: job.settings(),
            ranges: table.split(PARTS).await?,
        };
        let (run, joined) = match self.walks.open(plan, options.anew).await? {
            Opening::Begun(run) => (run, false),
            Opening::Joined(run) => (run, true),
            Opening::Other(settings) => {
                let name = job.name();
                return Err(WalkError::Other { name, settings });
            }
        };
        if joined && let Some(status) = self.status(job.name(), run).await? {
            progress.set_position(tally_of(&status)?.rows);
        }
        let shared = Shared {
            walks: Arc::clone(&self.walks),
            clock: self.clock.clone(),
            throttle: Arc::new(Throttle::new(options.limits, Arc::clone(&self.flags))),
            progress: progress.clone(),
            // One worker that fails stops the others of this process.
            stop: stop.child_token(),
            lease_ms: i64::try_from(options.lease.as_millis()).unwrap_or(i64::MAX),
            job: job.name(),
        };
        let workers: Vec<_> = (0..options.workers.max(1))
            .map(|number| {
                let worker = Worker {
                    shared: shared.clone(),
                    table: Arc::clone(&table),
                    job: Arc::clone(&job),
                    owner: format!("{}/{number}", self.owner),
                    run,
                };
                self.tasks.spawn(worker.walk())
            })
            .collect();
        let mut failed = None;
        for worker in workers {
            if let Err(error) = worker.await? {
                failed.get_or_insert(error);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let status = self.status(job.name(), run).await?;
        Ok(WalkEnd {
            complete: status
                .as_ref()
                .is_some_and(|status| status.ended_ms.is_some()),
            joined,
            tally: status
                .as_ref()
                .map(tally_of)
                .transpose()?
                .unwrap_or_default(),
        })
    }

    async fn status(&self, name: &str, run: i64) -> Result<Option<WalkStatus>, StoreError> {
        let walks = self.walks.walks().await?;
        Ok(walks
            .into_iter()
            .find(|walk| walk.name == name && walk.run == run))
    }
}

/// What a walk has found so far, over all its ranges.
pub fn tally_of(status: &WalkStatus) -> Result<WalkTally, StoreError> {
    let mut whole = WalkTally::default();
    for tally in &status.tallies {
        whole
            .merge(serde_json::from_str(tally).map_err(|_unreadable| {
                StoreError::corrupt("walk_ranges", &status.name, "tally")
            })?);
    }
    Ok(whole)
}

struct Worker<T, J> {
    shared: Shared,
    table: Arc<T>,
    job: Arc<J>,
    owner: String,
    run: i64,
}

impl<T, J> Worker<T, J>
where
    T: WalkTable,
    J: WalkJob<Item = T::Item>,
{
    async fn walk(self) -> Result<(), WalkError> {
        let walked = self.ranges().await;
        if walked.is_err() {
            self.shared.stop.cancel();
        }
        walked
    }

    async fn ranges(&self) -> Result<(), WalkError> {
        while !self.shared.stop.is_cancelled() {
            match self.lease().await? {
                Some(lease) => self.range(lease).await?,
                None if self.has_ended().await? => return Ok(()),
                // Others hold the last ranges: one of them may be lost and become free.
                None => {
                    let nap = tokio::time::sleep(IDLE_LOOK);
                    self.shared.stop.run_until_cancelled(nap).await;
                }
            }
        }
        Ok(())
    }

    async fn lease(&self) -> Result<Option<RangeLease>, StoreError> {
        let (walks, lease_ms) = (&self.shared.walks, self.shared.lease_ms);
        walks
            .lease(self.job.name(), self.run, &self.owner, lease_ms)
            .await
    }

    async fn has_ended(&self) -> Result<bool, StoreError> {
        let walks = self.shared.walks.walks().await?;
        Ok(!walks.iter().any(|walk| {
            walk.name == self.job.name() && walk.run == self.run && walk.ended_ms.is_none()
        }))
    }

    async fn range(&self, lease: RangeLease) -> Result<(), WalkError> {
        let mut hold = RangeHold::new(self.shared.clone(), lease)?;
        let worked = self.items(&mut hold).await;
        match (&worked, hold.ended()) {
            (Ok(()), None) => {
                hold.finish().await?;
            }
            (_, Some(Ended::LeaseLost)) => {
                let part = hold.lease().part;
                tracing::warn!(
                    job = self.job.name(),
                    part,
                    "a range was lost to another worker"
                );
            }
            (_, Some(Ended::Stopped)) | (Err(_), None) => {
                hold.checkpoint().await?;
                self.shared.walks.release(hold.lease()).await?;
            }
        }
        worked
    }

    /// Works on every item of a range; an early end is the hold's to tell.
    async fn items(&self, hold: &mut RangeHold) -> Result<(), WalkError> {
        // Of a range that was leased before, the item under way then is the first one now.
        let mut again = hold.lease().epoch > 1;
        loop {
            let (range, done_to) = (hold.lease().range, hold.done_to());
            let page = self.table.page(range, done_to, PAGE_ITEMS).await?;
            if page.is_empty() {
                return Ok(());
            }
            for (key, item) in page {
                // Also between items that need no rows.
                if hold.step(0, Duration::ZERO).await.is_err() {
                    return Ok(());
                }
                match self.item(&item, again, hold).await? {
                    Some(found) => {
                        again = false;
                        hold.done(key, found);
                    }
                    None => return Ok(()),
                }
            }
        }
    }

    /// Works on one item, and again while its store fails; `None` when the hold ended.
    async fn item(
        &self,
        item: &J::Item,
        again: bool,
        hold: &mut RangeHold,
    ) -> Result<Option<WalkTally>, WalkError> {
        let mut wait = RETRY_FIRST;
        for attempt in 1.. {
            let cause = match self.job.work(item, again, hold).await {
                Ok(found) => return Ok(Some(found)),
                Err(PacedError::Interrupted) => return Ok(None),
                Err(PacedError::Service(cause)) => cause,
                Err(cause @ PacedError::Output(_)) => {
                    let item = self.job.label(item);
                    return Err(WalkError::Item { item, cause });
                }
            };
            if let ServiceError::Store(StoreError {
                kind: StoreErrorKind::Corrupt { .. },
                ..
            }) = &cause
            {
                // One damaged row must not end a walk over billions: it is reported.
                let mut found = WalkTally::of_item("unreadable", 0);
                found.fault(&self.job.label(item), &cause);
                return Ok(Some(found));
            }
            if attempt >= TRIES_MAX || !is_passing(&cause) {
                let (item, cause) = (self.job.label(item), cause.into());
                return Err(WalkError::Item { item, cause });
            }
            tracing::warn!(error = %cause, item = self.job.label(item), "trying again");
            if hold.wait(wait).await.is_err() {
                return Ok(None);
            }
            wait = wait.saturating_mul(2);
        }
        Ok(None)
    }
}

/// Whether trying again may help.
fn is_passing(cause: &ServiceError) -> bool {
    match cause {
        ServiceError::Mint(_) => true,
        ServiceError::Store(error) => matches!(
            error.kind,
            StoreErrorKind::Unavailable | StoreErrorKind::Timeout | StoreErrorKind::Conflict
        ),
        ServiceError::BadInput { .. }
        | ServiceError::Unauthenticated
        | ServiceError::Forbidden { .. }
        | ServiceError::TooComplex { .. } => false,
    }
}
