//! Reports and the moderation queue: Q1 to Q6.

use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::ids::{CommentId, DiscussionId, EventId, QueueId, UserId};
use threadline::domain::moderation::{QueueKind, ReportReason};
use threadline::domain::page::Slice;
use threadline::store::comments::{
    DismissOutcome, Dismissal, NewReport, QueueFilter, QueueItem, Report, ReportOutcome,
};

use super::kit::{
    ANN, BOB, MODERATOR, changed, created, imported, source_comment, source_discussion,
};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    q1_a_pending_comment_is_in_the_queue_until_it_is_decided,
    q1_imported_comments_that_wait_are_in_the_queue,
    q1_a_comment_that_waits_and_is_reported_is_there_once_for_both,
    q2_case_14_two_approve_at_once_and_the_size_is_right_after_each_step,
    q2_reports_at_once_on_two_instances_count_once_a_person,
    q3_a_second_report_is_the_first_one,
    q3_what_nobody_may_report_says_why,
    q4_a_decision_answers_the_reports_and_a_dismissal_leaves_what_waits,
    q4_burying_empties_the_words_of_reports,
    q5_the_queue_is_read_both_ways_under_every_filter,
    q5_reports_of_several_comments_are_read_in_parts,
    q6_a_forgotten_reporters_reports_stay_without_name_and_words,
];

const EVERYTHING: QueueFilter = QueueFilter {
    discussion: None,
    kind: None,
    reason: None,
};

impl Comments {
    pub(crate) async fn pend(&self, discussion: DiscussionId) -> Comment {
        let mut new = self.draft(discussion, None);
        new.state = CommentState::Pending;
        created(self.create(new).await)
    }

    pub(crate) async fn report(
        &self,
        row: &Comment,
        reporter: UserId,
        reason: ReportReason,
    ) -> ReportOutcome {
        let new = NewReport {
            discussion_id: row.discussion_id,
            comment_id: row.id,
            reporter_id: reporter,
            reason,
            text: format!("words of {reporter}"),
            event_id: self.event(),
        };
        self.store.report(new).await.unwrap()
    }

    pub(crate) async fn dismiss(&self, row: &Comment) -> DismissOutcome {
        let dismissal = Dismissal {
            discussion_id: row.discussion_id,
            comment_id: row.id,
            by: MODERATOR,
            reason: "fine".to_owned(),
            event_id: self.event(),
        };
        self.store.dismiss_reports(dismissal).await.unwrap()
    }

    /// The queue under a filter, read in pages of `limit`; its size must agree.
    pub(crate) async fn queue(
        &self,
        filter: QueueFilter,
        ascending: bool,
        limit: u32,
    ) -> Vec<QueueItem> {
        let mut items: Vec<QueueItem> = Vec::new();
        let mut slice = Slice::<QueueId> {
            above: None,
            below: None,
            ascending,
            limit,
        };
        loop {
            let page = self.store.queue(filter, slice).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            let Some(last) = page.last() else {
                break;
            };
            slice = slice.beyond(last.id, limit);
            items.extend(page);
        }
        let size = self.store.queue_size(filter).await.unwrap();
        assert_eq!(size, u64::try_from(items.len()).unwrap());
        items
    }

    /// The comments in the queue, longest waiting first.
    pub(crate) async fn queued(&self, filter: QueueFilter) -> Vec<CommentId> {
        let items = self.queue(filter, true, 2).await;
        items.iter().map(|item| item.comment_id).collect()
    }

    async fn reports(&self, row: &Comment) -> Vec<Report> {
        let at = [(row.discussion_id, row.id)];
        self.store.open_reports(&at, None, 100).await.unwrap()
    }
}

fn reported(outcome: ReportOutcome) -> Report {
    match outcome {
        ReportOutcome::Reported(report) => report,
        other => panic!("not reported: {other:?}"),
    }
}

