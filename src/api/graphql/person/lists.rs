//! The viewer's own lists.

use async_graphql::{ComplexObject, Context, Result, SimpleObject};

use crate::api::graphql::connection::PageInfo;
use crate::api::graphql::failure::failure;
use crate::api::graphql::loader_of;
use crate::api::graphql::user::{UserNode, ViewerNode};
use crate::api::graphql::want::page_args;

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

#[ComplexObject]
impl ViewerNode {
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
