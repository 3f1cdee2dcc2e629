//! Random histories of comments, reports and decisions, told to a store and to a model of the queue.
//!
//! A failure names its seed.

use std::collections::{BTreeMap, BTreeSet};

use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::ids::{DiscussionId, UserId};
use threadline::domain::moderation::{QueueKind, ReportReason};
use threadline::store::comments::{
    AuditFilter, ChangeOutcome, DismissOutcome, QueueFilter, ReportOutcome,
};

use super::kit::{ANN, all, changed, created};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    q1_any_history_of_reports_and_decisions_agrees_with_a_model,
    q2_any_history_told_by_two_instances_agrees_with_a_model,
];

const HISTORIES: u64 = 12;
const STEPS: usize = 60;

/// What the model knows of a comment.
#[derive(Debug)]
struct Row {
    comment: Comment,
    state: CommentState,
    parent: Option<usize>,
    /// Who reported it, why, and whether that is answered.
    reports: BTreeMap<UserId, (ReportReason, bool)>,
}

#[derive(Debug, Default)]
struct Model {
    rows: Vec<Row>,
    /// The queue: rows by the order they came in.
    queue: Vec<usize>,
    acts: usize,
}

impl Model {
    fn open_reports(&self, at: usize) -> impl Iterator<Item = ReportReason> {
        let reports = self.rows[at].reports.values();
        reports
            .filter(|(_, answered)| !answered)
            .map(|(reason, _)| *reason)
    }

    /// Puts a row into the queue or takes it out, whichever is right now.
    fn settle(&mut self, at: usize) {
        let waits = self.rows[at].state == CommentState::Pending;
        let belongs = waits || self.open_reports(at).next().is_some();
        let is_in = self.queue.contains(&at);
        if belongs && !is_in {
            self.queue.push(at);
        } else if !belongs {
            self.queue.retain(|other| *other != at);
        }
    }

    fn answer(&mut self, at: usize) -> u32 {
        let mut answered = 0;
        for (_, is_answered) in self.rows[at].reports.values_mut() {
            answered += u32::from(!*is_answered);
            *is_answered = true;
        }
        answered
    }

    fn is_readable(&self, at: usize) -> bool {
        let mut above = self.rows[at].parent;
        while let Some(parent) = above {
            if self.rows[parent].state.hides_below() {
                return false;
            }
            above = self.rows[parent].parent;
        }
        self.rows[at].state == CommentState::Published
    }
}

/// A history under way: who tells it, and what the model knows.
struct History<'a> {
    env: &'a Comments,
    discussion: DiscussionId,
    model: &'a mut Model,
    random: &'a mut fastrand::Rng,
}

