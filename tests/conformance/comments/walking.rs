//! What walks and checks need: T7, T8, and repairs that keep T1.

use std::collections::BTreeSet;

use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::domain::keys::KeyRange;
use threadline::store::StoreErrorKind;
use threadline::store::comments::{IndexRow, Lane, WRITE_ROWS_MAX};

use super::kit::ids;
use super::{Cases, Comments};
use crate::builder::build;
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    t7_every_discussion_lies_in_one_range_of_every_split,
    t7_a_page_begins_behind_the_key_it_is_given,
    t8_of_many_builders_each_queued_discussion_is_leased_by_one,
    t8_a_lease_runs_out_unless_it_is_held,
    t8_a_build_takes_the_discussion_off_the_queue_and_ends_the_lease,
    t1_a_row_taken_out_of_the_index_leaves_the_discussion_incomplete_until_it_is_built,
    t1_the_index_is_read_page_by_page_in_its_own_order,
    t4_a_call_that_writes_more_rows_than_a_short_transaction_is_refused,
];

async fn walk(env: &Comments, ranges: &[KeyRange], limit: u32) -> Vec<DiscussionId> {
    let mut met = Vec::new();
    for range in ranges {
        let mut after = None;
        loop {
            let page = env
                .store
                .discussions_in(*range, after, limit)
                .await
                .unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            let Some((last, _)) = page.last() else {
                break;
            };
            assert!(page.is_sorted_by_key(|(key, _)| *key));
            assert!(
                page.iter()
                    .all(|(key, _)| (range.from..=range.to).contains(key))
            );
            assert!(Some(*last) > after);
            after = Some(*last);
            met.extend(page.iter().map(|(_, discussion)| discussion.id));
        }
    }
    met
}

async fn t7_every_discussion_lies_in_one_range_of_every_split(env: Comments) {
    let nothing = env.store.split(4).await.unwrap();
    assert_eq!(walk(&env, &nothing, 5).await, vec![]);
    let mut all = BTreeSet::new();
    for _ in 0..23 {
        env.advance_ms(1);
        all.insert(env.open(1).await);
    }
    for parts in [1, 2, 5, 23, 64] {
        let ranges = env.store.split(parts).await.unwrap();
        assert!(ranges.len() <= usize::try_from(parts).unwrap());
        let met = walk(&env, &ranges, 3).await;
        assert_eq!(met.len(), all.len(), "{parts} parts");
        assert_eq!(met.into_iter().collect::<BTreeSet<_>>(), all);
    }
    // What is opened after the split lies in it, too.
    let ranges = env.store.split(4).await.unwrap();
    let late = env.open(1).await;
    assert!(walk(&env, &ranges, 9).await.contains(&late));
    assert_eq!(env.store.size().await.unwrap().unwrap_or(0), 0);
}

async fn t7_a_page_begins_behind_the_key_it_is_given(env: Comments) {
    for _ in 0..4 {
        env.advance_ms(1);
        env.open(1).await;
    }
    let all = env
        .store
        .discussions_in(KeyRange::ALL, None, 9)
        .await
        .unwrap();
    let keys: Vec<i64> = all.iter().map(|(key, _)| *key).collect();
    let after = env
        .store
        .discussions_in(KeyRange::ALL, Some(keys[1]), 9)
        .await
        .unwrap();
    assert_eq!(
        after.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        keys[2..]
    );
    let between = KeyRange {
        from: keys[1],
        to: keys[2],
    };
    let page = env.store.discussions_in(between, None, 9).await.unwrap();
    assert_eq!(
        page.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        keys[1..3]
    );
    let none = env
        .store
        .discussions_in(between, Some(i64::MAX), 9)
        .await
        .unwrap();
    assert!(none.is_empty());
}

async fn t8_of_many_builders_each_queued_discussion_is_leased_by_one(env: Comments) {
    let mut queued = BTreeSet::new();
    for _ in 0..30 {
        let id = env.open(1).await;
        env.store.enqueue(id).await.unwrap();
        queued.insert(id);
    }
    let second = env.another_instance(2).await;
    let leased = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            let owner = format!("owner {index}");
            async move { env.store.lease_queued(&owner, 30_000, 2).await.unwrap() }
        })
        .await;
    let all: Vec<DiscussionId> = leased.into_iter().flatten().collect();
    assert_eq!(all.len(), 30);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), queued);
    assert_eq!(
        env.store.queued(99).await.unwrap().len(),
        30,
        "they wait on"
    );
}