async fn q1_a_pending_comment_is_in_the_queue_until_it_is_decided(env: Comments) {
    let discussion = env.open(1).await;
    let seen = env.post(discussion).await;
    assert!(env.queued(EVERYTHING).await.is_empty());
    let rows = [
        env.pend(discussion).await,
        env.pend(discussion).await,
        env.pend(discussion).await,
    ];
    let ids: Vec<CommentId> = rows.iter().map(|row| row.id).collect();
    assert_eq!(env.queued(EVERYTHING).await, ids);
    let first = &env.queue(EVERYTHING, true, 1).await[0];
    assert_eq!(first.since_ms, rows[0].id.time_ms());
    assert!(first.is_pending && first.report_count == 0 && first.reasons.is_empty());
    for (row, act) in rows
        .iter()
        .zip([StateAct::Approve, StateAct::Hide, StateAct::Bury])
    {
        changed(env.act(row, act).await);
        assert!(!env.queued(EVERYTHING).await.contains(&row.id), "{act:?}");
    }
    assert!(env.queued(EVERYTHING).await.is_empty());
    // An edit that must wait puts one back; an edit of one that waits does not put it there twice.
    let mut edit = env.edit_of(&seen, "once more");
    edit.waits = true;
    let waiting = changed(env.store.edit(edit).await.unwrap());
    assert_eq!(env.queued(EVERYTHING).await, [seen.id]);
    let mut edit = env.edit_of(&waiting, "and again");
    edit.waits = true;
    changed(env.store.edit(edit).await.unwrap());
    assert_eq!(env.queued(EVERYTHING).await, [seen.id]);
    // A restored comment is no case for the queue.
    env.hide(&rows[0]).await;
    env.restore(&rows[0]).await;
    assert_eq!(env.queued(EVERYTHING).await, [seen.id]);
}

async fn q1_imported_comments_that_wait_are_in_the_queue(env: Comments) {
    let (discussion, _) = env
        .store
        .import_discussion(source_discussion("d"))
        .await
        .unwrap();
    let rows = |count: i64| {
        let row = |at: i64| {
            let mut row = source_comment(&at.to_string(), super::kit::SOURCE_MS + at, None);
            if at % 3 == 0 {
                row.state = CommentState::Pending;
            }
            row
        };
        (0..count).map(row).collect::<Vec<_>>()
    };
    let outcomes = env.import(discussion.id, rows(600)).await;
    let pending: Vec<CommentId> = outcomes.into_iter().step_by(3).map(imported).collect();
    assert_eq!(env.queue(EVERYTHING, true, 1_000).await.len(), 200);
    assert_eq!(env.queued(EVERYTHING).await, pending);
    // The same rows again change nothing, also for those that were let through meanwhile.
    let first = env.find(discussion.id, pending[0]).await.unwrap();
    changed(env.act(&first, StateAct::Approve).await);
    env.import(discussion.id, rows(600)).await;
    assert_eq!(env.queued(EVERYTHING).await, &pending[1..]);
}

async fn q1_a_comment_that_waits_and_is_reported_is_there_once_for_both(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    reported(env.report(&row, BOB, ReportReason::Spam).await);
    let mut edit = env.edit_of(&row, "another text");
    edit.waits = true;
    changed(env.store.edit(edit).await.unwrap());
    let items = env.queue(EVERYTHING, true, 9).await;
    assert_eq!(items.len(), 1);
    assert!(items[0].is_pending && items[0].report_count == 1);
    for kind in [QueueKind::Pending, QueueKind::Reported] {
        let filter = QueueFilter {
            kind: Some(kind),
            ..EVERYTHING
        };
        assert_eq!(env.queued(filter).await, [row.id]);
    }
    // Answering the reports leaves what waits.
    assert_eq!(env.dismiss(&row).await, DismissOutcome::Dismissed(1));
    let items = env.queue(EVERYTHING, true, 9).await;
    assert!(items[0].is_pending && items[0].report_count == 0);
    changed(env.act(&row, StateAct::Approve).await);
    assert!(env.queued(EVERYTHING).await.is_empty());
}

async fn q2_case_14_two_approve_at_once_and_the_size_is_right_after_each_step(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let size = async || env.store.queue_size(EVERYTHING).await.unwrap();
    let row = env.pend(discussion).await;
    assert_eq!(size().await, 1);
    let outcomes = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            let row = row.clone();
            async move { env.act(&row, StateAct::Approve).await }
        })
        .await;
    let done = outcomes
        .iter()
        .filter(|outcome| {
            matches!(
                outcome,
                threadline::store::comments::ChangeOutcome::Changed(_)
            )
        })
        .count();
    assert_eq!((done, size().await), (1, 0));
    let now = env.row(&row).await;
    let mut edit = env.edit_of(&now, "edited");
    edit.waits = true;
    changed(env.store.edit(edit).await.unwrap());
    assert_eq!(size().await, 1);
    env.hide(&row).await;
    assert_eq!(size().await, 0);
    assert_eq!(other.store.queue_size(EVERYTHING).await.unwrap(), 0);
}

