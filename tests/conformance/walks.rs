//! Cases of port `walks`.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use threadline::domain::keys::KeyRange;
use threadline::store::walks::{Opening, RangeLease, WalkPlan, WalkStatus, WalkStore};

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env, START_MS, cases};

type Walks = Env<dyn WalkStore>;

const TTL_MS: i64 = 30_000;

pub(crate) const CASES: &[Case<dyn WalkStore>] = cases![
    k1_workers_that_ask_at_once_from_two_instances_get_different_ranges,
    k1_who_lost_a_range_can_store_nothing_into_it,
    k1_a_worker_of_an_older_run_can_store_nothing,
    k2_a_checkpoint_and_its_tally_come_back_together,
    k2_a_checkpoint_never_goes_back,
    k3_a_range_given_back_is_leased_again_from_its_checkpoint,
    k3_a_range_whose_lease_ran_out_is_leased_again,
    k3_a_checkpoint_prolongs_the_lease,
    k4_a_walk_under_way_is_joined_and_other_settings_are_refused,
    k4_a_walk_that_ended_begins_anew,
    k4_a_walk_given_up_begins_anew,
    k5_a_walk_ends_with_its_last_range_and_keeps_its_tallies,
    k5_walks_of_different_names_know_nothing_of_each_other,
];

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::Walks,
        |place, clock, tasks| Box::pin(place.walks(clock, tasks)),
        CASES,
    )
}

fn plan(name: &str, settings: &str, parts: i64) -> WalkPlan {
    let starts: Vec<i64> = (1..parts).map(|part| part * 1_000).collect();
    WalkPlan {
        name: name.to_owned(),
        settings: settings.to_owned(),
        ranges: KeyRange::cut(&starts),
    }
}

async fn begin(env: &Walks, parts: i64) -> i64 {
    match env
        .store
        .open(plan("walk", "", parts), false)
        .await
        .unwrap()
    {
        Opening::Begun(run) => run,
        other => panic!("{other:?}"),
    }
}

async fn lease(env: &Walks, run: i64, owner: &str) -> Option<RangeLease> {
    env.store.lease("walk", run, owner, TTL_MS).await.unwrap()
}

async fn leased(env: &Walks, run: i64, owner: &str) -> RangeLease {
    lease(env, run, owner).await.expect("a range is free")
}

async fn store(env: &Walks, lease: &RangeLease, done_to: i64, tally: &str) -> bool {
    env.store
        .checkpoint(lease, Some(done_to), tally, TTL_MS)
        .await
        .unwrap()
}

async fn status(env: &Walks) -> WalkStatus {
    let walks = env.store.walks().await.unwrap();
    walks.into_iter().find(|walk| walk.name == "walk").unwrap()
}

async fn k1_workers_that_ask_at_once_from_two_instances_get_different_ranges(env: Walks) {
    let run = begin(&env, 30).await;
    let second = env.another_instance(2).await;
    let leases = env
        .parallel(40, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            async move { lease(&env, run, &format!("owner {index}")).await }
        })
        .await;
    let parts: BTreeSet<u32> = leases.iter().flatten().map(|lease| lease.part).collect();
    assert_eq!(leases.iter().flatten().count(), 30);
    assert_eq!(parts, (0..30).collect());
    assert_eq!(status(&env).await.leased, 30);
}

async fn k1_who_lost_a_range_can_store_nothing_into_it(env: Walks) {
    let run = begin(&env, 1).await;
    let lost = leased(&env, run, "one").await;
    assert!(store(&env, &lost, 10, "ten").await);
    env.advance_ms(30_000);
    let held = leased(&env, run, "two").await;
    assert_eq!((held.done_to, held.tally.as_str()), (Some(10), "ten"));
    assert!(!store(&env, &lost, 99, "lost").await);
    assert!(!env.store.finish(&lost, "lost").await.unwrap());
    env.store.release(&lost).await.unwrap();
    assert!(store(&env, &held, 20, "twenty").await, "it is still held");
    assert!(env.store.finish(&held, "all").await.unwrap());
    assert!(!store(&env, &held, 30, "after the end").await);
    assert_eq!(status(&env).await.tallies, ["all"]);
}

async fn k1_a_worker_of_an_older_run_can_store_nothing(env: Walks) {
    let run = begin(&env, 2).await;
    let old = leased(&env, run, "one").await;
    let again = env.store.open(plan("walk", "", 2), true).await.unwrap();
    assert_eq!(again, Opening::Begun(run + 1));
    assert!(!store(&env, &old, 10, "old").await);
    assert!(!env.store.finish(&old, "old").await.unwrap());
    assert_eq!(lease(&env, run, "one").await, None, "its run is gone");
    let new = leased(&env, run + 1, "two").await;
    assert_eq!((new.part, new.done_to, new.tally.as_str()), (0, None, ""));
    assert!(!store(&env, &old, 10, "old").await);
    assert!(store(&env, &new, 5, "new").await);
}

async fn k2_a_checkpoint_and_its_tally_come_back_together(env: Walks) {
    let run = begin(&env, 1).await;
    let mut held = leased(&env, run, "one").await;
    for (step, key) in [i64::MIN, -1, 0, 1, i64::MAX].into_iter().enumerate() {
        let tally = format!("{step} ünd \"more\"");
        assert!(store(&env, &held, key, &tally).await);
        env.store.release(&held).await.unwrap();
        held = leased(&env, run, "two").await;
        assert_eq!((held.done_to, &held.tally), (Some(key), &tally));
    }
}

