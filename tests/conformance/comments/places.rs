//! Imported rows that want one place: I3.

use std::collections::HashMap;

use threadline::domain::ids::imported::{first_place, next_place};
use threadline::domain::ids::{CommentId, IMPORTED_BIT};
use threadline::store::comments::{ImportDiscussion, ImportOutcome};

use super::kit::{SOURCE_MS, expect_outcome, imported, source_comment, source_discussion};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    i3_source_ids_of_one_place_get_places_side_by_side,
    i3_a_place_taken_by_probing_moves_its_own_source_id_on,
    i3_a_reply_probes_above_its_parent,
    i3_nothing_is_merged_across_discussions,
    i3_discussions_of_one_place_are_two,
    i3_a_key_that_another_discussion_holds_is_not_taken_over,
];

/// Source ids by their place within a millisecond, until `enough` says so.
fn search(
    enough: impl Fn(&HashMap<i64, Vec<String>>, i64) -> bool,
) -> (HashMap<i64, Vec<String>>, i64) {
    let mut by_place: HashMap<i64, Vec<String>> = HashMap::new();
    for number in 0..2_000_000_u32 {
        let source_id = number.to_string();
        let place = first_place("disqus", &source_id, SOURCE_MS, None) & (IMPORTED_BIT - 1);
        by_place.entry(place).or_default().push(source_id);
        if enough(&by_place, place) {
            return (by_place, place);
        }
    }
    panic!("two million source ids do not collide");
}

/// Two source ids that want one place.
fn twins() -> (String, String) {
    let (by_place, place) = search(|by_place, place| by_place[&place].len() == 2);
    let [a, b] = &by_place[&place][..] else {
        panic!("there are two");
    };
    (a.clone(), b.clone())
}

async fn i3_source_ids_of_one_place_get_places_side_by_side(env: Comments) {
    let (a, b) = twins();
    // In one batch, and in two.
    for sizes in [2, 1] {
        let discussion = env.open(1).await;
        let rows = [
            source_comment(&a, SOURCE_MS, None),
            source_comment(&b, SOURCE_MS, None),
        ];
        let mut got = Vec::new();
        for batch in rows.chunks(sizes) {
            got.extend(env.import(discussion, batch.to_vec()).await);
        }
        let place = first_place("disqus", &a, SOURCE_MS, None);
        assert_eq!(got[0], ImportOutcome::Imported(CommentId::new(place)));
        let beside = CommentId::new(next_place(place));
        assert_eq!(got[1], ImportOutcome::Imported(beside));
        let again = env.import(discussion, rows.to_vec()).await;
        let want = [
            ImportOutcome::AlreadyThere(CommentId::new(place)),
            ImportOutcome::AlreadyThere(beside),
        ];
        assert_eq!(again, want);
        let read = env.audit(discussion).await;
        assert_eq!(read[0].body, format!("imported {a}"));
        assert_eq!(read[1].body, format!("imported {b}"));
        // Another millisecond is another place.
        let later = source_comment("later", SOURCE_MS + 1, None);
        env.import(discussion, vec![later]).await;
        assert_eq!(env.audit(discussion).await.len(), 3);
    }
}

async fn i3_a_place_taken_by_probing_moves_its_own_source_id_on(env: Comments) {
    let both = |by_place: &HashMap<i64, Vec<String>>, place: i64| {
        by_place[&place].len() >= 2 && by_place.contains_key(&(place + 1))
    };
    let (by_place, place) = search(both);
    let mut wanted = by_place[&place].clone();
    wanted.push(by_place[&(place + 1)][0].clone());
    let discussion = env.open(1).await;
    let rows: Vec<_> = wanted
        .iter()
        .map(|id| source_comment(id, SOURCE_MS, None))
        .collect();
    let outcomes = env.import(discussion, rows.clone()).await;
    let first = imported(outcomes[0]).get();
    for (steps, outcome) in (0..).zip(&outcomes) {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
        assert_eq!(imported(*outcome).get(), first + steps);
    }
    for (again, outcome) in env.import(discussion, rows).await.iter().zip(outcomes) {
        assert_eq!(*again, ImportOutcome::AlreadyThere(imported(outcome)));
    }
    assert_eq!(env.audit(discussion).await.len(), wanted.len());
}

