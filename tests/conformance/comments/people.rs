//! What is kept around a person: replies to them, marks of what they have read and seen.

use std::collections::HashSet;

use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use threadline::domain::page::Slice;
use threadline::store::comments::{CreateOutcome, NewComment, StateChange};

use super::kit::{ANN, BOB, all, changed, claim, created, source_comment};
use super::{Cases, Comments};
use crate::env::cases;

pub(crate) const CASES: Cases = cases![
    n1_a_reply_is_noted_once_however_often_it_is_retried,
    n1_nobody_is_told_of_their_own_reply_or_of_roots,
    n2_a_waiting_reply_is_listed_when_it_is_let_through,
    n2_a_hidden_one_stays_and_a_buried_one_goes,
    n2_imports_note_nothing,
    n3_replies_page_in_both_directions,
    n4_what_is_read_only_moves_forward,
    n5_what_is_seen_only_moves_forward,
    n6_rows_after_one_come_in_order,
    n7_a_forgotten_person_leaves_nothing,
    n8_a_scrub_leaves_nothing_of_what_was_buried,
];

impl Comments {
    async fn answer(&self, to: &Comment, author: UserId, state: CommentState) -> Comment {
        let new = NewComment {
            author_id: author,
            state,
            ..self.draft(to.discussion_id, Some(to.id))
        };
        created(self.create(new).await)
    }

    async fn root(&self, discussion: DiscussionId, author: UserId) -> Comment {
        let new = NewComment {
            author_id: author,
            ..self.draft(discussion, None)
        };
        created(self.create(new).await)
    }

    /// The replies to somebody, oldest first, as event and comment.
    async fn told(&self, user: UserId) -> Vec<(EventId, CommentId)> {
        let found = self.store.replies_to(user, all(100)).await.unwrap();
        found
            .iter()
            .map(|reply| (reply.event_id, reply.facts.row.id))
            .collect()
    }

    async fn decide(&self, on: &Comment, act: StateAct) -> EventId {
        let change = StateChange {
            expected_revision: None,
            ..self.change_of(on, act)
        };
        let event = change.event_id;
        changed(self.change(change).await);
        event
    }
}

const fn created_event(reply: &Comment) -> (EventId, CommentId) {
    (EventId::new(reply.id.get()), reply.id)
}

async fn n1_a_reply_is_noted_once_however_often_it_is_retried(env: Comments) {
    let second = env.another_instance(2).await;
    let home = env.open(1).await;
    let root = env.root(home, ANN).await;
    let expires_at_ms = env.clock.now_ms() + 60_000;
    let outcomes = env
        .parallel(5, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            let new = NewComment {
                author_id: BOB,
                claim: Some(claim("same", 1, expires_at_ms)),
                ..env.draft(home, Some(root.id))
            };
            async move { env.create(new).await }
        })
        .await;
    let first = outcomes.iter().filter_map(|outcome| match outcome {
        CreateOutcome::Created(comment) => Some(comment.id),
        _ => None,
    });
    let first: Vec<CommentId> = first.collect();
    assert_eq!(first.len(), 1, "{outcomes:?}");
    let told = env.told(ANN).await;
    assert_eq!(told, [(EventId::new(first[0].get()), first[0])]);
    assert_eq!(second.told(ANN).await, told);
    let reply = &env.store.replies_to(ANN, all(1)).await.unwrap()[0].facts;
    assert_eq!((reply.discussion_id, reply.author_id), (home, BOB));
    assert_eq!(reply.row.ancestors, [root.id]);
}

async fn n1_nobody_is_told_of_their_own_reply_or_of_roots(env: Comments) {
    let home = env.open(1).await;
    let root = env.root(home, ANN).await;
    let own = env.answer(&root, ANN, CommentState::Published).await;
    assert_eq!(env.told(ANN).await, []);
    // Whose parent it is counts, not whose root.
    let below = env.answer(&own, BOB, CommentState::Published).await;
    let deeper = env.answer(&below, ANN, CommentState::Published).await;
    assert_eq!(env.told(ANN).await, [created_event(&below)]);
    assert_eq!(env.told(BOB).await, [created_event(&deeper)]);
}

async fn n2_a_waiting_reply_is_listed_when_it_is_let_through(env: Comments) {
    let home = env.open(1).await;
    let root = env.root(home, ANN).await;
    let waiting = env.answer(&root, BOB, CommentState::Pending).await;
    let refused = env.answer(&root, BOB, CommentState::Pending).await;
    let other = env.answer(&root, BOB, CommentState::Published).await;
    assert_eq!(env.told(ANN).await, [created_event(&other)]);
    let event = env.decide(&waiting, StateAct::Approve).await;
    let told = [created_event(&other), (event, waiting.id)];
    assert_eq!(env.told(ANN).await, told, "it is new when it can be read");
    // Hidden while it waited and restored: let through all the same.
    env.decide(&refused, StateAct::Hide).await;
    assert_eq!(env.told(ANN).await, told);
    let restored = env.decide(&refused, StateAct::Restore).await;
    let third = (restored, refused.id);
    assert_eq!(env.told(ANN).await, [told[0], told[1], third]);
    // Later acts make nothing new of it.
    env.decide(&waiting, StateAct::Hide).await;
    env.decide(&waiting, StateAct::Restore).await;
    assert_eq!(env.told(ANN).await, [told[0], told[1], third]);
}