async fn q2_reports_at_once_on_two_instances_count_once_a_person(env: Comments) {
    let other = env.another_instance(2).await;
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let outcomes = env
        .parallel(30, |index| {
            let env = if index % 2 == 0 { &env } else { &other }.clone();
            let row = row.clone();
            let who = UserId::new(200 + i64::try_from(index % 5).unwrap());
            async move { env.report(&row, who, ReportReason::Abuse).await }
        })
        .await;
    let new = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ReportOutcome::Reported(_)));
    assert_eq!(new.count(), 5);
    let items = env.queue(EVERYTHING, true, 9).await;
    assert_eq!((items.len(), items[0].report_count), (1, 5));
    assert_eq!(env.reports(&row).await.len(), 5);
}

async fn q3_a_second_report_is_the_first_one(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let first = reported(env.report(&row, BOB, ReportReason::Spam).await);
    assert_eq!(first.text, "words of 102");
    match env.report(&row, BOB, ReportReason::Illegal).await {
        ReportOutcome::Repeated(again) => assert_eq!(again, first),
        other => panic!("{other:?}"),
    }
    assert_eq!(env.reports(&row).await, std::slice::from_ref(&first));
    // Also once it is answered: nobody puts a comment into the queue twice.
    env.dismiss(&row).await;
    match env.report(&row, BOB, ReportReason::Spam).await {
        ReportOutcome::Repeated(again) => assert!(again.is_answered && again.id == first.id),
        other => panic!("{other:?}"),
    }
    assert!(env.queued(EVERYTHING).await.is_empty());
    let by = env.store.reports_by(BOB, None, 9).await.unwrap();
    assert_eq!((by.len(), by[0].id), (1, first.id));
}

async fn q3_what_nobody_may_report_says_why(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    let below = env.reply(&row).await;
    let pending = env.pend(discussion).await;
    assert_eq!(
        env.report(&row, ANN, ReportReason::Spam).await,
        ReportOutcome::Own
    );
    env.hide(&row).await;
    for row in [&row, &below, &pending] {
        assert_eq!(
            env.report(row, BOB, ReportReason::Spam).await,
            ReportOutcome::NotPublic
        );
    }
    env.bury(&below).await;
    assert_eq!(
        env.report(&below, BOB, ReportReason::Spam).await,
        ReportOutcome::Gone
    );
    let mut missing = row.clone();
    missing.id = CommentId::new(env.mint());
    assert_eq!(
        env.report(&missing, BOB, ReportReason::Spam).await,
        ReportOutcome::NotFound
    );
    assert_eq!(env.dismiss(&missing).await, DismissOutcome::NotFound);
    assert_eq!(env.dismiss(&row).await, DismissOutcome::NoChange);
    assert_eq!(env.queued(EVERYTHING).await, [pending.id]);
}

async fn q4_a_decision_answers_the_reports_and_a_dismissal_leaves_what_waits(env: Comments) {
    let discussion = env.open(1).await;
    for act in [Some(StateAct::Hide), Some(StateAct::Bury), None] {
        let row = env.post(discussion).await;
        for who in [201, 202, 203] {
            reported(
                env.report(&row, UserId::new(who), ReportReason::Other)
                    .await,
            );
        }
        assert_eq!(env.reports(&row).await.len(), 3);
        match act {
            Some(act) => drop(changed(env.act(&row, act).await)),
            None => assert_eq!(env.dismiss(&row).await, DismissOutcome::Dismissed(3)),
        }
        assert!(env.reports(&row).await.is_empty(), "{act:?}");
        assert!(env.queued(EVERYTHING).await.is_empty(), "{act:?}");
        assert_eq!(env.dismiss(&row).await, DismissOutcome::NoChange);
    }
}

async fn q4_burying_empties_the_words_of_reports(env: Comments) {
    let discussion = env.open(1).await;
    let row = env.post(discussion).await;
    reported(env.report(&row, BOB, ReportReason::Spam).await);
    env.bury(&row).await;
    let by = env.store.reports_by(BOB, None, 9).await.unwrap();
    assert_eq!((by[0].text.as_str(), by[0].is_answered), ("", true));
}

