//! A second layout beside the first: T6.

use threadline::domain::comment::Comment;
use threadline::domain::discussion::Layout;
use threadline::domain::ids::DiscussionId;
use threadline::store::comments::{Lane, WRITE_ROWS_MAX};

use super::kit::ids;
use super::{Cases, Comments};
use crate::builder::{Build, build};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    t6_under_each_depth_limit_a_branch_holds_its_own_rows,
    t6_a_second_layout_is_filled_by_writes_and_the_build,
    t6_flip_and_back_keep_both_layouts_whole,
    t6_an_incomplete_layout_is_not_flipped_to,
    t6_a_dropped_layouts_number_is_never_used_again,
    t6_a_build_of_a_layout_dropped_meanwhile_leaves_nothing,
    t6_changes_between_keep_the_sums_of_both_layouts,
    t6_reads_during_a_flip_find_every_comment,
    t6_a_write_without_index_row_makes_both_layouts_incomplete,
    t6_a_dropped_layout_is_swept_in_short_steps_while_people_write,
    t6_a_layout_is_counted_as_its_build_goes_on_whatever_happens_between,
];

async fn other(env: &Comments, discussion: DiscussionId) -> Layout {
    let row = env.discussion(discussion).await;
    row.other_layout.expect("there is a second layout")
}

async fn add(env: &Comments, discussion: DiscussionId, depth_limit: u16) -> Layout {
    let added = env.store.add_layout(discussion, depth_limit).await.unwrap();
    added.expect("there is no second layout yet")
}

async fn build_other(env: &Comments, discussion: DiscussionId) -> bool {
    let layout = other(env, discussion).await;
    Build::begin(env, discussion, layout).await.run(3).await
}

async fn flip(env: &Comments, discussion: DiscussionId) -> bool {
    env.store.flip_layout(discussion).await.unwrap()
}

async fn drop_other(env: &Comments, discussion: DiscussionId) -> bool {
    env.store.drop_other_layout(discussion).await.unwrap()
}

/// Removes what is left of dropped layouts; returns in how many steps.
async fn sweep(env: &Comments, discussion: DiscussionId) -> u32 {
    let mut steps = 0;
    while env.store.sweep(discussion).await.unwrap() {
        steps += 1;
    }
    steps
}

/// root > a > b > c and root > d, each with one more reply at the end.
async fn chain(env: &Comments, discussion: DiscussionId) -> Vec<Comment> {
    let root = env.post(discussion).await;
    let a = env.reply(&root).await;
    let b = env.reply(&a).await;
    let c = env.reply(&b).await;
    let d = env.reply(&root).await;
    let (c1, d1) = (env.reply(&c).await, env.reply(&d).await);
    vec![root, a, b, c, d, c1, d1]
}

async fn t6_under_each_depth_limit_a_branch_holds_its_own_rows(env: Comments) {
    for (limit, want) in [
        (
            1,
            vec![vec![1, 2, 3, 4, 5, 6], vec![], vec![], vec![], vec![]],
        ),
        (2, vec![vec![1, 4], vec![2, 3, 5], vec![], vec![], vec![6]]),
        (3, vec![vec![1, 4], vec![2], vec![3, 5], vec![], vec![6]]),
        (9, vec![vec![1, 4], vec![2], vec![3], vec![5], vec![6]]),
    ] {
        let discussion = env.open(limit).await;
        let rows = chain(&env, discussion).await;
        for (head, want) in want.iter().enumerate() {
            let lane = Lane::Branch(rows[head].id);
            let read = env.list(discussion, 1, lane).await;
            let want: Vec<_> = want.iter().map(|place: &usize| rows[*place].id).collect();
            assert_eq!(ids(&read), want, "limit {limit}, head {head}");
        }
        env.audit(discussion).await;
    }
}

async fn t6_a_second_layout_is_filled_by_writes_and_the_build(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    let layout = add(&env, discussion, 2).await;
    let want = Layout {
        number: 2,
        depth_limit: 2,
        complete: false,
    };
    assert_eq!(layout, want);
    assert_eq!(env.discussion(discussion).await.other_layout, Some(want));
    let again = env.store.add_layout(discussion, 3).await.unwrap();
    assert_eq!(again, None, "one second layout at a time");
    let missing = DiscussionId::new(env.mint());
    assert_eq!(env.store.add_layout(missing, 3).await.unwrap(), None);
    let late = env.reply(&rows[3]).await;
    let branch = Lane::Branch(rows[1].id);
    assert_eq!(ids(&env.list(discussion, 2, branch).await), [late.id]);
    env.audit(discussion).await;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert!(other(&env, discussion).await.complete);
    let row = env.discussion(discussion).await;
    assert_eq!((row.layout.number, row.layout.complete), (1, true));
    env.reply(&late).await;
    assert_eq!(env.audit(discussion).await.len(), 9);
}

