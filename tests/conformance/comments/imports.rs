//! Imports: I1, I2, I4, I5.

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{CommentState, DEPTH_MAX};
use threadline::domain::discussion::DiscussionState;
use threadline::domain::ids::imported::first_place;
use threadline::domain::ids::{CommentId, UserId};
use threadline::store::StoreErrorKind;
use threadline::store::comments::{
    IMPORT_BATCH_MAX, ImportComment, ImportDiscussion, ImportOutcome,
};

use super::kit::{
    ANN, BOB, PLENTY, SOURCE_MS, expect_outcome, ids, imported, source_comment, source_discussion,
};
use super::{Cases, Comments};
use crate::builder::build;
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    i1_the_same_batch_twice_writes_each_comment_once,
    i1_a_row_twice_in_one_batch_is_one_comment,
    i1_every_field_comes_back_as_it_was_imported,
    i1_a_discussion_imported_twice_is_found_again,
    i1_a_second_import_does_not_undo_what_happened_since,
    i1_imports_at_once_write_each_comment_once,
    i1_imported_states_are_counted_as_what_they_are,
    i1_a_row_below_a_hidden_one_wakes_no_tombstone_above_it,
    i1_a_row_below_the_deepest_level_hangs_one_level_higher,
    i1_people_reply_to_what_was_imported,
    i2_ids_follow_from_source_id_time_and_parent,
    i2_another_order_or_another_run_gives_the_same_ids,
    i2_another_source_gives_other_ids,
    i4_imported_rows_write_no_log_entry,
    i4_an_import_leaves_the_discussion_without_a_complete_index,
    i5_a_call_of_more_rows_than_one_may_have_writes_nothing,
    i5_a_full_call_is_taken_and_discussions_come_back_in_their_order,
];

/// Roots with chains and fans below, times all over the place; parents come before replies.
fn sample() -> Vec<ImportComment> {
    let mut rows = Vec::new();
    for root in 0..6_i64 {
        let name = format!("r{root}");
        rows.push(source_comment(
            &name,
            SOURCE_MS + root * 7_919 % 50_000,
            None,
        ));
        let mut parent = name;
        for depth in 0..5_i64 {
            let name = format!("{parent}.{depth}");
            // Some replies are older than what they answer, some of the same millisecond.
            let ms = SOURCE_MS + (root * 104_729 + depth * 15_485_863) % 50_000;
            rows.push(source_comment(&name, ms, Some(&parent)));
            if depth % 2 == 0 {
                parent = name;
            }
        }
    }
    rows
}

