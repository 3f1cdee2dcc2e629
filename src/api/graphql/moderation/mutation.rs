//! Reporting, answering reports, and what moderators set on a discussion.

use std::collections::HashMap;

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject, Union};

use super::queue::person;
use super::{ReportNode, ReportReason};
use crate::api::graphql::comment::CommentNode;
use crate::api::graphql::discussion::DiscussionNode;
use crate::api::graphql::failure::{bad_input, failure};
use crate::api::graphql::load::Loader;
use crate::api::graphql::loader_of;
use crate::api::graphql::mutation::place;
use crate::api::graphql::payload::{CommentRefused, refused};
use crate::api::graphql::scalars::int;
use crate::api::graphql::want::Want;
use crate::domain::ids::opaque::{decode_comment, decode_discussion};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::user::User;
use crate::service::moderating::DiscussionWrite;
use crate::service::reports::{DismissWrite, ReportWrite};
use crate::service::writing::Refusal;
use crate::store::comments::Report;

/// A comment to report.
#[derive(Clone, Debug, InputObject)]
struct ReportCommentInput {
    /// The comment.
    comment: ID,
    /// Why.
    reason: ReportReason,
    /// More about it, for moderators; at most 1,000 characters.
    #[graphql(default)]
    text: String,
}

/// A comment whose reports are answered.
#[derive(Clone, Debug, InputObject)]
struct DismissReportsInput {
    /// The comment.
    comment: ID,
    /// Why, for the audit log; at most 300 characters.
    #[graphql(default)]
    reason: String,
}

/// What is pinned in a discussion from now on.
#[derive(Clone, Debug, InputObject)]
struct PinCommentsInput {
    /// The discussion.
    discussion: ID,
    /// The whole list in its order, at most 10; none of them unpins all.
    comments: Vec<ID>,
}

/// A report that was made.
#[derive(Clone, Debug, SimpleObject)]
struct CommentReported {
    /// The report.
    report: ReportNode,
    /// The comment. Null when the viewer cannot see it any more.
    comment: Option<CommentNode>,
    /// Whether the viewer had reported it before; then this is the first report, unchanged.
    repeated: bool,
}

/// Reports that were answered.
#[derive(Clone, Debug, SimpleObject)]
struct ReportsDismissed {
    /// The comment.
    comment: Option<CommentNode>,
    /// How many reports had waited for this answer.
    dismissed: i32,
}

/// A discussion that is as it was to be.
#[derive(Clone, Debug, SimpleObject)]
struct DiscussionWritten {
    /// The discussion as it is now.
    discussion: DiscussionNode,
    /// Sent as `X-Read-After` with a later request, it makes any instance answer with this write
    /// in view.
    read_after: String,
}

/// What `reportComment` gave.
#[derive(Clone, Debug, Union)]
enum ReportCommentPayload {
    /// It was done.
    Reported(CommentReported),
    /// It was not done, and why.
    Refused(CommentRefused),
}

/// What `dismissReports` gave.
#[derive(Clone, Debug, Union)]
enum DismissReportsPayload {
    /// It was done.
    Dismissed(ReportsDismissed),
    /// It was not done, and why.
    Refused(CommentRefused),
}

/// What `pinComments` gave.
#[derive(Clone, Debug, Union)]
enum PinCommentsPayload {
    /// It was done.
    Written(DiscussionWritten),
    /// It was not done, and why: `NOT_PUBLIC` when one is missing or not everybody can read it.
    Refused(CommentRefused),
}

/// A report with its maker's profile.
pub(super) fn with_reporter(report: Report, people: &HashMap<UserId, User>) -> ReportNode {
    let known = report.reporter_id != UserId::NOBODY;
    ReportNode {
        reporter: known.then(|| person(report.reporter_id, people)),
        report,
    }
}

/// A comment with what is wanted of it, if the viewer may see it.
async fn comment(
    loader: &Loader,
    at: (DiscussionId, CommentId),
    want: &Want,
) -> Result<Option<CommentNode>> {
    if !want.has("comment") {
        return Ok(None);
    }
    let mut found = loader.by_ids(&[at], &want.below("comment")).await?;
    Ok(found.remove(&at))
}