async fn i3_a_reply_probes_above_its_parent(env: Comments) {
    let (a, b) = twins();
    let discussion = env.open(1).await;
    let batch = vec![
        source_comment("parent", SOURCE_MS + 5_000, None),
        source_comment(&a, SOURCE_MS, Some("parent")),
        source_comment(&b, SOURCE_MS + 2_000, Some("parent")),
    ];
    let outcomes = env.import(discussion, batch).await;
    let places: Vec<i64> = outcomes
        .iter()
        .map(|outcome| imported(*outcome).get())
        .collect();
    // Both are raised into the millisecond after the parent's, where they want one place.
    let raised = first_place("disqus", &a, SOURCE_MS, Some(places[0]));
    assert_eq!(places[1..], [raised, next_place(raised)]);
    let rows = env.audit(discussion).await;
    assert!(
        rows[1..]
            .iter()
            .all(|row| row.parent_id == Some(rows[0].id))
    );
}

async fn i3_nothing_is_merged_across_discussions(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let root = source_comment("1", SOURCE_MS, None);
    let mut other = root.clone();
    other.body = String::from("another text");
    expect_outcome!(
        env.import(here, vec![root]).await[0],
        ImportOutcome::Imported(_)
    );
    expect_outcome!(
        env.import(there, vec![other]).await[0],
        ImportOutcome::Imported(_)
    );
    let reply = source_comment("2", SOURCE_MS, Some("1"));
    for discussion in [here, there] {
        let outcome = env.import(discussion, vec![reply.clone()]).await[0];
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    let (ours, theirs) = (env.audit(here).await, env.audit(there).await);
    assert_eq!((ours.len(), theirs.len()), (2, 2));
    assert_eq!(ours[0].body, "imported 1");
    assert_eq!(theirs[0].body, "another text");
    // What happens to one does not happen to the other.
    env.bury(&ours[0]).await;
    assert_eq!(env.audit(there).await, theirs);
    let wrote = env.by_author(super::kit::ANN).await;
    assert_eq!(wrote.iter().filter(|(home, _)| *home == there).count(), 2);
    assert_eq!(wrote.iter().filter(|(home, _)| *home == here).count(), 1);
    // An orphan is not adopted from elsewhere.
    let only_here = source_comment("3", SOURCE_MS, None);
    env.import(here, vec![only_here]).await;
    let orphan = source_comment("4", SOURCE_MS, Some("3"));
    let outcome = env.import(there, vec![orphan]).await[0];
    expect_outcome!(outcome, ImportOutcome::ParentMissing(_));
    env.audit(there).await;
}

async fn i3_discussions_of_one_place_are_two(env: Comments) {
    let (a, b) = twins();
    let (first, _) = env
        .store
        .import_discussion(source_discussion(&a))
        .await
        .unwrap();
    let (second, new) = env
        .store
        .import_discussion(source_discussion(&b))
        .await
        .unwrap();
    assert!(new);
    assert_eq!(second.id.get(), next_place(first.id.get()));
    assert_eq!(second.title, format!("thread {b}"));
    for (source_id, want) in [(&a, &first), (&b, &second)] {
        let again = source_discussion(source_id);
        let (found, new) = env.store.import_discussion(again).await.unwrap();
        assert_eq!((found.id, new), (want.id, false));
    }
    // A discussion and a comment may have one source id.
    let row = source_comment(&a, SOURCE_MS, None);
    let outcome = env.import(first.id, vec![row]).await[0];
    expect_outcome!(outcome, ImportOutcome::Imported(_));
}

async fn i3_a_key_that_another_discussion_holds_is_not_taken_over(env: Comments) {
    let with = |id: &str| ImportDiscussion {
        url: Some("example.org/a".to_owned()),
        entity: Some(("post".to_owned(), "1".to_owned())),
        ..source_discussion(id)
    };
    let (first, _) = env.store.import_discussion(with("t1")).await.unwrap();
    let (second, new) = env.store.import_discussion(with("t2")).await.unwrap();
    assert!(new);
    assert_ne!(first.id, second.id);
    let found = env.store.discussion_by_key("url:example.org/a").await;
    assert_eq!(found.unwrap().unwrap().id, first.id);
    let row = source_comment("a", SOURCE_MS, None);
    env.import(second.id, vec![row]).await;
    assert_eq!(env.audit(first.id).await, vec![]);
    assert_eq!(env.audit(second.id).await.len(), 1);
}