async fn t6_flip_and_back_keep_both_layouts_whole(env: Comments) {
    let discussion = env.open(2).await;
    let mut rows = chain(&env, discussion).await;
    assert!(!flip(&env, discussion).await, "there is none");
    add(&env, discussion, 3).await;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    for round in 0..4 {
        let before = env.discussion(discussion).await;
        assert!(flip(&env, discussion).await);
        let after = env.discussion(discussion).await;
        assert_eq!(Some(after.layout), before.other_layout);
        assert_eq!(after.other_layout, Some(before.layout));
        assert_eq!(after.counts, before.counts);
        let reply = env.reply(&rows[round]).await;
        rows.push(reply);
        rows.push(env.post(discussion).await);
        env.audit(discussion).await;
    }
    assert_eq!(env.discussion(discussion).await.layout.number, 1);
    assert!(drop_other(&env, discussion).await);
    let row = env.discussion(discussion).await;
    assert_eq!((row.layout.number, row.other_layout), (1, None));
    assert!(!drop_other(&env, discussion).await, "there is none");
    assert!(!flip(&env, discussion).await, "there is none");
    sweep(&env, discussion).await;
    let gone = env.list(discussion, 2, Lane::Branch(rows[0].id)).await;
    assert_eq!(gone, vec![]);
    assert_eq!(env.audit(discussion).await.len(), 15);
}

async fn t6_an_incomplete_layout_is_not_flipped_to(env: Comments) {
    let discussion = env.open(1).await;
    chain(&env, discussion).await;
    add(&env, discussion, 2).await;
    assert!(!flip(&env, discussion).await);
    env.let_writes_settle();
    let layout = other(&env, discussion).await;
    let mut building = Build::begin(&env, discussion, layout).await;
    building.step(3).await;
    assert!(!flip(&env, discussion).await, "half built");
    assert_eq!(env.discussion(discussion).await.layout.number, 1);
    assert!(building.run(3).await);
    env.post_unindexed(discussion, None).await;
    assert!(!flip(&env, discussion).await, "a row is missing in it");
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert!(flip(&env, discussion).await);
    // The first one lacks the row still, so there is no way back yet.
    assert!(!flip(&env, discussion).await);
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert!(flip(&env, discussion).await);
    env.audit(discussion).await;
}

