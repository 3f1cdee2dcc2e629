//! What writes answer: done, or refused with a reason that a client can act on.

use async_graphql::{Enum, ID, SimpleObject};

use super::comment::CommentNode;
use super::load::Loader;
use super::scalars::{instant, int};
use super::want::Want;
use crate::domain::ids::opaque::encode_event;
use crate::domain::text::{TextError, TextField};
use crate::service::writing::{Refusal, WriteOutcome};

/// A write that was done.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CommentWritten {
    /// The comment as it is now.
    comment: CommentNode,
    /// Sent as `X-Read-After` with a later request, it makes any instance answer with this write
    /// in view.
    read_after: String,
    /// The event that `commentEvents` tells of this write: who applies it now need not apply it
    /// again.
    event_id: ID,
    /// Whether an earlier request with the same key had already done it.
    replayed: bool,
}

/// Why a write was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum CommentRefusal {
    /// The text breaks a rule; `code` names it.
    Text,
    /// There is no such discussion, and this viewer may not open one here.
    DiscussionNotFound,
    /// The discussion is read only.
    DiscussionClosed,
    /// The discussion holds as many comments as it may.
    DiscussionFull,
    /// The parent is not in this discussion.
    ParentNotFound,
    /// The parent was deleted or hidden.
    ParentGone,
    /// The parent lies on the deepest level.
    TooDeep,
    /// The key was used before, for another text.
    KeyReused,
    /// There is no such comment, as far as the viewer may know.
    CommentNotFound,
    /// Somebody else wrote it.
    NotYours,
    /// It changed since the revision named; `comment` is as it is now.
    Stale,
    /// It was deleted, and that is final.
    AlreadyDeleted,
    /// The viewer is banned; the message says until when.
    Banned,
    /// The viewer wrote it themselves.
    OwnComment,
    /// Not everybody can read it: it is hidden, waits, or lies below such a comment.
    NotPublic,
    /// The text holds a word that is not allowed here; which one is not told.
    WordNotAllowed,
    /// The text looks like spam, or could not be checked for it.
    Spam,
}

/// A write that was not done.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CommentRefused {
    /// Why.
    reason: CommentRefusal,
    /// The same, finer where the text is at fault: `BODY_EMPTY`, `BODY_TOO_LONG`, …
    code: String,
    /// For people; may change.
    message: String,
    /// The limit that was passed. Null when it is not about a limit.
    limit: Option<i32>,
    /// How far it was passed. Null when it is not about a limit.
    actual: Option<i32>,
    /// The comment as it is now, where that helps. Null otherwise.
    comment: Option<CommentNode>,
}

/// A write's outcome with what is wanted of its comment.
pub(super) async fn outcome(
    loader: &Loader,
    done: WriteOutcome,
    want: &Want,
) -> Result<CommentWritten, CommentRefused> {
    let want = want.below("comment");
    match done {
        WriteOutcome::Written(written) => {
            let seen = written.read_after;
            let event_id = encode_event(seen.discussion, seen.event).into();
            let read_after = seen.encode();
            let replayed = written.replayed;
            match loader
                .comment(&written.discussion, written.comment, &want)
                .await
            {
                Some(comment) => Ok(CommentWritten {
                    comment,
                    read_after,
                    event_id,
                    replayed,
                }),
                None => Err(refused(&Refusal::CommentNotFound, None)),
            }
        }
        WriteOutcome::Refused(refusal, current) => {
            let current = match current {
                None => None,
                // The refusal stands even when the present comment cannot be loaded.
                Some(view) => loader
                    .views(vec![*view], &want)
                    .await
                    .ok()
                    .and_then(|mut nodes| nodes.pop()),
            };
            Err(refused(&refusal, current))
        }
    }
}

