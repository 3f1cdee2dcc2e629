//! The index of one layout: T1 to T5.

use futures_util::future::join;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::store::comments::{ImportOutcome, Lane};

use super::kit::{SOURCE_MS, expect_outcome, ids, imported, source_comment};
use super::{Cases, Comments};
use crate::builder::{Build, build};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    t1_after_a_build_every_comment_is_in_the_index_once,
    t1_a_buried_or_hidden_comment_keeps_its_index_row,
    t2_linear_and_threaded_reads_return_the_same_set,
    t3_orphans_foreign_parents_and_cycles_become_roots,
    t3_a_reply_from_before_its_parent_is_kept_below_it,
    t4_building_again_changes_nothing,
    t4_a_build_among_indexed_creates_ends_complete,
    t4_two_builders_at_once_end_complete,
    t4_a_build_given_up_halfway_is_simply_begun_again,
    t4_a_queued_discussion_waits_until_its_build_finished,
    t5_a_create_without_index_row_makes_the_discussion_incomplete,
    t5_a_create_without_index_row_during_a_build_leaves_it_incomplete,
    t5_a_create_minted_before_a_build_and_written_during_it_leaves_it_incomplete,
    t5_a_later_indexed_create_does_not_hide_the_one_without,
    t5_every_write_without_index_row_makes_it_incomplete_again,
];

async fn complete(env: &Comments, discussion: DiscussionId) -> bool {
    env.discussion(discussion).await.layout.complete
}

/// Two roots and seven replies, none of them in the index.
async fn unindexed(env: &Comments) -> DiscussionId {
    let discussion = env.open(1).await;
    for _ in 0..2 {
        let root = env.post_unindexed(discussion, None).await;
        let mut last = root.clone();
        for index in 0..4 {
            let parent = if index % 2 == 0 { &root } else { &last };
            last = env.post_unindexed(discussion, Some(parent.id)).await;
        }
    }
    discussion
}

