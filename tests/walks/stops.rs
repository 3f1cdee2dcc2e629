//! Walks that are stopped, paused and slowed.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use threadline::worker::jobs::build::BuildSettings;
use threadline::worker::walker::WalkOptions;
use threadline::worker::walker::throttle::Limits;
use tokio_util::sync::CancellationToken;

use crate::sharing::counting;
use crate::world::{World, quick, walk};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_stopped_again_and_again_ends_with_exact_numbers() {
    let world = World::new().await;
    let mut comments = 0;
    for size in [3, 900, 1, 700, 0, 40, 1_200, 5] {
        world.unindexed(size).await;
        comments += u64::try_from(size).unwrap();
    }
    let mut runs = 0;
    let tally = loop {
        runs += 1;
        assert!(runs < 1_000, "it never ends");
        let stop = CancellationToken::new();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(15)).await;
            stop.cancel();
        };
        let job = world.build_job(BuildSettings::default());
        let (end, ()) = tokio::join!(walk(&world.app, job, quick(), &stop), stopping);
        let end = end.unwrap();
        assert_eq!(end.joined, runs > 1);
        if end.complete {
            break end.tally;
        }
    };
    assert_eq!(tally.items, 8);
    // Rows of a discussion that was under way are read again, but counted once.
    assert_eq!(tally.rows, comments);
    let branches: u64 = tally.branches.total().iter().sum();
    let roots: u64 = [3, 900, 1, 700, 0, 40, 1_200, 5_u64]
        .iter()
        .map(|size| size.div_ceil(3))
        .sum();
    assert_eq!(branches, roots);
    world.assert_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_flag_makes_a_walk_wait_and_go_on() {
    let world = World::new().await;
    for _ in 0..4 {
        world.unindexed(5).await;
    }
    let flag = |enabled: &str| {
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/flags/walker-pause.toml");
        let text = std::fs::read_to_string(shipped).unwrap();
        let text = text.replace("enabled = false", &format!("enabled = {enabled}"));
        std::fs::write(world.folder.path().join("flags/walker-pause.toml"), text).unwrap();
    };
    let flags = Arc::clone(&world.service().ports().flags);
    let revision_after = async |before: u64| {
        for _ in 0..1_000 {
            if flags.snapshot().revision() > before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the flag file was not read within 10 s");
    };
    let before = flags.snapshot().revision();
    flag("true");
    revision_after(before).await;
    let stop = CancellationToken::new();
    let job = world.build_job(BuildSettings::default());
    let releasing = async {
        // Long enough to have built everything, were it not for the flag.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let waits = world.app.walker().walks.walks().await.unwrap();
        assert_eq!(waits[0].done, 0, "{waits:?}");
        assert!(waits[0].leased > 0, "it keeps its ranges");
        let before = flags.snapshot().revision();
        flag("false");
        revision_after(before).await;
    };
    let (end, ()) = tokio::join!(walk(&world.app, job, quick(), &stop), releasing);
    assert!(end.unwrap().complete);
    world.assert_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_of_rows_is_kept_and_a_paused_or_limited_walk_can_be_stopped() {
    let world = World::new().await;
    for _ in 0..4 {
        world.open_discussion().await;
    }
    let options = WalkOptions {
        limits: Limits {
            rows_per_second: NonZeroU32::new(1),
            latency_max: Some(Duration::from_millis(1)),
        },
        ..quick()
    };
    // Four rows lie within what may come at once.
    let stop = CancellationToken::new();
    let end = walk(&world.app, counting(), options, &stop).await.unwrap();
    assert_eq!((end.complete, end.tally.rows), (true, 4));
    world.unindexed(2_500).await;
    let job = world.build_job(BuildSettings::default());
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    // 2,500 rows at one a second are most of an hour.
    let (end, ()) = tokio::join!(walk(&world.app, job, options, &stop), stopping);
    assert!(!end.unwrap().complete);
    world.build().await;
    world.assert_clean().await;
}
