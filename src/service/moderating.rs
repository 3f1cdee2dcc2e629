//! Moderating discussions as a whole, and looking back: pins, premoderation, closing, the audit
//! log, earlier texts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::pages::{ListPage, list_page};
use super::reading::{DiscussionRef, view_for};
use super::request::{LIST_COST, ReadAfter};
use super::writing::{Refusal, moderator};
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::bans::{BanAct, BanEntry};
use crate::domain::comment::{Comment, CommentState};
use crate::domain::cursor::CursorList;
use crate::domain::discussion::{Discussion, DiscussionState};
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::moderation::{AuditAct, PINS_MAX};
use crate::domain::page::{Order, PageArgs, Slice};
use crate::domain::text::check_title;
use crate::domain::viewer::Role;
use crate::domain::visibility::CommentView;
use crate::store::comments::{
    AuditEntry, AuditFilter, DiscussionAct, DiscussionChange, DiscussionOutcome, Revision,
};
use crate::store::users::BanFilter;

/// What moderating a discussion gave.
#[derive(Clone, Debug)]
pub enum DiscussionWrite {
    /// It is as it was to be.
    Written(Arc<Discussion>, ReadAfter),
    /// Not done.
    Refused(Refusal),
}

/// The list that a page of the audit log belongs to.
#[must_use]
pub fn audit_list(filter: AuditFilter) -> CursorList {
    CursorList::Audit(
        filter.discussion.map_or(0, DiscussionId::get),
        filter.actor.map_or(0, UserId::get),
    )
}

impl Service {
    /// Opens a discussion for an address or entity; moderators only. `true`: it is new.
    pub async fn open_discussion(
        &self,
        request: &Request,
        reference: &DiscussionRef,
        title: String,
        premoderated: bool,
    ) -> ServiceResult<(Arc<Discussion>, bool)> {
        let viewer = moderator(request)?;
        if !title.is_empty() {
            check_title(&title).map_err(|error| ServiceError::bad_input("title", error))?;
        }
        self.open(reference, (title, premoderated), Some(viewer.user_id))
            .await
    }

    /// Opens or closes a discussion for new comments; moderators only. `None`: there is none.
    pub async fn set_discussion_state(
        &self,
        request: &Request,
        id: DiscussionId,
        state: DiscussionState,
    ) -> ServiceResult<Option<Arc<Discussion>>> {
        let act = DiscussionAct::SetState(state);
        self.change_discussion(request, id, act).await.map(there)
    }

    /// Makes new comments of a discussion wait, or not; moderators only. `None`: there is none.
    pub async fn set_premoderation(
        &self,
        request: &Request,
        id: DiscussionId,
        premoderated: bool,
    ) -> ServiceResult<Option<Arc<Discussion>>> {
        let act = DiscussionAct::SetPremoderated(premoderated);
        self.change_discussion(request, id, act).await.map(there)
    }

    /// Pins these comments in this order, and no others; moderators only.
    pub async fn pin_comments(
        &self,
        request: &Request,
        id: DiscussionId,
        comments: &[(DiscussionId, CommentId)],
    ) -> ServiceResult<DiscussionWrite> {
        moderator(request)?;
        let count = comments.len();
        if count > PINS_MAX {
            let message = format!("{count} comments are more than {PINS_MAX}");
            return Err(ServiceError::bad_input("comments", message));
        }
        let different: HashSet<_> = comments.iter().collect();
        if different.len() < count {
            return Err(ServiceError::bad_input("comments", "one is named twice"));
        }
        if comments.iter().any(|(place, _)| *place != id) {
            return Ok(DiscussionWrite::Refused(Refusal::CommentNotFound));
        }
        let pins = comments.iter().map(|(_, comment)| *comment).collect();
        self.change_discussion(request, id, DiscussionAct::Pin(pins))
            .await
    }

    async fn change_discussion(
        &self,
        request: &Request,
        id: DiscussionId,
        act: DiscussionAct,
    ) -> ServiceResult<DiscussionWrite> {
        let viewer = moderator(request)?;
        let event = EventId::new(self.ports.ids.mint()?);
        let change = DiscussionChange {
            discussion_id: id,
            act,
            by: viewer.user_id,
            event_id: event,
        };
        let outcome = self.ports.comments.change_discussion(change).await?;
        if let DiscussionOutcome::Changed(_) = &outcome {
            self.wake(id, event).await;
        }
        Ok(match outcome {
            DiscussionOutcome::Changed(row) | DiscussionOutcome::NoChange(row) => {
                let discussion = row.id;
                DiscussionWrite::Written(row, ReadAfter { discussion, event })
            }
            DiscussionOutcome::NotReadable(_) => DiscussionWrite::Refused(Refusal::NotPublic),
            DiscussionOutcome::NotFound => DiscussionWrite::Refused(Refusal::DiscussionNotFound),
        })
    }

