//! The audit log and pins: A1, A2, P1.

use threadline::domain::comment::{CommentState, StateAct};
use threadline::domain::discussion::DiscussionState;
use threadline::domain::ids::{CommentId, EventId, UserId};
use threadline::domain::moderation::{AuditAct, ReportReason};
use threadline::domain::page::Slice;
use threadline::store::comments::{
    AuditEntry, AuditFilter, ChangeOutcome, DiscussionAct, DiscussionOutcome, LogEntry, LogKind,
    NewDiscussion, Opened,
};

use super::kit::{ANN, BOB, MODERATOR, changed, created, expect_outcome};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    a1_every_act_writes_one_entry_and_what_changes_nothing_none,
    a1_every_act_on_a_discussion_writes_one_entry,
    a1_who_deletes_their_own_is_not_in_the_audit_log,
    a1_a_discussion_that_a_moderator_opens_is_one_entry,
    a2_the_audit_log_is_read_both_ways_under_every_filter,
    p1_pins_are_set_as_a_whole_in_their_order,
    p1_only_what_everybody_can_read_is_pinned,
    p1_pins_survive_a_hide_and_come_back_with_the_comment,
    c12_changes_of_a_discussion_are_logged_without_a_comment,
];

impl Comments {
    /// The audit log under a filter, read in pages of `limit`.
    async fn audited(&self, filter: AuditFilter, ascending: bool, limit: u32) -> Vec<AuditEntry> {
        let mut entries: Vec<AuditEntry> = Vec::new();
        let mut slice = Slice::<EventId> {
            above: None,
            below: None,
            ascending,
            limit,
        };
        loop {
            let page = self.store.audit(filter, slice).await.unwrap();
            let Some(last) = page.last() else {
                return entries;
            };
            slice = slice.beyond(last.event_id, limit);
            entries.extend(page);
        }
    }

    async fn acts(&self) -> Vec<AuditAct> {
        let entries = self.audited(AuditFilter::default(), true, 100).await;
        entries.iter().map(|entry| entry.act).collect()
    }
}

async fn a1_every_act_writes_one_entry_and_what_changes_nothing_none(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let pending = env.pend(discussion).await;
    let mut want = Vec::new();
    for (row, act, entry) in [
        (&pending, StateAct::Approve, AuditAct::Approve),
        (&row, StateAct::Hide, AuditAct::Hide),
        (&row, StateAct::Restore, AuditAct::Restore),
        (&pending, StateAct::Bury, AuditAct::Bury),
    ] {
        let mut change = env.change_of(row, act);
        change.reason = format!("because of {act:?}");
        want.push(AuditEntry {
            event_id: change.event_id,
            actor_id: MODERATOR,
            act: entry,
            discussion_id: Some(discussion),
            comment_id: Some(row.id),
            user_id: Some(ANN),
            detail: change.reason.clone(),
        });
        changed(env.change(change).await);
        expect_outcome!(
            env.act(row, act).await,
            ChangeOutcome::NoChange(_) | ChangeOutcome::Gone(_)
        );
        let mut stale = env.change_of(row, StateAct::Hide);
        stale.expected_revision = Some(77);
        drop(env.change(stale).await);
    }
    env.report(&row, BOB, ReportReason::Spam).await;
    env.dismiss(&row).await;
    env.dismiss(&row).await;
    let entries = env.audited(AuditFilter::default(), true, 2).await;
    assert_eq!(entries[..4], want);
    assert_eq!(entries.len(), 5);
    let last = &entries[4];
    assert_eq!(
        (last.act, last.user_id, last.detail.as_str()),
        (AuditAct::DismissReports, Some(ANN), "fine")
    );
}

async fn a1_every_act_on_a_discussion_writes_one_entry(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let steps = [
        (
            DiscussionAct::SetState(DiscussionState::Closed),
            AuditAct::Close,
        ),
        (
            DiscussionAct::SetState(DiscussionState::Open),
            AuditAct::Reopen,
        ),
        (DiscussionAct::SetPremoderated(true), AuditAct::Premoderate),
        (
            DiscussionAct::SetPremoderated(false),
            AuditAct::PublishAtOnce,
        ),
        (DiscussionAct::Pin(vec![row.id]), AuditAct::Pin),
        (DiscussionAct::Pin(Vec::new()), AuditAct::Pin),
    ];
    for (act, entry) in steps {
        expect_outcome!(
            env.change_discussion(discussion, act.clone()).await,
            DiscussionOutcome::Changed(_)
        );
        expect_outcome!(
            env.change_discussion(discussion, act).await,
            DiscussionOutcome::NoChange(_)
        );
        assert_eq!(env.acts().await.last(), Some(&entry));
    }
    assert_eq!(env.acts().await.len(), 6);
}

async fn a1_who_deletes_their_own_is_not_in_the_audit_log(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let mut change = env.change_of(&row, StateAct::Bury);
    change.by = ANN;
    change.only_author = Some(ANN);
    changed(env.change(change).await);
    assert_eq!(env.acts().await, []);
}

