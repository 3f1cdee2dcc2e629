//! Writing: posting once whatever the network does, editing and deleting what one saw, moderating.
//!
//! Expected outcomes are part of the answer ([`Refusal`]); errors are for wrong arguments and
//! faults.

use std::sync::Arc;
use std::time::Duration;

use super::reading::DiscussionRef;
use super::request::ReadAfter;
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::body::{self, BodyFormat};
use crate::domain::comment::{Comment, CommentState, DEPTH_MAX, StateAct};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::moderation::ACT_REASON_SCALARS_MAX;
use crate::domain::text::{TextError, TextField, check_note, check_posting_key};
use crate::domain::viewer::{Role, Viewer};
use crate::domain::visibility::{CommentView, Reader, tombstone, view};
use crate::hooks::spam::Suspect;
use crate::store::comments::{
    CREATE_LATE_MAX_MS, ChangeOutcome, CreateOutcome, EditComment, NewComment, StateChange,
};
use crate::store::{StoreError, StoreErrorKind};

/// A comment to post.
#[derive(Clone, Debug)]
pub struct Post {
    /// Where; an address or entity may open its discussion.
    pub discussion: DiscussionRef,
    /// What it answers.
    pub parent: Option<(DiscussionId, CommentId)>,
    /// Source text.
    pub body: String,
    /// How it is written.
    pub format: BodyFormat,
    /// The client's own key for this comment; makes a retry safe.
    pub key: Option<String>,
}

/// Why a write was not done, though nothing is wrong with the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text breaks a rule.
    Text(TextField, TextError),
    /// No such discussion, and this viewer may not open one here.
    DiscussionNotFound,
    /// The discussion is read only.
    DiscussionClosed,
    /// The discussion holds as many comments as it may.
    DiscussionFull {
        /// Comments a discussion may hold.
        limit: i64,
    },
    /// The parent is not in this discussion.
    ParentNotFound,
    /// The parent was deleted or hidden.
    ParentGone,
    /// The parent lies on the deepest level.
    TooDeep {
        /// Levels below a root.
        limit: i64,
    },
    /// The posting key was used for another text.
    KeyReused,
    /// No such comment, as far as this viewer may know.
    CommentNotFound,
    /// Somebody else wrote it.
    NotYours,
    /// It changed since the revision named; the present one comes along.
    Stale,
    /// It was deleted, and that is final.
    AlreadyDeleted,
    /// The viewer may not write now.
    Banned {
        /// When they may again, in milliseconds since 1970; `None`: never.
        until_ms: Option<i64>,
    },
    /// The viewer wrote it themselves.
    OwnComment,
    /// Not everybody can read it.
    NotPublic,
    /// The word filter lets it through for nobody; which word is not told.
    WordNotAllowed,
    /// It looks like spam.
    Spam,
}

/// A done write.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where.
    pub discussion: Arc<Discussion>,
    /// The comment as it is now, for the writer.
    pub comment: CommentView,
    /// Lets any instance's later reads see this write.
    pub read_after: ReadAfter,
    /// Whether an earlier request had already done it.
    pub replayed: bool,
}

/// What a write gave.
#[derive(Clone, Debug)]
pub enum WriteOutcome {
    /// Done.
    Written(Box<Written>),
    /// Not done; with the comment as it is now where that helps.
    Refused(Refusal, Option<Box<CommentView>>),
}

impl From<Refusal> for WriteOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal, None)
    }
}

/// A change of state, as somebody asked for it.
#[derive(Debug)]
struct Asked {
    act: StateAct,
    only_author: Option<UserId>,
    expected_revision: Option<u32>,
    reason: String,
}

/// The signed-in viewer of a request.
pub fn signed_in(request: &Request) -> ServiceResult<Viewer> {
    request.viewer.ok_or(ServiceError::Unauthenticated)
}

/// Whether what this viewer writes waits for a moderator.
fn waits(discussion: &Discussion, viewer: &Viewer) -> bool {
    discussion.premoderated && viewer.role < Role::Moderator
}

