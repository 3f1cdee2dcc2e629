//! Creating: C1, C2, C4, C12 for creates.

use std::collections::BTreeSet;
use std::time::Duration;

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{Comment, CommentState, DEPTH_MAX, StateAct};
use threadline::domain::ids::{CommentId, DiscussionId, EventId};
use threadline::store::comments::{CREATE_LATE_MAX_MS, CreateOutcome, Lane, LogEntry, LogKind};

use super::kit::{
    ANN, BOB, SOURCE_MS, all, created, expect_outcome, ids, imported, source_comment,
};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c1_an_acknowledged_create_is_readable_everywhere,
    c1_every_field_comes_back_as_it_was_written,
    c1_another_instance_reads_it_after_catching_up,
    c1_another_instance_sees_it_soon_without_catching_up,
    c1_an_older_event_written_later_is_caught_up_with_too,
    c1_creates_at_once_from_two_instances_are_all_there,
    c1_reading_many_ids_gives_those_that_exist_in_their_own_discussion,
    c1_a_create_much_later_than_its_id_fails_unwritten,
    c2_row_and_index_row_are_seen_together,
    c2_a_failing_create_among_others_undoes_only_itself,
    c2_a_refused_create_leaves_nothing_anywhere,
    c4_ancestors_are_the_parents_and_the_parent,
    c4_a_missing_or_foreign_parent_refuses,
    c4_a_buried_hidden_or_pending_parent_refuses,
    c4_a_parent_below_a_hidden_comment_refuses,
    c4_a_parent_brought_back_takes_replies_again,
    c4_a_reply_below_the_deepest_level_is_refused,
    c12_a_create_is_logged_under_its_own_id,
    c14_entries_of_more_than_an_hour_ago_go_and_younger_ones_stay,
];

async fn c1_an_acknowledged_create_is_readable_everywhere(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let reply = env.reply(&root).await;
    for comment in [&root, &reply] {
        assert_eq!(env.row(comment).await, *comment);
    }
    assert_eq!(env.linear(discussion).await, [root.clone(), reply.clone()]);
    let roots = env.list(discussion, 1, Lane::Roots).await;
    assert_eq!(roots, std::slice::from_ref(&root));
    let branch = env.list(discussion, 1, Lane::Branch(root.id)).await;
    assert_eq!(branch, std::slice::from_ref(&reply));
    let wrote = [(discussion, root.id), (discussion, reply.id)];
    assert_eq!(env.by_author(ANN).await, wrote);
    assert_eq!(env.log(discussion).await.len(), 2);
    assert_eq!(env.sums(discussion).await, (2, 2, 2, 2));
    env.audit(discussion).await;
}

async fn c1_every_field_comes_back_as_it_was_written(env: Comments) {
    let discussion = env.open(1).await;
    let bodies = [
        "a😶b",
        "👨\u{200d}👩\u{200d}👧 👍🏽 ex𝌆tic",
        "abc\u{202e}def",
        "line\nline\r\n\ttab \u{0}nul",
        "it's \"quoted\" \\ % _ ; DROP TABLE comments; --",
        "e\u{301} is not é",
    ];
    for (body, format) in bodies.into_iter().zip(
        [BodyFormat::Plain, BodyFormat::Markdown, BodyFormat::Html]
            .into_iter()
            .cycle(),
    ) {
        let mut new = env.draft(discussion, None);
        new.body = body.to_owned();
        new.format = format;
        new.author_id = BOB;
        let comment = created(env.create(new.clone()).await);
        let want = Comment {
            id: new.id,
            discussion_id: discussion,
            author_id: BOB,
            body: body.to_owned(),
            format,
            parent_id: None,
            ancestors: vec![],
            edited_at_ms: None,
            revision: comment.revision,
            state: CommentState::Published,
            live_below: comment.live_below,
        };
        assert_eq!(comment, want);
        assert_eq!(env.row(&comment).await, want);
    }
    let mut new = env.draft(discussion, None);
    new.body = "𝌆".repeat(10_000);
    let long = created(env.create(new).await);
    assert_eq!(env.row(&long).await.body.chars().count(), 10_000);
    env.audit(discussion).await;
}

