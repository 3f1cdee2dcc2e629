//! `User`, the viewer, and what somebody wrote.

use async_graphql::{Context, ID, Object, Result, SimpleObject};

use super::comment::CommentNode;
use super::connection::PageInfo;
use super::failure::failure;
use super::loader_of;
use super::person::BanNode;
use super::scalars::{CommentOrder, Role};
use super::want::{Want, page_args};
use crate::domain::cursor::{Cursor, CursorList};
use crate::domain::ids::opaque::GlobalId;
use crate::domain::page::Order;
use crate::domain::user::User;

/// A person in an answer.
#[derive(Clone, Debug)]
pub(super) struct UserNode(pub(super) User);

impl UserNode {
    pub(super) fn new(user: User) -> Self {
        Self(user)
    }
}

/// Somebody who reads or writes.
#[Object(name = "User")]
impl UserNode {
    /// Opaque. Where a user is named by a client, the decimal user id is taken too.
    pub(super) async fn id(&self) -> ID {
        GlobalId::User(self.0.id).encode().into()
    }

    /// What to call them; empty when they gave no name.
    async fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the viewer blocks them: their comments are placeholders for the viewer. Null in
    /// events, which many viewers share.
    async fn viewer_blocks(&self, ctx: &Context<'_>) -> Option<Result<bool>> {
        let found = async {
            let loader = loader_of(ctx)?;
            if loader.request.is_shared {
                return Ok(None);
            }
            let blocked = loader.service.blocked(&loader.request).await;
            Ok(Some(blocked.map_err(failure)?.contains(&self.0.id)))
        };
        found.await.transpose()
    }

    /// The ban that keeps them from writing now. Null when there is none, and for everybody but
    /// moderators and the person themselves.
    async fn ban(&self, ctx: &Context<'_>) -> Option<Result<BanNode>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let ban = loader.service.ban_shown(&loader.request, self.0.id).await;
            ban.map(|ban| ban.map(BanNode::from)).map_err(failure)
        };
        found.await.transpose()
    }

    /// What they wrote, as far as the viewer may see it, across discussions. Newest first unless
    /// asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn comments(
        &self,
        ctx: &Context<'_>,
        #[graphql(default_with = "Some(CommentOrder::Newest)")] order: Option<CommentOrder>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<AuthoredConnection>> {
        let loader = match loader_of(ctx) {
            Ok(loader) => loader,
            Err(error) => return Some(Err(error)),
        };
        let order: Order = order.unwrap_or(CommentOrder::Newest).into();
        let args = page_args(first, after, last, before);
        let want = Want::of(ctx.field());
        let page = loader
            .service
            .comments_by(&loader.request, self.0.id, order, &args)
            .await;
        let page = match page {
            Ok(page) => page,
            Err(error) => return Some(Err(failure(error))),
        };
        let cursor = |id| {
            Cursor {
                list: CursorList::Author(self.0.id),
                order,
                id,
            }
            .encode()
        };
        let node_want = want.below("edges").below("node");
        let (has_previous_page, has_next_page) = (page.has_previous, page.has_next);
        let scanned_to = page.scanned_to;
        let nodes = match loader.views(page.comments, &node_want).await {
            Ok(nodes) => nodes,
            Err(error) => return Some(Err(error)),
        };
        let edges: Vec<AuthoredEdge> = nodes
            .into_iter()
            .map(|node| AuthoredEdge {
                cursor: cursor(node.comment_id()),
                node,
            })
            .collect();
        // Where a page that came up short stopped looking stands in for its end on that side.
        let from_end = args.first.is_none() && args.last.is_some();
        let scanned_to = scanned_to.map(cursor);
        let mut start = edges.first().map(|edge| edge.cursor.clone());
        let mut end = edges.last().map(|edge| edge.cursor.clone());
        if from_end {
            start = scanned_to.or(start);
            end = end.or_else(|| start.clone());
        } else {
            end = scanned_to.or(end);
            start = start.or_else(|| end.clone());
        }
        let page_info = PageInfo {
            has_next_page,
            has_previous_page,
            start_cursor: start,
            end_cursor: end,
        };
        Some(Ok(AuthoredConnection {
            edges: edges.into_iter().map(Some).collect(),
            page_info,
        }))
    }
}

/// A page of what somebody wrote.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "AuthoredCommentConnection")]
pub(super) struct AuthoredConnection {
    /// The comments, in the order asked.
    edges: Vec<Option<AuthoredEdge>>,
    /// Where the page lies.
    page_info: PageInfo,
}

/// A comment's place in a page of its author's comments.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "AuthoredCommentEdge")]
pub(super) struct AuthoredEdge {
    /// The place, to page from.
    cursor: String,
    /// The comment.
    node: CommentNode,
}

/// The person who asks.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Viewer", complex)]
pub(super) struct ViewerNode {
    /// Their profile.
    pub(super) user: UserNode,
    /// What they may do.
    pub(super) role: Role,
}
