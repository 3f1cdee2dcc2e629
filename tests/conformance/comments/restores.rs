//! Rows of our own exports: I6, I7, I8.

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::CommentState;
use threadline::domain::discussion::DiscussionState;
use threadline::domain::ids::imported::first_place;
use threadline::domain::ids::{CommentId, DiscussionId, TIME_SHIFT, UserId};
use threadline::store::comments::{
    ImportComment, ImportDiscussion, ImportOutcome, KeptComment, KeptDiscussion, Origin, Revision,
};

use super::kit::{BOB, SOURCE_MS, expect_outcome, imported, source_comment, source_discussion};
use super::{Cases, Comments};
use crate::builder::build;
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    i6_a_kept_comment_comes_back_whole_and_again_changes_nothing,
    i6_what_was_imported_once_is_known_after_it_came_back,
    i6_replies_find_their_parents_by_the_ids_these_keep,
    i6_states_come_back_with_their_counts_and_the_index_is_incomplete,
    i6_kept_and_other_rows_never_share_an_id,
    i7_a_kept_discussion_comes_back_whole_and_again_changes_nothing,
    i7_an_id_that_another_discussion_holds_stays_with_it,
    i8_origins_are_told_by_id_and_only_of_what_was_imported,
];

/// The id of a moment, as if it had been minted.
fn at(ms: i64) -> i64 {
    (SOURCE_MS + ms) << TIME_SHIFT | 0x4d
}

fn origin(source: &str, source_id: &str) -> Origin {
    Origin {
        source: source.to_owned(),
        source_id: source_id.to_owned(),
    }
}

fn kept(id: i64, parent: Option<i64>) -> ImportComment {
    let parent_name = parent.map(|parent| parent.to_string());
    ImportComment {
        parent_id: parent.map(CommentId::new),
        kept: Some(Box::new(KeptComment {
            id: CommentId::new(id),
            revision: 1,
            revisions: Vec::new(),
            origin: None,
        })),
        ..source_comment(&id.to_string(), SOURCE_MS, parent_name.as_deref())
    }
}

fn with_origin(mut row: ImportComment, origin: Origin) -> ImportComment {
    row.kept.as_mut().unwrap().origin = Some(origin);
    row
}

fn kept_discussion(id: i64) -> ImportDiscussion {
    ImportDiscussion {
        kept: Some(KeptDiscussion {
            id: DiscussionId::new(id),
            premoderated: true,
            origin: Some(origin("disqus", "t1")),
        }),
        ..source_discussion(&id.to_string())
    }
}

async fn i6_a_kept_comment_comes_back_whole_and_again_changes_nothing(env: Comments) {
    let discussion = env.open(1).await;
    let mut row = kept(at(1), None);
    row.author_id = BOB;
    row.edited_at_ms = Some(SOURCE_MS + 9);
    row.state = CommentState::Hidden;
    let earlier = |revision| Revision {
        revision,
        body: format!("text {revision} \u{0}"),
        format: BodyFormat::Markdown,
    };
    let revisions = vec![earlier(1), earlier(3)];
    if let Some(kept) = &mut row.kept {
        kept.revision = 5;
        kept.revisions.clone_from(&revisions);
    }
    let first = env.import(discussion, vec![row.clone(), row.clone()]).await;
    let id = CommentId::new(at(1));
    let there = ImportOutcome::AlreadyThere(id);
    assert_eq!(first, [ImportOutcome::Imported(id), there]);
    let read = env.find(discussion, id).await.unwrap();
    assert_eq!((read.author_id, read.revision), (BOB, 5));
    assert_eq!((read.state, &read.body), (CommentState::Hidden, &row.body));
    assert_eq!(read.edited_at_ms, row.edited_at_ms);
    let told = env.store.revisions(discussion, id).await.unwrap();
    assert_eq!(told, revisions);
    assert_eq!(env.by_author(BOB).await, [(discussion, id)]);
    assert_eq!(env.log(discussion).await, vec![]);
    // What happened since is not undone.
    env.restore(&read).await;
    let before = env.audit(discussion).await;
    assert_eq!(env.import(discussion, vec![row]).await, [there]);
    assert_eq!(env.audit(discussion).await, before);
    assert_eq!(
        env.store.revisions(discussion, id).await.unwrap(),
        revisions
    );
}