async fn n2_a_hidden_one_stays_and_a_buried_one_goes(env: Comments) {
    let home = env.open(1).await;
    let root = env.root(home, ANN).await;
    let reply = env.answer(&root, BOB, CommentState::Published).await;
    env.decide(&reply, StateAct::Hide).await;
    let found = env.store.replies_to(ANN, all(10)).await.unwrap();
    assert_eq!(found[0].facts.row.state, CommentState::Hidden);
    env.decide(&reply, StateAct::Bury).await;
    assert_eq!(env.told(ANN).await, []);
}

async fn n2_imports_note_nothing(env: Comments) {
    let home = env.open(1).await;
    let mut reply = source_comment("2", super::kit::SOURCE_MS + 1, Some("1"));
    reply.author_id = BOB;
    let mut waits = source_comment("3", super::kit::SOURCE_MS + 2, Some("1"));
    waits.author_id = BOB;
    waits.state = CommentState::Pending;
    let root = source_comment("1", super::kit::SOURCE_MS, None);
    let outcomes = env.import(home, vec![root, reply, waits]).await;
    assert_eq!(env.told(ANN).await, []);
    let waits = super::kit::imported(outcomes[2]);
    let waits = env.find(home, waits).await.unwrap();
    env.decide(&waits, StateAct::Approve).await;
    assert_eq!(env.told(ANN).await, [], "nor does what becomes of them");
}

async fn n3_replies_page_in_both_directions(env: Comments) {
    let (home, other) = (env.open(1).await, env.open(1).await);
    let roots = [env.root(home, ANN).await, env.root(other, ANN).await];
    for index in 0..9 {
        env.answer(&roots[index % 2], BOB, CommentState::Published)
            .await;
    }
    let told = env.told(ANN).await;
    assert_eq!(told.len(), 9);
    for ascending in [true, false] {
        let mut slice = Slice {
            ascending,
            ..all(2)
        };
        let mut found = Vec::new();
        loop {
            let page = env.store.replies_to(ANN, slice).await.unwrap();
            let Some(last) = page.last() else { break };
            slice = slice.beyond(CommentId::new(last.event_id.get()), 2);
            found.extend(
                page.iter()
                    .map(|reply| (reply.event_id, reply.facts.row.id)),
            );
        }
        if !ascending {
            found.reverse();
        }
        assert_eq!(found, told);
    }
}

async fn n4_what_is_read_only_moves_forward(env: Comments) {
    let home = env.open(1).await;
    let root = env.root(home, ANN).await;
    let mark = |id: i64| env.store.mark_replies_read(ANN, (home, CommentId::new(id)));
    assert_eq!(
        mark(i64::MAX).await.unwrap(),
        EventId::new(0),
        "no reply yet"
    );
    let mut replies = Vec::new();
    for _ in 0..3 {
        replies.push(env.answer(&root, BOB, CommentState::Published).await);
    }
    assert_eq!(env.store.replies_read(ANN).await.unwrap().get(), 0);
    let second = replies[1].id.get();
    assert_eq!(mark(second).await.unwrap().get(), second);
    assert_eq!(mark(replies[0].id.get()).await.unwrap().get(), second);
    // An invented id is the newest reply, not what will come.
    let last = replies[2].id.get();
    assert_eq!(mark(i64::MAX).await.unwrap().get(), last);
    let fourth = env.answer(&root, BOB, CommentState::Published).await;
    assert_eq!(env.store.replies_read(ANN).await.unwrap().get(), last);
    // One that was let through late is read by its comment's id, at its event's place.
    let waiting = env.answer(&root, BOB, CommentState::Pending).await;
    let event = env.decide(&waiting, StateAct::Approve).await;
    assert_eq!(mark(waiting.id.get()).await.unwrap(), event);
    // One that is gone still stands for its place.
    env.decide(&fourth, StateAct::Bury).await;
    assert_eq!(mark(fourth.id.get()).await.unwrap(), event);
    assert_eq!(env.store.replies_read(BOB).await.unwrap().get(), 0);
}

async fn n5_what_is_seen_only_moves_forward(env: Comments) {
    let (home, other) = (env.open(1).await, env.open(1).await);
    let mark = |id: i64| env.store.mark_seen(ANN, home, CommentId::new(id));
    assert_eq!(mark(i64::MAX).await.unwrap(), None, "nothing was written");
    let mut rows = Vec::new();
    for _ in 0..3 {
        rows.push(env.root(home, BOB).await.id);
    }
    assert_eq!(mark(rows[1].get()).await.unwrap(), Some(rows[1]));
    assert_eq!(mark(rows[0].get()).await.unwrap(), Some(rows[1]));
    assert_eq!(mark(i64::MAX).await.unwrap(), Some(rows[2]));
    env.root(other, BOB).await;
    let second = env.another_instance(2).await;
    let both = [home, other];
    let found = second.store.seen_marks(ANN, &both).await.unwrap();
    assert_eq!(found, [(home, rows[2])]);
    assert_eq!(second.store.seen_marks(BOB, &both).await.unwrap(), []);
    let never = DiscussionId::new(env.mint());
    let gone = env.store.mark_seen(ANN, never, rows[0]).await.unwrap();
    assert_eq!(gone, None);
}

