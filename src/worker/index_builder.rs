//! Builds the tree indexes that reads asked for and were too large to build within the read.
//!
//! The queue lies in the store, so nothing is forgotten when the process ends in the middle; each
//! discussion is leased, so that of several instances one builds it. Longest waiting first. A build
//! that fails waits longer each time and never holds up the others; its error is logged once, not
//! with every try. The flag that pauses walks pauses this, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::walker::throttle::{Limits, Throttle};
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::DiscussionId;
use crate::service::Service;
use crate::service::indexing::BuildReport;
use crate::service::pace::{Interrupted, Pace, PacedError};
use crate::store::StoreError;
use crate::tasks::Tasks;

/// How often the queue is looked at.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// Discussions taken from the queue at a time.
const QUEUE_ROWS: u32 = 10;
/// How long a discussion stays leased to a builder that says nothing, in ms.
const LEASE_MS: i64 = 15_000;
/// How often a builder says that it is still there.
const HOLD_PERIOD: Duration = Duration::from_secs(5);
/// A batch that takes the store longer makes the builder wait: requests come first.
const LATENCY_MAX: Duration = Duration::from_millis(100);
/// The wait after a first failure; it doubles with each further one.
const BACKOFF_FIRST: Duration = Duration::from_secs(1);
/// The longest wait.
const BACKOFF_MAX: Duration = Duration::from_mins(5);

/// Builds queued indexes. Clones share what they know of failures.
#[derive(Clone, Debug)]
pub struct IndexBuilder {
    service: Service,
    owner: Arc<str>,
    throttle: Arc<Throttle>,
    failures: Arc<Mutex<HashMap<DiscussionId, u32>>>,
    stop: CancellationToken,
}

impl IndexBuilder {
    /// A builder over a service; it does nothing by itself. `owner` is a name that no other process
    /// has.
    pub fn new(service: Service, owner: &str) -> Self {
        let limits = Limits {
            rows_per_second: None,
            latency_max: Some(LATENCY_MAX),
        };
        let throttle = Throttle::new(limits, Arc::clone(&service.ports().flags));
        Self {
            stop: service.ports().tasks.stopping(),
            service,
            owner: Arc::from(owner),
            throttle: Arc::new(throttle),
            failures: Arc::default(),
        }
    }

    /// Builds in the background until the tasks stop; a build that is under way then is left where
    /// it is, and begins anew at the next start or on another instance.
    pub fn start(self, tasks: &Tasks) {
        tasks.spawn(async move { self.build_until_stopped().await });
    }

    async fn build_until_stopped(&self) {
        let mut is_reachable = true;
        while !self.stop.is_cancelled() {
            match self.run_once().await {
                Ok(_) => is_reachable = true,
                Err(error) if is_reachable => {
                    is_reachable = false;
                    tracing::warn!(%error, "the queue of index builds cannot be read");
                }
                Err(_) => {}
            }
            let nap = tokio::time::sleep(LOOK_PERIOD);
            self.stop.run_until_cancelled(nap).await;
        }
    }

    /// Builds what waits in the queue now and nobody else builds. Returns how many discussions are
    /// complete now. Fails only when the queue cannot be read.
    pub async fn run_once(&self) -> Result<usize, StoreError> {
        let comments = &self.service.ports().comments;
        let mut built = 0;
        loop {
            if self.throttle.is_paused() {
                return Ok(built);
            }
            // Looked at before it is leased, because a look costs no write.
            let waiting = comments.queued(1_000).await?;
            metrics::gauge!("threadline_index_queue").set(f64::from(length(&waiting)));
            self.failures().retain(|id, _| waiting.contains(id));
            if waiting.is_empty() {
                return Ok(built);
            }
            let leased = comments
                .lease_queued(&self.owner, LEASE_MS, QUEUE_ROWS)
                .await?;
            if leased.is_empty() {
                return Ok(built);
            }
            for id in leased {
                if self.stop.is_cancelled() {
                    comments.hold_queued(id, &self.owner, 0).await?;
                } else if self.take(id).await? {
                    built += 1;
                }
            }
        }
    }