async fn k2_a_checkpoint_never_goes_back(env: Walks) {
    let run = begin(&env, 1).await;
    let held = leased(&env, run, "one").await;
    assert!(env.store.checkpoint(&held, None, "", TTL_MS).await.unwrap());
    assert!(store(&env, &held, 10, "ten").await);
    assert!(store(&env, &held, 10, "ten again").await);
    assert!(!store(&env, &held, 9, "nine").await);
    assert!(
        !env.store
            .checkpoint(&held, None, "none", TTL_MS)
            .await
            .unwrap()
    );
    assert_eq!(status(&env).await.tallies, ["ten again"]);
}

async fn k3_a_range_given_back_is_leased_again_from_its_checkpoint(env: Walks) {
    let run = begin(&env, 1).await;
    let held = leased(&env, run, "one").await;
    assert_eq!(lease(&env, run, "two").await, None);
    assert!(store(&env, &held, 7, "seven").await);
    env.store.release(&held).await.unwrap();
    assert!(!store(&env, &held, 8, "eight").await, "given back is gone");
    let again = leased(&env, run, "two").await;
    assert_eq!((again.part, again.done_to), (0, Some(7)));
    assert!(again.epoch > held.epoch);
}

async fn k3_a_range_whose_lease_ran_out_is_leased_again(env: Walks) {
    let run = begin(&env, 1).await;
    leased(&env, run, "one").await;
    env.advance_ms(29_999);
    assert_eq!(lease(&env, run, "two").await, None);
    env.advance_ms(1);
    leased(&env, run, "two").await;
}

async fn k3_a_checkpoint_prolongs_the_lease(env: Walks) {
    let run = begin(&env, 1).await;
    let held = leased(&env, run, "one").await;
    for key in 0..5 {
        env.advance_ms(29_000);
        assert!(store(&env, &held, key, "").await);
        assert_eq!(lease(&env, run, "two").await, None);
    }
    // Late, but nobody has taken it.
    env.advance_ms(60_000);
    assert!(store(&env, &held, 9, "").await);
    assert_eq!(lease(&env, run, "two").await, None);
}

async fn k4_a_walk_under_way_is_joined_and_other_settings_are_refused(env: Walks) {
    let run = begin(&env, 2).await;
    let held = leased(&env, run, "one").await;
    let second = env.another_instance(2).await;
    let joined = second.store.open(plan("walk", "", 9), false).await.unwrap();
    assert_eq!(joined, Opening::Joined(run));
    let refused = second
        .store
        .open(plan("walk", "all", 2), false)
        .await
        .unwrap();
    assert_eq!(refused, Opening::Other(String::new()));
    assert!(store(&env, &held, 1, "").await, "the first one goes on");
    assert_eq!(status(&env).await.parts, 2, "who joins does not cut anew");
    assert_eq!(leased(&second, run, "two").await.part, 1);
}

async fn k4_a_walk_that_ended_begins_anew(env: Walks) {
    let run = begin(&env, 1).await;
    let held = leased(&env, run, "one").await;
    assert!(env.store.finish(&held, "old").await.unwrap());
    env.advance_ms(5);
    let again = env.store.open(plan("walk", "all", 3), false).await.unwrap();
    assert_eq!(again, Opening::Begun(run + 1));
    let status = status(&env).await;
    assert_eq!((status.parts, status.done, status.ended_ms), (3, 0, None));
    assert_eq!(status.began_ms, START_MS + 5);
    assert_eq!(status.tallies, [""; 0]);
    assert_eq!(status.settings, "all");
}

async fn k4_a_walk_given_up_begins_anew(env: Walks) {
    let run = begin(&env, 1).await;
    leased(&env, run, "one").await;
    let again = env.store.open(plan("walk", "all", 1), true).await.unwrap();
    assert_eq!(again, Opening::Begun(run + 1));
    leased(&env, run + 1, "two").await;
}

async fn k5_a_walk_ends_with_its_last_range_and_keeps_its_tallies(env: Walks) {
    let run = begin(&env, 3).await;
    let mut held = Vec::new();
    for owner in ["one", "two", "three"] {
        held.push(leased(&env, run, owner).await);
    }
    for (done, lease) in held.iter().enumerate() {
        assert_eq!(status(&env).await.ended_ms, None);
        env.advance_ms(1);
        assert!(
            env.store
                .finish(lease, &format!("part {done}"))
                .await
                .unwrap()
        );
    }
    let status = status(&env).await;
    assert_eq!((status.done, status.leased), (3, 0));
    assert_eq!(status.ended_ms, Some(START_MS + 3));
    assert_eq!(status.tallies, ["part 0", "part 1", "part 2"]);
    assert_eq!(lease(&env, run, "four").await, None);
}

async fn k5_walks_of_different_names_know_nothing_of_each_other(env: Walks) {
    let run = begin(&env, 1).await;
    let other = env.store.open(plan("other", "x", 1), false).await.unwrap();
    assert_eq!(other, Opening::Begun(1));
    let held = leased(&env, run, "one").await;
    assert!(env.store.finish(&held, "").await.unwrap());
    let walks = env.store.walks().await.unwrap();
    let ended: Vec<_> = walks
        .iter()
        .map(|walk| (walk.name.as_str(), walk.done))
        .collect();
    assert_eq!(ended, [("other", 0), ("walk", 1)]);
    let missing = env.store.lease("missing", 1, "one", TTL_MS).await.unwrap();
    assert_eq!(missing, None);
}
