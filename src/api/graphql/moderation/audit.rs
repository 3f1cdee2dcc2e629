//! The audit log, loaded a page at a time.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result, SimpleObject};

use super::AuditAct;
use super::queue::person;
use crate::api::graphql::comment::CommentNode;
use crate::api::graphql::connection::PageInfo;
use crate::api::graphql::discussion::DiscussionNode;
use crate::api::graphql::failure::failure;
use crate::api::graphql::lists::edges;
use crate::api::graphql::loader_of;
use crate::api::graphql::scalars::DateTime;
use crate::api::graphql::user::UserNode;
use crate::api::graphql::want::Want;
use crate::domain::discussion::Discussion;
use crate::domain::ids::opaque::{EntryOf, encode_entry};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::page::{Order, PageArgs};
use crate::service::moderating::audit_list;
use crate::store::comments::{AuditEntry as StoredEntry, AuditFilter};

/// An entry with what it names.
#[derive(Clone, Debug)]
pub(super) struct EntryNode {
    entry: StoredEntry,
    actor: UserNode,
    discussion: Option<Arc<Discussion>>,
    comment: Option<CommentNode>,
    user: Option<UserNode>,
}

/// Something that a moderator did.
#[Object(name = "AuditEntry")]
impl EntryNode {
    /// Opaque.
    async fn id(&self) -> ID {
        encode_entry(EntryOf::Audit, self.entry.event_id).into()
    }

    /// When.
    async fn at(&self) -> DateTime {
        DateTime(self.entry.event_id.time_ms())
    }

    /// Who.
    async fn actor(&self) -> &UserNode {
        &self.actor
    }

    /// What.
    async fn act(&self) -> AuditAct {
        self.entry.act.into()
    }

    /// Where. Null for acts outside discussions.
    async fn discussion(&self) -> Option<DiscussionNode> {
        self.discussion
            .as_ref()
            .map(|row| DiscussionNode(Arc::clone(row)))
    }

    /// The comment as it is now. Null for acts on no comment.
    async fn comment(&self) -> Option<&CommentNode> {
        self.comment.as_ref()
    }

    /// Whom it was about: who wrote the comment, or was banned. Null for acts on a discussion.
    async fn user(&self) -> Option<&UserNode> {
        self.user.as_ref()
    }

    /// The reason the moderator gave, or what was set; may be empty.
    async fn detail(&self) -> &str {
        &self.entry.detail
    }
}

/// A page of the audit log.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct AuditConnection {
    /// What was done, newest first.
    edges: Vec<Option<AuditEdge>>,
    /// Where the page lies.
    page_info: PageInfo,
}

/// An entry's place in the audit log.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct AuditEdge {
    /// The place, to page from.
    cursor: String,
    /// What was done.
    node: EntryNode,
}

pub(super) async fn load(
    ctx: &Context<'_>,
    filter: AuditFilter,
    args: PageArgs<String>,
) -> Result<AuditConnection> {
    let loader = loader_of(ctx)?;
    let service = &loader.service;
    let page = service.audit_log(&loader.request, filter, &args).await;
    let page = page.map_err(failure)?;
    let want = Want::of(ctx.field()).below("edges").below("node");
    let places: Vec<(DiscussionId, CommentId)> = page
        .items
        .iter()
        .filter_map(|entry| Some((entry.discussion_id?, entry.comment_id?)))
        .collect();
    let comments = if want.has("comment") {
        loader.by_ids(&places, &want.below("comment")).await?
    } else {
        HashMap::new()
    };
    let ids: Vec<DiscussionId> = page
        .items
        .iter()
        .filter_map(|entry| entry.discussion_id)
        .collect();
    let discussions = service.discussions(&ids).await.map_err(failure)?;
    let discussions: HashMap<DiscussionId, _> =
        discussions.into_iter().map(|row| (row.id, row)).collect();
    let people: Vec<UserId> = page
        .items
        .iter()
        .flat_map(|entry| [Some(entry.actor_id), entry.user_id])
        .flatten()
        .collect();
    let people = service.users(&people).await.map_err(failure)?;
    let list = (audit_list(filter), Order::Newest);
    let (edges, page_info) = edges(page, list, |entry| entry.event_id.get());
    let edge = |(cursor, entry): (String, StoredEntry)| {
        let place = entry.discussion_id.zip(entry.comment_id);
        let node = EntryNode {
            actor: person(entry.actor_id, &people),
            discussion: entry
                .discussion_id
                .and_then(|id| discussions.get(&id).map(Arc::clone)),
            comment: place.and_then(|place| comments.get(&place).cloned()),
            user: entry.user_id.map(|id| person(id, &people)),
            entry,
        };
        Some(AuditEdge { cursor, node })
    };
    Ok(AuditConnection {
        edges: edges.into_iter().map(edge).collect(),
        page_info,
    })
}
