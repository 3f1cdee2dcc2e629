//! Discussions: C10, C11.

use std::collections::BTreeSet;

use threadline::domain::discussion::{DiscussionState, Layout};
use threadline::domain::ids::DiscussionId;
use threadline::domain::page::Slice;
use threadline::store::comments::{
    CountCheck, CreateOutcome, DiscussionAct, DiscussionOutcome, ImportOutcome, NewDiscussion,
    Opened,
};

use super::kit::{SOURCE_MS, created, expect_outcome, source_comment, source_discussion};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c10_twenty_opens_at_once_on_two_instances_claim_a_key_once,
    c10_a_discussion_is_found_by_either_of_its_keys,
    c10_an_open_that_loses_leaves_nothing,
    c10_entities_that_read_alike_when_joined_are_different,
    c10_discussions_without_keys_are_all_different,
    c10_every_field_comes_back_as_it_was_opened,
    c10_reading_many_discussions_gives_those_that_exist,
    c11_a_full_discussion_refuses_a_create,
    c11_a_closed_discussion_refuses_until_it_is_opened,
    c11_a_missing_discussion_refuses,
    c11_an_import_stops_at_the_limit,
    c11_creates_at_once_do_not_pass_the_limit,
    c13_the_list_holds_every_discussion_once_by_the_order_of_opening,
];

fn with_url(env: &Comments, url: &str) -> NewDiscussion {
    NewDiscussion {
        url: Some(url.to_owned()),
        ..env.new_discussion(1)
    }
}

fn with_entity(env: &Comments, kind: &str, id: &str) -> NewDiscussion {
    NewDiscussion {
        entity: Some((kind.to_owned(), id.to_owned())),
        ..env.new_discussion(1)
    }
}

async fn open(env: &Comments, new: NewDiscussion) -> (bool, DiscussionId) {
    match env.store.open_discussion(new).await.unwrap() {
        Opened::New(discussion) => (true, discussion.id),
        Opened::Existing(discussion) => (false, discussion.id),
    }
}

async fn c10_twenty_opens_at_once_on_two_instances_claim_a_key_once(env: Comments) {
    let other = env.another_instance(2).await;
    let opened = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            async move { open(&env, with_url(&env, "example.org/a")).await }
        })
        .await;
    assert_eq!(opened.iter().filter(|(new, _)| *new).count(), 1);
    let ids: BTreeSet<DiscussionId> = opened.iter().map(|(_, id)| *id).collect();
    assert_eq!(ids.len(), 1);
    let found = other.store.discussion_by_key("url:example.org/a").await;
    assert!(ids.contains(&found.unwrap().unwrap().id));
}

async fn c10_a_discussion_is_found_by_either_of_its_keys(env: Comments) {
    let both = NewDiscussion {
        entity: Some(("post".to_owned(), "7".to_owned())),
        ..with_url(&env, "example.org/a?b=1")
    };
    let (new, id) = open(&env, both.clone()).await;
    assert!(new);
    assert_eq!(
        open(&env, with_url(&env, "example.org/a?b=1")).await,
        (false, id)
    );
    assert_eq!(
        open(&env, with_entity(&env, "post", "7")).await,
        (false, id)
    );
    let again = NewDiscussion {
        id: DiscussionId::new(env.mint()),
        ..both
    };
    assert_eq!(open(&env, again).await, (false, id));
    let found = env.store.discussion_by_key("url:example.org/a?b=1").await;
    assert_eq!(found.unwrap().unwrap().id, id);
    for key in ["url:example.org/a", "url:EXAMPLE.org/a?b=1", "entity:", ""] {
        let found = env.store.discussion_by_key(key).await.unwrap();
        assert_eq!(found, None, "{key:?}");
    }
}

async fn c10_an_open_that_loses_leaves_nothing(env: Comments) {
    let (_, first) = open(&env, with_url(&env, "example.org/a")).await;
    let loser = NewDiscussion {
        title: "another title".to_owned(),
        ..with_url(&env, "example.org/a")
    };
    assert_eq!(open(&env, loser.clone()).await, (false, first));
    assert_eq!(env.store.discussions(&[loser.id]).await.unwrap(), vec![]);
    assert_eq!(env.discussion(first).await.title, "a title");
    let comment = env.draft(loser.id, None);
    expect_outcome!(env.create(comment).await, CreateOutcome::DiscussionMissing);
}