async fn i1_the_same_batch_twice_writes_each_comment_once(env: Comments) {
    let discussion = env.open(1).await;
    let first = env.import(discussion, sample()).await;
    for outcome in &first {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    let rows = env.audit(discussion).await;
    env.advance_ms(86_400_000);
    let second = env.import(discussion, sample()).await;
    for (first, second) in first.iter().zip(second) {
        assert_eq!(second, ImportOutcome::AlreadyThere(imported(*first)));
    }
    assert_eq!(env.audit(discussion).await, rows);
    assert_eq!(rows.len(), sample().len());
    let mut wrote: Vec<CommentId> = env.by_author(ANN).await.iter().map(|(_, id)| *id).collect();
    wrote.dedup();
    assert_eq!(wrote, ids(&rows));
}

async fn i1_a_row_twice_in_one_batch_is_one_comment(env: Comments) {
    let discussion = env.open(1).await;
    let row = source_comment("a", SOURCE_MS, None);
    let reply = source_comment("b", SOURCE_MS, Some("a"));
    let batch = vec![row.clone(), row.clone(), reply.clone(), row, reply];
    let outcomes = env.import(discussion, batch).await;
    let (a, b) = (imported(outcomes[0]), imported(outcomes[2]));
    let want = [
        ImportOutcome::Imported(a),
        ImportOutcome::AlreadyThere(a),
        ImportOutcome::Imported(b),
        ImportOutcome::AlreadyThere(a),
        ImportOutcome::AlreadyThere(b),
    ];
    assert_eq!(outcomes, want);
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn i1_every_field_comes_back_as_it_was_imported(env: Comments) {
    let discussion = env.open(1).await;
    let mut row = source_comment("ex𝌆tic 😶", SOURCE_MS, None);
    row.author_id = BOB;
    row.body = String::from("<p>it's 👨\u{200d}👩\u{200d}👧</p>\u{202e}");
    row.edited_at_ms = Some(SOURCE_MS + 5_000);
    let id = imported(env.import(discussion, vec![row.clone()]).await[0]);
    let read = env.find(discussion, id).await.unwrap();
    assert_eq!(read.discussion_id, discussion);
    assert_eq!(read.author_id, BOB);
    assert_eq!(read.body, row.body);
    assert_eq!(read.format, BodyFormat::Html);
    assert_eq!(read.edited_at_ms, row.edited_at_ms);
    assert_eq!(read.state, CommentState::Published);
    assert_eq!((read.parent_id, read.ancestors.len()), (None, 0));
    assert_eq!(read.id.time_ms(), SOURCE_MS);
    env.audit(discussion).await;
}

async fn i1_a_discussion_imported_twice_is_found_again(env: Comments) {
    let new = ImportDiscussion {
        url: Some("example.org/old".to_owned()),
        entity: Some(("post".to_owned(), "1".to_owned())),
        closed: true,
        depth_limit: 2,
        ..source_discussion("t1")
    };
    let (first, is_new) = env.store.import_discussion(new.clone()).await.unwrap();
    assert!(is_new);
    assert_eq!(first.title, new.title);
    assert_eq!(first.url, new.url);
    assert_eq!(first.entity, new.entity);
    assert_eq!(first.state, DiscussionState::Closed);
    assert_eq!(first.layout.depth_limit, 2);
    assert_eq!(first.id.time_ms(), SOURCE_MS);
    let found = env.store.discussion_by_key("url:example.org/old").await;
    assert_eq!(found.unwrap().unwrap().id, first.id);
    // A closed discussion takes its own old comments.
    let row = source_comment("a", SOURCE_MS, None);
    expect_outcome!(
        env.import(first.id, vec![row]).await[0],
        ImportOutcome::Imported(_)
    );
    let (again, is_new) = env.store.import_discussion(new).await.unwrap();
    assert!(!is_new);
    assert_eq!(again, env.discussion(first.id).await);
    assert_eq!(env.audit(first.id).await.len(), 1);
}

async fn i1_a_second_import_does_not_undo_what_happened_since(env: Comments) {
    let discussion = env.open(1).await;
    let batch = || {
        vec![
            source_comment("buried", SOURCE_MS, None),
            source_comment("hidden", SOURCE_MS + 1, None),
            source_comment("edited", SOURCE_MS + 2, None),
        ]
    };
    env.import(discussion, batch()).await;
    let rows = env.linear(discussion).await;
    env.bury(&rows[0]).await;
    env.hide(&rows[1]).await;
    let edit = env.edit_of(&rows[2], "edited here");
    super::kit::changed(env.store.edit(edit).await.unwrap());
    let before = env.audit(discussion).await;
    env.import(discussion, batch()).await;
    assert_eq!(env.audit(discussion).await, before);
}

async fn i1_imports_at_once_write_each_comment_once(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let results = env
        .parallel(6, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            async move { env.import(discussion, sample()).await }
        })
        .await;
    let places = |outcomes: &[ImportOutcome]| -> Vec<CommentId> {
        outcomes.iter().copied().map(imported).collect()
    };
    let want = places(&results[0]);
    let mut written = 0;
    for outcomes in &results {
        assert_eq!(places(outcomes), want);
        let new = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, ImportOutcome::Imported(_)));
        written += new.count();
    }
    assert_eq!(written, want.len());
    let seen = env.post(discussion).await;
    assert_eq!(env.audit(discussion).await.len(), want.len() + 1);
    assert!(want.iter().all(|id| *id < seen.id));
}