/// The signed-in viewer of a request, who must be a moderator.
pub(super) fn moderator(request: &Request) -> ServiceResult<Viewer> {
    let viewer = signed_in(request)?;
    if viewer.role < Role::Moderator {
        return Err(ServiceError::Forbidden {
            needed: "moderator",
        });
    }
    Ok(viewer)
}

impl Service {
    /// Posts a comment. With a key, any number of equal posts give one comment.
    pub async fn post(&self, request: &Request, post: Post) -> ServiceResult<WriteOutcome> {
        let viewer = signed_in(request)?;
        if let Some(refusal) = self.refuses(&viewer).await? {
            return Ok(refusal.into());
        }
        if let Err(error) = body::check(&post.body, post.format, &self.settings.text) {
            return Ok(Refusal::Text(TextField::Body, error).into());
        }
        if let Some(Err(error)) = post.key.as_deref().map(check_posting_key) {
            return Ok(Refusal::Text(TextField::PostingKey, error).into());
        }
        let found = self.discussion(&post.discussion).await?;
        if found.is_none() && !self.may_open(request, &post) {
            return Ok(Refusal::DiscussionNotFound.into());
        }
        let is_elsewhere = |(place, _)| found.as_ref().is_none_or(|found| found.id != place);
        if post.parent.is_some_and(is_elsewhere) {
            return Ok(Refusal::ParentNotFound.into());
        }
        let is_retry = self.is_retry(&viewer, &post, found.is_none()).await?;
        let holds = if is_retry {
            // It passed the first time. Should its key expire this moment, a moderator looks.
            true
        } else {
            let suspect = self.suspect(&viewer, &post, found.as_deref())?;
            match self.pass(&viewer, suspect).await? {
                Ok(passed) => passed.holds,
                Err(refusal) => return Ok(refusal.into()),
            }
        };
        let discussion = match found {
            Some(found) => found,
            // The key's comment is in another discussion, or this one would be there.
            None if is_retry => return Ok(Refusal::KeyReused.into()),
            None => {
                self.open(&post.discussion, (String::new(), false), None)
                    .await?
                    .0
            }
        };
        self.write_post(request, &viewer, (discussion, holds), post)
            .await
    }

    async fn write_post(
        &self,
        request: &Request,
        viewer: &Viewer,
        (discussion, holds): (Arc<Discussion>, bool),
        post: Post,
    ) -> ServiceResult<WriteOutcome> {
        let parent_id = post.parent.map(|(_, id)| id);
        let id = match parent_id {
            Some(parent) => self.ports.ids.mint_reply(parent.get())?,
            None => self.ports.ids.mint()?,
        };
        let waits = holds || waits(&discussion, viewer);
        let claim = post
            .key
            .clone()
            .map(|key| self.claim(key, discussion.id, &post));
        let new = NewComment {
            id: CommentId::new(id),
            discussion_id: discussion.id,
            author_id: viewer.user_id,
            body: post.body,
            format: post.format,
            parent_id,
            state: if waits {
                CommentState::Pending
            } else {
                CommentState::Published
            },
            index: request.writes_index(),
            claim,
            comments_max: self.settings.comments_per_discussion_max,
        };
        let late = Duration::from_millis(CREATE_LATE_MAX_MS.unsigned_abs());
        let outcome = tokio::time::timeout(late, self.ports.comments.create(new))
            .await
            .map_err(|late| StoreError::new("comments.create", StoreErrorKind::Timeout, late))??;
        let mut discussion = discussion;
        if let CreateOutcome::Created(row) = &outcome {
            self.wake(row.discussion_id, EventId::new(row.id.get()))
                .await;
            discussion = self.counted(discussion).await;
        }
        Ok(self.posted(viewer, &discussion, outcome))
    }

    /// A discussion with what was just written counted. The write is done whatever happens here, so
    /// a store that does not answer leaves the counts as they were.
    async fn counted(&self, before: Arc<Discussion>) -> Arc<Discussion> {
        match self.discussion(&DiscussionRef::Id(before.id)).await {
            Ok(now) => now.unwrap_or(before),
            Err(error) => {
                tracing::warn!(%error, discussion = %before.id, "counts after a write cannot be read");
                before
            }
        }
    }

