//! Builds while people write: the end is as if the index had always been there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use threadline::domain::comment::{Comment, StateAct};
use threadline::domain::discussion::Discussion;
use threadline::domain::ids::DiscussionId;
use threadline::worker::jobs::audit::AuditKind;
use threadline::worker::jobs::build::BuildSettings;
use threadline::worker::jobs::layouts::{LayoutAct, LayoutJob};

use crate::world::World;

/// Posts, replies, edits, hides, restores and buries, as drawn, until told to stop. `unindexed` in
/// ten of its posts have no index row.
async fn write(
    world: &World,
    id: DiscussionId,
    (seed, unindexed): (u64, u8),
    stop: &AtomicBool,
) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut known: Vec<Comment> = Vec::new();
    let mut writes = 0;
    while !stop.load(Ordering::Relaxed) {
        writes += 1;
        let one = known.get(random.usize(..known.len().max(1))).cloned();
        match (random.u8(..10), one) {
            (0..2, _) | (_, None) => {
                known.extend(world.post(id, None, random.u8(..10) >= unindexed).await);
            }
            (2..6, Some(one)) => {
                known.extend(
                    world
                        .post(id, Some(one.id), random.u8(..10) >= unindexed)
                        .await,
                );
            }
            (6, Some(one)) => world.edit(&one).await,
            (7, Some(one)) => world.act(&one, StateAct::Hide).await,
            (8, Some(one)) => world.act(&one, StateAct::Restore).await,
            (_, Some(one)) => world.act(&one, StateAct::Bury).await,
        }
    }
    writes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discussion_built_while_people_write_ends_as_if_its_index_had_always_been_there() {
    let world = World::new().await;
    let id = world.unindexed(700).await;
    let stop = AtomicBool::new(false);
    let building = async {
        for _ in 0..6 {
            world.build().await;
            world.assert_clean().await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    let (one, two, ()) = tokio::join!(
        write(&world, id, (1, 5), &stop),
        write(&world, id, (2, 0), &stop),
        building
    );
    assert!(one > 0 && two > 0);
    let tally = world.build().await;
    assert_eq!(tally.items, 1);
    assert!(world.is_whole(id).await);
    world.assert_clean().await;
    assert_eq!(world.audit(AuditKind::Recount).await.sum("mended"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_depth_is_built_flipped_to_and_back_and_dropped_while_people_write_and_read() {
    let world = World::new().await;
    let id = world.unindexed(300).await;
    world.build().await;
    let stop = AtomicBool::new(false);
    let reading = async {
        let mut reads = 0;
        while !stop.load(Ordering::Relaxed) {
            // Whichever layout a read finds in the discussion's row, it can be read.
            let seen: Arc<Discussion> = world.discussion(id).await;
            assert!([1, 3].contains(&seen.layout.depth_limit));
            reads += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        reads
    };
    let changing = async {
        let deep = BuildSettings {
            depth_limit: Some(3),
            all: false,
        };
        let layouts = |act| LayoutJob {
            service: world.service().clone(),
            act,
        };
        while world.discussion(id).await.layout.depth_limit == 1 {
            world.complete(world.build_job(deep)).await;
            world.complete(layouts(LayoutAct::Flip(3))).await;
        }
        world.assert_clean().await;
        while world.discussion(id).await.layout.depth_limit == 3 {
            world.complete(layouts(LayoutAct::Flip(1))).await;
        }
        world.assert_clean().await;
        let dropped = world.complete(layouts(LayoutAct::Drop)).await;
        assert_eq!(dropped.outcomes["dropped"], 1);
        stop.store(true, Ordering::Relaxed);
    };
    let (writes, reads, ()) = tokio::join!(write(&world, id, (3, 0), &stop), reading, changing);
    assert!(writes > 0 && reads > 0);
    world.build().await;
    assert!(world.is_whole(id).await);
    assert_eq!(world.discussion(id).await.other_layout, None);
    world.assert_clean().await;
}