async fn i6_what_was_imported_once_is_known_after_it_came_back(env: Comments) {
    let discussion = env.open(1).await;
    let first = with_origin(kept(at(1), None), origin("disqus", "\u{0}1"));
    let reply = with_origin(kept(at(2), Some(at(1))), origin("wxr", "2"));
    env.import(discussion, vec![first.clone(), reply]).await;
    let old = source_comment("\u{0}1", SOURCE_MS, None);
    let new = source_comment("3", SOURCE_MS, Some("\u{0}1"));
    let outcomes = env.import(discussion, vec![old, new]).await;
    let id = CommentId::new(at(1));
    assert_eq!(outcomes[0], ImportOutcome::AlreadyThere(id));
    expect_outcome!(outcomes[1], ImportOutcome::Imported(_));
    let rows = env.audit(discussion).await;
    assert_eq!(rows.len(), 3);
    assert!(rows[1..].iter().all(|row| row.parent_id == Some(id)));
    // And what was imported is known when it would come back under another id.
    let other = env.open(1).await;
    let was = env.import(other, vec![source_comment("\u{0}1", SOURCE_MS, None)]);
    let was = imported(was.await[0]);
    let back = env.import(other, vec![first]).await;
    assert_eq!(back, [ImportOutcome::AlreadyThere(was)]);
}

async fn i6_replies_find_their_parents_by_the_ids_these_keep(env: Comments) {
    let discussion = env.open(1).await;
    let (root, reply, deep) = (at(1), at(2), at(3));
    let first = vec![kept(root, None), kept(reply, Some(root))];
    env.import(discussion, first).await;
    let mut other = source_comment("other", SOURCE_MS, Some("not known"));
    other.parent_id = Some(CommentId::new(deep));
    let second = vec![
        kept(deep, Some(reply)),
        other,
        kept(at(5), Some(at(4))),
        kept(at(6), Some(at(7))),
        kept(at(7), None),
        kept(at(0), Some(root)),
    ];
    let outcomes = env.import(discussion, second).await;
    expect_outcome!(outcomes[0], ImportOutcome::Imported(_));
    expect_outcome!(outcomes[1], ImportOutcome::Imported(_));
    // A parent that is missing, or that is the newer one, makes a root.
    expect_outcome!(outcomes[2], ImportOutcome::ParentMissing(_));
    expect_outcome!(outcomes[3], ImportOutcome::ParentMissing(_));
    expect_outcome!(outcomes[5], ImportOutcome::ParentMissing(_));
    env.audit(discussion).await;
    let found = env.find(discussion, imported(outcomes[1])).await.unwrap();
    assert_eq!(found.ancestors, [root, reply, deep].map(CommentId::new));
}

async fn i6_states_come_back_with_their_counts_and_the_index_is_incomplete(env: Comments) {
    let discussion = env.open(1).await;
    let with = |id: i64, parent: Option<i64>, state| {
        let mut row = kept(at(id), parent.map(at));
        row.state = state;
        if state == CommentState::Buried {
            row.author_id = UserId::NOBODY;
            row.body.clear();
        }
        row
    };
    let (published, pending) = (CommentState::Published, CommentState::Pending);
    let (hidden, buried) = (CommentState::Hidden, CommentState::Buried);
    let rows = vec![
        with(1, None, buried),
        with(2, Some(1), published),
        with(3, None, buried),
        with(4, None, hidden),
        with(5, Some(4), published),
        with(6, None, pending),
    ];
    env.import(discussion, rows).await;
    assert_eq!(env.sums(discussion).await, (6, 2, 1, 2));
    let lonely = env.find(discussion, CommentId::new(at(3))).await.unwrap();
    assert!(!lonely.live_below, "a tombstone nobody is shown");
    assert!(!env.discussion(discussion).await.layout.complete);
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    env.audit(discussion).await;
}

async fn i6_kept_and_other_rows_never_share_an_id(env: Comments) {
    let discussion = env.open(1).await;
    let other = source_comment("other", SOURCE_MS, None);
    let place = first_place("disqus", "other", SOURCE_MS, None);
    // The place that the other row would get is the one that this row has.
    let outcomes = env
        .import(discussion, vec![other.clone(), kept(place, None)])
        .await;
    assert_eq!(outcomes[1], ImportOutcome::Imported(CommentId::new(place)));
    assert_ne!(imported(outcomes[0]), imported(outcomes[1]));
    assert_eq!(env.audit(discussion).await.len(), 2);
    assert_eq!(
        env.import(discussion, vec![other]).await,
        [ImportOutcome::AlreadyThere(imported(outcomes[0]))]
    );
}

