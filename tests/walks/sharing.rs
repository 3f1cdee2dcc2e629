//! Several workers and processes on one walk, and workers that are lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use threadline::domain::discussion::Discussion;
use threadline::domain::ids::DiscussionId;
use threadline::service::pace::{Pace, PacedError};
use threadline::store::walks::WalkStore;
use threadline::store::{StoreError, StoreErrorKind};
use threadline::worker::jobs::build::BuildSettings;
use threadline::worker::walker::{WalkError, WalkJob, WalkOptions, WalkTally};
use tokio_util::sync::CancellationToken;

use crate::world::{World, quick, walk};

/// Counts its items; what it does before is for each case to say.
#[derive(Debug)]
pub(crate) struct Counting<F> {
    pub(crate) settings: &'static str,
    pub(crate) before: F,
}

#[async_trait]
impl<F> WalkJob for Counting<F>
where
    F: AsyncStep,
{
    type Item = Arc<Discussion>;

    fn name(&self) -> &'static str {
        "counting"
    }

    fn settings(&self) -> String {
        self.settings.to_owned()
    }

    fn label(&self, item: &Self::Item) -> String {
        item.id.to_string()
    }

    async fn work(
        &self,
        item: &Self::Item,
        _again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        self.before.step(item.id).await?;
        pace.step(1, Duration::ZERO).await?;
        Ok(WalkTally::of_item("counted", 1))
    }
}

/// What a case does before an item is counted.
#[async_trait]
pub(crate) trait AsyncStep: Send + Sync + std::fmt::Debug {
    async fn step(&self, id: DiscussionId) -> Result<(), PacedError>;
}

/// Nothing.
#[derive(Debug)]
pub(crate) struct Nothing;

#[async_trait]
impl AsyncStep for Nothing {
    async fn step(&self, _id: DiscussionId) -> Result<(), PacedError> {
        Ok(())
    }
}

/// Sleeps at its first item, once.
#[derive(Debug)]
struct SleepsOnce(AtomicU32, Duration);

#[async_trait]
impl AsyncStep for SleepsOnce {
    async fn step(&self, _id: DiscussionId) -> Result<(), PacedError> {
        if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            tokio::time::sleep(self.1).await;
        }
        Ok(())
    }
}

/// Fails this often before it succeeds.
#[derive(Debug)]
struct Fails(AtomicU32, StoreErrorKind);

#[async_trait]
impl AsyncStep for Fails {
    async fn step(&self, _id: DiscussionId) -> Result<(), PacedError> {
        let left = self.0.load(Ordering::SeqCst);
        if left == 0 {
            return Ok(());
        }
        self.0.store(left - 1, Ordering::SeqCst);
        Err(StoreError::new("test", self.1.clone(), "as told").into())
    }
}

pub(crate) fn counting() -> Counting<Nothing> {
    Counting {
        settings: "",
        before: Nothing,
    }
}