async fn t1_after_a_build_every_comment_is_in_the_index_once(env: Comments) {
    let discussion = unindexed(&env).await;
    assert!(!complete(&env, discussion).await);
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    assert!(complete(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 10);
    let roots = env.list(discussion, 1, Lane::Roots).await;
    env.reply(&roots[0]).await;
    env.post(discussion).await;
    assert!(complete(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 12);
}

async fn t1_a_buried_or_hidden_comment_keeps_its_index_row(env: Comments) {
    let discussion = unindexed(&env).await;
    let rows = env.linear(discussion).await;
    env.bury(&rows[0]).await;
    env.hide(&rows[1]).await;
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    env.audit(discussion).await;
    env.hide(&rows[5]).await;
    env.bury(&rows[6]).await;
    env.restore(&rows[1]).await;
    assert!(complete(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 10);
}

async fn t2_linear_and_threaded_reads_return_the_same_set(env: Comments) {
    // One half written with index rows, one half without, one half imported, in turns.
    let discussion = env.open(1).await;
    for index in 0..8 {
        let root = env.post(discussion).await;
        env.post_unindexed(discussion, Some(root.id)).await;
        let name = index.to_string();
        let old = source_comment(&name, SOURCE_MS + index, None);
        let reply = source_comment(&format!("r{name}"), SOURCE_MS + index, Some(&name));
        env.import(discussion, vec![old, reply]).await;
        let below = env.reply(&root).await;
        env.reply(&below).await;
    }
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    let linear = ids(&env.linear(discussion).await);
    let mut threaded = ids(&env.list(discussion, 1, Lane::Roots).await);
    for root in threaded.clone() {
        threaded.extend(ids(&env.list(discussion, 1, Lane::Branch(root)).await));
    }
    threaded.sort();
    assert_eq!(threaded, linear);
    assert_eq!(linear.len(), 48);
    env.audit(discussion).await;
}

async fn t3_orphans_foreign_parents_and_cycles_become_roots(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let foreign = source_comment("foreign", SOURCE_MS, None);
    env.import(there, vec![foreign]).await;
    let batch = vec![
        source_comment("a", SOURCE_MS + 1, None),
        source_comment("missing", SOURCE_MS + 2, Some("nobody")),
        source_comment("elsewhere", SOURCE_MS + 3, Some("foreign")),
        source_comment("self", SOURCE_MS + 4, Some("self")),
        source_comment("p", SOURCE_MS + 5, Some("q")),
        source_comment("q", SOURCE_MS + 6, Some("p")),
    ];
    let outcomes = env.import(here, batch).await;
    expect_outcome!(outcomes[0], ImportOutcome::Imported(_));
    for outcome in &outcomes[1..5] {
        expect_outcome!(outcome, ImportOutcome::ParentMissing(_));
    }
    expect_outcome!(outcomes[5], ImportOutcome::Imported(_));
    let linear = env.linear(here).await;
    assert_eq!(linear.len(), 6);
    for row in &linear[1..5] {
        assert_eq!((row.parent_id, row.ancestors.len()), (None, 0));
    }
    assert_eq!(linear[5].parent_id, Some(imported(outcomes[4])));
    env.let_writes_settle();
    assert!(build(&env, here).await);
    assert_eq!(env.list(here, 1, Lane::Roots).await.len(), 5);
    assert_eq!(env.audit(here).await.len(), 6);
    assert_eq!(env.audit(there).await.len(), 1);
}

async fn t3_a_reply_from_before_its_parent_is_kept_below_it(env: Comments) {
    let discussion = env.open(1).await;
    let batch = vec![
        source_comment("newer", SOURCE_MS + 9_000, None),
        source_comment("older reply", SOURCE_MS, Some("newer")),
        source_comment("oldest reply", SOURCE_MS - 9_000, Some("older reply")),
    ];
    for outcome in env.import(discussion, batch).await {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    let rows = env.audit(discussion).await;
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2].ancestors, [rows[0].id, rows[1].id]);
}

async fn t4_building_again_changes_nothing(env: Comments) {
    let discussion = unindexed(&env).await;
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    let before = env.audit(discussion).await;
    let counts = env.counts(discussion).await;
    for _ in 0..2 {
        assert!(build(&env, discussion).await);
        assert_eq!(env.audit(discussion).await, before);
        assert_eq!(env.counts(discussion).await, counts);
    }
}

async fn t4_a_build_among_indexed_creates_ends_complete(env: Comments) {
    let discussion = unindexed(&env).await;
    env.let_writes_settle();
    let rows = env.linear(discussion).await;
    let writing = async {
        for index in 0..40 {
            env.reply(&rows[index % rows.len()]).await;
            env.post(discussion).await;
        }
    };
    let layout = env.discussion(discussion).await.layout;
    let building = async { Build::begin(&env, discussion, layout).await.run(3).await };
    let ((), done) = join(writing, building).await;
    assert!(done);
    assert!(complete(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 90);
}

async fn t4_two_builders_at_once_end_complete(env: Comments) {
    let discussion = unindexed(&env).await;
    env.let_writes_settle();
    let layout = env.discussion(discussion).await.layout;
    let mut first = Build::begin(&env, discussion, layout).await;
    first.step(4).await;
    let mut second = Build::begin(&env, discussion, layout).await;
    second.step(7).await;
    first.run(2).await;
    assert!(second.run(3).await);
    assert!(complete(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 10);
}

async fn t4_a_build_given_up_halfway_is_simply_begun_again(env: Comments) {
    let discussion = unindexed(&env).await;
    env.let_writes_settle();
    let layout = env.discussion(discussion).await.layout;
    let mut given_up = Build::begin(&env, discussion, layout).await;
    given_up.step(6).await;
    drop(given_up);
    assert!(!complete(&env, discussion).await);
    assert!(build(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 10);
}

async fn t4_a_queued_discussion_waits_until_its_build_finished(env: Comments) {
    let (one, two) = (unindexed(&env).await, unindexed(&env).await);
    assert_eq!(env.store.queued(10).await.unwrap(), vec![]);
    env.store.enqueue(two).await.unwrap();
    env.advance_ms(1_000);
    env.store.enqueue(one).await.unwrap();
    env.advance_ms(1_000);
    env.store.enqueue(two).await.unwrap();
    assert_eq!(env.store.queued(10).await.unwrap(), [two, one]);
    assert_eq!(env.store.queued(1).await.unwrap(), [two]);
    env.let_writes_settle();
    let layout = env.discussion(two).await.layout;
    let mut building = Build::begin(&env, two, layout).await;
    building.step(100).await;
    assert_eq!(env.store.queued(10).await.unwrap(), [two, one]);
    assert!(building.run(100).await);
    assert_eq!(env.store.queued(10).await.unwrap(), [one]);
    assert!(build(&env, one).await);
    assert_eq!(env.store.queued(10).await.unwrap(), vec![]);
}

async fn t5_a_create_without_index_row_makes_the_discussion_incomplete(env: Comments) {
    let (discussion, other) = (env.open(1).await, env.open(1).await);
    let root = env.post(discussion).await;
    env.post(other).await;
    assert!(complete(&env, discussion).await);
    let reply = env.post_unindexed(discussion, Some(root.id)).await;
    assert!(!complete(&env, discussion).await);
    assert!(complete(&env, other).await);
    assert_eq!(ids(&env.linear(discussion).await), [root.id, reply.id]);
    env.let_writes_settle();
    assert!(
        !complete(&env, discussion).await,
        "time alone builds nothing"
    );
    env.audit(discussion).await;
    env.audit(other).await;
}

async fn t5_a_create_without_index_row_during_a_build_leaves_it_incomplete(env: Comments) {
    // Before, between and after the pages of the scan.
    for pages_before in 0..4 {
        let discussion = unindexed(&env).await;
        env.let_writes_settle();
        let layout = env.discussion(discussion).await.layout;
        let mut building = Build::begin(&env, discussion, layout).await;
        for _ in 0..pages_before {
            building.step(4).await;
        }
        env.post_unindexed(discussion, None).await;
        assert!(!building.run(4).await, "after {pages_before} pages");
        assert!(!complete(&env, discussion).await);
        env.audit(discussion).await;
        env.let_writes_settle();
        assert!(build(&env, discussion).await);
        assert_eq!(env.audit(discussion).await.len(), 11);
    }
}

async fn t5_a_create_minted_before_a_build_and_written_during_it_leaves_it_incomplete(
    env: Comments,
) {
    let discussion = unindexed(&env).await;
    env.let_writes_settle();
    let mut slow = env.draft(discussion, None);
    slow.index = false;
    env.advance_ms(2_000);
    let layout = env.discussion(discussion).await.layout;
    let mut building = Build::begin(&env, discussion, layout).await;
    while building.step(100).await {}
    super::kit::created(env.create(slow).await);
    assert!(!building.finish().await);
    assert!(!complete(&env, discussion).await);
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 11);
}

async fn t5_a_later_indexed_create_does_not_hide_the_one_without(env: Comments) {
    let discussion = env.open(1).await;
    env.post_unindexed(discussion, None).await;
    for _ in 0..3 {
        env.advance_ms(120_000);
        env.post(discussion).await;
        assert!(!complete(&env, discussion).await);
    }
    let layout = env.discussion(discussion).await.layout;
    assert_eq!(env.list(discussion, 1, Lane::Roots).await.len(), 3);
    assert!(Build::begin(&env, discussion, layout).await.run(2).await);
    assert_eq!(env.audit(discussion).await.len(), 4);
}

async fn t5_every_write_without_index_row_makes_it_incomplete_again(env: Comments) {
    let discussion = env.open(1).await;
    let mut last: Option<CommentId> = None;
    for _ in 0..4 {
        last = Some(env.post_unindexed(discussion, last).await.id);
        assert!(!complete(&env, discussion).await);
        env.let_writes_settle();
        assert!(build(&env, discussion).await);
        assert!(complete(&env, discussion).await);
    }
    assert_eq!(env.audit(discussion).await.len(), 4);
}