async fn c10_entities_that_read_alike_when_joined_are_different(env: Comments) {
    let mut ids = BTreeSet::new();
    for (kind, id) in [
        ("a:b", "c"),
        ("a", "b:c"),
        ("a", "b"),
        ("A", "b"),
        ("a", "b "),
        ("a/b", "c"),
        ("a", "b/c"),
        ("a%3Ab", "c"),
    ] {
        let (new, id) = open(&env, with_entity(&env, kind, id)).await;
        assert!(new && ids.insert(id));
    }
    // An address that reads like an entity is not one.
    let (new, _) = open(&env, with_url(&env, "a:b")).await;
    assert!(new);
}

async fn c10_discussions_without_keys_are_all_different(env: Comments) {
    let ids: BTreeSet<DiscussionId> = [env.open(1).await, env.open(1).await, env.open(1).await]
        .into_iter()
        .collect();
    assert_eq!(ids.len(), 3);
}

async fn c10_every_field_comes_back_as_it_was_opened(env: Comments) {
    let new = NewDiscussion {
        id: DiscussionId::new(env.mint()),
        title: "😶 \"title\"".to_owned(),
        url: Some("example.org/ü".to_owned()),
        entity: Some(("post".to_owned(), "ex𝌆tic".to_owned())),
        premoderated: true,
        depth_limit: 3,
        opened_by: None,
    };
    let Opened::New(opened) = env.store.open_discussion(new.clone()).await.unwrap() else {
        panic!("its keys are free");
    };
    assert_eq!(env.discussion(new.id).await, opened);
    assert_eq!(opened.id, new.id);
    assert_eq!(opened.title, new.title);
    assert_eq!(opened.url, new.url);
    assert_eq!(opened.entity, new.entity);
    assert_eq!(opened.state, DiscussionState::Open);
    assert!(opened.premoderated && !opened.has_hidden);
    let first = Layout {
        number: 1,
        depth_limit: 3,
        complete: true,
    };
    assert_eq!(opened.layout, first);
    assert_eq!(opened.other_layout, None);
    assert_eq!(env.sums(new.id).await, (0, 0, 0, 0));
}

async fn c10_reading_many_discussions_gives_those_that_exist(env: Comments) {
    assert_eq!(env.store.discussions(&[]).await.unwrap(), vec![]);
    let (one, two) = (env.open(1).await, env.open(2).await);
    let missing = DiscussionId::new(env.mint());
    let found = env.store.discussions(&[two, missing, one]).await.unwrap();
    let found: BTreeSet<DiscussionId> = found.iter().map(|row| row.id).collect();
    assert_eq!(found, BTreeSet::from([one, two]));
}

async fn c11_a_full_discussion_refuses_a_create(env: Comments) {
    let discussion = env.open(1).await;
    let limited = |parent, comments_max| {
        let mut new = env.draft(discussion, parent);
        new.comments_max = comments_max;
        env.create(new)
    };
    let root = created(limited(None, 3).await);
    let reply = created(limited(Some(root.id), 3).await);
    created(limited(Some(reply.id), 3).await);
    expect_outcome!(limited(None, 3).await, CreateOutcome::DiscussionFull);
    expect_outcome!(
        limited(Some(root.id), 3).await,
        CreateOutcome::DiscussionFull
    );
    // Burying makes no room: the row stays. A higher limit does.
    env.bury(&reply).await;
    expect_outcome!(limited(None, 3).await, CreateOutcome::DiscussionFull);
    created(limited(None, 4).await);
    assert_eq!(env.audit(discussion).await.len(), 4);
}

async fn c11_a_closed_discussion_refuses_until_it_is_opened(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let set = async |state| {
        env.set_state(discussion, state).await;
        assert_eq!(env.discussion(discussion).await.state, state);
    };
    set(DiscussionState::Closed).await;
    set(DiscussionState::Closed).await;
    for parent in [None, Some(root.id)] {
        let refused = env.draft(discussion, parent);
        expect_outcome!(env.create(refused).await, CreateOutcome::DiscussionClosed);
    }
    assert_eq!(env.audit(discussion).await, std::slice::from_ref(&root));
    // Moderation goes on.
    env.hide(&root).await;
    env.restore(&root).await;
    set(DiscussionState::Open).await;
    env.reply(&root).await;
    assert_eq!(env.audit(discussion).await.len(), 2);
}

