//! Hiding, restoring, approving, burying: C6, C12, and who sees a tombstone.

use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::ids::{CommentId, UserId};
use threadline::store::comments::{ChangeOutcome, LogEntry, LogKind};

use super::kit::{ANN, BOB, changed, created, expect_outcome};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c6_burying_empties_body_author_revisions_and_the_authors_list,
    c6_buried_is_final,
    c6_twenty_burials_at_once_on_two_instances_are_one_change,
    c6_an_author_buries_only_their_own,
    c6_a_buried_middle_stays_over_what_hangs_below,
    c6_a_tombstone_goes_with_the_last_shown_row_below_and_comes_back_with_it,
    c6_a_tombstone_looks_through_tombstones_but_not_through_hidden_rows,
    c6_a_reply_deeper_below_makes_a_buried_row_live,
    c6_a_pending_row_keeps_no_tombstone_until_approved,
    c6_burying_a_hidden_or_pending_comment_is_possible,
    c6_acts_that_change_nothing_say_so,
    c6_changing_what_does_not_exist_is_not_found,
    c12_every_change_of_state_is_logged_once_under_the_id_given,
];

async fn live(env: &Comments, row: &Comment) -> bool {
    env.row(row).await.live_below
}

async fn c6_burying_empties_body_author_revisions_and_the_authors_list(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let kept = env.post(discussion).await;
    changed(env.store.edit(env.edit_of(&root, "SECRET")).await.unwrap());
    let buried = env.bury(&root).await;
    assert_eq!(buried.state, CommentState::Buried);
    assert_eq!(buried.author_id, UserId::NOBODY);
    assert_eq!(buried.body, "");
    assert_eq!(buried.id, root.id);
    assert_eq!(buried.revision, root.revision + 2);
    assert_eq!(env.row(&root).await, buried);
    let revisions = env.store.revisions(discussion, root.id).await.unwrap();
    assert_eq!(revisions, vec![]);
    assert_eq!(env.by_author(ANN).await, [(discussion, kept.id)]);
    assert_eq!(env.by_author(UserId::NOBODY).await, vec![]);
    env.audit(discussion).await;
}

async fn c6_buried_is_final(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let buried = env.bury(&root).await;
    let log = env.log(discussion).await;
    let acts = [
        StateAct::Hide,
        StateAct::Restore,
        StateAct::Approve,
        StateAct::Bury,
    ];
    for act in acts {
        for only_author in [None, Some(ANN), Some(BOB)] {
            let mut change = env.change_of(&root, act);
            change.only_author = only_author;
            match env.change(change).await {
                ChangeOutcome::Gone(row) => assert_eq!(row, buried),
                other => panic!("{act:?}: {other:?}"),
            }
        }
    }
    assert_eq!(env.log(discussion).await, log);
    assert_eq!(env.audit(discussion).await, [buried]);
}

async fn c6_twenty_burials_at_once_on_two_instances_are_one_change(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    env.reply(&root).await;
    let outcomes = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            let mut change = env.change_of(&root, StateAct::Bury);
            change.only_author = Some(ANN);
            async move { env.change(change).await }
        })
        .await;
    let changes = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ChangeOutcome::Changed(_)));
    assert_eq!(changes.count(), 1);
    let gone = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ChangeOutcome::Gone(_)));
    assert_eq!(gone.count(), 19);
    let log = env.log(discussion).await;
    assert_eq!(log.len(), 3, "one entry a real change");
    let event = log[2].event_id;
    env.store.catch_up(discussion, event).await.unwrap();
    assert_eq!(env.sums(discussion).await, (2, 1, 1, 2));
    env.audit(discussion).await;
}

async fn c6_an_author_buries_only_their_own(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let mut change = env.change_of(&root, StateAct::Bury);
    change.only_author = Some(BOB);
    expect_outcome!(env.change(change).await, ChangeOutcome::NotAuthor);
    assert_eq!(env.row(&root).await, root);
    let mut change = env.change_of(&root, StateAct::Bury);
    change.only_author = Some(ANN);
    changed(env.change(change).await);
    assert_eq!(env.log(discussion).await.len(), 2);
    env.audit(discussion).await;
}