async fn a1_a_discussion_that_a_moderator_opens_is_one_entry(env: Comments) {
    let new = NewDiscussion {
        url: Some("example.org/a".to_owned()),
        opened_by: Some(MODERATOR),
        ..env.new_discussion(1)
    };
    let again = NewDiscussion {
        opened_by: Some(MODERATOR),
        url: new.url.clone(),
        ..env.new_discussion(1)
    };
    expect_outcome!(
        env.store.open_discussion(new).await.unwrap(),
        Opened::New(_)
    );
    expect_outcome!(
        env.store.open_discussion(again).await.unwrap(),
        Opened::Existing(_)
    );
    env.open(1).await;
    assert_eq!(env.acts().await, [AuditAct::OpenDiscussion]);
}

async fn a2_the_audit_log_is_read_both_ways_under_every_filter(env: Comments) {
    let places = [env.open(1).await, env.open(1).await];
    let mut want = Vec::new();
    for round in 0..6_i64 {
        let discussion = places[usize::from(round % 2 == 0)];
        let row = env.post(discussion).await;
        let mut change = env.change_of(&row, StateAct::Hide);
        change.by = UserId::new(900 + round % 3);
        want.push((change.event_id, discussion, change.by));
        changed(env.change(change).await);
    }
    for discussion in [None, Some(places[0]), Some(places[1])] {
        for actor in [None, Some(UserId::new(901)), Some(UserId::new(5))] {
            let filter = AuditFilter { discussion, actor };
            let is_in = |(_, place, by): &&(EventId, _, UserId)| {
                discussion.is_none_or(|discussion| discussion == *place)
                    && actor.is_none_or(|actor| actor == *by)
            };
            let ids: Vec<EventId> = want.iter().filter(is_in).map(|(id, ..)| *id).collect();
            for limit in [1, 2, 50] {
                let read = |entries: Vec<AuditEntry>| -> Vec<EventId> {
                    entries.iter().map(|entry| entry.event_id).collect()
                };
                let rising = read(env.audited(filter, true, limit).await);
                let mut falling = read(env.audited(filter, false, limit).await);
                falling.reverse();
                assert_eq!((&rising, &falling), (&ids, &ids), "{filter:?} {limit}");
            }
        }
    }
}

async fn p1_pins_are_set_as_a_whole_in_their_order(env: Comments) {
    let discussion = env.open(1).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(env.post(discussion).await.id);
    }
    let before = env.discussion(discussion).await;
    assert!(before.pinned.is_empty());
    for pins in [
        vec![ids[2], ids[0]],
        vec![ids[0], ids[2]],
        vec![ids[3]],
        Vec::new(),
    ] {
        match env
            .change_discussion(discussion, DiscussionAct::Pin(pins.clone()))
            .await
        {
            DiscussionOutcome::Changed(now) => assert_eq!(now.pinned.as_ref(), pins),
            other => panic!("{other:?}"),
        }
        assert_eq!(env.discussion(discussion).await.pinned.as_ref(), pins);
    }
    // No page and no count knows of pins.
    assert_eq!(env.discussion(discussion).await.counts, before.counts);
    assert_eq!(env.audit(discussion).await.len(), 4);
}

async fn p1_only_what_everybody_can_read_is_pinned(env: Comments) {
    let (here, there) = (env.open(1).await, env.open(1).await);
    let good = env.post(here).await;
    let hidden = env.post(here).await;
    let below = env.reply(&hidden).await;
    env.hide(&hidden).await;
    let pending = env.pend(here).await;
    let buried = env.post(here).await;
    env.bury(&buried).await;
    let foreign = env.post(there).await;
    let missing = CommentId::new(env.mint());
    for bad in [
        hidden.id, below.id, pending.id, buried.id, foreign.id, missing,
    ] {
        match env
            .change_discussion(here, DiscussionAct::Pin(vec![good.id, bad]))
            .await
        {
            DiscussionOutcome::NotReadable(named) => assert_eq!(named, bad),
            other => panic!("{other:?}"),
        }
        assert!(env.discussion(here).await.pinned.is_empty());
    }
}

async fn p1_pins_survive_a_hide_and_come_back_with_the_comment(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let pins = DiscussionAct::Pin(vec![row.id]);
    expect_outcome!(
        env.change_discussion(discussion, pins).await,
        DiscussionOutcome::Changed(_)
    );
    env.hide(&row).await;
    assert_eq!(env.discussion(discussion).await.pinned.as_ref(), [row.id]);
    env.restore(&row).await;
    assert_eq!(env.discussion(discussion).await.pinned.as_ref(), [row.id]);
}

async fn c12_changes_of_a_discussion_are_logged_without_a_comment(env: Comments) {
    let discussion = env.open(1).await;
    let mut new = env.draft(discussion, None);
    new.state = CommentState::Published;
    let row = created(env.create(new).await);
    for act in [
        DiscussionAct::SetState(DiscussionState::Closed),
        DiscussionAct::SetPremoderated(true),
        DiscussionAct::Pin(vec![row.id]),
        DiscussionAct::SetState(DiscussionState::Closed),
    ] {
        drop(env.change_discussion(discussion, act).await);
    }
    let log = env.log(discussion).await;
    let changes: Vec<&LogEntry> = log
        .iter()
        .filter(|entry| entry.kind == LogKind::DiscussionChanged)
        .collect();
    assert_eq!((changes.len(), log.len()), (3, 4));
    assert!(changes.iter().all(|entry| entry.comment_id.is_none()));
}