async fn c11_a_missing_discussion_refuses(env: Comments) {
    let missing = DiscussionId::new(env.mint());
    let refused = env.draft(missing, None);
    expect_outcome!(
        env.create(refused.clone()).await,
        CreateOutcome::DiscussionMissing
    );
    assert_eq!(env.find(missing, refused.id).await, None);
    let act = DiscussionAct::SetState(DiscussionState::Closed);
    expect_outcome!(
        env.change_discussion(missing, act).await,
        DiscussionOutcome::NotFound
    );
    assert_eq!(env.store.discussions(&[missing]).await.unwrap(), vec![]);
    assert_eq!(
        env.store.recount(missing).await.unwrap(),
        CountCheck::default()
    );
}

async fn c11_an_import_stops_at_the_limit(env: Comments) {
    let discussion = env.open(1).await;
    env.post(discussion).await;
    let batch: Vec<_> = (0..5)
        .map(|index| source_comment(&index.to_string(), SOURCE_MS + index, None))
        .collect();
    let import = |batch: Vec<_>, comments_max| {
        let marker = env.mint();
        env.store
            .import_comments(discussion, "disqus", batch, marker, comments_max)
    };
    let outcomes = import(batch.clone(), 3).await.unwrap();
    expect_outcome!(outcomes[0], ImportOutcome::Imported(_));
    expect_outcome!(outcomes[1], ImportOutcome::Imported(_));
    assert_eq!(outcomes[2..], [ImportOutcome::DiscussionFull; 3]);
    assert_eq!(env.audit(discussion).await.len(), 3);
    // What is there is still found, and a higher limit lets the rest in.
    let outcomes = import(batch, 6).await.unwrap();
    expect_outcome!(outcomes[0], ImportOutcome::AlreadyThere(_));
    expect_outcome!(outcomes[1], ImportOutcome::AlreadyThere(_));
    for outcome in &outcomes[2..] {
        expect_outcome!(outcome, ImportOutcome::Imported(_));
    }
    assert_eq!(env.audit(discussion).await.len(), 6);
}

async fn c11_creates_at_once_do_not_pass_the_limit(env: Comments) {
    let discussion = env.open(1).await;
    let outcomes = env
        .parallel(30, |_| {
            let env = env.clone();
            async move {
                let mut new = env.draft(discussion, None);
                new.comments_max = 10;
                env.create(new).await
            }
        })
        .await;
    for outcome in outcomes {
        expect_outcome!(
            outcome,
            CreateOutcome::Created(_) | CreateOutcome::DiscussionFull
        );
    }
    assert_eq!(env.audit(discussion).await.len(), 10);
}

/// The whole list, read in pages of `limit`.
async fn listed(env: &Comments, ascending: bool, limit: u32) -> Vec<DiscussionId> {
    let (mut ids, mut slice) = (
        Vec::new(),
        Slice {
            above: None,
            below: None,
            ascending,
            limit,
        },
    );
    loop {
        let page = env.store.discussion_ids(slice).await.unwrap();
        assert!(page.len() <= usize::try_from(limit).unwrap());
        let Some(last) = page.last() else {
            return ids;
        };
        slice = slice.beyond(*last, limit);
        ids.extend(page);
    }
}

async fn c13_the_list_holds_every_discussion_once_by_the_order_of_opening(env: Comments) {
    assert!(listed(&env, true, 3).await.is_empty());
    let mut opened = Vec::new();
    for _ in 0..7 {
        opened.push(env.open(1).await);
    }
    // One of another system lies where its time is.
    let (old, _) = env
        .store
        .import_discussion(source_discussion("old"))
        .await
        .unwrap();
    opened.insert(0, old.id);
    for limit in [1, 3, 8, 100] {
        assert_eq!(listed(&env, true, limit).await, opened, "{limit}");
        let mut newest = listed(&env, false, limit).await;
        newest.reverse();
        assert_eq!(newest, opened, "{limit}");
    }
    let between = Slice {
        above: Some(opened[2]),
        below: Some(opened[5]),
        ascending: false,
        limit: 9,
    };
    let found = env.store.discussion_ids(between).await.unwrap();
    assert_eq!(found, [opened[4], opened[3]]);
}