async fn many(discussions: usize) -> World {
    let world = World::new().await;
    for _ in 0..discussions {
        world.open_discussion().await;
    }
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_a_build_and_every_discussion_is_counted_once() {
    let world = World::new().await;
    let mut comments = 0;
    for size in 0..40 {
        world.unindexed(size).await;
        comments += u64::try_from(size).unwrap();
    }
    let sibling = world.sibling().await;
    let stop = CancellationToken::new();
    let settings = BuildSettings::default();
    let theirs = threadline::worker::jobs::build::BuildJob {
        service: sibling.service().clone(),
        settings,
    };
    let (ours, theirs) = tokio::join!(
        walk(&world.app, world.build_job(settings), quick(), &stop),
        walk(&sibling, theirs, quick(), &stop)
    );
    let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
    assert!(ours.complete && theirs.complete);
    let (early, late) = if ours.joined {
        (&theirs, &ours)
    } else {
        (&ours, &theirs)
    };
    // One may have ended before the other began: then that one began a walk of its own.
    if late.joined {
        assert_eq!(early.tally, late.tally);
    }
    assert_eq!(early.tally.items, 40);
    assert_eq!(early.tally.rows, comments);
    world.assert_clean().await;
    assert!(sibling.shutdown().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_range_and_comes_back_changes_nothing() {
    let world = many(10).await;
    let sibling = world.sibling().await;
    let stop = CancellationToken::new();
    let options = WalkOptions {
        workers: 1,
        ..quick()
    };
    // The first one falls asleep for longer than its lease; the second one takes its range over.
    let sleeper = Counting {
        settings: "",
        before: SleepsOnce(AtomicU32::new(0), Duration::from_secs(6)),
    };
    let slow = walk(&world.app, sleeper, options, &stop);
    let quick = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        walk(&sibling, counting(), options, &stop).await
    };
    let (slow, quick) = tokio::join!(slow, quick);
    let (slow, quick) = (slow.unwrap(), quick.unwrap());
    assert!(quick.joined && quick.complete && slow.complete);
    assert_eq!(
        quick.tally.outcomes,
        BTreeMap::from([("counted".to_owned(), 10)])
    );
    assert_eq!(slow.tally, quick.tally, "nothing is counted twice");
    assert!(sibling.shutdown().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_for_a_moment_is_tried_again_and_one_that_fails_on_ends_the_walk() {
    let world = many(5).await;
    let stop = CancellationToken::new();
    for kind in [
        StoreErrorKind::Unavailable,
        StoreErrorKind::Timeout,
        StoreErrorKind::Conflict,
    ] {
        let job = Counting {
            settings: "",
            before: Fails(AtomicU32::new(3), kind),
        };
        let end = walk(&world.app, job, quick(), &stop).await.unwrap();
        assert_eq!((end.tally.items, end.tally.found()), (5, 0));
    }
    let job = Counting {
        settings: "",
        before: Fails(AtomicU32::new(u32::MAX), StoreErrorKind::Limit),
    };
    let error = walk(&world.app, job, quick(), &stop).await.unwrap_err();
    assert!(matches!(error, WalkError::Item { .. }), "{error}");
    // It goes on from there, and what was done is not done again.
    let end = walk(&world.app, counting(), quick(), &stop).await.unwrap();
    assert!(end.joined && end.complete);
    assert_eq!(end.tally.items, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_cannot_be_read_is_reported_and_the_walk_goes_on() {
    let world = many(5).await;
    let job = Counting {
        settings: "",
        before: Fails(
            AtomicU32::new(1),
            StoreErrorKind::Corrupt {
                table: "comments",
                key: "5".to_owned(),
                column: "state".to_owned(),
            },
        ),
    };
    let stop = CancellationToken::new();
    let end = walk(&world.app, job, quick(), &stop).await.unwrap();
    assert_eq!((end.tally.items, end.tally.found()), (5, 1));
    assert!(
        end.tally.faults[0].what.contains("state"),
        "{:?}",
        end.tally.faults
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_with_other_settings_is_refused_until_the_first_ends_or_is_given_up() {
    let world = many(3).await;
    let stop = CancellationToken::new();
    stop.cancel();
    let end = walk(&world.app, counting(), quick(), &stop).await.unwrap();
    assert!(!end.complete, "stopped before it did anything");
    let other = || Counting {
        settings: "other",
        before: Nothing,
    };
    let stop = CancellationToken::new();
    let refused = walk(&world.app, other(), quick(), &stop).await.unwrap_err();
    assert!(refused.to_string().contains("--restart"), "{refused}");
    let anew = WalkOptions {
        anew: true,
        ..quick()
    };
    let end = walk(&world.app, other(), anew, &stop).await.unwrap();
    assert!(end.complete && !end.joined);
    assert_eq!(end.tally.items, 3);
    let walks: Arc<dyn WalkStore> = world.app.walker().walks;
    assert_eq!(walks.walks().await.unwrap()[0].settings, "other");
}
