//! Edits: C5, C12, and the earlier texts.

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{CommentState, StateAct};
use threadline::domain::ids::{CommentId, EventId};
use threadline::store::comments::{ChangeOutcome, LogEntry, LogKind, Revision};

use super::kit::{BOB, changed, expect_outcome};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c5_an_edit_changes_text_format_revision_and_time_only,
    c5_a_stale_edit_changes_nothing_and_shows_the_row,
    c5_the_same_edit_repeated_is_one_change,
    c5_edits_at_once_of_one_revision_change_it_once,
    c5_only_the_author_edits_and_only_what_exists,
    c5_a_change_of_state_of_another_revision_changes_nothing,
    c5_a_change_of_state_makes_an_older_edit_stale,
    c5_an_edit_never_brings_a_buried_comment_back,
    c5_edits_and_burials_at_once_end_buried,
    c5_earlier_texts_are_kept_in_order,
    c12_an_edit_is_logged_once_under_the_id_given,
];

async fn c5_an_edit_changes_text_format_revision_and_time_only(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let reply = env.reply(&root).await;
    env.advance_ms(5_000);
    let mut want = reply.clone();
    want.body = String::from("new 𝌆 text");
    want.format = BodyFormat::Markdown;
    want.revision += 1;
    want.edited_at_ms = Some(env.clock.now_ms());
    let edited = changed(
        env.store
            .edit(env.edit_of(&reply, &want.body))
            .await
            .unwrap(),
    );
    assert_eq!(edited, want);
    assert_eq!(env.row(&reply).await, want);
    assert_eq!(env.row(&root).await, root);
    assert_eq!(env.sums(discussion).await, (2, 2, 2, 2));
    env.audit(discussion).await;
}