    fn posted(
        &self,
        viewer: &Viewer,
        discussion: &Arc<Discussion>,
        outcome: CreateOutcome,
    ) -> WriteOutcome {
        let (row, replayed) = match outcome {
            CreateOutcome::Created(row) => (row, false),
            CreateOutcome::Replayed(row) => (row, true),
            CreateOutcome::KeyReused => return Refusal::KeyReused.into(),
            CreateOutcome::DiscussionMissing => return Refusal::DiscussionNotFound.into(),
            CreateOutcome::DiscussionClosed => return Refusal::DiscussionClosed.into(),
            CreateOutcome::DiscussionFull => {
                let limit = self.settings.comments_per_discussion_max;
                return Refusal::DiscussionFull { limit }.into();
            }
            CreateOutcome::ParentMissing => return Refusal::ParentNotFound.into(),
            CreateOutcome::ParentGone => return Refusal::ParentGone.into(),
            CreateOutcome::TooDeep => {
                return Refusal::TooDeep {
                    limit: i64::from(DEPTH_MAX),
                }
                .into();
            }
        };
        let event = EventId::new(row.id.get());
        match seen_by_writer(viewer, &row, false) {
            // The key's comment was deleted since: there is nothing to give back.
            None => Refusal::AlreadyDeleted.into(),
            Some(comment) => WriteOutcome::Written(Box::new(Written {
                discussion: Arc::clone(discussion),
                comment,
                read_after: ReadAfter {
                    discussion: discussion.id,
                    event,
                },
                replayed,
            })),
        }
    }

    /// Changes the text of one's own comment, if it still is as one saw it.
    pub async fn edit(
        &self,
        request: &Request,
        (discussion, comment): (DiscussionId, CommentId),
        expected_revision: u32,
        (body, format): (String, BodyFormat),
    ) -> ServiceResult<WriteOutcome> {
        let viewer = signed_in(request)?;
        if let Some(refusal) = self.refuses(&viewer).await? {
            return Ok(refusal.into());
        }
        if let Err(error) = body::check(&body, format, &self.settings.text) {
            return Ok(Refusal::Text(TextField::Body, error).into());
        }
        let place = self.discussion(&DiscussionRef::Id(discussion)).await?;
        let suspect = Suspect {
            author_id: viewer.user_id,
            author_name: String::new(),
            discussion: Some(discussion),
            url: place.as_ref().and_then(|place| place.url.clone()),
            entity: place.as_ref().and_then(|place| place.entity.clone()),
            parent: None,
            text: body.clone(),
            format,
            is_edit: true,
        };
        let holds = match self.pass(&viewer, suspect).await? {
            Ok(passed) => passed.holds,
            Err(refusal) => return Ok(refusal.into()),
        };
        let event_id = EventId::new(self.ports.ids.mint()?);
        let edit = EditComment {
            discussion_id: discussion,
            comment_id: comment,
            author_id: viewer.user_id,
            expected_revision,
            body,
            format,
            waits: holds || place.is_some_and(|place| waits(&place, &viewer)),
            event_id,
        };
        let outcome = self.ports.comments.edit(edit).await?;
        self.changed(request, &viewer, ((discussion, comment), event_id), outcome)
            .await
    }

    /// Deletes one's own comment, or as a moderator anybody's. Final.
    pub async fn delete(
        &self,
        request: &Request,
        at: (DiscussionId, CommentId),
        expected_revision: Option<u32>,
        reason: String,
    ) -> ServiceResult<WriteOutcome> {
        let viewer = signed_in(request)?;
        let only_author = (viewer.role < Role::Moderator).then_some(viewer.user_id);
        let asked = Asked {
            act: StateAct::Bury,
            only_author,
            expected_revision,
            reason,
        };
        self.change(request, &viewer, at, asked).await
    }