async fn i7_a_kept_discussion_comes_back_whole_and_again_changes_nothing(env: Comments) {
    let new = ImportDiscussion {
        url: Some("example.org/kept".to_owned()),
        entity: Some(("post".to_owned(), "kept".to_owned())),
        closed: true,
        ..kept_discussion(at(1))
    };
    let (first, is_new) = env.store.import_discussion(new.clone()).await.unwrap();
    assert!(is_new);
    assert_eq!(first.id.get(), at(1));
    assert!(first.premoderated);
    assert_eq!(first.state, DiscussionState::Closed);
    assert_eq!((&first.url, &first.entity), (&new.url, &new.entity));
    let again = env.store.import_discussion(new).await.unwrap();
    assert_eq!(again, (std::sync::Arc::clone(&first), false));
    // The system it had been imported from finds it again.
    let old = env
        .store
        .import_discussion(source_discussion("t1"))
        .await
        .unwrap();
    assert_eq!(old, (first, false));
    // One that lost its address to another is still the same one.
    let mut poorer = kept_discussion(at(2));
    poorer.kept.as_mut().unwrap().origin = None;
    poorer.url = Some("example.org/kept".to_owned());
    for is_new in [true, false] {
        let (found, new) = env.store.import_discussion(poorer.clone()).await.unwrap();
        assert_eq!((found.id.get(), &found.url, new), (at(2), &None, is_new));
    }
}

async fn i7_an_id_that_another_discussion_holds_stays_with_it(env: Comments) {
    let mut held = env.new_discussion(1);
    held.url = Some("example.org/holder".to_owned());
    let id = held.id;
    env.store.open_discussion(held).await.unwrap();
    let new = ImportDiscussion {
        url: Some("example.org/comes-back".to_owned()),
        ..kept_discussion(id.get())
    };
    let (moved, is_new) = env.store.import_discussion(new.clone()).await.unwrap();
    assert!(is_new);
    assert_ne!(moved.id, id);
    assert_eq!(moved.url, new.url);
    let (again, is_new) = env.store.import_discussion(new).await.unwrap();
    assert_eq!((again.id, is_new), (moved.id, false));
    let holder = env.discussion(id).await;
    assert_eq!(holder.url.as_deref(), Some("example.org/holder"));
    // Comments keep their ids there.
    env.import(moved.id, vec![kept(at(1), None)]).await;
    assert_eq!(env.audit(moved.id).await[0].id.get(), at(1));
    assert_eq!(env.audit(id).await, vec![]);
}

async fn i8_origins_are_told_by_id_and_only_of_what_was_imported(env: Comments) {
    let (from_disqus, _) = env
        .store
        .import_discussion(source_discussion("t\u{0}9"))
        .await
        .unwrap();
    let of = |id| env.store.origin_of_discussion(id);
    let told = of(from_disqus.id).await.unwrap();
    assert_eq!(told, Some(origin("disqus", "t\u{0}9")));
    let posted = env.post(from_disqus.id).await;
    let rows = vec![
        source_comment("a", SOURCE_MS, None),
        source_comment("b\u{0}", SOURCE_MS, None),
    ];
    let outcomes = env.import(from_disqus.id, rows).await;
    let (a, b) = (imported(outcomes[0]), imported(outcomes[1]));
    let ids = [posted.id, b, a];
    let mut told = env.store.origins(from_disqus.id, &ids).await.unwrap();
    told.sort();
    let mut wanted = [(a, origin("disqus", "a")), (b, origin("disqus", "b\u{0}"))];
    wanted.sort();
    assert_eq!(told, wanted);
    let opened = env.open(1).await;
    assert_eq!(of(opened).await.unwrap(), None);
    assert_eq!(env.store.origins(opened, &[a]).await.unwrap(), vec![]);
    assert_eq!(
        env.store.origins(from_disqus.id, &[]).await.unwrap(),
        vec![]
    );
}
