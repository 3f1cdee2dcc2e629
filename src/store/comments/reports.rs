//! Reports and the moderation queue: what waits for a moderator, and why.
//!
//! A comment is in the queue while it is pending or has reports that nobody answered. It comes and
//! goes in the transaction of the change that causes it, so there is no moment in which the queue
//! and the comments disagree, and its size is the number of its rows.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::ids::{CommentId, DiscussionId, EventId, QueueId, UserId};
use crate::domain::moderation::{QueueKind, ReportReason};
use crate::domain::page::Slice;
use crate::store::StoreError;

/// A report to write.
#[derive(Clone, Debug)]
pub struct NewReport {
    /// Where.
    pub discussion_id: DiscussionId,
    /// Of which comment.
    pub comment_id: CommentId,
    /// Who reports.
    pub reporter_id: UserId,
    /// Why.
    pub reason: ReportReason,
    /// Checked text; may be empty.
    pub text: String,
    /// A minted id.
    pub event_id: EventId,
}

/// A report as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its id; the time inside is when it was made.
    pub id: EventId,
    /// Where.
    pub discussion_id: DiscussionId,
    /// Of which comment.
    pub comment_id: CommentId,
    /// Who reported; [`UserId::NOBODY`] once that person was forgotten.
    pub reporter_id: UserId,
    /// Why.
    pub reason: ReportReason,
    /// What they said; empty once the comment is buried or the reporter forgotten.
    pub text: String,
    /// Whether a moderator has answered it.
    pub is_answered: bool,
}

/// What reporting gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    /// Written.
    Reported(Report),
    /// This person had reported it before; the report as it is stored. Nothing was written.
    Repeated(Report),
    /// They wrote the comment themselves.
    Own,
    /// It is hidden, pending or lies below such a comment: people cannot read it anyway.
    NotPublic,
    /// It is buried.
    Gone,
    /// No such comment.
    NotFound,
}

/// Reports of a comment to answer without a change of the comment.
#[derive(Clone, Debug)]
pub struct Dismissal {
    /// Where.
    pub discussion_id: DiscussionId,
    /// Of which comment.
    pub comment_id: CommentId,
    /// Who answers.
    pub by: UserId,
    /// Why, for the audit log; may be empty.
    pub reason: String,
    /// A minted id.
    pub event_id: EventId,
}

/// What answering reports gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DismissOutcome {
    /// So many reports were answered.
    Dismissed(u32),
    /// There was none to answer; nothing was written.
    NoChange,
    /// No such comment.
    NotFound,
}

/// Which part of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueFilter {
    /// Only of this discussion.
    pub discussion: Option<DiscussionId>,
    /// Only those there for this.
    pub kind: Option<QueueKind>,
    /// Only those with an unanswered report for this reason.
    pub reason: Option<ReportReason>,
}

/// A comment in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueItem {
    /// Its place: later comers have higher ones, and no place is given twice.
    pub id: QueueId,
    /// Where.
    pub discussion_id: DiscussionId,
    /// Which.
    pub comment_id: CommentId,
    /// When it came into the queue, in ms since 1970.
    pub since_ms: i64,
    /// Whether it waits to be let through.
    pub is_pending: bool,
    /// Unanswered reports.
    pub report_count: u32,
    /// Their reasons, each once.
    pub reasons: Vec<ReportReason>,
}

/// Reports and the queue.
#[async_trait]
pub trait CommentReports: Send + Sync + Debug {
    /// Writes a report and puts the comment into the queue (Q1, Q3).
    async fn report(&self, new: NewReport) -> Result<ReportOutcome, StoreError>;

    /// Answers every report of a comment; a comment that is not pending leaves the queue (Q4).
    async fn dismiss_reports(&self, dismissal: Dismissal) -> Result<DismissOutcome, StoreError>;

    /// A part of the queue by place (Q5).
    async fn queue(
        &self,
        filter: QueueFilter,
        slice: Slice<QueueId>,
    ) -> Result<Vec<QueueItem>, StoreError>;

    /// How many comments of the queue a filter lets through (Q5).
    async fn queue_size(&self, filter: QueueFilter) -> Result<u64, StoreError>;

    /// Unanswered reports of some comments with ids above `after`, oldest first, at most `limit` of
    /// each comment.
    async fn open_reports(
        &self,
        comments: &[(DiscussionId, CommentId)],
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Report>, StoreError>;

    /// A person's reports with ids above `after`, oldest first.
    async fn reports_by(
        &self,
        reporter: UserId,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Report>, StoreError>;

    /// Takes a person's name and words off up to `limit` of their reports; the reports stay.
    /// `false`: none is left (Q6).
    async fn forget_reporter(&self, reporter: UserId, limit: u32) -> Result<bool, StoreError>;
}