async fn t8_a_lease_runs_out_unless_it_is_held(env: Comments) {
    let id = env.open(1).await;
    env.store.enqueue(id).await.unwrap();
    let lease = async |owner: &str| env.store.lease_queued(owner, 10_000, 9).await.unwrap();
    let hold = async |owner: &str, ms| env.store.hold_queued(id, owner, ms).await.unwrap();
    assert_eq!(lease("one").await, [id]);
    env.advance_ms(9_999);
    assert!(hold("one", 10_000).await);
    env.advance_ms(9_999);
    assert_eq!(lease("two").await, []);
    env.advance_ms(1);
    assert_eq!(lease("two").await, [id]);
    assert!(!hold("one", 10_000).await, "it was lost");
    assert!(hold("two", 0).await);
    assert_eq!(lease("three").await, [id], "held for no time is given back");
    env.store.dequeue(id).await.unwrap();
    assert!(!hold("three", 10_000).await);
    assert_eq!(env.store.queued(9).await.unwrap(), []);
}

async fn t8_a_build_takes_the_discussion_off_the_queue_and_ends_the_lease(env: Comments) {
    let id = env.open(1).await;
    env.post_unindexed(id, None).await;
    env.store.enqueue(id).await.unwrap();
    assert_eq!(
        env.store.lease_queued("one", 10_000, 9).await.unwrap(),
        [id]
    );
    env.let_writes_settle();
    assert!(build(&env, id).await);
    assert!(!env.store.hold_queued(id, "one", 10_000).await.unwrap());
    assert_eq!(env.store.queued(9).await.unwrap(), []);
}

async fn t1_a_row_taken_out_of_the_index_leaves_the_discussion_incomplete_until_it_is_built(
    env: Comments,
) {
    let id = env.open(1).await;
    let root = env.post(id).await;
    let reply = env.reply(&root).await;
    let place = (root.id.get(), reply.id);
    let marker = env.mint();
    env.store
        .remove_index(id, 1, vec![place], marker)
        .await
        .unwrap();
    assert!(!env.discussion(id).await.layout.complete);
    let branch = Lane::Branch(root.id);
    assert!(env.list(id, 1, branch).await.is_empty());
    env.let_writes_settle();
    assert!(build(&env, id).await);
    assert_eq!(ids(&env.list(id, 1, branch).await), [reply.id]);
    env.audit(id).await;
}

async fn t1_the_index_is_read_page_by_page_in_its_own_order(env: Comments) {
    let id = env.open(1).await;
    let mut want = Vec::new();
    for _ in 0..3 {
        let root = env.post(id).await;
        let reply = env.reply(&root).await;
        let deep = env.reply(&reply).await;
        want.push((0, root.id, None, 0));
        want.push((root.id.get(), reply.id, Some(root.id), 1));
        want.push((root.id.get(), deep.id, Some(reply.id), 2));
    }
    want.sort_by_key(|(branch, id, ..)| (*branch, *id));
    for limit in [1, 2, 50] {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = env.store.scan_index(id, 1, after, limit).await.unwrap();
            let Some((branch, last)) = page.last() else {
                break;
            };
            after = Some((*branch, last.id));
            read.extend(page);
        }
        let read: Vec<_> = read
            .into_iter()
            .map(|(branch, row)| (branch, row.id, row.parent_id, row.ancestors.len()))
            .collect();
        assert_eq!(read, want, "pages of {limit}");
    }
    assert!(
        env.store
            .scan_index(id, 2, None, 9)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn t4_a_call_that_writes_more_rows_than_a_short_transaction_is_refused(env: Comments) {
    let id = env.open(1).await;
    let layout = env.discussion(id).await.layout;
    let row = |number| IndexRow {
        id: CommentId::new(number),
        parent_id: None,
        ancestors: Vec::new(),
    };
    let many = i64::try_from(WRITE_ROWS_MAX).unwrap() + 1;
    let rows: Vec<IndexRow> = (1..=many).map(row).collect();
    let error = env
        .store
        .put_index(id, layout, rows.clone())
        .await
        .unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Limit);
    let error = env.store.set_ancestors(id, rows.clone()).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Limit);
    let places = rows.iter().map(|row| (0, row.id)).collect();
    let error = env
        .store
        .remove_index(id, 1, places, env.mint())
        .await
        .unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Limit);
    assert!(
        env.store
            .scan_index(id, 1, None, 9)
            .await
            .unwrap()
            .is_empty()
    );
}