    /// Builds one leased discussion; whether it is complete now.
    async fn take(&self, id: DiscussionId) -> Result<bool, StoreError> {
        let comments = &self.service.ports().comments;
        // It may have waited behind others for longer than its lease.
        if !comments.hold_queued(id, &self.owner, LEASE_MS).await? {
            return Ok(false);
        }
        let outcome = self.build(id).await;
        if matches!(outcome, Err(PacedError::Interrupted)) {
            comments.hold_queued(id, &self.owner, 0).await?;
            return Ok(false);
        }
        let is_complete = matches!(&outcome, Ok(Some(report)) if report.complete);
        self.report(id, &outcome).await?;
        Ok(is_complete)
    }

    /// Builds each layout that lacks rows. `None`: there is no such discussion.
    async fn build(&self, id: DiscussionId) -> Result<Option<BuildReport>, PacedError> {
        let Some(discussion) = self.service.discussions(&[id]).await?.pop() else {
            return Ok(None);
        };
        let mut pace = QueuePace {
            builder: self,
            discussion: id,
            held_at: self.service.ports().clock.monotonic(),
        };
        let mut sum = BuildReport {
            complete: true,
            ..BuildReport::default()
        };
        for layout in due(&discussion) {
            let report = self.service.build_paced(id, layout, &mut pace).await?;
            sum.rows += report.rows;
            sum.parents_missing += report.parents_missing;
            sum.flattened += report.flattened;
            sum.complete &= report.complete;
        }
        Ok(Some(sum))
    }

    async fn report(
        &self,
        id: DiscussionId,
        outcome: &Result<Option<BuildReport>, PacedError>,
    ) -> Result<(), StoreError> {
        let comments = &self.service.ports().comments;
        let (name, rows) = match outcome {
            Ok(Some(report)) if report.complete => ("complete", report.rows),
            // Somebody wrote without an index row meanwhile: there is more to do, but no fault.
            Ok(Some(report)) => ("overtaken", report.rows),
            Ok(None) => ("missing", 0),
            Err(_) => ("failed", 0),
        };
        metrics::counter!("threadline_index_builds_total", "outcome" => name).increment(1);
        metrics::counter!("threadline_index_rows_total").increment(rows);
        match outcome {
            Ok(Some(report)) if report.complete => {
                self.failures().remove(&id);
                tracing::info!(discussion = %id, rows, "index built");
            }
            Ok(None) => {
                tracing::warn!(discussion = %id, "an index was asked for, but not of a discussion");
                comments.dequeue(id).await?;
            }
            Ok(Some(_)) | Err(_) => {
                let (wait, is_first) = self.put_off(id);
                if let (Err(error), true) = (outcome, is_first) {
                    tracing::warn!(discussion = %id, %error, "an index could not be built; it is tried again");
                }
                // The lease is what keeps it from being tried before.
                let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                comments.hold_queued(id, &self.owner, wait_ms).await?;
            }
        }
        Ok(())
    }

    fn failures(&self) -> std::sync::MutexGuard<'_, HashMap<DiscussionId, u32>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a discussion waits now, and whether this was its first failure.
    fn put_off(&self, id: DiscussionId) -> (Duration, bool) {
        let mut failures = self.failures();
        let count = failures.entry(id).or_default();
        let factor = 2_u32.saturating_pow(*count);
        let wait = BACKOFF_FIRST.saturating_mul(factor).min(BACKOFF_MAX);
        *count = count.saturating_add(1);
        (wait, *count == 1)
    }
}

/// Keeps the lease of a discussion while it is built, and lets requests come first.
struct QueuePace<'a> {
    builder: &'a IndexBuilder,
    discussion: DiscussionId,
    held_at: Duration,
}

#[async_trait]
impl Pace for QueuePace<'_> {
    async fn step(&mut self, _rows: u64, took: Duration) -> Result<(), Interrupted> {
        let builder = self.builder;
        let nap = tokio::time::sleep(builder.throttle.wait_after(took));
        builder.stop.run_until_cancelled(nap).await;
        if builder.stop.is_cancelled() || builder.throttle.is_paused() {
            return Err(Interrupted);
        }
        let ports = builder.service.ports();
        let now = ports.clock.monotonic();
        if now.saturating_sub(self.held_at) < HOLD_PERIOD {
            return Ok(());
        }
        self.held_at = now;
        let held = ports
            .comments
            .hold_queued(self.discussion, &builder.owner, LEASE_MS)
            .await;
        match held {
            Ok(true) => Ok(()),
            Ok(false) => Err(Interrupted),
            Err(error) => {
                tracing::warn!(%error, "the lease of a build could not be prolonged");
                Ok(())
            }
        }
    }
}

