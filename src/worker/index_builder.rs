//! Builds the tree indexes that reads asked for and were too large to build within the read.
//!
//! One discussion at a time, longest waiting first. A build that fails waits longer each time and
//! never holds up the others; its error is logged once, not with every try. The queue lies in the
//! store, so nothing is forgotten when the process ends in the middle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::DiscussionId;
use crate::service::indexing::BuildReport;
use crate::service::{Service, ServiceResult};
use crate::store::StoreError;
use crate::tasks::Tasks;

/// How often the queue is looked at.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// Discussions taken from the queue at a time.
const QUEUE_ROWS: u32 = 100;
/// The wait after a first failure; it doubles with each further one.
const BACKOFF_FIRST: Duration = Duration::from_secs(1);
/// The longest wait.
const BACKOFF_MAX: Duration = Duration::from_mins(5);

/// How often a build has failed, and when it may be tried again on the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    again_at: Duration,
}

/// Builds queued indexes. Clones share what they know of failures.
#[derive(Clone, Debug)]
pub struct IndexBuilder {
    service: Service,
    failures: Arc<Mutex<HashMap<DiscussionId, Failures>>>,
}

impl IndexBuilder {
    /// A builder over a service; it does nothing by itself.
    pub fn new(service: Service) -> Self {
        Self {
            service,
            failures: Arc::default(),
        }
    }

    /// Builds in the background until the tasks stop; a build that is under way then is left where
    /// it is, and begins anew at the next start.
    pub fn start(self, tasks: &Tasks) {
        let stopping = tasks.stopping();
        tasks.spawn(async move {
            // `None` is the stop; the loop itself has no end.
            stopping.run_until_cancelled(self.build_for_ever()).await;
        });
    }

    async fn build_for_ever(&self) {
        let mut is_reachable = true;
        loop {
            match self.run_once().await {
                Ok(_) => is_reachable = true,
                Err(error) if is_reachable => {
                    is_reachable = false;
                    tracing::warn!(%error, "the queue of index builds cannot be read");
                }
                Err(_) => {}
            }
            tokio::time::sleep(LOOK_PERIOD).await;
        }
    }

    /// Builds what waits in the queue now, leaving out what failed a moment ago. Returns how many
    /// discussions are complete now. Fails only when the queue cannot be read.
    pub async fn run_once(&self) -> Result<usize, StoreError> {
        // What waits after a failure stands at the front: look past it.
        let failing = u32::try_from(self.failures().len()).unwrap_or(u32::MAX);
        let rows = QUEUE_ROWS.saturating_add(failing);
        let queued = self.service.ports().comments.queued(rows).await?;
        metrics::gauge!("threadline_index_queue").set(f64::from(length(&queued)));
        self.failures().retain(|id, _| queued.contains(id));
        let mut built = 0;
        for id in queued {
            if self.is_waiting(id) {
                continue;
            }
            let outcome = self.build(id).await;
            self.report(id, &outcome);
            if matches!(outcome, Ok(Some(report)) if report.complete) {
                built += 1;
            }
        }
        Ok(built)
    }

    /// Builds each layout that lacks rows. `None`: there is no such discussion.
    async fn build(&self, id: DiscussionId) -> ServiceResult<Option<BuildReport>> {
        let Some(discussion) = self.service.discussions(&[id]).await?.pop() else {
            return Ok(None);
        };
        let mut sum = BuildReport {
            complete: true,
            ..BuildReport::default()
        };
        for layout in due(&discussion) {
            let report = self.service.build(id, layout).await?;
            sum.rows += report.rows;
            sum.parents_missing += report.parents_missing;
            sum.flattened += report.flattened;
            sum.complete &= report.complete;
        }
        Ok(Some(sum))
    }

    fn report(&self, id: DiscussionId, outcome: &ServiceResult<Option<BuildReport>>) {
        let (name, rows) = match outcome {
            Ok(Some(report)) if report.complete => ("complete", report.rows),
            // Somebody wrote without an index row meanwhile: there is more to do, but no fault.
            Ok(Some(report)) => ("overtaken", report.rows),
            Ok(None) => ("missing", 0),
            Err(_) => ("failed", 0),
        };
        metrics::counter!("threadline_index_builds_total", "outcome" => name).increment(1);
        metrics::counter!("threadline_index_rows_total").increment(rows);
        if name == "complete" {
            self.failures().remove(&id);
            tracing::info!(discussion = %id, rows, "index built");
            return;
        }
        let failed_before = self.put_off(id);
        if failed_before {
            return;
        }
        match outcome {
            Ok(Some(_)) => {}
            Ok(None) => {
                tracing::warn!(discussion = %id, "an index was asked for, but not of a discussion");
            }
            Err(error) => {
                tracing::warn!(discussion = %id, %error, "an index could not be built; it is tried again");
            }
        }
    }

    fn failures(&self) -> std::sync::MutexGuard<'_, HashMap<DiscussionId, Failures>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_waiting(&self, id: DiscussionId) -> bool {
        let now = self.service.ports().clock.monotonic();
        let failures = self.failures();
        failures
            .get(&id)
            .is_some_and(|failed| now < failed.again_at)
    }

    /// Makes a discussion wait. Returns whether it has failed before.
    fn put_off(&self, id: DiscussionId) -> bool {
        let now = self.service.ports().clock.monotonic();
        let mut failures = self.failures();
        let count = failures.get(&id).map_or(0, |failed| failed.count);
        let factor = 2_u32.saturating_pow(count);
        let wait = BACKOFF_FIRST.saturating_mul(factor).min(BACKOFF_MAX);
        let failed = Failures {
            count: count.saturating_add(1),
            again_at: now + wait,
        };
        failures.insert(id, failed);
        count > 0
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
            };
            let (clock, tasks) = (Clock::manual(1_800_000_000_000), Tasks::new());
            let Stores {
                comments,
                users,
                workers,
                flags,
                ..
            } = open::open(&urls, 0, &clock, &tasks).await.unwrap();
            let ids = Arc::new(IdGenerator::new(clock.clone()));
            let keeper = LeaseKeeper::new(workers, Arc::clone(&ids), clock.clone(), "test");
            keeper.acquire().await.unwrap();
            let ports = Ports {
                comments,
                users,
                flags,
                ids,
                clock: clock.clone(),
                tasks: tasks.clone(),
            };
            Self {
                builder: IndexBuilder::new(Service::new(ports, Settings::default())),
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
        let id = DiscussionId::new(5);
        let mut waits = Vec::new();
        for _ in 0..40 {
            fixture.builder.put_off(id);
            let again_at = fixture.builder.failures()[&id].again_at;
            let wait = again_at.saturating_sub(fixture.clock.monotonic());
            waits.push(wait.as_secs());
        }
        assert_eq!(waits[..4], [1, 2, 4, 8]);
        assert_eq!(waits.last(), Some(&BACKOFF_MAX.as_secs()));
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
