//! The schema's side of live events: the subscription root and what an event holds.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::parser::types::Field;
use async_graphql::{Context, Enum, ID, Object, Result, Subscription as SubscriptionRoot, Value};
use futures_util::Stream;
use futures_util::stream;

use crate::api::graphql::comment::CommentNode;
use crate::api::graphql::discussion::DiscussionNode;
use crate::api::graphql::failure::{bad_input, failure};
use crate::api::graphql::loader_of;
use crate::api::graphql::want::Want;
use crate::domain::ids::opaque::{GlobalId, decode_discussion, decode_event, encode_event};
use crate::domain::ids::{DiscussionId, EventId};
use crate::store::comments::{LogEntry, LogKind};

/// What happened in a discussion.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
enum CommentEventKind {
    /// A comment was written.
    Created,
    /// A comment's text changed.
    Edited,
    /// A comment was hidden, restored, approved or deleted.
    StateChanged,
    /// The discussion itself changed: it was closed or opened, or other comments are pinned.
    DiscussionChanged,
    /// Too much happened meanwhile, or too long ago, to tell it one by one: read the discussion
    /// anew. Events after this one follow.
    Resync,
}

/// Something that happened in a discussion, as it is now. Many readers share it, so what is about
/// one of them is null in it.
#[derive(Clone, Debug)]
pub(super) struct CommentEventNode {
    discussion: DiscussionId,
    event: EventId,
    kind: CommentEventKind,
    comment_id: Option<ID>,
    comment: Option<CommentNode>,
    place: Option<DiscussionNode>,
}

#[Object(name = "CommentEvent")]
impl CommentEventNode {
    /// Names the event. Events may come more than once and are applied once by it; after a lost
    /// connection, `after` goes on from the last one. A new comment's is also the `eventId` that its
    /// writer got.
    async fn id(&self) -> ID {
        encode_event(self.discussion, self.event).into()
    }

    /// What happened.
    async fn kind(&self) -> CommentEventKind {
        self.kind
    }

    /// Which comment it happened to. Null when the discussion changed, and for `RESYNC`.
    async fn comment_id(&self) -> Option<ID> {
        self.comment_id.clone()
    }

    /// The comment as it is now. Null when it is out of sight: it and all below it are to be taken
    /// away. Also null where `commentId` is.
    async fn comment(&self) -> Option<CommentNode> {
        self.comment.clone()
    }

    /// The discussion as it is now, with its counts. Null for `RESYNC`.
    async fn discussion(&self) -> Option<DiscussionNode> {
        self.place.clone()
    }
}

/// What the probe of a subscription finds.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) discussion: DiscussionId,
    pub(super) after: Option<EventId>,
    /// The variable that says `after`, if one does.
    pub(super) after_variable: Option<String>,
}

/// Asks a subscription what it wants, without giving it an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe(Arc<Mutex<Option<Wanted>>>);

impl Probe {
    pub(super) fn wanted(&self) -> Option<Wanted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, wanted: Wanted) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted);
    }
}

/// What one execution of a subscription is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// An entry of the discussion's log.
    Entry(LogEntry),
    /// The reader begins anew and goes on from this event.
    Resync(EventId),
}

impl Source {
    pub(super) const fn event(&self) -> EventId {
        match self {
            Self::Entry(entry) => entry.event_id,
            Self::Resync(event) => *event,
        }
    }
}

/// Everything that can be followed. The same over WebSocket (`graphql-transport-ws`) and as
/// server-sent events.
#[derive(Debug)]
pub(in crate::api::graphql) struct Subscription;

#[SubscriptionRoot]
impl Subscription {
    /// What happens in a discussion from now on; with `after`, also what happened since that event,
    /// perhaps with some that came before.
    async fn comment_events(
        &self,
        ctx: &Context<'_>,
        discussion: ID,
        after: Option<ID>,
    ) -> Result<impl Stream<Item = CommentEventNode> + use<>> {
        let id = decode_discussion(&discussion).map_err(|error| bad_input("discussion", error))?;
        let event = if let Some(probe) = ctx.data_opt::<Probe>() {
            let after = after.map(|after| after_event(id, &after)).transpose()?;
            probe.set(Wanted {
                discussion: id,
                after,
                after_variable: variable_of(&ctx.item.node, "after"),
            });
            None
        } else {
            happened(ctx, id, *ctx.data::<Source>()?).await?
        };
        Ok(stream::iter(event))
    }
}

/// The event that a client had last.
fn after_event(discussion: DiscussionId, after: &str) -> Result<EventId> {
    let (place, event) = decode_event(after).map_err(|error| bad_input("after", error))?;
    if place != discussion {
        return Err(bad_input("after", "an event of another discussion"));
    }
    Ok(event)
}

/// The variable that gives an argument its value, if one does.
fn variable_of(field: &Field, argument: &str) -> Option<String> {
    let value = field.get_argument(argument)?.node.clone();
    let mut variable = None;
    let constant = value.into_const_with(|name| {
        variable = Some(name.to_string());
        Ok::<_, Infallible>(Value::Null)
    });
    constant.ok().and(variable)
}

/// The event for the readers of this execution; `None` if they must not know of it.
async fn happened(
    ctx: &Context<'_>,
    discussion: DiscussionId,
    source: Source,
) -> Result<Option<CommentEventNode>> {
    let loader = loader_of(ctx)?;
    let entry = match source {
        Source::Entry(entry) => entry,
        Source::Resync(event) => {
            return Ok(Some(CommentEventNode {
                discussion,
                event,
                kind: CommentEventKind::Resync,
                comment_id: None,
                comment: None,
                place: None,
            }));
        }
    };
    let seen = loader
        .service
        .seen_event(&loader.request, discussion, &entry)
        .await
        .map_err(failure)?;
    let Some((place, seen)) = seen else {
        return Ok(None);
    };
    let comment = match seen.comment {
        Some(view) => {
            let want = Want::of(ctx.field()).below("comment");
            loader.comment(&place, view, &want).await
        }
        None => None,
    };
    Ok(Some(CommentEventNode {
        discussion,
        event: entry.event_id,
        kind: match seen.kind {
            LogKind::Created => CommentEventKind::Created,
            LogKind::Edited => CommentEventKind::Edited,
            LogKind::StateChanged => CommentEventKind::StateChanged,
            LogKind::DiscussionChanged => CommentEventKind::DiscussionChanged,
        },
        comment_id: seen
            .comment_id
            .map(|id| GlobalId::Comment(discussion, id).encode().into()),
        comment,
        place: Some(DiscussionNode(place)),
    }))
}

/// Where a reader goes on from who reads a discussion now.
pub(in crate::api::graphql) fn cursor(discussion: DiscussionId, now: EventId) -> ID {
    encode_event(discussion, now).into()
}