/// A refusal with the comment as it is now, where the viewer may see it.
async fn refusal(
    loader: &Loader,
    refusal: &Refusal,
    at: (DiscussionId, CommentId),
    want: &Want,
) -> Result<CommentRefused> {
    Ok(refused(refusal, comment(loader, at, want).await?))
}

/// What moderators write, and what everybody tells them.
#[derive(Debug)]
pub(in super::super) struct ModerationMutation;

#[Object]
impl ModerationMutation {
    /// Tells moderators about somebody else's comment. Once a person and comment: a second report
    /// gives the first one. Needs a signed-in viewer.
    async fn report_comment(
        &self,
        ctx: &Context<'_>,
        input: ReportCommentInput,
    ) -> Result<ReportCommentPayload> {
        let loader = loader_of(ctx)?;
        let at = place(&input.comment)?;
        let (service, want) = (&loader.service, Want::of(ctx.field()));
        let done = service
            .report(&loader.request, at, input.reason.into(), input.text)
            .await
            .map_err(failure)?;
        Ok(match done {
            ReportWrite::Reported(report, repeated) => {
                let people = service
                    .users(&[report.reporter_id])
                    .await
                    .map_err(failure)?;
                ReportCommentPayload::Reported(CommentReported {
                    report: with_reporter(report, &people),
                    comment: comment(loader, at, &want).await?,
                    repeated,
                })
            }
            ReportWrite::Refused(why) => {
                ReportCommentPayload::Refused(refusal(loader, &why, at, &want).await?)
            }
        })
    }

    /// Answers every report of a comment and leaves the comment as it is. Moderators only.
    async fn dismiss_reports(
        &self,
        ctx: &Context<'_>,
        input: DismissReportsInput,
    ) -> Result<DismissReportsPayload> {
        let loader = loader_of(ctx)?;
        let at = place(&input.comment)?;
        let want = Want::of(ctx.field());
        let done = loader
            .service
            .dismiss_reports(&loader.request, at, input.reason)
            .await
            .map_err(failure)?;
        Ok(match done {
            DismissWrite::Dismissed(count) => DismissReportsPayload::Dismissed(ReportsDismissed {
                comment: comment(loader, at, &want).await?,
                dismissed: int(i64::from(count)),
            }),
            DismissWrite::Refused(why) => {
                DismissReportsPayload::Refused(refusal(loader, &why, at, &want).await?)
            }
        })
    }

    /// Pins comments above a discussion: the whole list in its order, not a change of it. Moderators
    /// only. A pinned comment that is hidden or deleted later is not shown; pages do not change.
    async fn pin_comments(
        &self,
        ctx: &Context<'_>,
        input: PinCommentsInput,
    ) -> Result<PinCommentsPayload> {
        let loader = loader_of(ctx)?;
        let id = discussion_id(&input.discussion)?;
        let comments = input
            .comments
            .iter()
            .map(|id| decode_comment(id).map_err(|error| bad_input("comments", error)))
            .collect::<Result<Vec<_>>>()?;
        let done = loader
            .service
            .pin_comments(&loader.request, id, &comments)
            .await
            .map_err(failure)?;
        Ok(match done {
            DiscussionWrite::Written(row, read_after) => {
                PinCommentsPayload::Written(DiscussionWritten {
                    discussion: DiscussionNode(row),
                    read_after: read_after.encode(),
                })
            }
            DiscussionWrite::Refused(why) => PinCommentsPayload::Refused(refused(&why, None)),
        })
    }

    /// Makes new comments of a discussion wait for a moderator, or appear at once. Moderators only.
    /// Null when there is none. Comments that wait already go on waiting.
    async fn set_premoderation(
        &self,
        ctx: &Context<'_>,
        discussion: ID,
        premoderated: bool,
    ) -> Option<Result<DiscussionNode>> {
        let done = async {
            let loader = loader_of(ctx)?;
            let id = discussion_id(&discussion)?;
            loader
                .service
                .set_premoderation(&loader.request, id, premoderated)
                .await
                .map_err(failure)
        };
        done.await.map(|row| row.map(DiscussionNode)).transpose()
    }
}

fn discussion_id(id: &ID) -> Result<DiscussionId> {
    decode_discussion(id).map_err(|error| bad_input("discussion", error))
}