async fn c6_a_buried_middle_stays_over_what_hangs_below(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let middle = env.reply(&root).await;
    let (x, y) = (env.reply(&middle).await, env.reply(&middle).await);
    let buried = env.bury(&middle).await;
    assert!(buried.live_below);
    assert_eq!(buried.parent_id, Some(root.id));
    assert_eq!(buried.ancestors, [root.id]);
    for row in [&x, &y] {
        assert_eq!(env.row(row).await, *row, "what is below is untouched");
    }
    assert_eq!(env.sums(discussion).await, (4, 3, 3, 4));
    env.audit(discussion).await;
    // A leaf leaves nothing.
    let leaf = env.bury(&y).await;
    assert!(!leaf.live_below);
    assert_eq!(env.sums(discussion).await, (4, 2, 2, 3));
    env.audit(discussion).await;
}

async fn c6_a_tombstone_goes_with_the_last_shown_row_below_and_comes_back_with_it(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let (x, y) = (env.reply(&root).await, env.reply(&root).await);
    env.bury(&root).await;
    env.hide(&x).await;
    assert!(live(&env, &root).await, "y is still there");
    env.hide(&y).await;
    assert!(!live(&env, &root).await);
    assert_eq!(env.sums(discussion).await, (3, 0, 0, 0));
    env.audit(discussion).await;
    env.restore(&x).await;
    assert!(live(&env, &root).await);
    assert_eq!(env.sums(discussion).await, (3, 1, 1, 2));
    env.bury(&x).await;
    assert!(!live(&env, &root).await);
    env.restore(&y).await;
    assert!(live(&env, &root).await);
    env.bury(&y).await;
    assert!(!live(&env, &root).await);
    assert_eq!(env.sums(discussion).await, (3, 0, 0, 0));
    env.audit(discussion).await;
}

async fn c6_a_tombstone_looks_through_tombstones_but_not_through_hidden_rows(env: Comments) {
    let discussion = env.open(1).await;
    let a = env.post(discussion).await;
    let b = env.reply(&a).await;
    let c = env.reply(&b).await;
    let d = env.reply(&c).await;
    env.bury(&a).await;
    env.bury(&b).await;
    assert!(live(&env, &a).await && live(&env, &b).await);
    env.audit(discussion).await;
    env.hide(&c).await;
    assert!(
        !live(&env, &a).await && !live(&env, &b).await,
        "d is cut off"
    );
    env.audit(discussion).await;
    env.restore(&c).await;
    assert!(live(&env, &a).await && live(&env, &b).await);
    env.bury(&c).await;
    assert!(live(&env, &c).await);
    env.hide(&d).await;
    for row in [&a, &b, &c] {
        assert!(!live(&env, row).await);
    }
    env.audit(discussion).await;
    env.restore(&d).await;
    for row in [&a, &b, &c] {
        assert!(live(&env, row).await);
    }
    assert_eq!(env.sums(discussion).await, (4, 1, 1, 4));
    env.audit(discussion).await;
}

#[expect(clippy::many_single_char_names, reason = "a chain, named in its order")]
async fn c6_a_reply_deeper_below_makes_a_buried_row_live(env: Comments) {
    let discussion = env.open(1).await;
    let a = env.post(discussion).await;
    let b = env.reply(&a).await;
    let c = env.reply(&b).await;
    env.bury(&a).await;
    env.hide(&b).await;
    assert!(!live(&env, &a).await);
    env.bury(&c).await;
    env.restore(&b).await;
    assert!(live(&env, &a).await && !live(&env, &c).await);
    let d = env.reply(&b).await;
    env.bury(&b).await;
    assert!(live(&env, &a).await && live(&env, &b).await);
    let e = env.reply(&d).await;
    env.bury(&d).await;
    for row in [&a, &b, &d] {
        assert!(live(&env, row).await);
    }
    env.audit(discussion).await;
    env.bury(&e).await;
    for row in [&a, &b, &c, &d, &e] {
        assert!(!live(&env, row).await);
    }
    assert_eq!(env.sums(discussion).await, (5, 0, 0, 0));
    env.audit(discussion).await;
}