    /// The pinned comments that everybody can read now, in their order. At most two store calls,
    /// none where nothing is pinned.
    pub async fn pinned(
        &self,
        request: &Request,
        discussion: &Discussion,
    ) -> ServiceResult<Vec<CommentView>> {
        if discussion.pinned.is_empty() {
            return Ok(Vec::new());
        }
        request.spend(LIST_COST + discussion.pinned.len())?;
        let places: Vec<_> = discussion
            .pinned
            .iter()
            .map(|id| (discussion.id, *id))
            .collect();
        let rows = self.ports.comments.comments(&places).await?;
        let hidden = self.hidden_above(discussion, rows.iter()).await?;
        let rows: HashMap<CommentId, &Comment> = rows.iter().map(|row| (row.id, row)).collect();
        let is_shown = |row: &&&Comment| {
            row.state == CommentState::Published
                && !row.ancestors.iter().any(|id| hidden.contains(id))
        };
        let reader = self.reader(request).await?;
        Ok(discussion
            .pinned
            .iter()
            .filter_map(|id| rows.get(id))
            .filter(is_shown)
            .filter_map(|row| view_for(request, &reader, row, &hidden))
            .collect())
    }

    /// A page of what moderators did, newest first; moderators only.
    pub async fn audit_log(
        &self,
        request: &Request,
        filter: AuditFilter,
        args: &PageArgs<String>,
    ) -> ServiceResult<ListPage<AuditEntry>> {
        moderator(request)?;
        let order = Order::Newest;
        let page = self.page_request(args, audit_list(filter), order)?;
        request.spend(LIST_COST + usize::try_from(page.limit).unwrap_or(usize::MAX))?;
        list_page(page, order, async |slice: Slice| {
            let events = slice.map(|id| EventId::new(id.get()));
            let mut entries = self.ports.comments.audit(filter, events).await?;
            // Bans lie with people, in a store of their own; no discussion has any.
            if filter.discussion.is_none() {
                let filter = BanFilter {
                    user: None,
                    by: filter.actor,
                };
                let bans = self.ports.users.bans(filter, slice).await?;
                entries.extend(bans.into_iter().map(audited));
                entries.sort_by_key(|entry| entry.event_id);
                if !slice.ascending {
                    entries.reverse();
                }
                entries.truncate(usize::try_from(slice.limit).unwrap_or(usize::MAX));
            }
            Ok(entries)
        })
        .await
    }

    /// The latest `limit` earlier texts of those of some comments whose history the viewer may see,
    /// oldest first: their own, and as a moderator everybody's. One store call. Comments without
    /// earlier texts have an empty list; those whose history is not shown are left out.
    pub async fn revisions(
        &self,
        request: &Request,
        comments: &[&CommentView],
        limit: u32,
    ) -> ServiceResult<HashMap<(DiscussionId, CommentId), Vec<Revision>>> {
        let shown: Vec<(DiscussionId, CommentId)> = comments
            .iter()
            .filter(|view| shows_history(request, view))
            .map(|view| view.place())
            .collect();
        if shown.is_empty() {
            return Ok(HashMap::new());
        }
        let each = usize::try_from(limit).unwrap_or(usize::MAX);
        request.spend(shown.len().saturating_mul(each))?;
        let found = self.ports.comments.latest_revisions(&shown, limit).await?;
        let mut texts: HashMap<_, Vec<Revision>> =
            shown.into_iter().map(|place| (place, Vec::new())).collect();
        for (place, revision) in found {
            texts.entry(place).or_default().push(revision);
        }
        Ok(texts)
    }
}

/// A ban, or its end, as a line of the audit log.
fn audited(entry: BanEntry) -> AuditEntry {
    AuditEntry {
        event_id: entry.event_id,
        actor_id: entry.by,
        act: match entry.act {
            BanAct::Ban { .. } => AuditAct::Ban,
            BanAct::Lift => AuditAct::Unban,
        },
        discussion_id: None,
        comment_id: None,
        user_id: Some(entry.user_id),
        detail: entry.reason,
    }
}

/// Whether the viewer may read a comment's earlier texts. A tombstone has none.
fn shows_history(request: &Request, comment: &CommentView) -> bool {
    let Some(content) = &comment.content else {
        return false;
    };
    let viewer = request.viewer.as_ref();
    viewer
        .is_some_and(|viewer| viewer.role >= Role::Moderator || viewer.user_id == content.author_id)
}

/// The discussion of a write that nothing but its absence refuses.
fn there(written: DiscussionWrite) -> Option<Arc<Discussion>> {
    match written {
        DiscussionWrite::Written(row, _) => Some(row),
        DiscussionWrite::Refused(_) => None,
    }
}
