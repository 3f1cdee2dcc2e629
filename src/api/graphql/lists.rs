//! Connections of other things than comments: plain lists with cursors.

use async_graphql::{Context, Result, SimpleObject};

use super::connection::PageInfo;
use super::discussion::DiscussionNode;
use super::failure::failure;
use super::loader_of;
use crate::domain::cursor::{Cursor, CursorList};
use crate::domain::ids::CommentId;
use crate::domain::page::{Order, PageArgs};
use crate::service::pages::ListPage;

/// A page's items with their cursors, and where it lies.
pub(super) fn edges<T>(
    page: ListPage<T>,
    (list, order): (CursorList, Order),
    number: impl Fn(&T) -> i64,
) -> (Vec<(String, T)>, PageInfo) {
    let (has_previous_page, has_next_page) = (page.has_previous, page.has_next);
    let edges: Vec<(String, T)> = page
        .items
        .into_iter()
        .map(|item| {
            let id = CommentId::new(number(&item));
            (Cursor { list, order, id }.encode(), item)
        })
        .collect();
    let cursor = |edge: Option<&(String, T)>| edge.map(|(cursor, _)| cursor.clone());
    let page_info = PageInfo {
        has_next_page,
        has_previous_page,
        start_cursor: cursor(edges.first()),
        end_cursor: cursor(edges.last()),
    };
    (edges, page_info)
}

/// A page of discussions.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DiscussionConnection {
    /// The discussions, newest opened first.
    edges: Vec<Option<DiscussionEdge>>,
    /// Where the page lies.
    page_info: PageInfo,
}

/// A discussion's place in a page.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DiscussionEdge {
    /// The place, to page from.
    cursor: String,
    /// The discussion.
    node: DiscussionNode,
}

pub(super) async fn discussions(
    ctx: &Context<'_>,
    args: PageArgs<String>,
) -> Result<DiscussionConnection> {
    let loader = loader_of(ctx)?;
    let page = loader
        .service
        .discussion_list(&loader.request, &args)
        .await
        .map_err(failure)?;
    let list = (CursorList::Discussions, Order::Newest);
    let (edges, page_info) = edges(page, list, |row| row.id.get());
    let edge = |(cursor, row)| {
        Some(DiscussionEdge {
            cursor,
            node: DiscussionNode(row),
        })
    };
    Ok(DiscussionConnection {
        edges: edges.into_iter().map(edge).collect(),
        page_info,
    })
}