async fn c5_a_stale_edit_changes_nothing_and_shows_the_row(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let first = changed(env.store.edit(env.edit_of(&root, "first")).await.unwrap());
    let log = env.log(discussion).await;
    let too_new = {
        let mut row = root.clone();
        row.revision += 2;
        row
    };
    for seen in [&root, &too_new] {
        match env.store.edit(env.edit_of(seen, "second")).await.unwrap() {
            ChangeOutcome::Stale(row) => assert_eq!(row, first),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(env.row(&root).await, first);
    assert_eq!(env.log(discussion).await, log);
    let kept = env.store.revisions(discussion, root.id).await.unwrap();
    assert_eq!(kept.len(), 1);
}

async fn c5_the_same_edit_repeated_is_one_change(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let edit = env.edit_of(&root, "new");
    let first = changed(env.store.edit(edit.clone()).await.unwrap());
    env.advance_ms(1_000);
    assert_eq!(changed(env.store.edit(edit.clone()).await.unwrap()), first);
    // A client that repeats its request gets a new event id on the way.
    let mut again = edit;
    again.event_id = env.event();
    assert_eq!(changed(env.store.edit(again).await.unwrap()), first);
    assert_eq!(env.row(&root).await, first);
    assert_eq!(env.log(discussion).await.len(), 2);
    let kept = env.store.revisions(discussion, root.id).await.unwrap();
    assert_eq!(kept.len(), 1);
}

async fn c5_edits_at_once_of_one_revision_change_it_once(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let outcomes = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            let edit = env.edit_of(&root, &format!("text {index}"));
            async move { env.store.edit(edit).await.unwrap() }
        })
        .await;
    let mut won = Vec::new();
    for outcome in outcomes {
        match outcome {
            ChangeOutcome::Changed(row) => won.push(row),
            ChangeOutcome::Stale(row) => assert_eq!(row.revision, root.revision + 1),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won.len(), 1);
    let log = env.log(discussion).await;
    assert_eq!(log.len(), 2);
    let event = log[1].event_id;
    env.store.catch_up(discussion, event).await.unwrap();
    assert_eq!(env.row(&root).await, won[0]);
}

async fn c5_only_the_author_edits_and_only_what_exists(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let root = env.post(here).await;
    let mut edit = env.edit_of(&root, "not mine");
    edit.author_id = BOB;
    expect_outcome!(
        env.store.edit(edit).await.unwrap(),
        ChangeOutcome::NotAuthor
    );
    let mut edit = env.edit_of(&root, "nowhere");
    edit.comment_id = CommentId::new(env.mint());
    expect_outcome!(env.store.edit(edit).await.unwrap(), ChangeOutcome::NotFound);
    let mut edit = env.edit_of(&root, "elsewhere");
    edit.discussion_id = there;
    expect_outcome!(env.store.edit(edit).await.unwrap(), ChangeOutcome::NotFound);
    assert_eq!(env.audit(here).await, [root]);
    assert_eq!(env.log(here).await.len(), 1);
}

async fn c5_a_change_of_state_of_another_revision_changes_nothing(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let edited = changed(env.store.edit(env.edit_of(&root, "new")).await.unwrap());
    for act in [StateAct::Hide, StateAct::Bury] {
        let mut change = env.change_of(&root, act);
        change.expected_revision = Some(root.revision);
        match env.change(change).await {
            ChangeOutcome::Stale(row) => assert_eq!(row, edited),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(env.row(&root).await, edited);
    assert_eq!(env.log(discussion).await.len(), 2);
    let mut change = env.change_of(&root, StateAct::Hide);
    change.expected_revision = Some(edited.revision);
    let hidden = changed(env.change(change).await);
    assert_eq!(hidden.revision, edited.revision + 1);
    env.audit(discussion).await;
}

async fn c5_a_change_of_state_makes_an_older_edit_stale(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    env.hide(&root).await;
    env.restore(&root).await;
    let late = env.edit_of(&root, "late");
    expect_outcome!(env.store.edit(late).await.unwrap(), ChangeOutcome::Stale(_));
    assert_eq!(env.row(&root).await.body, root.body);
}

async fn c5_an_edit_never_brings_a_buried_comment_back(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let buried = env.bury(&root).await;
    for seen in [root.revision, buried.revision] {
        for author in [root.author_id, BOB] {
            let mut edit = env.edit_of(&root, "SECRET");
            edit.expected_revision = seen;
            edit.author_id = author;
            match env.store.edit(edit).await.unwrap() {
                ChangeOutcome::Gone(row) => assert_eq!(row, buried),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(env.audit(discussion).await, [buried]);
    let kept = env.store.revisions(discussion, root.id).await.unwrap();
    assert_eq!(kept, vec![]);
}

async fn c5_edits_and_burials_at_once_end_buried(env: Comments) {
    let discussion = env.open(1).await;
    for _ in 0..50 {
        let root = env.post(discussion).await;
        env.parallel(2, |index| {
            let (env, root) = (env.clone(), root.clone());
            async move {
                if index == 0 {
                    let edit = env.edit_of(&root, "SECRET");
                    env.store.edit(edit).await.unwrap()
                } else {
                    env.act(&root, StateAct::Bury).await
                }
            }
        })
        .await;
        let row = env.row(&root).await;
        assert_eq!(row.state, CommentState::Buried);
        assert_eq!(row.body, "");
        let kept = env.store.revisions(discussion, root.id).await.unwrap();
        assert_eq!(kept, vec![]);
    }
    env.audit(discussion).await;
}

async fn c5_earlier_texts_are_kept_in_order(env: Comments) {
    let discussion = env.open(1).await;
    let (root, other) = (env.post(discussion).await, env.post(discussion).await);
    let mut want = Vec::new();
    let mut row = root.clone();
    for index in 0..12 {
        want.push(Revision {
            revision: row.revision,
            body: row.body.clone(),
            format: row.format,
        });
        let edit = env.edit_of(&row, &format!("text {index}"));
        row = changed(env.store.edit(edit).await.unwrap());
    }
    let kept = env.store.revisions(discussion, root.id).await.unwrap();
    assert_eq!(kept, want);
    let others = env.store.revisions(discussion, other.id).await.unwrap();
    assert_eq!(others, vec![]);
}

async fn c12_an_edit_is_logged_once_under_the_id_given(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let edit = env.edit_of(&root, "new");
    changed(env.store.edit(edit.clone()).await.unwrap());
    let want = [
        LogEntry {
            event_id: EventId::new(root.id.get()),
            kind: LogKind::Created,
            comment_id: Some(root.id),
        },
        LogEntry {
            event_id: edit.event_id,
            kind: LogKind::Edited,
            comment_id: Some(root.id),
        },
    ];
    assert_eq!(env.log(discussion).await, want);
}
