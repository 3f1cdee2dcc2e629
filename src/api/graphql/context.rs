//! `CommentContext`: a deep link's answer.

use async_graphql::{Context, Object, Result, SimpleObject};

use super::comment::CommentNode;
use super::connection::CommentConnection;
use super::failure::failure;
use super::load::{Loader, Row};
use super::loader_of;
use super::scalars::{CommentsMode, CommentsModeReason, int};
use super::want::{Want, page_args};
use crate::domain::page::PageArgs;
use crate::domain::visibility::CommentView;
use crate::service::context::{CommentContext, Gap};

/// Comments between the neighbours and an end of the list.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "CommentGap")]
pub(super) struct GapNode {
    /// How many are there; exact up to 1,000.
    count: i32,
    /// Whether there may be more than `count`.
    at_least: bool,
    /// From where to read on, oldest first, with `comments` or with the `replies` of the root.
    cursor: String,
}

impl From<Gap> for GapNode {
    fn from(gap: Gap) -> Self {
        Self {
            count: int(gap.count),
            at_least: gap.at_least,
            cursor: gap.cursor,
        }
    }
}

/// A context with its comments loaded.
#[derive(Clone, Debug)]
pub(super) struct ContextNode {
    context: CommentContext,
    focus: CommentNode,
    before: Vec<CommentNode>,
    after: Vec<CommentNode>,
}

impl ContextNode {
    pub(super) async fn load(loader: &Loader, context: CommentContext, want: &Want) -> Self {
        // One load for all of them: whatever is asked of one of the three places is loaded for all.
        let mut joined = want.below("focus");
        joined.extend(want.below("before"));
        joined.extend(want.below("after"));
        let row = |view: &CommentView| Row {
            view: view.clone(),
            discussion: std::sync::Arc::clone(&context.discussion),
        };
        let views = context
            .before
            .iter()
            .chain([&context.focus])
            .chain(&context.after);
        let rows = views.map(row).collect();
        let mut nodes = loader.rows(rows, &joined, &[]).await;
        let after = nodes.split_off(context.before.len() + 1);
        let focus = nodes.remove(context.before.len());
        Self {
            context,
            focus,
            before: nodes,
            after,
        }
    }
}

/// A comment, what is above it and what is around it.
#[Object(name = "CommentContext")]
impl ContextNode {
    /// The mode whose list surrounds the comment.
    async fn mode(&self) -> CommentsMode {
        self.context.choice.mode.into()
    }

    /// Why.
    async fn mode_reason(&self) -> CommentsModeReason {
        self.context.choice.reason.into()
    }

    /// The comment itself, or its tombstone.
    async fn focus(&self) -> &CommentNode {
        &self.focus
    }

    /// What is above it, root first. `last: 1` is its parent.
    async fn ancestors(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<CommentConnection>> {
        let page = page_args(first, after, last, before);
        Some(self.load_ancestors(ctx, page).await)
    }

    /// Its neighbours just before it in its list, oldest first.
    async fn before(&self) -> &[CommentNode] {
        &self.before
    }

    /// Its neighbours just after it in its list, oldest first.
    async fn after(&self) -> &[CommentNode] {
        &self.after
    }

    /// What lies before the neighbours. Null when nothing does.
    async fn gap_before(&self) -> Option<GapNode> {
        self.context.gap_before.clone().map(GapNode::from)
    }

    /// What lies after the neighbours. Null when nothing does.
    async fn gap_after(&self) -> Option<GapNode> {
        self.context.gap_after.clone().map(GapNode::from)
    }
}

impl ContextNode {
    async fn load_ancestors(
        &self,
        ctx: &Context<'_>,
        page: PageArgs<String>,
    ) -> Result<CommentConnection> {
        let loader = loader_of(ctx)?;
        let context = &self.context;
        let page = loader
            .service
            .ancestors(
                &loader.request,
                &context.discussion,
                context.choice,
                &context.focus,
                &page,
            )
            .await
            .map_err(failure)?;
        Ok(loader.page(page, &Want::of(ctx.field())).await)
    }
}
