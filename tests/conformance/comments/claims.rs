//! Posting keys: C3.

use std::collections::BTreeSet;

use threadline::domain::comment::CommentState;
use threadline::domain::discussion::DiscussionState;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::store::comments::{CreateOutcome, NewComment};

use super::kit::{ANN, BOB, changed, claim, created, expect_outcome, ids, replayed};
use super::{Cases, Comments};
use crate::env::cases;

const DAY_MS: u64 = 24 * 3_600_000;

pub(super) const CASES: Cases = cases![
    c3_a_key_is_in_use_from_its_comment_until_it_expires,
    c3_twenty_creates_at_once_with_one_key_on_two_instances_write_one_comment,
    c3_a_key_returns_its_first_comment_and_nothing_changes,
    c3_a_key_used_with_another_text_is_refused,
    c3_keys_belong_to_their_author,
    c3_a_key_is_free_again_once_it_expired_and_not_before,
    c3_a_replay_shows_the_comment_as_it_is_now,
    c3_a_replay_is_answered_whatever_happened_to_discussion_and_parent,
    c3_a_refused_create_does_not_use_up_its_key,
    c3_creates_without_a_key_are_all_different,
];

fn keyed(env: &Comments, discussion: DiscussionId, key: &str, hash: u8) -> NewComment {
    let mut new = env.draft(discussion, None);
    let day_ms = i64::try_from(DAY_MS).unwrap();
    new.claim = Some(claim(key, hash, env.clock.now_ms() + day_ms));
    new
}

async fn c3_twenty_creates_at_once_with_one_key_on_two_instances_write_one_comment(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let outcomes = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            async move { env.create(keyed(&env, discussion, "k", 1)).await }
        })
        .await;
    let mut first = 0;
    let mut all = BTreeSet::new();
    for outcome in outcomes {
        if let CreateOutcome::Created(comment) = outcome {
            first += 1;
            all.insert(comment.id);
        } else {
            all.insert(replayed(outcome).id);
        }
    }
    assert_eq!(first, 1);
    assert_eq!(all.len(), 1);
    let only = *all.first().unwrap();
    let event = threadline::domain::ids::EventId::new(only.get());
    env.store.catch_up(discussion, event).await.unwrap();
    assert_eq!(ids(&env.audit(discussion).await), [only]);
    assert_eq!(env.log(discussion).await.len(), 1);
    assert_eq!(env.by_author(ANN).await, [(discussion, only)]);
}

async fn c3_a_key_returns_its_first_comment_and_nothing_changes(env: Comments) {
    let discussion = env.open(1).await;
    let first = created(env.create(keyed(&env, discussion, "k", 1)).await);
    for _ in 0..4 {
        env.advance_ms(1_000);
        let retry = keyed(&env, discussion, "k", 1);
        assert_ne!(retry.id, first.id);
        assert_eq!(replayed(env.create(retry).await), first);
    }
    assert_eq!(env.audit(discussion).await, [first]);
    assert_eq!(env.log(discussion).await.len(), 1);
}

async fn c3_a_key_used_with_another_text_is_refused(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let first = created(env.create(keyed(&env, here, "k", 1)).await);
    for discussion in [here, there] {
        let other = keyed(&env, discussion, "k", 2);
        expect_outcome!(env.create(other).await, CreateOutcome::KeyReused);
    }
    assert_eq!(env.audit(here).await, [first]);
    assert_eq!(env.audit(there).await, vec![]);
    // Another key with the other text is another comment.
    created(env.create(keyed(&env, there, "k2", 2)).await);
}

async fn c3_keys_belong_to_their_author(env: Comments) {
    let discussion = env.open(1).await;
    let anns = created(env.create(keyed(&env, discussion, "k", 1)).await);
    let mut new = keyed(&env, discussion, "k", 2);
    new.author_id = BOB;
    let bobs = created(env.create(new).await);
    assert_ne!(anns.id, bobs.id);
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn c3_a_key_is_free_again_once_it_expired_and_not_before(env: Comments) {
    let discussion = env.open(1).await;
    let first = created(env.create(keyed(&env, discussion, "k", 1)).await);
    env.advance_ms(DAY_MS - 1);
    let retry = keyed(&env, discussion, "k", 1);
    assert_eq!(replayed(env.create(retry).await).id, first.id);
    // A replay did not prolong the key.
    env.advance_ms(1);
    let second = created(env.create(keyed(&env, discussion, "k", 2)).await);
    assert_ne!(second.id, first.id);
    let retry = keyed(&env, discussion, "k", 2);
    assert_eq!(replayed(env.create(retry).await).id, second.id);
    let old = keyed(&env, discussion, "k", 1);
    expect_outcome!(env.create(old).await, CreateOutcome::KeyReused);
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn c3_a_replay_shows_the_comment_as_it_is_now(env: Comments) {
    let discussion = env.open(1).await;
    let first = created(env.create(keyed(&env, discussion, "k", 1)).await);
    let edit = env.edit_of(&first, "edited");
    let edited = changed(env.store.edit(edit).await.unwrap());
    let again = env.create(keyed(&env, discussion, "k", 1)).await;
    assert_eq!(replayed(again), edited);
    env.bury(&first).await;
    let again = replayed(env.create(keyed(&env, discussion, "k", 1)).await);
    assert_eq!(again.state, CommentState::Buried);
    assert_eq!(again.body, "");
    assert_eq!(env.audit(discussion).await.len(), 1);
}

async fn c3_a_replay_is_answered_whatever_happened_to_discussion_and_parent(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let mut new = keyed(&env, discussion, "k", 1);
    new.parent_id = Some(root.id);
    new.id = CommentId::new(env.ids.mint_reply(root.id.get()).unwrap());
    let reply = created(env.create(new.clone()).await);
    env.bury(&root).await;
    env.set_state(discussion, DiscussionState::Closed).await;
    new.id = CommentId::new(env.mint());
    new.comments_max = 2;
    assert_eq!(replayed(env.create(new).await).id, reply.id);
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn c3_a_key_is_in_use_from_its_comment_until_it_expires(env: Comments) {
    let discussion = env.open(1).await;
    let used = async |key: &str| env.store.is_claimed(ANN, key).await.unwrap();
    assert!(!used("k").await);
    created(env.create(keyed(&env, discussion, "k", 1)).await);
    assert!(used("k").await && !used("other").await);
    assert!(!env.store.is_claimed(BOB, "k").await.unwrap());
    env.advance_ms(10 * 24 * 3_600_000);
    assert!(!used("k").await);
}

async fn c3_a_refused_create_does_not_use_up_its_key(env: Comments) {
    let discussion = env.open(1).await;
    let set = async |state| env.set_state(discussion, state).await;
    set(DiscussionState::Closed).await;
    let refused = keyed(&env, discussion, "k", 1);
    expect_outcome!(env.create(refused).await, CreateOutcome::DiscussionClosed);
    set(DiscussionState::Open).await;
    let first = created(env.create(keyed(&env, discussion, "k", 1)).await);
    assert_eq!(env.audit(discussion).await, [first]);
}

async fn c3_creates_without_a_key_are_all_different(env: Comments) {
    let discussion = env.open(1).await;
    for _ in 0..5 {
        let mut new = env.draft(discussion, None);
        new.body = String::from("the same");
        created(env.create(new).await);
    }
    assert_eq!(env.audit(discussion).await.len(), 5);
}
