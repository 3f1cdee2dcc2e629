//! Cases of port `workers`.

use std::collections::HashSet;

use libtest_mimic::Trial;
use threadline::domain::ids::WORKERS_MAX;
use threadline::store::workers::{WorkerLease, WorkerStore};

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env, START_MS, cases};

type Workers = Env<dyn WorkerStore>;

const TTL_MS: i64 = 30_000;

pub(crate) const CASES: &[Case<dyn WorkerStore>] = cases![
    w1_owners_that_ask_at_once_from_two_instances_get_different_workers,
    w1_every_worker_is_given_once_and_then_none,
    w1_a_renewed_lease_is_not_given_to_another,
    w2_a_worker_comes_back_when_its_lease_ran_out,
    w2_a_worker_whose_last_id_lies_ahead_waits_until_it_lies_in_the_past,
    w2_the_next_holder_starts_after_the_last_id_of_the_one_before,
    w3_every_answer_carries_the_stores_time,
    w4_a_released_worker_is_free_at_once,
    w4_a_lost_lease_cannot_be_renewed,
    w4_releasing_anothers_worker_changes_nothing,
];

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::Workers,
        |place, clock, tasks| Box::pin(place.workers(clock, tasks)),
        CASES,
    )
}

async fn acquire(env: &Workers, owner: &str) -> WorkerLease {
    let lease = env.store.acquire(owner, TTL_MS).await.unwrap();
    lease.expect("a worker is free")
}

async fn renew(env: &Workers, owner: &str, worker: u16, last_ms: i64) -> Option<WorkerLease> {
    env.store
        .renew(owner, worker, last_ms, TTL_MS)
        .await
        .unwrap()
}

/// Takes every free worker; returns them.
async fn take_rest(env: &Workers, owner: &str) -> HashSet<u16> {
    let mut taken = HashSet::new();
    while let Some(lease) = env.store.acquire(owner, TTL_MS).await.unwrap() {
        assert!(taken.insert(lease.worker), "{} came twice", lease.worker);
        assert!(taken.len() <= usize::from(WORKERS_MAX));
    }
    taken
}

async fn w1_owners_that_ask_at_once_from_two_instances_get_different_workers(env: Workers) {
    let second = env.another_instance(2).await;
    let leases = env
        .parallel(40, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            async move { acquire(&env, &format!("owner {index}")).await.worker }
        })
        .await;
    let different: HashSet<&u16> = leases.iter().collect();
    assert_eq!(different.len(), leases.len(), "{leases:?}");
}

async fn w1_every_worker_is_given_once_and_then_none(env: Workers) {
    let taken = take_rest(&env, "one").await;
    let want: HashSet<u16> = (0..WORKERS_MAX).collect();
    assert_eq!(taken, want);
    assert_eq!(env.store.acquire("two", TTL_MS).await.unwrap(), None);
}

async fn w1_a_renewed_lease_is_not_given_to_another(env: Workers) {
    let mine = acquire(&env, "one").await.worker;
    for _ in 0..5 {
        env.advance_ms(20_000);
        assert!(
            renew(&env, "one", mine, env.clock.now_ms() - 1)
                .await
                .is_some()
        );
    }
    assert!(!take_rest(&env, "two").await.contains(&mine));
}

async fn w2_a_worker_comes_back_when_its_lease_ran_out(env: Workers) {
    let all = take_rest(&env, "one").await.len();
    env.advance_ms(29_999);
    assert_eq!(env.store.acquire("two", TTL_MS).await.unwrap(), None);
    env.advance_ms(1);
    assert_eq!(take_rest(&env, "two").await.len(), all);
}

async fn w2_a_worker_whose_last_id_lies_ahead_waits_until_it_lies_in_the_past(env: Workers) {
    let mine = acquire(&env, "one").await.worker;
    // A burst of ids runs ahead of the clock.
    let last_ms = START_MS + 60_000;
    assert!(renew(&env, "one", mine, last_ms).await.is_some());
    env.store.release("one", mine, last_ms).await.unwrap();
    let others = take_rest(&env, "two").await;
    assert!(!others.contains(&mine), "its last id is not yet past");
    env.advance_ms(60_000);
    let again = take_rest(&env, "three").await;
    assert!(!again.contains(&mine), "the millisecond itself is used");
    env.advance_ms(1);
    assert_eq!(acquire(&env, "four").await.worker, mine);
}

async fn w2_the_next_holder_starts_after_the_last_id_of_the_one_before(env: Workers) {
    let mine = acquire(&env, "one").await.worker;
    env.advance_ms(5_000);
    let renewed = START_MS + 4_000;
    assert!(renew(&env, "one", mine, renewed).await.is_some());
    // An older mark never lowers the newer one.
    let released = START_MS + 3_000;
    env.store.release("one", mine, released).await.unwrap();
    let rest = take_rest_leases(&env).await;
    let next = rest.iter().find(|lease| lease.worker == mine).unwrap();
    assert_eq!(next.after_ms, renewed);
}

async fn take_rest_leases(env: &Workers) -> Vec<WorkerLease> {
    let mut taken = Vec::new();
    while let Some(lease) = env.store.acquire("rest", TTL_MS).await.unwrap() {
        taken.push(lease);
        assert!(taken.len() <= usize::from(WORKERS_MAX));
    }
    taken
}

async fn w3_every_answer_carries_the_stores_time(env: Workers) {
    let lease = acquire(&env, "one").await;
    assert_eq!(lease.store_ms, START_MS);
    env.advance_ms(1_234);
    let lease = renew(&env, "one", lease.worker, START_MS).await.unwrap();
    assert_eq!(lease.store_ms, START_MS + 1_234);
    assert_eq!(acquire(&env, "two").await.store_ms, START_MS + 1_234);
}

async fn w4_a_released_worker_is_free_at_once(env: Workers) {
    let all = take_rest(&env, "one").await;
    env.advance_ms(2);
    env.store.release("one", 7, START_MS + 1).await.unwrap();
    assert!(all.contains(&7));
    let lease = acquire(&env, "two").await;
    assert_eq!((lease.worker, lease.after_ms), (7, START_MS + 1));
    assert_eq!(env.store.acquire("three", TTL_MS).await.unwrap(), None);
}

async fn w4_a_lost_lease_cannot_be_renewed(env: Workers) {
    let expired = acquire(&env, "one").await.worker;
    env.advance_ms(30_000);
    assert_eq!(renew(&env, "one", expired, START_MS).await, None);
    let released = acquire(&env, "two").await.worker;
    env.advance_ms(1);
    env.store.release("two", released, START_MS).await.unwrap();
    assert_eq!(renew(&env, "two", released, START_MS).await, None);
    let held = acquire(&env, "three").await.worker;
    assert_eq!(renew(&env, "four", held, START_MS).await, None);
    let never = WORKERS_MAX - 1;
    assert_eq!(renew(&env, "three", never, START_MS).await, None);
    assert!(renew(&env, "three", held, START_MS).await.is_some());
}

async fn w4_releasing_anothers_worker_changes_nothing(env: Workers) {
    let held = acquire(&env, "one").await.worker;
    env.advance_ms(1);
    env.store.release("two", held, START_MS).await.unwrap();
    assert!(renew(&env, "one", held, START_MS).await.is_some());
    assert!(!take_rest(&env, "two").await.contains(&held));
}