async fn q5_the_queue_is_read_both_ways_under_every_filter(env: Comments) {
    let (one, two) = (env.open(1).await, env.open(1).await);
    let mut want = Vec::new();
    for round in 0..4 {
        let discussion = if round % 2 == 0 { one } else { two };
        let pending = env.pend(discussion).await;
        let row = env.post(discussion).await;
        let reason = ReportReason::ALL[round];
        reported(env.report(&row, BOB, reason).await);
        want.push((discussion, pending.id, None));
        want.push((discussion, row.id, Some(reason)));
    }
    for discussion in [None, Some(one), Some(two)] {
        for kind in [None, Some(QueueKind::Pending), Some(QueueKind::Reported)] {
            for reason in [None, Some(ReportReason::Spam), Some(ReportReason::Other)] {
                let filter = QueueFilter {
                    discussion,
                    kind,
                    reason,
                };
                let is_in = |(place, _, for_reason): &&(_, _, Option<ReportReason>)| {
                    discussion.is_none_or(|discussion| discussion == *place)
                        && match kind {
                            None => true,
                            Some(QueueKind::Pending) => for_reason.is_none(),
                            Some(QueueKind::Reported) => for_reason.is_some(),
                        }
                        && (reason.is_none() || reason == *for_reason)
                };
                let mut ids: Vec<CommentId> =
                    want.iter().filter(is_in).map(|(_, id, _)| *id).collect();
                for limit in [1, 3, 50] {
                    let items = env.queue(filter, true, limit).await;
                    let read: Vec<CommentId> = items.iter().map(|item| item.comment_id).collect();
                    assert_eq!(read, ids, "{filter:?}");
                    let items = env.queue(filter, false, limit).await;
                    let mut read: Vec<CommentId> =
                        items.iter().map(|item| item.comment_id).collect();
                    read.reverse();
                    assert_eq!(read, ids, "{filter:?}");
                }
                ids.clear();
            }
        }
    }
    // Who comes in again comes in last.
    let first = env.find(one, want[0].1).await.unwrap();
    let now = changed(env.act(&first, StateAct::Approve).await);
    let mut edit = env.edit_of(&now, "again");
    edit.waits = true;
    changed(env.store.edit(edit).await.unwrap());
    assert_eq!(env.queued(EVERYTHING).await.last(), Some(&first.id));
}

async fn q5_reports_of_several_comments_are_read_in_parts(env: Comments) {
    let discussion = env.open(1).await;
    let rows = [env.post(discussion).await, env.post(discussion).await];
    let mut made: Vec<EventId> = Vec::new();
    for who in 201..206 {
        for row in &rows {
            made.push(reported(env.report(row, UserId::new(who), ReportReason::Spam).await).id);
        }
    }
    let places = rows.each_ref().map(|row| (row.discussion_id, row.id));
    let part = env
        .store
        .open_reports(&places, Some(made[1]), 3)
        .await
        .unwrap();
    let ids: Vec<EventId> = part.iter().map(|report| report.id).collect();
    assert_eq!(
        ids,
        [made[2], made[4], made[6], made[3], made[5], made[7]],
        "three of each comment, behind the one named"
    );
    assert_eq!(env.store.open_reports(&[], None, 3).await.unwrap(), []);
}

async fn q6_a_forgotten_reporters_reports_stay_without_name_and_words(env: Comments) {
    let discussion = env.open(1).await;
    let mut rows = Vec::new();
    for _ in 0..5 {
        let row = env.post(discussion).await;
        reported(env.report(&row, BOB, ReportReason::Abuse).await);
        rows.push(row);
    }
    reported(
        env.report(&rows[0], UserId::new(300), ReportReason::Spam)
            .await,
    );
    let mut steps = 0;
    while env.store.forget_reporter(BOB, 2).await.unwrap() {
        steps += 1;
    }
    assert_eq!(steps, 3);
    assert_eq!(env.store.reports_by(BOB, None, 9).await.unwrap(), []);
    let left = env.reports(&rows[0]).await;
    assert_eq!(left.len(), 2);
    assert_eq!(
        (left[0].reporter_id, left[0].text.as_str()),
        (UserId::NOBODY, "")
    );
    assert_eq!(left[0].reason, ReportReason::Abuse);
    assert_eq!(left[1].reporter_id, UserId::new(300));
    assert_eq!(env.queue(EVERYTHING, true, 9).await[0].report_count, 2);
}