async fn t6_a_dropped_layouts_number_is_never_used_again(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    assert_eq!(add(&env, discussion, 2).await.number, 2);
    assert!(drop_other(&env, discussion).await);
    assert_eq!(add(&env, discussion, 2).await.number, 3);
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert!(flip(&env, discussion).await);
    assert!(drop_other(&env, discussion).await);
    assert_eq!(env.discussion(discussion).await.layout.number, 3);
    env.reply(&rows[2]).await;
    env.audit(discussion).await;
    assert_eq!(add(&env, discussion, 1).await.number, 4);
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    env.post_unindexed(discussion, Some(rows[2].id)).await;
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    assert!(build_other(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 9);
}

async fn t6_a_build_of_a_layout_dropped_meanwhile_leaves_nothing(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    let layout = add(&env, discussion, 2).await;
    env.let_writes_settle();
    let mut building = Build::begin(&env, discussion, layout).await;
    building.step(2).await;
    assert!(drop_other(&env, discussion).await);
    building.step(100).await;
    assert!(!building.finish().await);
    sweep(&env, discussion).await;
    let mut lanes = vec![Lane::Roots];
    lanes.extend(rows.iter().map(|row| Lane::Branch(row.id)));
    for lane in lanes {
        assert_eq!(env.list(discussion, layout.number, lane).await, vec![]);
    }
    let row = env.discussion(discussion).await;
    assert!(row.layout.complete && row.other_layout.is_none());
    env.audit(discussion).await;
}

async fn t6_changes_between_keep_the_sums_of_both_layouts(env: Comments) {
    for (first, second) in [(1, 2), (2, 3), (3, 1)] {
        let discussion = env.open(first).await;
        let rows = chain(&env, discussion).await;
        env.hide(&rows[2]).await;
        add(&env, discussion, second).await;
        env.bury(&rows[4]).await;
        env.audit(discussion).await;
        env.let_writes_settle();
        let layout = other(&env, discussion).await;
        let mut building = Build::begin(&env, discussion, layout).await;
        building.step(3).await;
        env.hide(&rows[0]).await;
        env.bury(&rows[3]).await;
        building.step(2).await;
        env.restore(&rows[0]).await;
        env.reply(&rows[6]).await;
        assert!(building.run(3).await);
        env.audit(discussion).await;
        assert!(flip(&env, discussion).await);
        env.restore(&rows[2]).await;
        env.hide(&rows[6]).await;
        env.reply(&rows[5]).await;
        env.audit(discussion).await;
        assert!(flip(&env, discussion).await);
        env.bury(&rows[0]).await;
        assert_eq!(env.audit(discussion).await.len(), 9);
    }
}

async fn t6_reads_during_a_flip_find_every_comment(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    add(&env, discussion, 2).await;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    let flipping = async {
        for _ in 0..20 {
            assert!(flip(&env, discussion).await);
        }
    };
    let reading = async {
        for _ in 0..20 {
            // A page reads the layout it found in the discussion's row, whatever comes after.
            let layout = env.discussion(discussion).await.layout;
            let mut found = ids(&env.list(discussion, layout.number, Lane::Roots).await);
            for row in &rows {
                let branch = Lane::Branch(row.id);
                found.extend(ids(&env.list(discussion, layout.number, branch).await));
            }
            found.sort();
            let mut want = ids(&rows);
            want.sort();
            assert_eq!(found, want);
        }
    };
    futures_util::future::join(flipping, reading).await;
    env.audit(discussion).await;
}

async fn t6_a_write_without_index_row_makes_both_layouts_incomplete(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    add(&env, discussion, 2).await;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    env.post_unindexed(discussion, Some(rows[1].id)).await;
    let row = env.discussion(discussion).await;
    assert!(!row.layout.complete);
    assert!(!other(&env, discussion).await.complete);
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    let row = env.discussion(discussion).await;
    assert!(!row.layout.complete, "each layout is built for itself");
    assert!(build(&env, discussion).await);
    assert!(env.discussion(discussion).await.layout.complete);
    assert!(other(&env, discussion).await.complete);
    assert_eq!(env.audit(discussion).await.len(), 8);
}

async fn t6_a_dropped_layout_is_swept_in_short_steps_while_people_write(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    for _ in 0..WRITE_ROWS_MAX {
        env.reply(&root).await;
    }
    let old = add(&env, discussion, 2).await.number;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert!(drop_other(&env, discussion).await);
    assert!(!drop_other(&env, discussion).await, "it is gone at once");
    let new = add(&env, discussion, 3).await;
    assert!(new.number > old);
    assert!(env.store.sweep(discussion).await.unwrap());
    let late = env.reply(&root).await;
    assert!(sweep(&env, discussion).await >= 2, "501 rows are two steps");
    let left = env
        .store
        .scan_index(discussion, old, None, 9)
        .await
        .unwrap();
    assert_eq!(left, []);
    let branch = Lane::Branch(root.id);
    assert_eq!(
        ids(&env.list(discussion, new.number, branch).await),
        [late.id]
    );
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), WRITE_ROWS_MAX + 2);
    assert!(!env.store.sweep(DiscussionId::new(1)).await.unwrap());
}

async fn t6_a_layout_is_counted_as_its_build_goes_on_whatever_happens_between(env: Comments) {
    let discussion = env.open(1).await;
    let rows = chain(&env, discussion).await;
    let layout = add(&env, discussion, 9).await;
    let right = async || {
        let check = env.store.check_counts(discussion).await.unwrap();
        assert_eq!(check.wrong, []);
    };
    right().await;
    env.let_writes_settle();
    let mut building = Build::begin(&env, discussion, layout).await;
    let mut late = Vec::new();
    let mut step = 0;
    while building.step(1).await {
        step += 1;
        right().await;
        match step {
            1 => drop(env.hide(&rows[1]).await),
            2 => late.push(env.reply(&rows[6]).await),
            3 => drop(env.bury(&rows[3]).await),
            4 => late.push(env.post_unindexed(discussion, Some(rows[0].id)).await),
            5 => drop(env.restore(&rows[1]).await),
            6 => drop(env.bury(&rows[5]).await),
            7 => drop(env.bury(&late[0]).await),
            _ => {}
        }
        right().await;
    }
    assert!(
        !building.finish().await,
        "one was written without index row"
    );
    right().await;
    env.let_writes_settle();
    assert!(build_other(&env, discussion).await && build(&env, discussion).await);
    assert!(flip(&env, discussion).await);
    assert_eq!(env.audit(discussion).await.len(), 9);
}
