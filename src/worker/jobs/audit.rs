//! Checking, repairing and recounting discussions.

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::discussion::Discussion;
use crate::service::Service;
use crate::service::auditing::Audit;
use crate::service::pace::{Pace, PacedError};
use crate::store::comments::{CountCheck, WrongCount};
use crate::worker::walker::{WalkJob, WalkTally};

/// What to do with each discussion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    /// Check index and counts.
    Verify,
    /// Check, and mend what is wrong.
    Repair,
    /// Check the counts alone, and mend them.
    Recount,
}

/// Checks each discussion.
#[derive(Clone, Debug)]
pub struct AuditJob {
    /// The rules.
    pub service: Service,
    /// What to do.
    pub kind: AuditKind,
}

impl AuditJob {
    /// Checks one discussion as it is now.
    pub async fn audit(
        &self,
        discussion: &Discussion,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        let Some(now) = self.service.discussions(&[discussion.id]).await?.pop() else {
            return Ok(WalkTally::of_item("gone", 0));
        };
        match self.kind {
            AuditKind::Verify => {
                let audit = self.service.audit(&now, pace).await?;
                Ok(verified(&now, &audit))
            }
            AuditKind::Repair => {
                let (before, after) = self.service.repair(&now, pace).await?;
                Ok(repaired(&now, &before, &after))
            }
            AuditKind::Recount => {
                let clock = &self.service.ports().clock;
                let asked = clock.monotonic();
                let check = self.service.ports().comments.recount(now.id).await?;
                pace.step(check.rows, clock.monotonic().saturating_sub(asked))
                    .await?;
                Ok(recounted(&now, &check))
            }
        }
    }
}

fn verified(discussion: &Discussion, audit: &Audit) -> WalkTally {
    let outcome = if !audit.is_clean() {
        "wrong"
    } else if audit.overtaken {
        "overtaken by writes"
    } else if audit.layouts == 0 {
        "right, without an index"
    } else {
        "right"
    };
    let mut found = WalkTally::of_item(outcome, audit.rows);
    found.add("roots without their parent", audit.parents_missing);
    note(&mut found, discussion, audit, "");
    found.branches = audit.branches.clone();
    found
}

fn repaired(discussion: &Discussion, before: &Audit, after: &Audit) -> WalkTally {
    let outcome = if before.is_clean() {
        "right"
    } else if after.is_clean() {
        "mended"
    } else {
        "still wrong"
    };
    let mut found = WalkTally::of_item(outcome, before.rows);
    found.add("mended", before.found().saturating_sub(after.found()));
    note(&mut found, discussion, after, "not mended: ");
    found
}

fn note(found: &mut WalkTally, discussion: &Discussion, audit: &Audit, prefix: &str) {
    for fault in &audit.faults {
        found.fault(&discussion.id, &format!("{prefix}{fault}"));
    }
    for wrong in &audit.wrong_counts {
        found.fault(&discussion.id, &format!("{prefix}{}", words(*wrong)));
    }
    found.faults_left_out += audit.faults_left_out;
}

fn recounted(discussion: &Discussion, check: &CountCheck) -> WalkTally {
    let outcome = if check.is_right() { "right" } else { "mended" };
    let mut found = WalkTally::of_item(outcome, check.rows);
    let wrong = u64::try_from(check.wrong.len()).unwrap_or(u64::MAX);
    found.add("mended", wrong);
    if wrong > 0 {
        tracing::info!(discussion = %discussion.id, wrong, "counts mended");
    }
    found
}

fn words(wrong: WrongCount) -> String {
    match wrong {
        WrongCount::Sums => "the sums are not those of its comments".to_owned(),
        WrongCount::List { branch: -1, .. } => "the counts of the linear list are wrong".to_owned(),
        WrongCount::List { branch: 0, .. } => "the counts of the roots are wrong".to_owned(),
        WrongCount::List { layout, branch } => {
            format!("the counts of the replies under {branch} are wrong (layout {layout})")
        }
        WrongCount::Tombstone {
            comment,
            live_below: true,
        } => format!("comment {comment}: deleted, with replies, but shown as nothing"),
        WrongCount::Tombstone { comment, .. } => {
            format!("comment {comment}: deleted, without replies, but shown as a tombstone")
        }
    }
}

#[async_trait]
impl WalkJob for AuditJob {
    type Item = Arc<Discussion>;

    fn name(&self) -> &'static str {
        match self.kind {
            AuditKind::Verify => "index-verify",
            AuditKind::Repair => "index-repair",
            AuditKind::Recount => "recount",
        }
    }

    fn settings(&self) -> String {
        String::new()
    }

    fn label(&self, item: &Self::Item) -> String {
        format!("discussion {}", item.id)
    }

    async fn work(
        &self,
        item: &Self::Item,
        _again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        self.audit(item, pace).await
    }
}