async fn c6_a_pending_row_keeps_no_tombstone_until_approved(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let mut new = env.draft(discussion, Some(root.id));
    new.state = CommentState::Pending;
    let pending = created(env.create(new).await);
    assert_eq!(env.sums(discussion).await, (2, 1, 1, 1));
    env.bury(&root).await;
    assert!(!live(&env, &root).await);
    assert_eq!(env.sums(discussion).await, (2, 0, 0, 0));
    let approved = changed(env.act(&pending, StateAct::Approve).await);
    assert_eq!(approved.state, CommentState::Published);
    assert!(live(&env, &root).await);
    assert_eq!(env.sums(discussion).await, (2, 1, 1, 2));
    env.audit(discussion).await;
}

async fn c6_burying_a_hidden_or_pending_comment_is_possible(env: Comments) {
    let discussion = env.open(1).await;
    let hidden = env.post(discussion).await;
    let below = env.reply(&hidden).await;
    env.hide(&hidden).await;
    let mut new = env.draft(discussion, None);
    new.state = CommentState::Pending;
    let pending = created(env.create(new).await);
    for row in [&hidden, &pending] {
        assert_eq!(env.bury(row).await.state, CommentState::Buried);
    }
    // The hidden row hid what was below; its tombstone does not.
    assert!(live(&env, &hidden).await && !live(&env, &pending).await);
    assert_eq!(env.sums(discussion).await, (3, 1, 1, 2));
    env.audit(discussion).await;
    env.bury(&below).await;
    assert!(!live(&env, &hidden).await);
    env.audit(discussion).await;
}

async fn c6_acts_that_change_nothing_say_so(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let mut new = env.draft(discussion, None);
    new.state = CommentState::Pending;
    let pending = created(env.create(new).await);
    for (row, act) in [
        (&root, StateAct::Restore),
        (&root, StateAct::Approve),
        (&pending, StateAct::Restore),
    ] {
        match env.act(row, act).await {
            ChangeOutcome::NoChange(now) => assert_eq!(now, *row),
            other => panic!("{act:?}: {other:?}"),
        }
    }
    let hidden = env.hide(&root).await;
    for act in [StateAct::Hide, StateAct::Approve] {
        match env.act(&root, act).await {
            ChangeOutcome::NoChange(now) => assert_eq!(now, hidden),
            other => panic!("{act:?}: {other:?}"),
        }
    }
    assert_eq!(env.log(discussion).await.len(), 3);
    env.audit(discussion).await;
}

async fn c6_changing_what_does_not_exist_is_not_found(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let root = env.post(here).await;
    let mut missing = env.change_of(&root, StateAct::Bury);
    missing.comment_id = CommentId::new(env.mint());
    let mut foreign = env.change_of(&root, StateAct::Hide);
    foreign.discussion_id = there;
    for change in [missing, foreign] {
        expect_outcome!(env.change(change.clone()).await, ChangeOutcome::NotFound);
        let found = env.store.revisions(change.discussion_id, change.comment_id);
        assert_eq!(found.await.unwrap(), vec![]);
    }
    assert_eq!(env.audit(here).await, [root]);
    assert_eq!(env.log(there).await, vec![]);
}

async fn c12_every_change_of_state_is_logged_once_under_the_id_given(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let mut new = env.draft(discussion, None);
    new.state = CommentState::Pending;
    let pending = created(env.create(new).await);
    let mut want = env.log(discussion).await;
    for (row, act) in [
        (&root, StateAct::Hide),
        (&pending, StateAct::Approve),
        (&root, StateAct::Restore),
        (&pending, StateAct::Bury),
        (&root, StateAct::Hide),
        (&root, StateAct::Bury),
    ] {
        let change = env.change_of(row, act);
        changed(env.change(change.clone()).await);
        want.push(LogEntry {
            event_id: change.event_id,
            kind: LogKind::StateChanged,
            comment_id: Some(row.id),
        });
        // The same again changes nothing, so it is no entry.
        env.act(row, act).await;
    }
    assert_eq!(env.log(discussion).await, want);
}