async fn c1_another_instance_reads_it_after_catching_up(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    other
        .store
        .catch_up(discussion, EventId::new(root.id.get()))
        .await
        .unwrap();
    assert_eq!(other.linear(discussion).await, std::slice::from_ref(&root));
    // The other one has read the list by now, so it may hold it in a cache.
    let reply = env.reply(&root).await;
    other
        .store
        .catch_up(discussion, EventId::new(reply.id.get()))
        .await
        .unwrap();
    assert_eq!(ids(&other.linear(discussion).await), [root.id, reply.id]);
    let branch = other.list(discussion, 1, Lane::Branch(root.id)).await;
    assert_eq!(ids(&branch), [reply.id]);
    assert_eq!(other.counts(discussion).await.all.total, 2);
    let change = env.change_of(&root, StateAct::Hide);
    let event = change.event_id;
    env.change(change).await;
    other.store.catch_up(discussion, event).await.unwrap();
    let rows = other.linear(discussion).await;
    assert_eq!(rows[0].state, CommentState::Hidden);
    assert!(other.discussion(discussion).await.has_hidden);
}

async fn c1_another_instance_sees_it_soon_without_catching_up(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let read = async || ids(&other.slice(discussion, 1, Lane::Linear, all(10)).await);
    // "Soon" is about a second; the deadline is only there for a read that never gets newer.
    let seen = async |want: &[CommentId]| {
        while read().await != want {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let deadline = Duration::from_secs(30);
    tokio::time::timeout(deadline, seen(&[root.id]))
        .await
        .unwrap();
    let reply = env.reply(&root).await;
    let want = [root.id, reply.id];
    tokio::time::timeout(deadline, seen(&want)).await.unwrap();
}

async fn c1_an_older_event_written_later_is_caught_up_with_too(env: Comments) {
    let other = env.another_instance(2).await;
    let reader = env.another_instance(3).await;
    let discussion = env.open(1).await;
    let slow = env.draft(discussion, None);
    let quick = other.post(discussion).await;
    assert!(slow.id < quick.id);
    let catch_up = async |id: CommentId| {
        let event = EventId::new(id.get());
        reader.store.catch_up(discussion, event).await.unwrap();
        ids(&reader.slice(discussion, 1, Lane::Linear, all(10)).await)
    };
    assert_eq!(catch_up(quick.id).await, [quick.id]);
    let slow = created(env.create(slow).await);
    assert_eq!(catch_up(slow.id).await, [slow.id, quick.id]);
    // An event that does not exist is not waited for.
    let never = CommentId::new(env.mint());
    assert_eq!(catch_up(never).await, [slow.id, quick.id]);
}

async fn c1_creates_at_once_from_two_instances_are_all_there(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let rows = env
        .parallel(60, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            let parent = (index % 3 > 0).then_some(root.id);
            async move { created(env.create(env.draft(discussion, parent)).await).id }
        })
        .await;
    let mut want: BTreeSet<CommentId> = rows.iter().copied().collect();
    assert_eq!(want.len(), 60);
    want.insert(root.id);
    let last = EventId::new(want.last().unwrap().get());
    env.store.catch_up(discussion, last).await.unwrap();
    let read = env.audit(discussion).await;
    assert_eq!(ids(&read), want.into_iter().collect::<Vec<_>>());
}

async fn c1_reading_many_ids_gives_those_that_exist_in_their_own_discussion(env: Comments) {
    assert_eq!(env.store.comments(&[]).await.unwrap(), vec![]);
    let (one, two) = (env.open(1).await, env.open(1).await);
    let mut wanted = Vec::new();
    let mut want = BTreeSet::new();
    for index in 0..150 {
        let (home, other) = if index % 2 == 0 {
            (one, two)
        } else {
            (two, one)
        };
        let comment = env.post(home).await;
        wanted.push((home, comment.id));
        // The same id in the other discussion does not exist.
        wanted.push((other, comment.id));
        wanted.push((home, CommentId::new(env.mint())));
        want.insert((home, comment.id));
    }
    let found = env.store.comments(&wanted).await.unwrap();
    assert_eq!(found.len(), want.len());
    let found: BTreeSet<(DiscussionId, CommentId)> = found
        .iter()
        .map(|comment| (comment.discussion_id, comment.id))
        .collect();
    assert_eq!(found, want);
}

async fn c1_a_create_much_later_than_its_id_fails_unwritten(env: Comments) {
    let discussion = env.open(1).await;
    let (in_time, late) = (env.draft(discussion, None), env.draft(discussion, None));
    let limit_ms = u64::try_from(CREATE_LATE_MAX_MS).unwrap();
    env.advance_ms(limit_ms);
    let in_time = created(env.create(in_time).await);
    env.advance_ms(1);
    assert!(env.store.create(late.clone()).await.is_err());
    assert_eq!(env.find(discussion, late.id).await, None);
    assert_eq!(env.by_author(ANN).await, [(discussion, in_time.id)]);
    assert_eq!(env.log(discussion).await.len(), 1);
    assert_eq!(ids(&env.audit(discussion).await), [in_time.id]);
}

async fn c2_row_and_index_row_are_seen_together(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let reader = {
        let env = env.clone();
        move |_| {
            let env = env.clone();
            async move {
                let read = async |lane| -> BTreeSet<CommentId> {
                    let rows = env.slice(discussion, 1, lane, all(1_000)).await;
                    rows.iter().map(|row| row.id).collect()
                };
                for _ in 0..50 {
                    let before = read(Lane::Branch(root.id)).await;
                    let mut linear = read(Lane::Linear).await;
                    let after = read(Lane::Branch(root.id)).await;
                    // What was in the index before is a row; what was a row is in the index after.
                    assert!(before.is_subset(&linear));
                    linear.remove(&root.id);
                    assert!(linear.is_subset(&after));
                }
            }
        }
    };
    let writer = |env: Comments| async move {
        for _ in 0..40 {
            let new = env.draft(discussion, Some(root.id));
            created(env.create(new).await);
        }
    };
    let reading = env.parallel(2, reader);
    let writing = env.parallel(2, |_| writer(env.clone()));
    futures_util::future::join(reading, writing).await;
    assert_eq!(env.audit(discussion).await.len(), 81);
}

async fn c2_a_failing_create_among_others_undoes_only_itself(env: Comments) {
    let discussion = env.open(1).await;
    let late: Vec<_> = (0..15).map(|_| env.draft(discussion, None)).collect();
    env.advance_ms(60_000);
    let results = env
        .parallel(45, |index| {
            let env = env.clone();
            let new = late.get(index / 3).filter(|_| index % 3 == 0).cloned();
            async move {
                let new = new.unwrap_or_else(|| env.draft(discussion, None));
                (new.id, env.store.create(new).await)
            }
        })
        .await;
    let mut want = Vec::new();
    for (index, (id, result)) in results.into_iter().enumerate() {
        if index % 3 == 0 {
            assert!(result.is_err(), "{result:?}");
        } else {
            want.push(created(result.unwrap()).id);
            assert_eq!(want.last(), Some(&id));
        }
    }
    want.sort();
    assert_eq!(ids(&env.audit(discussion).await), want);
    let wrote: Vec<CommentId> = env.by_author(ANN).await.iter().map(|(_, id)| *id).collect();
    assert_eq!(wrote, want);
    assert_eq!(env.log(discussion).await.len(), want.len());
}

async fn c2_a_refused_create_leaves_nothing_anywhere(env: Comments) {
    let discussion = env.open(1).await;
    let missing = CommentId::new(env.mint());
    let refused = env.draft(discussion, Some(missing));
    expect_outcome!(
        env.create(refused.clone()).await,
        CreateOutcome::ParentMissing
    );
    assert_eq!(env.find(discussion, refused.id).await, None);
    assert_eq!(env.by_author(ANN).await, vec![]);
    assert_eq!(env.log(discussion).await, vec![]);
    let lanes = [Lane::Linear, Lane::Roots, Lane::Branch(missing)];
    for lane in lanes {
        assert_eq!(env.list(discussion, 1, lane).await, vec![]);
        assert_eq!(env.store.runs(discussion, 1, lane).await.unwrap(), vec![]);
    }
    assert!(env.discussion(discussion).await.layout.complete);
    assert_eq!(env.audit(discussion).await, vec![]);
}

async fn c4_ancestors_are_the_parents_and_the_parent(env: Comments) {
    let discussion = env.open(1).await;
    let mut above: Vec<CommentId> = vec![];
    let mut last = env.post(discussion).await;
    for depth in 1..20 {
        above.push(last.id);
        last = env.reply(&last).await;
        assert_eq!(last.parent_id, above.last().copied());
        assert_eq!(last.ancestors, above);
        assert_eq!(last.depth(), depth);
        assert_eq!(env.row(&last).await, last);
    }
    // Changes above do not rewrite what is below.
    let second = env.find(discussion, above[1]).await.unwrap();
    env.bury(&second).await;
    assert_eq!(env.row(&last).await.ancestors, above);
    env.audit(discussion).await;
}

async fn c4_a_missing_or_foreign_parent_refuses(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let foreign = env.post(there).await;
    for parent in [CommentId::new(env.mint()), foreign.id] {
        for index in [true, false] {
            let mut reply = env.draft(here, Some(parent));
            reply.index = index;
            expect_outcome!(env.create(reply).await, CreateOutcome::ParentMissing);
        }
    }
    // Nothing may answer itself.
    let mut own = env.draft(here, None);
    own.parent_id = Some(own.id);
    expect_outcome!(env.create(own).await, CreateOutcome::ParentMissing);
    assert_eq!(env.audit(here).await, vec![]);
    assert_eq!(env.audit(there).await.len(), 1);
}

async fn c4_a_buried_hidden_or_pending_parent_refuses(env: Comments) {
    let discussion = env.open(1).await;
    let (buried, hidden) = (env.post(discussion).await, env.post(discussion).await);
    env.bury(&buried).await;
    env.hide(&hidden).await;
    let mut pending = env.draft(discussion, None);
    pending.state = CommentState::Pending;
    let pending = created(env.create(pending).await);
    for parent in [buried, hidden, pending] {
        let reply = env.draft(discussion, Some(parent.id));
        expect_outcome!(env.create(reply).await, CreateOutcome::ParentGone);
    }
    assert_eq!(env.audit(discussion).await.len(), 3);
}

async fn c4_a_parent_below_a_hidden_comment_refuses(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let middle = env.reply(&root).await;
    let parent = env.reply(&middle).await;
    for above in [&root, &middle] {
        env.hide(above).await;
        let reply = env.draft(discussion, Some(parent.id));
        expect_outcome!(env.create(reply).await, CreateOutcome::ParentGone);
        env.restore(above).await;
        env.reply(&parent).await;
    }
    // Nobody reads what is hidden; a tombstone hides nothing.
    env.bury(&middle).await;
    env.reply(&parent).await;
    assert_eq!(env.audit(discussion).await.len(), 6);
}

async fn c4_a_parent_brought_back_takes_replies_again(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    env.hide(&root).await;
    env.restore(&root).await;
    env.reply(&root).await;
    let mut pending = env.draft(discussion, None);
    pending.state = CommentState::Pending;
    let pending = created(env.create(pending).await);
    super::kit::changed(env.act(&pending, StateAct::Approve).await);
    env.reply(&pending).await;
    assert_eq!(env.audit(discussion).await.len(), 4);
}

async fn c4_a_reply_below_the_deepest_level_is_refused(env: Comments) {
    let discussion = env.open(1).await;
    // A chain from level 0 to the deepest one, imported because that is one call.
    let levels = i64::from(DEPTH_MAX);
    let chain = (0..=levels).map(|level| {
        let parent = (level > 0).then(|| (level - 1).to_string());
        source_comment(&level.to_string(), SOURCE_MS + level, parent.as_deref())
    });
    let outcomes = env.import(discussion, chain.collect()).await;
    let last = imported(outcomes[outcomes.len() - 1]);
    let deepest = env.find(discussion, last).await.unwrap();
    assert_eq!(deepest.depth(), DEPTH_MAX);
    let below = env.draft(discussion, Some(deepest.id));
    expect_outcome!(env.create(below).await, CreateOutcome::TooDeep);
    let above = env
        .find(discussion, deepest.parent_id.unwrap())
        .await
        .unwrap();
    let beside = env.reply(&above).await;
    assert_eq!(beside.depth(), DEPTH_MAX);
    assert_eq!(beside.ancestors, deepest.ancestors);
}

async fn c14_entries_of_more_than_an_hour_ago_go_and_younger_ones_stay(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    for _ in 0..6 {
        env.post(here).await;
        env.post(there).await;
    }
    env.advance_ms(3_600_000);
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(EventId::new(env.post(here).await.id.get()));
    }
    // What is an hour old to the millisecond may still be asked for.
    assert_eq!(env.log(here).await.len(), 9);
    env.advance_ms(1_000);
    for _ in 0..3 {
        kept.push(EventId::new(env.post(here).await.id.get()));
    }
    let log = env.log(here).await;
    let left: Vec<EventId> = log.iter().map(|entry| entry.event_id).collect();
    assert_eq!(left, kept);
    // Another discussion's log is its own affair.
    assert_eq!(env.log(there).await.len(), 6);
}

async fn c12_a_create_is_logged_under_its_own_id(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let root = env.post(here).await;
    let elsewhere = env.post(there).await;
    let unindexed = env.post_unindexed(here, Some(root.id)).await;
    let mut pending = env.draft(here, None);
    pending.state = CommentState::Pending;
    let pending = created(env.create(pending).await);
    let entry = |comment: &Comment| LogEntry {
        event_id: EventId::new(comment.id.get()),
        kind: LogKind::Created,
        comment_id: Some(comment.id),
    };
    let want = [entry(&root), entry(&unindexed), entry(&pending)];
    assert_eq!(env.log(here).await, want);
    assert_eq!(env.log(there).await, [entry(&elsewhere)]);
    // From an event on, inclusive, and no more than asked for.
    let from = want[1].event_id;
    assert_eq!(env.store.log(here, from, 10).await.unwrap(), want[1..]);
    assert_eq!(env.store.log(here, from, 1).await.unwrap(), want[1..2]);
    let beyond = EventId::new(want[2].event_id.get() + 1);
    assert_eq!(env.store.log(here, beyond, 10).await.unwrap(), vec![]);
}
