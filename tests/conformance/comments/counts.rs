//! Counts after changes: C8.

use threadline::domain::comment::{CommentState, StateAct};
use threadline::store::comments::{ChangeOutcome, Lane};

use super::kit::created;
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c8_replies_under_a_hidden_root_are_published_but_not_visible,
    c8_of_two_hidden_ancestors_restoring_one_shows_nothing,
    c8_hiding_and_restoring_three_times_counts_once,
    c8_approving_twice_at_once_counts_once,
    c8_roots_and_replies_are_counted_apart,
    c8_changes_at_once_in_one_branch_end_in_right_counts,
    c8_creates_and_changes_at_once_end_in_right_counts,
    c8_one_discussions_changes_leave_anothers_counts_alone,
    c8_a_recount_of_right_counts_finds_nothing,
    c8_hidden_among_names_exactly_the_hidden_ones,
];

async fn c8_replies_under_a_hidden_root_are_published_but_not_visible(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    for _ in 0..10 {
        env.reply(&root).await;
    }
    assert!(!env.discussion(discussion).await.has_hidden);
    env.hide(&root).await;
    assert!(env.discussion(discussion).await.has_hidden);
    assert_eq!(env.sums(discussion).await, (11, 10, 0, 0));
    env.audit(discussion).await;
    env.restore(&root).await;
    assert_eq!(env.sums(discussion).await, (11, 11, 11, 11));
    env.audit(discussion).await;
}

async fn c8_of_two_hidden_ancestors_restoring_one_shows_nothing(env: Comments) {
    let discussion = env.open(1).await;
    let a = env.post(discussion).await;
    let b = env.reply(&a).await;
    let c = env.reply(&b).await;
    env.reply(&c).await;
    env.hide(&a).await;
    env.hide(&b).await;
    assert_eq!(env.sums(discussion).await, (4, 2, 0, 0));
    env.audit(discussion).await;
    env.restore(&b).await;
    assert_eq!(env.sums(discussion).await, (4, 3, 0, 0));
    env.audit(discussion).await;
    env.hide(&b).await;
    env.restore(&a).await;
    assert_eq!(env.sums(discussion).await, (4, 3, 1, 1));
    env.audit(discussion).await;
    env.restore(&b).await;
    assert_eq!(env.sums(discussion).await, (4, 4, 4, 4));
    env.audit(discussion).await;
}

async fn c8_hiding_and_restoring_three_times_counts_once(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    env.hide(&root).await;
    for _ in 0..2 {
        env.act(&root, StateAct::Hide).await;
    }
    assert_eq!(env.sums(discussion).await, (1, 0, 0, 0));
    env.restore(&root).await;
    for _ in 0..2 {
        env.act(&root, StateAct::Restore).await;
    }
    assert_eq!(env.sums(discussion).await, (1, 1, 1, 1));
    assert_eq!(env.log(discussion).await.len(), 3);
    env.audit(discussion).await;
}

async fn c8_approving_twice_at_once_counts_once(env: Comments) {
    let discussion = env.open(1).await;
    let mut new = env.draft(discussion, None);
    new.state = CommentState::Pending;
    let pending = created(env.create(new).await);
    assert_eq!(env.sums(discussion).await, (1, 0, 0, 0));
    let outcomes = env
        .parallel(8, |_| {
            let (env, pending) = (env.clone(), pending.clone());
            async move { env.act(&pending, StateAct::Approve).await }
        })
        .await;
    let changes = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ChangeOutcome::Changed(_)));
    assert_eq!(changes.count(), 1);
    assert_eq!(env.sums(discussion).await, (1, 1, 1, 1));
    env.audit(discussion).await;
}