/// The layouts to build: those that lack rows, or the one in use when none does, since its build
/// is what takes the discussion off the queue.
fn due(discussion: &Discussion) -> Vec<Layout> {
    let layouts = [Some(discussion.layout), discussion.other_layout];
    let lacking = layouts.into_iter().flatten();
    let lacking: Vec<Layout> = lacking.filter(|layout| !layout.complete).collect();
    if lacking.is_empty() {
        return vec![discussion.layout];
    }
    lacking
}

fn length(queued: &[DiscussionId]) -> u32 {
    u32::try_from(queued.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::domain::body::BodyFormat;
    use crate::domain::clock::Clock;
    use crate::domain::comment::CommentState;
    use crate::domain::ids::generator::IdGenerator;
    use crate::domain::ids::{CommentId, UserId};
    use crate::service::lease::LeaseKeeper;
    use crate::service::{Ports, Settings};
    use crate::store::comments::{NewComment, NewDiscussion};
    use crate::store::open::{self, Stores};

    struct Fixture {
        builder: IndexBuilder,
        keeper: LeaseKeeper,
        clock: Clock,
        tasks: Tasks,
        _root: tempfile::TempDir,
    }

    impl Fixture {
        async fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let url = |scheme: &str, name: &str| {
                let text = format!("{scheme}:{}", root.path().join(name).display());
                text.parse().unwrap()
            };
            let urls = config::Stores {
                comments: url("sqlite", "c.db"),
                users: url("sqlite", "u.db"),
                flags: url("folder", "."),
                app_id: 1,
                scrub_interval: "24h".parse().unwrap(),
            };
            let (clock, tasks) = (Clock::manual(1_800_000_000_000), Tasks::new());
            let Stores {
                comments,
                users,
                states,
                workers,
                flags,
                wake,
                ..
            } = open::open(&urls, 0, &clock, &tasks).await.unwrap();
            let ids = Arc::new(IdGenerator::new(clock.clone()));
            let keeper = LeaseKeeper::new(workers, Arc::clone(&ids), clock.clone(), "test");
            keeper.acquire().await.unwrap();
            let ports = Ports {
                comments,
                users,
                states,
                flags,
                wake,
                ids,
                clock: clock.clone(),
                tasks: tasks.clone(),
            };
            Self {
                builder: IndexBuilder::new(Service::new(ports, Settings::default()), "test"),
                keeper,
                clock,
                tasks,
                _root: root,
            }
        }

        fn ports(&self) -> &Ports {
            self.builder.service.ports()
        }

        /// A queued discussion of three comments without index rows.
        async fn unindexed(&self) -> DiscussionId {
            let (comments, ids) = (&self.ports().comments, &self.ports().ids);
            let id = DiscussionId::new(ids.mint().unwrap());
            let new = NewDiscussion {
                id,
                title: String::new(),
                url: None,
                entity: None,
                premoderated: false,
                depth_limit: 1,
                opened_by: None,
            };
            comments.open_discussion(new).await.unwrap();
            for _ in 0..3 {
                let new = NewComment {
                    id: CommentId::new(ids.mint().unwrap()),
                    discussion_id: id,
                    author_id: UserId::new(1),
                    body: "text".to_owned(),
                    format: BodyFormat::Plain,
                    parent_id: None,
                    state: CommentState::Published,
                    index: false,
                    claim: None,
                    comments_max: 10,
                };
                comments.create(new).await.unwrap();
            }
            comments.enqueue(id).await.unwrap();
            id
        }

        async fn queue(&self) -> Vec<DiscussionId> {
            self.ports().comments.queued(10).await.unwrap()
        }

        async fn is_complete(&self, id: DiscussionId) -> bool {
            let found = self.ports().comments.discussions(&[id]).await.unwrap();
            found[0].layout.complete
        }
    }

    #[tokio::test]
    async fn what_is_queued_is_built_once_and_leaves_the_queue() {
        let fixture = Fixture::new().await;
        let (one, two) = (fixture.unindexed().await, fixture.unindexed().await);
        assert!(!fixture.is_complete(one).await);
        assert_eq!(fixture.builder.run_once().await.unwrap(), 2);
        assert!(fixture.is_complete(one).await && fixture.is_complete(two).await);
        assert!(fixture.queue().await.is_empty());
        assert_eq!(fixture.builder.run_once().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_failed_build_waits_and_is_tried_again() {
        let fixture = Fixture::new().await;
        let id = fixture.unindexed().await;
        fixture.ports().ids.set_lease(None);
        assert_eq!(fixture.builder.run_once().await.unwrap(), 0);
        fixture.keeper.acquire().await.unwrap();
        assert_eq!(fixture.builder.run_once().await.unwrap(), 0, "it waits");
        fixture.clock.advance(BACKOFF_FIRST);
        assert_eq!(fixture.builder.run_once().await.unwrap(), 1);
        assert!(fixture.is_complete(id).await);
        assert!(fixture.builder.failures().is_empty());
    }

    #[tokio::test]
    async fn waits_double_up_to_a_limit() {
        let fixture = Fixture::new().await;
        let waits: Vec<_> = (0..40)
            .map(|_| fixture.builder.put_off(DiscussionId::new(5)).0.as_secs())
            .collect();
        assert_eq!(waits[..4], [1, 2, 4, 8]);
        assert_eq!(waits.last(), Some(&BACKOFF_MAX.as_secs()));
    }

    #[tokio::test]
    async fn of_two_builders_one_builds_and_the_other_takes_over_when_it_is_gone() {
        let fixture = Fixture::new().await;
        let id = fixture.unindexed().await;
        let comments = &fixture.ports().comments;
        let leased = comments.lease_queued("gone", LEASE_MS, 10).await.unwrap();
        assert_eq!(leased, [id]);
        assert_eq!(fixture.builder.run_once().await.unwrap(), 0);
        assert!(!fixture.is_complete(id).await);
        let lease = Duration::from_millis(u64::try_from(LEASE_MS).unwrap());
        fixture.clock.advance(lease);
        fixture.keeper.acquire().await.unwrap();
        assert_eq!(fixture.builder.run_once().await.unwrap(), 1);
        assert!(!comments.hold_queued(id, "gone", LEASE_MS).await.unwrap());
    }

    #[tokio::test]
    async fn a_discussion_that_is_not_there_holds_up_nobody() {
        let fixture = Fixture::new().await;
        let missing = DiscussionId::new(5);
        fixture.ports().comments.enqueue(missing).await.unwrap();
        fixture.clock.advance(Duration::from_millis(1));
        let id = fixture.unindexed().await;
        assert_eq!(fixture.queue().await, [missing, id]);
        assert_eq!(fixture.builder.run_once().await.unwrap(), 1);
        assert!(fixture.is_complete(id).await);
        assert!(fixture.queue().await.is_empty(), "it is asked for no more");
    }

    #[tokio::test]
    async fn a_second_layout_is_built_as_well() {
        let fixture = Fixture::new().await;
        let id = fixture.unindexed().await;
        fixture.builder.run_once().await.unwrap();
        let comments = &fixture.ports().comments;
        comments.add_layout(id, 3).await.unwrap();
        comments.enqueue(id).await.unwrap();
        assert_eq!(fixture.builder.run_once().await.unwrap(), 1);
        assert!(comments.flip_layout(id).await.unwrap());
    }

    #[tokio::test]
    async fn the_loop_builds_by_itself_and_ends_with_the_other_tasks() {
        let fixture = Fixture::new().await;
        let id = fixture.unindexed().await;
        fixture.builder.clone().start(&fixture.tasks);
        let built = async {
            while !fixture.is_complete(id).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), built)
            .await
            .unwrap();
        assert!(fixture.tasks.shutdown(Duration::from_mins(1)).await);
    }
}
