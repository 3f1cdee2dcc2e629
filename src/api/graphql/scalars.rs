//! Scalars and enums of the schema, and how domain values become them.

use async_graphql::{Enum, InputValueError, InputValueResult, Scalar, ScalarType, Value};
use jiff::Timestamp;

use crate::domain::body::BodyFormat as DomainFormat;
use crate::domain::discussion::DiscussionState as DomainDiscussionState;
use crate::domain::mode::{Mode, ModeReason};
use crate::domain::page::Order;
use crate::domain::viewer::Role as DomainRole;
use crate::domain::visibility::ShownState;

/// An instant in UTC as RFC 3339 writes it, with milliseconds: `2026-11-30T16:42:52.000Z`.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateTime(pub(super) i64);

#[Scalar(
    name = "DateTime",
    specified_by_url = "https://scalars.graphql.org/andimarek/date-time.html"
)]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        let instant: Result<Timestamp, _> = text.parse();
        match instant {
            Ok(instant) => Ok(Self(instant.as_millisecond())),
            Err(error) => Err(InputValueError::custom(format!(
                "not an RFC 3339 instant such as 2026-11-30T16:42:52Z: {error}"
            ))),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(instant(self.0))
    }
}

/// Milliseconds since 1970 as RFC 3339 writes them.
pub(super) fn instant(ms: i64) -> String {
    // Ids hold 42 bits of milliseconds, so every stored time is a valid instant.
    let instant = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{instant:.3}")
}

/// An absolute http or https address.
#[derive(Clone, Debug)]
pub(super) struct Url(pub(super) String);

#[Scalar(name = "URL")]
impl ScalarType for Url {
    fn parse(value: Value) -> InputValueResult<Self> {
        if let Value::String(text) = value {
            Ok(Self(text))
        } else {
            Err(InputValueError::expected_type(value))
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

/// A count as `Int`; what does not fit is the largest `Int`.
pub(super) fn int(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// How a discussion is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
pub(super) enum CommentsMode {
    /// What the flag, the index and the client's version give.
    #[default]
    Auto,
    /// Every comment by date.
    Linear,
    /// Roots by date, replies under them.
    Threaded,
}

impl CommentsMode {
    pub(super) fn named(self) -> Option<Mode> {
        match self {
            Self::Auto => None,
            Self::Linear => Some(Mode::Linear),
            Self::Threaded => Some(Mode::Threaded),
        }
    }
}

impl From<Mode> for CommentsMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Linear => Self::Linear,
            Mode::Threaded => Self::Threaded,
        }
    }
}

/// Why a page is linear or threaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "ModeReason")]
pub(super) enum CommentsModeReason {
    /// Threads are switched off for everybody.
    Killed,
    /// The flag is not enabled.
    Disabled,
    /// The client is unknown, or older than threads need.
    Client,
    /// Another feature that threads need is off.
    Prerequisite,
    /// The viewer is on the deny list.
    Denied,
    /// The discussion's index is still being built.
    Index,
    /// The client named the mode.
    Requested,
    /// The page goes on from a cursor of this mode.
    Cursor,
    /// The cursor was made in threads, which are gone: these are the comments beyond it by date.
    Translated,
    /// The viewer is on the allow list.
    Allowed,
    /// A rule of the flag decided.
    Rule,
    /// The viewer's place in the rollout decided.
    Rollout,
    /// The flag's default.
    Default,
}

/// The order of a discussion's comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
pub(super) enum CommentOrder {
    /// Oldest first.
    #[default]
    Oldest,
    /// Newest first.
    Newest,
}

/// The order of replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
pub(super) enum ReplyOrder {
    /// Oldest first.
    #[default]
    Oldest,
    /// Newest first.
    Newest,
}

impl From<CommentOrder> for Order {
    fn from(order: CommentOrder) -> Self {
        match order {
            CommentOrder::Oldest => Self::Oldest,
            CommentOrder::Newest => Self::Newest,
        }
    }
}

impl From<ReplyOrder> for Order {
    fn from(order: ReplyOrder) -> Self {
        match order {
            ReplyOrder::Oldest => Self::Oldest,
            ReplyOrder::Newest => Self::Newest,
        }
    }
}

/// How a body's source is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainFormat")]
pub(super) enum BodyFormat {
    /// Text as typed.
    #[default]
    Plain,
    /// `CommonMark`.
    Markdown,
    /// HTML; sanitised when read.
    Html,
}

/// Where a comment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "ShownState")]
pub(super) enum CommentState {
    /// Everybody may read it.
    Published,
    /// Waits for a moderator; only its author and moderators see it.
    Pending,
    /// Hidden by a moderator; only its author and moderators see it.
    Hidden,
    /// Deleted: a tombstone without text and author.
    #[graphql(name = "DELETED")]
    Buried,
    /// The viewer blocks its author: a placeholder without text and author. What hangs below stays.
    Blocked,
}

/// Whether a discussion takes new comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainDiscussionState")]
pub(super) enum DiscussionState {
    /// New comments are welcome.
    Open,
    /// Read only.
    Closed,
}

/// What a viewer may do beyond reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "DomainRole")]
pub(super) enum Role {
    /// Reads and writes.
    Member,
    /// Also moderates.
    Moderator,
    /// Also sees how the service runs.
    Administrator,
}