async fn i1_imported_states_are_counted_as_what_they_are(env: Comments) {
    let discussion = env.open(1).await;
    let with = |name: &str, parent: Option<&str>, state| {
        let mut row = source_comment(name, SOURCE_MS, parent);
        row.state = state;
        if state == CommentState::Buried {
            row.author_id = UserId::NOBODY;
            row.body.clear();
        }
        row
    };
    let (published, pending) = (CommentState::Published, CommentState::Pending);
    let (hidden, buried) = (CommentState::Hidden, CommentState::Buried);
    let batch = vec![
        with("rejected", None, hidden),
        with("under rejected", Some("rejected"), published),
        with("dead", None, buried),
        with("under dead", Some("dead"), buried),
        with("alive", Some("under dead"), published),
        with("lonely", None, buried),
        with("waiting", None, pending),
        with("under waiting", Some("waiting"), published),
        with("dead over pending", None, buried),
        with("pending", Some("dead over pending"), pending),
    ];
    let outcomes = env.import(discussion, batch).await;
    for outcome in &outcomes {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    assert!(env.discussion(discussion).await.has_hidden);
    assert_eq!(env.sums(discussion).await, (10, 3, 1, 3));
    let live = async |place: usize| {
        let id = imported(outcomes[place]);
        env.find(discussion, id).await.unwrap().live_below
    };
    assert!(live(2).await && live(3).await);
    assert!(!live(5).await && !live(8).await);
    assert_eq!(env.by_author(UserId::NOBODY).await, vec![]);
    env.audit(discussion).await;
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    env.audit(discussion).await;
    // A later batch below what an earlier one wrote changes tombstones too.
    let more = vec![
        with("late", Some("lonely"), published),
        with("later", Some("under rejected"), published),
    ];
    env.import(discussion, more).await;
    assert!(live(5).await);
    assert_eq!(env.sums(discussion).await, (12, 5, 2, 5));
    env.audit(discussion).await;
}

async fn i1_a_row_below_a_hidden_one_wakes_no_tombstone_above_it(env: Comments) {
    let discussion = env.open(1).await;
    // a > b > c > d > e, each batch below what is there already.
    let chain = ["a", "b", "c", "d"];
    let mut rows = Vec::new();
    for (place, name) in chain.iter().enumerate() {
        let parent = place.checked_sub(1).map(|above| chain[above]);
        let row = source_comment(name, SOURCE_MS, parent);
        let outcome = env.import(discussion, vec![row]).await[0];
        rows.push(env.find(discussion, imported(outcome)).await.unwrap());
    }
    env.bury(&rows[0]).await;
    env.bury(&rows[2]).await;
    env.bury(&rows[3]).await;
    env.hide(&rows[1]).await;
    assert_eq!(env.sums(discussion).await, (4, 0, 0, 0));
    let late = source_comment("e", SOURCE_MS, Some("d"));
    env.import(discussion, vec![late]).await;
    let mut live = Vec::new();
    for row in &rows {
        live.push(env.row(row).await.live_below);
    }
    assert_eq!(
        live,
        [false, false, true, true],
        "the hidden one cuts it off"
    );
    assert_eq!(env.sums(discussion).await, (5, 1, 0, 0));
    env.audit(discussion).await;
    env.restore(&rows[1]).await;
    assert_eq!(env.sums(discussion).await, (5, 2, 2, 5));
    env.audit(discussion).await;
}

async fn i1_a_row_below_the_deepest_level_hangs_one_level_higher(env: Comments) {
    let discussion = env.open(1).await;
    let deepest = i64::from(DEPTH_MAX);
    let chain = |from: i64, to: i64| {
        (from..to).map(|level| {
            let parent = (level > 0).then(|| (level - 1).to_string());
            source_comment(&level.to_string(), SOURCE_MS + level, parent.as_deref())
        })
    };
    let outcomes = env
        .import(discussion, chain(0, deepest + 1).collect())
        .await;
    for outcome in &outcomes {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    let last = env
        .find(discussion, imported(outcomes[outcomes.len() - 1]))
        .await
        .unwrap();
    assert_eq!(last.depth(), DEPTH_MAX);
    let more = env
        .import(discussion, chain(deepest + 1, deepest + 4).collect())
        .await;
    for outcome in more {
        expect_outcome!(outcome, ImportOutcome::Flattened(_));
        let row = env.find(discussion, imported(outcome)).await.unwrap();
        assert_eq!(row.depth(), DEPTH_MAX);
        assert_eq!(row.parent_id, last.parent_id);
        assert_eq!(row.ancestors, last.ancestors);
    }
}

async fn i1_people_reply_to_what_was_imported(env: Comments) {
    let (discussion, _) = env
        .store
        .import_discussion(source_discussion("t1"))
        .await
        .unwrap();
    env.import(discussion.id, sample()).await;
    let rows = env.linear(discussion.id).await;
    for row in &rows {
        let reply = env.reply(row).await;
        assert_eq!(reply.depth(), row.depth() + 1);
    }
    env.hide(&rows[0]).await;
    env.audit(discussion.id).await;
    env.let_writes_settle();
    assert!(build(&env, discussion.id).await);
    assert_eq!(env.audit(discussion.id).await.len(), rows.len() * 2);
}

async fn i2_ids_follow_from_source_id_time_and_parent(env: Comments) {
    let discussion = env.open(1).await;
    let batch = sample();
    let outcomes = env.import(discussion, batch.clone()).await;
    let mut known = std::collections::HashMap::new();
    for (row, outcome) in batch.iter().zip(outcomes) {
        let parent = row.parent_source_id.as_ref().map(|id| known[id]);
        let want = first_place("disqus", &row.source_id, row.created_ms, parent);
        let id = imported(outcome).get();
        assert_eq!(id, want, "{}", row.source_id);
        assert!(parent.is_none_or(|parent| parent < id));
        known.insert(row.source_id.clone(), id);
    }
}

async fn i2_another_order_or_another_run_gives_the_same_ids(env: Comments) {
    let rows = sample();
    let mut names: Vec<&str> = rows.iter().map(|row| row.source_id.as_str()).collect();
    names.sort_unstable();
    // Breadth first, and the roots the other way round: parents still come before replies.
    let mut shuffled = rows.clone();
    shuffled.reverse();
    shuffled.sort_by_key(|row| row.source_id.split('.').count());
    let mut all = Vec::new();
    for (order, sizes) in [(&rows, 100), (&rows, 4), (&shuffled, 100), (&shuffled, 1)] {
        let discussion = env.open(1).await;
        let mut known = std::collections::BTreeMap::new();
        for batch in order.chunks(sizes) {
            let outcomes = env.import(discussion, batch.to_vec()).await;
            for (row, outcome) in batch.iter().zip(outcomes) {
                known.insert(row.source_id.clone(), imported(outcome));
            }
        }
        let mut read = env.audit(discussion).await;
        for row in &mut read {
            row.discussion_id = threadline::domain::ids::DiscussionId::new(0);
        }
        all.push((known, read));
        env.advance_ms(3_600_000);
    }
    for one in &all[1..] {
        assert_eq!(*one, all[0]);
    }
    assert_eq!(all[0].0.keys().collect::<Vec<_>>(), names);
}

async fn i2_another_source_gives_other_ids(env: Comments) {
    let discussion = env.open(1).await;
    let row = source_comment("1", SOURCE_MS, None);
    let disqus = imported(env.import(discussion, vec![row.clone()]).await[0]);
    let other = env
        .store
        .import_comments(discussion, "wordpress", vec![row], env.mint(), PLENTY)
        .await
        .unwrap();
    expect_outcome!(other[0], ImportOutcome::Imported(_));
    assert_ne!(imported(other[0]), disqus);
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn i4_imported_rows_write_no_log_entry(env: Comments) {
    let discussion = env.open(1).await;
    env.import(discussion, sample()).await;
    assert_eq!(env.log(discussion).await, vec![]);
    let reply = env.reply(&env.linear(discussion).await[0]).await;
    env.import(discussion, sample()).await;
    let log = env.log(discussion).await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].comment_id, Some(reply.id));
}

async fn i4_an_import_leaves_the_discussion_without_a_complete_index(env: Comments) {
    let (discussion, other) = (env.open(1).await, env.open(1).await);
    env.post(discussion).await;
    assert!(env.discussion(discussion).await.layout.complete);
    env.import(discussion, sample()).await;
    assert!(!env.discussion(discussion).await.layout.complete);
    assert!(env.discussion(other).await.layout.complete);
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    env.audit(discussion).await;
    let late = source_comment("late", SOURCE_MS - 1, None);
    env.import(discussion, vec![late]).await;
    assert!(!env.discussion(discussion).await.layout.complete);
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    env.audit(discussion).await;
}

fn roots(count: usize) -> Vec<ImportComment> {
    (0..count)
        .map(|number| source_comment(&number.to_string(), SOURCE_MS, None))
        .collect()
}

async fn i5_a_call_of_more_rows_than_one_may_have_writes_nothing(env: Comments) {
    let discussion = env.open(1).await;
    let rows = roots(IMPORT_BATCH_MAX + 1);
    let refused = env
        .store
        .import_comments(discussion, "disqus", rows, env.mint(), PLENTY)
        .await;
    assert_eq!(refused.unwrap_err().kind, StoreErrorKind::Limit);
    assert_eq!(env.audit(discussion).await, vec![]);
    let many = (0..=IMPORT_BATCH_MAX).map(|number| source_discussion(&number.to_string()));
    let refused = env.store.import_discussions(many.collect()).await;
    assert_eq!(refused.unwrap_err().kind, StoreErrorKind::Limit);
    let (_, is_new) = env
        .store
        .import_discussion(source_discussion("0"))
        .await
        .unwrap();
    assert!(is_new);
}

async fn i5_a_full_call_is_taken_and_discussions_come_back_in_their_order(env: Comments) {
    let discussion = env.open(1).await;
    env.import(discussion, roots(IMPORT_BATCH_MAX)).await;
    assert_eq!(env.audit(discussion).await.len(), IMPORT_BATCH_MAX);
    let with_url = |number: usize| ImportDiscussion {
        url: Some(format!("a.example/{}", number / 2)),
        ..source_discussion(&number.to_string())
    };
    let batch: Vec<ImportDiscussion> = (0..IMPORT_BATCH_MAX).map(with_url).collect();
    for wanted in [true, false] {
        let opened = env.store.import_discussions(batch.clone()).await.unwrap();
        assert_eq!(opened.len(), batch.len());
        for (number, (found, is_new)) in opened.iter().enumerate() {
            assert_eq!(*is_new, wanted);
            assert_eq!(found.title, batch[number].title);
            // Of two with one address, the first one has it.
            let url = batch[number].url.clone().filter(|_| number % 2 == 0);
            assert_eq!(found.url, url);
        }
    }
}