async fn c8_roots_and_replies_are_counted_apart(env: Comments) {
    let discussion = env.open(1).await;
    let (a, b) = (env.post(discussion).await, env.post(discussion).await);
    let (a1, _) = (env.reply(&a).await, env.reply(&a).await);
    env.reply(&a1).await;
    let counts = env.counts(discussion).await;
    assert_eq!((counts.roots.visible, counts.replies_visible()), (2, 3));
    env.hide(&b).await;
    env.bury(&a).await;
    let counts = env.counts(discussion).await;
    assert_eq!(
        (
            counts.roots.total,
            counts.roots.published,
            counts.roots.shown
        ),
        (2, 0, 1)
    );
    assert_eq!(counts.replies_visible(), 3);
    env.hide(&a1).await;
    assert_eq!(env.counts(discussion).await.replies_visible(), 1);
    env.audit(discussion).await;
}

async fn c8_changes_at_once_in_one_branch_end_in_right_counts(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let mut chain = vec![env.post(discussion).await];
    for _ in 0..7 {
        let last = env.reply(&chain[chain.len() - 1]).await;
        chain.push(last);
    }
    let acts = [
        StateAct::Hide,
        StateAct::Restore,
        StateAct::Bury,
        StateAct::Hide,
    ];
    env.parallel(32, |index| {
        let env = if index % 2 == 0 { &env } else { &other }.clone();
        let row = chain[index * 5 % 8].clone();
        async move { env.act(&row, acts[index % acts.len()]).await }
    })
    .await;
    let log = env.log(discussion).await;
    let event = log[log.len() - 1].event_id;
    env.store.catch_up(discussion, event).await.unwrap();
    env.audit(discussion).await;
}

async fn c8_creates_and_changes_at_once_end_in_right_counts(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let reply = env.reply(&root).await;
    env.parallel(60, |index| {
        let (env, root, reply) = (env.clone(), root.clone(), reply.clone());
        async move {
            match index % 4 {
                0 => drop(env.act(&root, StateAct::Hide).await),
                1 => drop(env.act(&root, StateAct::Restore).await),
                2 => drop(env.create(env.draft(discussion, Some(reply.id))).await),
                _ => drop(env.create(env.draft(discussion, Some(root.id))).await),
            }
        }
    })
    .await;
    env.audit(discussion).await;
}

async fn c8_one_discussions_changes_leave_anothers_counts_alone(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let root = env.post(here).await;
    env.reply(&env.post(there).await).await;
    env.hide(&root).await;
    assert_eq!(env.sums(there).await, (2, 2, 2, 2));
    assert!(!env.discussion(there).await.has_hidden);
    env.audit(here).await;
    env.audit(there).await;
}

async fn c8_a_recount_of_right_counts_finds_nothing(env: Comments) {
    let discussion = env.open(1).await;
    assert!(env.store.recount(discussion).await.unwrap().is_right());
    let root = env.post(discussion).await;
    let reply = env.reply(&root).await;
    env.reply(&reply).await;
    env.bury(&root).await;
    env.hide(&reply).await;
    let before = env.counts(discussion).await;
    let runs = env.store.runs(discussion, 1, Lane::Linear).await.unwrap();
    assert!(env.store.recount(discussion).await.unwrap().is_right());
    assert_eq!(env.counts(discussion).await, before);
    let after = env.store.runs(discussion, 1, Lane::Linear).await.unwrap();
    assert_eq!(after, runs);
    env.audit(discussion).await;
}

async fn c8_hidden_among_names_exactly_the_hidden_ones(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let rows = [
        env.post(here).await,
        env.post(here).await,
        env.post(here).await,
    ];
    let foreign = env.post(there).await;
    env.hide(&rows[0]).await;
    env.bury(&rows[1]).await;
    env.hide(&foreign).await;
    let asked = [rows[0].id, rows[1].id, rows[2].id, foreign.id];
    let told = env.store.hidden_among(here, &asked).await.unwrap();
    assert_eq!(told, [rows[0].id]);
    let told = env.store.hidden_among(here, &asked[1..]).await.unwrap();
    assert_eq!(told, vec![]);
    let told = env.store.hidden_among(here, &[]).await.unwrap();
    assert_eq!(told, vec![]);
}