async fn n6_rows_after_one_come_in_order(env: Comments) {
    let home = env.open(1).await;
    let first = env.root(home, ANN).await;
    let second = env.answer(&first, BOB, CommentState::Published).await;
    let third = env.root(home, BOB).await;
    env.decide(&third, StateAct::Hide).await;
    env.answer(&second, ANN, CommentState::Published).await;
    let after = |id, limit| env.store.written_after(home, id, limit);
    let rows = after(first.id, 2).await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.row.id, row.author_id)).collect();
    assert_eq!(found, [(second.id, BOB), (third.id, BOB)]);
    assert_eq!(rows[1].row.state, CommentState::Hidden);
    assert_eq!(rows[0].row.ancestors, [first.id]);
    assert_eq!(after(third.id, 10).await.unwrap().len(), 1);
    let places = [
        (home, first.id),
        (home, third.id),
        (home, CommentId::new(5)),
    ];
    let hiding = env.store.hiding_among(&places).await.unwrap();
    assert_eq!(hiding, [(home, third.id)]);
    assert_eq!(env.store.hiding_among(&[]).await.unwrap(), []);
}

async fn n7_a_forgotten_person_leaves_nothing(env: Comments) {
    let home = env.open(1).await;
    let expires_at_ms = env.clock.now_ms() + 60_000;
    let keyed = NewComment {
        author_id: ANN,
        claim: Some(claim("key", 1, expires_at_ms)),
        ..env.draft(home, None)
    };
    let root = created(env.create(keyed.clone()).await);
    for _ in 0..3 {
        env.answer(&root, BOB, CommentState::Published).await;
    }
    let answer = env.answer(&root, BOB, CommentState::Published).await;
    env.answer(&answer, ANN, CommentState::Published).await;
    env.store.mark_seen(ANN, home, answer.id).await.unwrap();
    env.store.mark_seen(BOB, home, answer.id).await.unwrap();
    let up_to = (home, answer.id);
    env.store.mark_replies_read(ANN, up_to).await.unwrap();
    let mut steps = Vec::new();
    while steps.last() != Some(&0) {
        steps.push(env.store.forget_person(ANN, 2).await.unwrap());
    }
    // Four replies, two marks and a posting key.
    assert_eq!(steps, [2, 2, 2, 1, 0]);
    assert_eq!(env.told(ANN).await, []);
    assert_eq!(env.store.replies_read(ANN).await.unwrap().get(), 0);
    assert_eq!(env.store.seen_marks(ANN, &[home]).await.unwrap(), []);
    let marks = env.store.seen_marks_of(BOB, None, 10).await.unwrap();
    assert_eq!(marks, [(home, answer.id)]);
    assert_eq!(env.told(BOB).await.len(), 1);
    // The key is free again, and the comments are as they were.
    let again = NewComment {
        id: CommentId::new(env.mint()),
        ..keyed
    };
    created(env.create(again).await);
    let wrote: HashSet<CommentId> = env.by_author(ANN).await.iter().map(|(_, id)| *id).collect();
    assert_eq!(wrote.len(), 3);
}

async fn n8_a_scrub_leaves_nothing_of_what_was_buried(env: Comments) {
    let home = env.open(1).await;
    let mut rows = Vec::new();
    for index in 0..300 {
        let author = if index % 3 == 0 { ANN } else { BOB };
        let word = if author == ANN { "SECRETWORD" } else { "other" };
        let new = NewComment {
            author_id: author,
            // Some spill over into pages of their own.
            body: format!("{word}{index} ").repeat(1 + index % 7 * 120),
            ..env.draft(home, None)
        };
        rows.push(created(env.create(new).await));
    }
    for row in rows.iter().filter(|row| row.author_id == ANN) {
        let edit = env.edit_of(row, "SECRETWORD again");
        changed(env.store.edit(edit).await.unwrap());
    }
    assert!(env.finds("SECRETWORD"), "the search finds what is there");
    for row in rows.iter().filter(|row| row.author_id == ANN) {
        env.decide(row, StateAct::Bury).await;
    }
    env.store.scrub().await.unwrap();
    assert!(!env.finds("SECRETWORD"));
    assert!(env.finds("other1"), "what others wrote stays");
    assert_eq!(env.linear(home).await.len(), 300);
    env.audit(home).await;
    // Writing goes on, and scrubbing again does no harm.
    env.root(home, BOB).await;
    env.store.scrub().await.unwrap();
}