pub(super) fn refused(refusal: &Refusal, comment: Option<CommentNode>) -> CommentRefused {
    let (reason, message) = describe(refusal);
    let (limit, actual) = match refusal {
        Refusal::Text(_, error) => limit_and_actual(error),
        Refusal::DiscussionFull { limit } | Refusal::TooDeep { limit } => (Some(int(*limit)), None),
        Refusal::DiscussionNotFound
        | Refusal::DiscussionClosed
        | Refusal::ParentNotFound
        | Refusal::ParentGone
        | Refusal::KeyReused
        | Refusal::CommentNotFound
        | Refusal::NotYours
        | Refusal::Stale
        | Refusal::AlreadyDeleted
        | Refusal::OwnComment
        | Refusal::NotPublic
        | Refusal::WordNotAllowed
        | Refusal::Spam
        | Refusal::Banned { .. } => (None, None),
    };
    let code = if let Refusal::Text(field, error) = refusal {
        error.code_for(*field).to_owned()
    } else {
        async_graphql::resolver_utils::enum_value(reason).to_string()
    };
    CommentRefused {
        reason,
        code,
        message,
        limit,
        actual,
        comment,
    }
}

fn limit_and_actual(error: &TextError) -> (Option<i32>, Option<i32>) {
    let size = |size: usize| int(i64::try_from(size).unwrap_or(i64::MAX));
    match error.limit_and_actual() {
        Some((limit, actual)) => (Some(size(limit)), Some(size(actual))),
        None => (None, None),
    }
}

/// The argument that a text came in.
const fn argument_of(field: TextField) -> &'static str {
    match field {
        TextField::Body => "body",
        TextField::Name => "name",
        TextField::Title => "title",
        TextField::PostingKey => "key",
        TextField::Report => "text",
        TextField::Reason => "reason",
    }
}

fn describe(refusal: &Refusal) -> (CommentRefusal, String) {
    let (reason, message) = match refusal {
        Refusal::Text(field, error) => {
            let message = format!("{}: {error}", argument_of(*field));
            return (CommentRefusal::Text, message);
        }
        Refusal::DiscussionNotFound => (
            CommentRefusal::DiscussionNotFound,
            "there is no such discussion",
        ),
        Refusal::DiscussionClosed => (
            CommentRefusal::DiscussionClosed,
            "the discussion takes no new comments",
        ),
        Refusal::DiscussionFull { limit } => {
            let message = format!("the discussion holds {limit} comments, which is the limit");
            return (CommentRefusal::DiscussionFull, message);
        }
        Refusal::ParentNotFound => (
            CommentRefusal::ParentNotFound,
            "parent: not a comment of this discussion",
        ),
        Refusal::ParentGone => (
            CommentRefusal::ParentGone,
            "parent: it was deleted or hidden",
        ),
        Refusal::TooDeep { limit } => {
            let message = format!("parent: replies nest at most {limit} levels deep");
            return (CommentRefusal::TooDeep, message);
        }
        Refusal::KeyReused => (
            CommentRefusal::KeyReused,
            "key: it was used before, for another text",
        ),
        Refusal::CommentNotFound => (CommentRefusal::CommentNotFound, "there is no such comment"),
        Refusal::NotYours => (CommentRefusal::NotYours, "somebody else wrote this comment"),
        Refusal::Stale => (
            CommentRefusal::Stale,
            "expectedRevision: the comment changed since then",
        ),
        Refusal::AlreadyDeleted => (CommentRefusal::AlreadyDeleted, "the comment was deleted"),
        Refusal::Banned { until_ms: None } => (CommentRefusal::Banned, "you are banned"),
        Refusal::Banned {
            until_ms: Some(until_ms),
        } => {
            let message = format!("you are banned until {}", instant(*until_ms));
            return (CommentRefusal::Banned, message);
        }
        Refusal::OwnComment => (
            CommentRefusal::OwnComment,
            "comment: the viewer wrote it themselves",
        ),
        Refusal::WordNotAllowed => (
            CommentRefusal::WordNotAllowed,
            "body: it holds a word that is not allowed here",
        ),
        Refusal::Spam => (
            CommentRefusal::Spam,
            "body: it looks like spam, or could not be checked for it",
        ),
        Refusal::NotPublic => (
            CommentRefusal::NotPublic,
            "comment: not everybody can read it",
        ),
    };
    (reason, message.to_owned())
}
