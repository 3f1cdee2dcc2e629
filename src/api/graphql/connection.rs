//! Connections of comments, as Relay has them. Pure: everything was loaded before.

use async_graphql::{Object, Result, SimpleObject};

use super::comment::CommentNode;
use super::load::edges_have_replies;
use super::scalars::{CommentsMode, CommentsModeReason, ReplyOrder, int};
use super::want::{ListArgs, page_args};
use crate::domain::cursor::{Cursor, CursorList};
use crate::domain::mode::{Mode, ModeChoice, ModeReason};
use crate::domain::page::Order;
use crate::service::threads::CommentsPage;

/// Where a page lies in its list.
#[derive(Clone, Debug, Default, SimpleObject)]
pub(super) struct PageInfo {
    /// Whether something follows.
    pub(super) has_next_page: bool,
    /// Whether something precedes.
    pub(super) has_previous_page: bool,
    /// To page backwards from here. Null for an empty page.
    pub(super) start_cursor: Option<String>,
    /// To page forwards from here. Null for an empty page. After a long stretch of removed comments
    /// it may lie beyond the last edge.
    pub(super) end_cursor: Option<String>,
}

/// A comment's place in a page.
#[derive(Clone, Debug)]
pub(super) struct CommentEdge {
    list: CursorList,
    order: Order,
    node: CommentNode,
    mode: Mode,
}

impl CommentEdge {
    pub(super) fn new(page: &CommentsPage, node: CommentNode) -> Self {
        Self {
            list: page.list,
            order: page.order,
            node,
            mode: page.choice.mode,
        }
    }
}

/// A comment's place in a page.
#[Object]
impl CommentEdge {
    /// The place, to page from.
    async fn cursor(&self) -> String {
        // Made only where it is asked for: most rows of most pages are never paged from.
        Cursor {
            list: self.list,
            order: self.order,
            id: self.node.comment_id(),
        }
        .encode()
    }

    /// The comment.
    async fn node(&self) -> &CommentNode {
        &self.node
    }

    /// The branch below the comment. Null in a linear page, which lists replies itself.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn replies(
        &self,
        #[graphql(default_with = "Some(ReplyOrder::Oldest)")] order: Option<ReplyOrder>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<CommentConnection>> {
        if !edges_have_replies(self.mode) {
            return None;
        }
        let page = page_args(first, after, last, before);
        self.node.replies_for(&ListArgs {
            order: order.unwrap_or_default().into(),
            page,
        })
    }
}

/// A page of comments.
#[derive(Clone, Debug)]
pub(super) struct CommentConnection {
    choice: ModeChoice,
    edges: Vec<CommentEdge>,
    page_info: PageInfo,
    total: i64,
}

impl CommentConnection {
    /// `ends`: the cursors of the page's ends, where its `pageInfo` is asked for.
    pub(super) fn new(
        page: &CommentsPage,
        (start_cursor, end_cursor): (Option<String>, Option<String>),
        edges: Vec<CommentEdge>,
    ) -> Self {
        Self {
            choice: page.choice,
            edges,
            page_info: PageInfo {
                has_next_page: page.has_next,
                has_previous_page: page.has_previous,
                start_cursor,
                end_cursor,
            },
            total: page.total,
        }
    }

    pub(super) fn empty() -> Self {
        let choice = ModeChoice {
            mode: Mode::Linear,
            reason: ModeReason::Default,
        };
        Self {
            choice,
            edges: Vec::new(),
            page_info: PageInfo::default(),
            total: 0,
        }
    }
}

/// A page of comments.
#[Object]
impl CommentConnection {
    /// How this page reads the discussion. One document serves both modes.
    async fn mode(&self) -> CommentsMode {
        self.choice.mode.into()
    }

    /// Why.
    async fn mode_reason(&self) -> CommentsModeReason {
        self.choice.reason.into()
    }

    /// The comments, in the order asked.
    async fn edges(&self) -> Vec<Option<&CommentEdge>> {
        self.edges.iter().map(Some).collect()
    }

    /// Where the page lies.
    async fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// Comments in the whole list, tombstones included.
    async fn total_count(&self) -> Option<i32> {
        Some(int(self.total))
    }
}