impl History<'_> {
    async fn step(&mut self) {
        let rows = self.model.rows.len();
        let at = (rows > 0).then(|| self.random.usize(..rows));
        match (self.random.u32(..10), at) {
            (0..=2, _) | (_, None) => self.create(at).await,
            (3, Some(at)) => self.edit(at).await,
            (4..=5, Some(at)) => self.act(at).await,
            (6..=8, Some(at)) => self.report(at).await,
            (_, Some(at)) => self.dismiss(at).await,
        }
    }

    async fn create(&mut self, at: Option<usize>) {
        let parent = at.filter(|at| self.random.bool() && self.model.is_readable(*at));
        let id = parent.map(|at| self.model.rows[at].comment.id);
        let mut new = self.env.draft(self.discussion, id);
        if self.random.u32(..3) == 0 {
            new.state = CommentState::Pending;
        }
        let comment = created(self.env.create(new).await);
        let state = comment.state;
        self.model.rows.push(Row {
            comment,
            state,
            parent,
            reports: BTreeMap::new(),
        });
        self.model.settle(self.model.rows.len() - 1);
    }

    async fn edit(&mut self, at: usize) {
        let text = format!("text {}", self.random.u64(..));
        let mut edit = self.env.edit_of(&self.model.rows[at].comment, &text);
        let waits = self.random.bool();
        edit.waits = waits;
        edit.author_id = ANN;
        let row = &mut self.model.rows[at];
        match self.env.store.edit(edit).await.unwrap() {
            ChangeOutcome::Gone(_) => assert_eq!(row.state, CommentState::Buried),
            outcome => {
                row.comment = changed(outcome);
                if waits && row.state == CommentState::Published {
                    row.state = CommentState::Pending;
                    self.model.settle(at);
                }
            }
        }
    }

    async fn act(&mut self, at: usize) {
        let acts = [
            StateAct::Hide,
            StateAct::Restore,
            StateAct::Approve,
            StateAct::Bury,
        ];
        let act = acts[self.random.usize(..acts.len())];
        let row = &mut self.model.rows[at];
        let outcome = self.env.act(&row.comment, act).await;
        if let Ok(state) = row.state.apply(act) {
            row.comment = changed(outcome);
            row.state = state;
            self.model.answer(at);
            self.model.settle(at);
            self.model.acts += 1;
        } else {
            assert!(!matches!(outcome, ChangeOutcome::Changed(_)));
        }
    }

    async fn report(&mut self, at: usize) {
        let who = UserId::new(101 + self.random.i64(..4));
        let reason = ReportReason::ALL[self.random.usize(..5)];
        let row = &self.model.rows[at];
        let outcome = self.env.report(&row.comment, who, reason).await;
        if row.state == CommentState::Buried {
            assert_eq!(outcome, ReportOutcome::Gone);
        } else if who == ANN {
            assert_eq!(outcome, ReportOutcome::Own);
        } else if let Some((reason, answered)) = row.reports.get(&who) {
            let ReportOutcome::Repeated(report) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!((report.reason, report.is_answered), (*reason, *answered));
        } else if self.model.is_readable(at) {
            assert!(matches!(outcome, ReportOutcome::Reported(_)), "{outcome:?}");
            self.model.rows[at].reports.insert(who, (reason, false));
            self.model.settle(at);
        } else {
            assert_eq!(outcome, ReportOutcome::NotPublic);
        }
    }

    async fn dismiss(&mut self, at: usize) {
        let outcome = self.env.dismiss(&self.model.rows[at].comment).await;
        let answered = self.model.answer(at);
        if answered == 0 {
            assert_eq!(outcome, DismissOutcome::NoChange);
        } else {
            assert_eq!(outcome, DismissOutcome::Dismissed(answered));
            self.model.acts += 1;
        }
        self.model.settle(at);
    }
}

/// Compares the whole queue, under each kind, with the model.
async fn compare(env: &Comments, discussion: DiscussionId, model: &Model, seed: u64) {
    for kind in [None, Some(QueueKind::Pending), Some(QueueKind::Reported)] {
        let filter = QueueFilter {
            discussion: Some(discussion),
            kind,
            reason: None,
        };
        let told: Vec<_> = env
            .queue(filter, true, 7)
            .await
            .into_iter()
            .map(|item| {
                (
                    item.comment_id,
                    item.is_pending,
                    item.report_count,
                    item.reasons,
                )
            })
            .collect();
        let row = |at: &usize| {
            let row = &model.rows[*at];
            let reasons: BTreeSet<ReportReason> = model.open_reports(*at).collect();
            let count = u32::try_from(model.open_reports(*at).count()).unwrap();
            let waits = row.state == CommentState::Pending;
            (row.comment.id, waits, count, reasons.into_iter().collect())
        };
        let want: Vec<(_, bool, u32, Vec<ReportReason>)> = model
            .queue
            .iter()
            .map(row)
            .filter(|(_, waits, count, _)| match kind {
                None => true,
                Some(QueueKind::Pending) => *waits,
                Some(QueueKind::Reported) => *count > 0,
            })
            .collect();
        assert_eq!(told, want, "seed {seed}, {kind:?}");
    }
}

async fn histories(instances: &[Comments]) {
    let env = &instances[0];
    for seed in 0..HISTORIES {
        let mut random = fastrand::Rng::with_seed(seed);
        let discussion = env.open(1).await;
        let mut model = Model::default();
        for at in 0..STEPS {
            let teller = &instances[at % instances.len()];
            let mut history = History {
                env: teller,
                discussion,
                model: &mut model,
                random: &mut random,
            };
            history.step().await;
            compare(teller, discussion, &model, seed).await;
        }
        let filter = AuditFilter {
            discussion: Some(discussion),
            actor: None,
        };
        let slice = all(10_000).map(|id| threadline::domain::ids::EventId::new(id.get()));
        let acts = env.store.audit(filter, slice).await.unwrap();
        assert_eq!(acts.len(), model.acts, "seed {seed}");
        assert_eq!(env.audit(discussion).await.len(), model.rows.len());
    }
}

async fn q1_any_history_of_reports_and_decisions_agrees_with_a_model(env: Comments) {
    histories(&[env]).await;
}

async fn q2_any_history_told_by_two_instances_agrees_with_a_model(env: Comments) {
    let other = env.another_instance(2).await;
    histories(&[env, other]).await;
}
