//! The viewer's own lists.

use super::ErasureNode;
use async_graphql::{ComplexObject, Context, Object, Result, SimpleObject};

use crate::api::graphql::comment::CommentNode;
use crate::api::graphql::connection::PageInfo;
use crate::api::graphql::failure::failure;
use crate::api::graphql::loader_of;
use crate::api::graphql::scalars::int;
use crate::api::graphql::user::{UserNode, ViewerNode};
use crate::api::graphql::want::{Want, page_args};
use crate::domain::cursor::{Cursor, CursorList};
use crate::domain::ids::CommentId;
use crate::domain::page::{Order, PageArgs};
use crate::service::replies::Reply;

/// A page of people.
#[derive(Clone, Debug, SimpleObject)]
struct UserConnection {
    /// The people, in the list's order.
    edges: Vec<Option<UserEdge>>,
    /// Where the page lies.
    page_info: PageInfo,
}

/// A person's place in a page.
#[derive(Clone, Debug, SimpleObject)]
struct UserEdge {
    /// The place, to page from.
    cursor: String,
    /// The person.
    node: UserNode,
}

/// A reply to the viewer.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "ReplyToViewer")]
struct ReplyNode {
    /// The reply; its parent is what it answers.
    comment: CommentNode,
    /// Whether it came after the last reply that the viewer marked as read.
    is_unread: bool,
}

/// A reply's place in a page.
#[derive(Clone, Debug, SimpleObject)]
struct ReplyEdge {
    /// The place, to page from.
    cursor: String,
    /// The reply.
    node: ReplyNode,
}

/// A page of replies to the viewer.
#[derive(Clone, Debug)]
struct ReplyConnection {
    edges: Vec<ReplyEdge>,
    page_info: PageInfo,
}

/// A page of replies to the viewer.
#[Object]
impl ReplyConnection {
    /// The replies, newest first.
    async fn edges(&self) -> Vec<Option<&ReplyEdge>> {
        self.edges.iter().map(Some).collect()
    }

    /// Where the page lies.
    async fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// How many replies the viewer has not read, on all pages; exact below 1,000, and 1,000 for
    /// that many or more.
    async fn unread_count(&self, ctx: &Context<'_>) -> Result<i32> {
        unread_count(ctx).await
    }
}

/// How many replies the viewer has not read.
pub(super) async fn unread_count(ctx: &Context<'_>) -> Result<i32> {
    let loader = loader_of(ctx)?;
    let unread = loader.service.unread_replies(&loader.request).await;
    let unread = unread.map_err(failure)?;
    Ok(int(i64::try_from(unread.count).unwrap_or(i64::MAX)))
}

async fn replies(ctx: &Context<'_>, args: PageArgs<String>) -> Result<ReplyConnection> {
    let loader = loader_of(ctx)?;
    let page = loader.service.replies_to_viewer(&loader.request, &args);
    let page = page.await.map_err(failure)?;
    let owner = loader.request.viewer.map(|viewer| viewer.user_id);
    let cursor = |id: CommentId| {
        owner.map(|owner| {
            let (list, order) = (CursorList::RepliesTo(owner), Order::Newest);
            Cursor { list, order, id }.encode()
        })
    };
    let want = Want::of(ctx.field()).below("edges").below("node");
    let views = page.replies.iter().map(|reply| reply.comment.clone());
    let nodes = loader
        .views(views.collect(), &want.below("comment"))
        .await?;
    let edge = |(reply, comment): (&Reply, CommentNode)| {
        Some(ReplyEdge {
            cursor: cursor(CommentId::new(reply.event_id.get()))?,
            node: ReplyNode {
                comment,
                is_unread: reply.is_unread,
            },
        })
    };
    let edges: Vec<ReplyEdge> = page.replies.iter().zip(nodes).filter_map(edge).collect();
    // Where a page that came up short stopped looking stands in for its end on that side.
    let scanned_to = page.scanned_to.and_then(cursor);
    let mut start = edges.first().map(|edge| edge.cursor.clone());
    let mut end = edges.last().map(|edge| edge.cursor.clone());
    if args.first.is_none() && args.last.is_some() {
        start = scanned_to.or(start);
        end = end.or_else(|| start.clone());
    } else {
        end = scanned_to.or(end);
        start = start.or_else(|| end.clone());
    }
    Ok(ReplyConnection {
        edges,
        page_info: PageInfo {
            has_next_page: page.has_next,
            has_previous_page: page.has_previous,
            start_cursor: start,
            end_cursor: end,
        },
    })
}

#[ComplexObject]
impl ViewerNode {
    /// What was answered to their comments, newest first: as far as they may see it now, and not
    /// what people wrote whom they block.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<ReplyConnection>> {
        Some(replies(ctx, page_args(first, after, last, before)).await)
    }

    /// The erasure of their data that they asked for. Null when they did not.
    async fn erasure(&self, ctx: &Context<'_>) -> Option<Result<ErasureNode>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let erasure = loader.service.viewer_erasure(&loader.request).await;
            Ok(erasure.map_err(failure)?.map(ErasureNode::from))
        };
        found.await.transpose()
    }

    /// Whom they block, blocked last first.
    async fn blocked(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<UserConnection>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let args = page_args(first, after, last, before);
            let page = loader.service.blocked_page(&loader.request, &args).await;
            let page = page.map_err(failure)?;
            let edges = page.people.into_iter().map(|(user, cursor)| UserEdge {
                cursor,
                node: UserNode::new(user),
            });
            let edges: Vec<UserEdge> = edges.collect();
            let page_info = PageInfo {
                has_next_page: page.has_next,
                has_previous_page: page.has_previous,
                start_cursor: edges.first().map(|edge| edge.cursor.clone()),
                end_cursor: edges.last().map(|edge| edge.cursor.clone()),
            };
            let edges = edges.into_iter().map(Some).collect();
            Ok(UserConnection { edges, page_info })
        };
        Some(found.await)
    }
}
