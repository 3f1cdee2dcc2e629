//! What moderators use: reports, the queue, the audit log, pins, premoderation.
//!
//! The roots here are parts of `Query` and `Mutation`. Who may do what is the service's decision.

mod audit;
mod mutation;
mod queue;

use async_graphql::{Context, Enum, ID, Object, Result};

use self::audit::AuditConnection;
pub(super) use self::mutation::ModerationMutation;
use self::queue::ModerationQueueConnection;
use super::failure::bad_input;
use super::scalars::DateTime;
use super::user::UserNode;
use super::want::page_args;
use crate::domain::ids::DiscussionId;
use crate::domain::ids::opaque::{EntryOf, decode_discussion, decode_user, encode_entry};
use crate::domain::moderation::{
    AuditAct as DomainAct, QueueKind as DomainKind, ReportReason as DomainReason,
};
use crate::store::comments::{AuditFilter, QueueFilter, Report};

/// Why somebody reports a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainReason")]
pub(super) enum ReportReason {
    /// Advertising, or the same again and again.
    Spam,
    /// It attacks or threatens somebody.
    Abuse,
    /// It has nothing to do with the discussion.
    OffTopic,
    /// It may be against the law.
    Illegal,
    /// Something else, which the report's text says.
    Other,
}

/// Why a comment is in the moderation queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainKind")]
pub(super) enum QueueKind {
    /// It waits to be let through.
    Pending,
    /// People reported it, and nobody has answered that yet.
    Reported,
}

/// What a moderator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainAct")]
pub(super) enum AuditAct {
    /// Took a comment out of sight.
    Hide,
    /// Brought a hidden comment back.
    Restore,
    /// Let a waiting comment through.
    Approve,
    /// Deleted somebody else's comment.
    #[graphql(name = "DELETE")]
    Bury,
    /// Answered the reports of a comment without a change.
    DismissReports,
    /// Pinned other comments than before.
    Pin,
    /// Closed a discussion for new comments.
    Close,
    /// Opened a closed discussion again.
    Reopen,
    /// Made new comments of a discussion wait.
    Premoderate,
    /// Made new comments of a discussion appear at once.
    PublishAtOnce,
    /// Opened a discussion that was not there.
    OpenDiscussion,
    /// Banned a person.
    Ban,
    /// Ended a person's ban.
    Unban,
}

/// A report with the profile of who made it.
#[derive(Clone, Debug)]
pub(super) struct ReportNode {
    report: Report,
    reporter: Option<UserNode>,
}

/// What somebody says about a comment. Moderators see it, and who made it.
#[Object(name = "CommentReport")]
impl ReportNode {
    /// Opaque.
    async fn id(&self) -> ID {
        encode_entry(EntryOf::Report, self.report.id).into()
    }

    /// Why.
    async fn reason(&self) -> ReportReason {
        self.report.reason.into()
    }

    /// What they said; may be empty.
    async fn text(&self) -> &str {
        &self.report.text
    }

    /// When.
    async fn created_at(&self) -> DateTime {
        DateTime(self.report.id.time_ms())
    }

    /// Who. Null once their data was erased.
    async fn reporter(&self) -> Option<&UserNode> {
        self.reporter.as_ref()
    }
}

fn discussion_of(id: Option<&ID>) -> Result<Option<DiscussionId>> {
    id.map(|id| decode_discussion(id).map_err(|error| bad_input("discussion", error)))
        .transpose()
}

/// What moderators read.
#[derive(Debug)]
pub(super) struct ModerationQuery;

#[Object]
impl ModerationQuery {
    /// Comments that wait for a moderator, longest waiting first. Moderators only.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn moderation_queue(
        &self,
        ctx: &Context<'_>,
        discussion: Option<ID>,
        kind: Option<QueueKind>,
        reason: Option<ReportReason>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<ModerationQueueConnection>> {
        let filter = discussion_of(discussion.as_ref()).map(|discussion| QueueFilter {
            discussion,
            kind: kind.map(Into::into),
            reason: reason.map(Into::into),
        });
        Some(match filter {
            Ok(filter) => queue::load(ctx, filter, page_args(first, after, last, before)).await,
            Err(error) => Err(error),
        })
    }

    /// What moderators did, newest first. Moderators only.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn audit_log(
        &self,
        ctx: &Context<'_>,
        discussion: Option<ID>,
        actor: Option<ID>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<AuditConnection>> {
        let filter = || {
            let actor = actor
                .map(|id| decode_user(&id).map_err(|error| bad_input("actor", error)))
                .transpose()?;
            let discussion = discussion_of(discussion.as_ref())?;
            Ok(AuditFilter { discussion, actor })
        };
        Some(match filter() {
            Ok(filter) => audit::load(ctx, filter, page_args(first, after, last, before)).await,
            Err(error) => Err(error),
        })
    }
}