    /// Hides, restores or approves a comment; moderators only. `reason` is for the audit log.
    pub async fn moderate(
        &self,
        request: &Request,
        at: (DiscussionId, CommentId),
        act: StateAct,
        expected_revision: Option<u32>,
        reason: String,
    ) -> ServiceResult<WriteOutcome> {
        let viewer = moderator(request)?;
        let asked = Asked {
            act,
            only_author: None,
            expected_revision,
            reason,
        };
        self.change(request, &viewer, at, asked).await
    }

    async fn change(
        &self,
        request: &Request,
        viewer: &Viewer,
        (discussion_id, comment_id): (DiscussionId, CommentId),
        asked: Asked,
    ) -> ServiceResult<WriteOutcome> {
        if let Err(error) = check_note(&asked.reason, ACT_REASON_SCALARS_MAX) {
            return Ok(Refusal::Text(TextField::Reason, error).into());
        }
        let event_id = EventId::new(self.ports.ids.mint()?);
        let change = StateChange {
            discussion_id,
            comment_id,
            act: asked.act,
            only_author: asked.only_author,
            expected_revision: asked.expected_revision,
            by: viewer.user_id,
            reason: asked.reason,
            event_id,
        };
        let outcome = self.ports.comments.change_state(change).await?;
        self.changed(
            request,
            viewer,
            ((discussion_id, comment_id), event_id),
            outcome,
        )
        .await
    }

    async fn changed(
        &self,
        request: &Request,
        viewer: &Viewer,
        (at, event): ((DiscussionId, CommentId), EventId),
        outcome: ChangeOutcome,
    ) -> ServiceResult<WriteOutcome> {
        if let ChangeOutcome::Changed(row) = &outcome {
            self.wake(row.discussion_id, event).await;
        }
        let (row, refusal) = match outcome {
            ChangeOutcome::Changed(row) | ChangeOutcome::NoChange(row) => (row, None),
            ChangeOutcome::Stale(row) => (row, Some(Refusal::Stale)),
            ChangeOutcome::Gone(row) => (row, Some(Refusal::AlreadyDeleted)),
            ChangeOutcome::NotFound => return Ok(Refusal::CommentNotFound.into()),
            ChangeOutcome::NotAuthor => {
                // Whose it is says that it is there: only to those who may see it.
                let seen = self.comments(request, &[at]).await?;
                let known = seen.contains_key(&at);
                let refusal = if known {
                    Refusal::NotYours
                } else {
                    Refusal::CommentNotFound
                };
                return Ok(refusal.into());
            }
        };
        let discussion = self
            .discussion(&DiscussionRef::Id(row.discussion_id))
            .await?;
        let Some(discussion) = discussion else {
            return Ok(Refusal::CommentNotFound.into());
        };
        let hidden = self
            .hidden_above(&discussion, std::iter::once(&row))
            .await?;
        if let Some(refusal) = refusal {
            let seen =
                super::reading::view_for(request, &self.reader(request).await?, &row, &hidden);
            // That it was there is known only to those who may see what is left of it.
            return Ok(match seen {
                None => Refusal::CommentNotFound.into(),
                Some(seen) => WriteOutcome::Refused(refusal, Some(Box::new(seen))),
            });
        }
        let is_cut_off = row.ancestors.iter().any(|id| hidden.contains(id));
        let comment = seen_by_writer(viewer, &row, is_cut_off).unwrap_or_else(|| tombstone(&row));
        let read_after = ReadAfter {
            discussion: discussion.id,
            event,
        };
        let written = Written {
            discussion,
            comment,
            read_after,
            replayed: false,
        };
        Ok(WriteOutcome::Written(Box::new(written)))
    }
}

/// A row for the person who just wrote or changed it.
fn seen_by_writer(viewer: &Viewer, row: &Comment, is_cut_off: bool) -> Option<CommentView> {
    // They wrote it or moderate: whom they block does not matter.
    view(row, &Reader::new(Some(*viewer), Arc::default()), is_cut_off)
}
