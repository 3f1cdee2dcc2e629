//! Reporting comments, and the queue that moderators work off.

use std::collections::HashMap;

use super::pages::{ListPage, list_page};
use super::request::LIST_COST;
use super::writing::{Refusal, moderator, signed_in};
use super::{Request, Service, ServiceResult};
use crate::domain::cursor::CursorList;
use crate::domain::ids::{CommentId, DiscussionId, EventId, QueueId};
use crate::domain::moderation::{
    ACT_REASON_SCALARS_MAX, QueueKind, REPORT_TEXT_SCALARS_MAX, ReportReason,
};
use crate::domain::page::{Order, PageArgs, Slice};
use crate::domain::text::{TextField, check_note};
use crate::domain::visibility::CommentView;
use crate::store::comments::{
    DismissOutcome, Dismissal, NewReport, QueueFilter, QueueItem, Report, ReportOutcome,
};

/// What reporting gave.
#[derive(Clone, Debug)]
pub enum ReportWrite {
    /// The viewer's report, and whether an earlier request had made it.
    Reported(Report, bool),
    /// Not done.
    Refused(Refusal),
}

/// What answering reports gave.
#[derive(Clone, Debug)]
pub enum DismissWrite {
    /// So many reports were answered; 0 when there were none.
    Dismissed(u32),
    /// Not done.
    Refused(Refusal),
}

/// The list that a page of the queue belongs to.
#[must_use]
pub fn queue_list(filter: QueueFilter) -> CursorList {
    let kind = match filter.kind {
        None => 0,
        Some(QueueKind::Pending) => 1,
        Some(QueueKind::Reported) => 2,
    };
    let reason = filter.reason.map_or(0, |reason| reason.code() + 1);
    CursorList::Queue(
        filter.discussion.map_or(0, DiscussionId::get),
        reason * 3 + kind,
    )
}

impl Service {
    /// Reports somebody else's comment. A second report of the same comment is the first one.
    pub async fn report(
        &self,
        request: &Request,
        at: (DiscussionId, CommentId),
        reason: ReportReason,
        text: String,
    ) -> ServiceResult<ReportWrite> {
        let viewer = signed_in(request)?;
        if let Some(refusal) = self.refuses(&viewer).await? {
            return Ok(ReportWrite::Refused(refusal));
        }
        if let Err(error) = check_note(&text, REPORT_TEXT_SCALARS_MAX) {
            return Ok(ReportWrite::Refused(Refusal::Text(
                TextField::Report,
                error,
            )));
        }
        let new = NewReport {
            discussion_id: at.0,
            comment_id: at.1,
            reporter_id: viewer.user_id,
            reason,
            text,
            event_id: EventId::new(self.ports.ids.mint()?),
        };
        let refusal = match self.ports.comments.report(new).await? {
            ReportOutcome::Reported(report) => return Ok(ReportWrite::Reported(report, false)),
            ReportOutcome::Repeated(report) => return Ok(ReportWrite::Reported(report, true)),
            ReportOutcome::Own => Refusal::OwnComment,
            ReportOutcome::NotPublic => Refusal::NotPublic,
            ReportOutcome::Gone => Refusal::AlreadyDeleted,
            ReportOutcome::NotFound => Refusal::CommentNotFound,
        };
        self.known(request, at, refusal)
            .await
            .map(ReportWrite::Refused)
    }

    /// A refusal that says that a comment is there: only for those who may see it.
    async fn known(
        &self,
        request: &Request,
        at: (DiscussionId, CommentId),
        refusal: Refusal,
    ) -> ServiceResult<Refusal> {
        let seen = self.comments(request, &[at]).await?;
        Ok(if seen.contains_key(&at) {
            refusal
        } else {
            Refusal::CommentNotFound
        })
    }

    /// Answers every report of a comment without a change of it; moderators only.
    pub async fn dismiss_reports(
        &self,
        request: &Request,
        at: (DiscussionId, CommentId),
        reason: String,
    ) -> ServiceResult<DismissWrite> {
        let viewer = moderator(request)?;
        if let Err(error) = check_note(&reason, ACT_REASON_SCALARS_MAX) {
            return Ok(DismissWrite::Refused(Refusal::Text(
                TextField::Reason,
                error,
            )));
        }
        let dismissal = Dismissal {
            discussion_id: at.0,
            comment_id: at.1,
            by: viewer.user_id,
            reason,
            event_id: EventId::new(self.ports.ids.mint()?),
        };
        let outcome = self.ports.comments.dismiss_reports(dismissal).await?;
        Ok(match outcome {
            DismissOutcome::Dismissed(count) => DismissWrite::Dismissed(count),
            DismissOutcome::NoChange => DismissWrite::Dismissed(0),
            DismissOutcome::NotFound => DismissWrite::Refused(Refusal::CommentNotFound),
        })
    }

    /// A page of what waits for a moderator, longest waiting first; moderators only. With each item
    /// its comment.
    pub async fn queue(
        &self,
        request: &Request,
        filter: QueueFilter,
        args: &PageArgs<String>,
    ) -> ServiceResult<ListPage<(QueueItem, CommentView)>> {
        moderator(request)?;
        let order = Order::Oldest;
        let page = self.page_request(args, queue_list(filter), order)?;
        request.spend(LIST_COST)?;
        let page = list_page(page, order, async |slice: Slice| {
            let slice = slice.map(|id| QueueId::new(id.get()));
            Ok(self.ports.comments.queue(filter, slice).await?)
        })
        .await?;
        let places: Vec<_> = page
            .items
            .iter()
            .map(|item| (item.discussion_id, item.comment_id))
            .collect();
        let mut seen = self.comments(request, &places).await?;
        let with_comment = |item: QueueItem| {
            // One that left the queue since, and was deleted, may have nothing to show.
            let view = seen.remove(&(item.discussion_id, item.comment_id))?;
            Some((item, view))
        };
        Ok(ListPage {
            items: page.items.into_iter().filter_map(with_comment).collect(),
            has_previous: page.has_previous,
            has_next: page.has_next,
        })
    }

    /// How many comments wait for a moderator; moderators only.
    pub async fn queue_size(&self, request: &Request, filter: QueueFilter) -> ServiceResult<u64> {
        moderator(request)?;
        Ok(self.ports.comments.queue_size(filter).await?)
    }

    /// Unanswered reports of some comments, oldest first, `limit` of each; moderators only. One
    /// store call.
    pub async fn open_reports(
        &self,
        request: &Request,
        comments: &[(DiscussionId, CommentId)],
        after: Option<EventId>,
        limit: u32,
    ) -> ServiceResult<HashMap<(DiscussionId, CommentId), Vec<Report>>> {
        moderator(request)?;
        let each = usize::try_from(limit).unwrap_or(usize::MAX);
        request.spend(comments.len().saturating_mul(each))?;
        let reports = &self.ports.comments;
        let mut found: HashMap<_, Vec<Report>> = HashMap::new();
        for report in reports.open_reports(comments, after, limit).await? {
            let place = (report.discussion_id, report.comment_id);
            found.entry(place).or_default().push(report);
        }
        Ok(found)
    }
}
