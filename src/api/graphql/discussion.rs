//! `Discussion`: where connections begin, so this is where loading begins.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result, SimpleObject};

use super::comment::CommentNode;
use super::connection::CommentConnection;
use super::context::ContextNode;
use super::failure::{bad_input, failure};
use super::live::cursor;
use super::load::Row;
use super::loader_of;
use super::scalars::{CommentOrder, CommentsMode, DateTime, DiscussionState, Url, int};
use super::want::{Want, page_args};
use crate::domain::discussion::{Discussion, DiscussionState as DomainState};
use crate::domain::ids::opaque::{GlobalId, decode_comment};
use crate::domain::page::PageArgs;
use crate::domain::viewer::Role;
use crate::service::replies::{NewCount, SeenMark};
use crate::service::threads::CommentsAsk;

/// A discussion in an answer.
#[derive(Clone, Debug)]
pub(super) struct DiscussionNode(pub(super) Arc<Discussion>);

/// Type and id of a thing of the product.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Entity {
    /// The kind of thing, for example `post`.
    #[graphql(name = "type")]
    entity_type: String,
    /// Its id there.
    id: String,
}

/// How many comments a discussion has.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct CommentCounts {
    /// Every comment, whatever its state.
    total: i32,
    /// Comments that are not hidden, deleted or pending themselves.
    published: i32,
    /// Published comments with nothing hidden above them: what people can read.
    visible: i32,
    /// The roots among the visible ones.
    roots: i32,
    /// The replies among the visible ones.
    replies: i32,
}

/// What is new in a discussion for the viewer.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct NewComments {
    /// How many comments; exact up to 1,000.
    count: i32,
    /// Whether there may be more than `count`.
    at_least: bool,
}

impl From<NewCount> for NewComments {
    fn from(new: NewCount) -> Self {
        Self {
            count: int(i64::try_from(new.count).unwrap_or(i64::MAX)),
            at_least: new.at_least,
        }
    }
}

/// What the viewer may do in a discussion.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct DiscussionAbilities {
    /// Write a comment.
    comment: bool,
    /// Hide and pin comments, close it, make new comments wait.
    moderate: bool,
}

/// All comments under one thing that people talk about.
#[Object(name = "Discussion")]
impl DiscussionNode {
    /// Opaque.
    pub(super) async fn id(&self) -> ID {
        GlobalId::Discussion(self.0.id).encode().into()
    }

    /// Shown to people; may be empty.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// The canonical address of what is discussed, without its scheme's choice mattering. Null when
    /// it has none.
    async fn url(&self) -> Option<Url> {
        self.0.url.as_ref().map(|url| Url(format!("https://{url}")))
    }

    /// The thing of the product that is discussed. Null when it is a page.
    async fn entity(&self) -> Option<Entity> {
        let (entity_type, id) = self.0.entity.clone()?;
        Some(Entity { entity_type, id })
    }

    /// Whether it takes new comments.
    async fn state(&self) -> DiscussionState {
        self.0.state.into()
    }

    /// When it was opened.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.id.time_ms())
    }

    /// From where `commentEvents` goes on so that nothing is missed since this answer: its `after`.
    #[expect(clippy::unused_async, reason = "the executor awaits every field")]
    async fn live_cursor(&self, ctx: &Context<'_>) -> Result<ID> {
        let now = loader_of(ctx)?.service.live_cursor();
        Ok(cursor(self.0.id, now))
    }

    /// How many comments it has.
    async fn counts(&self) -> CommentCounts {
        let counts = &self.0.counts;
        CommentCounts {
            total: int(counts.all.total),
            published: int(counts.all.published),
            visible: int(counts.all.visible),
            roots: int(counts.roots.visible),
            replies: int(counts.replies_visible()),
        }
    }

    /// When what the viewer has seen of it last was written, as `markDiscussionSeen` said: what is
    /// younger is new to them. Null when they never said so, and in events, which many viewers share.
    async fn viewer_seen_at(&self, ctx: &Context<'_>) -> Option<Result<DateTime>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let mark = loader.service.seen_mark(&loader.request, self.0.id).await;
            let mark = mark.map_err(failure)?;
            Ok(mark.map(|SeenMark(comment)| DateTime(comment.time_ms())))
        };
        found.await.transpose()
    }

    /// What others wrote after what the viewer has seen, as far as the viewer may see it. Null
    /// where `viewerSeenAt` is null.
    async fn new_comments(&self, ctx: &Context<'_>) -> Option<Result<NewComments>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let (service, request) = (&loader.service, &loader.request);
            let mark = service.seen_mark(request, self.0.id).await;
            let Some(mark) = mark.map_err(failure)? else {
                return Ok(None);
            };
            let new = service.new_since(request, self.0.id, mark).await;
            new.map(|new| Some(NewComments::from(new))).map_err(failure)
        };
        found.await.transpose()
    }

    /// Whether new comments wait for a moderator.
    async fn premoderated(&self) -> bool {
        self.0.premoderated
    }

    /// What moderators pinned, in their order; at most 10. Only what everybody can read now.
    async fn pinned(&self, ctx: &Context<'_>) -> Result<Vec<CommentNode>> {
        let loader = loader_of(ctx)?;
        let pinned = loader.service.pinned(&loader.request, &self.0).await;
        let row = |view| Row {
            view,
            discussion: Arc::clone(&self.0),
        };
        let rows = pinned.map_err(failure)?.into_iter().map(row).collect();
        let want = Want::of(ctx.field());
        Ok(loader.rows(rows, &want, &[]).await)
    }

    /// What the viewer may do here. Null in an event, which many viewers share.
    async fn viewer_can(&self, ctx: &Context<'_>) -> Option<Result<DiscussionAbilities>> {
        let request = match loader_of(ctx) {
            Ok(loader) => &loader.request,
            Err(error) => return Some(Err(error)),
        };
        let abilities = DiscussionAbilities {
            comment: request.viewer.is_some() && self.0.state == DomainState::Open,
            moderate: request.role() >= Role::Moderator,
        };
        (!request.is_shared).then_some(Ok(abilities))
    }

    /// Its comments: by date, or as threads. `AUTO` gives what the rollout, the client's version
    /// and the index allow, and `modeReason` says why. A page is at most as large as the server's
    /// limit; without `first` and `last` it has the default size.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn comments(
        &self,
        ctx: &Context<'_>,
        #[graphql(default_with = "Some(CommentsMode::Auto)")] mode: Option<CommentsMode>,
        #[graphql(default_with = "Some(CommentOrder::Oldest)")] order: Option<CommentOrder>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<CommentConnection>> {
        let page = page_args(first, after, last, before);
        Some(
            self.load_comments(
                ctx,
                mode.unwrap_or_default(),
                order.unwrap_or_default(),
                page,
            )
            .await,
        )
    }

    /// The way to one comment: what is above and around it. Null when the comment is not in this
    /// discussion or the viewer may not see it.
    async fn context(
        &self,
        ctx: &Context<'_>,
        comment: ID,
        #[graphql(default_with = "Some(2)")] siblings: Option<i32>,
    ) -> Option<Result<ContextNode>> {
        self.load_context(ctx, &comment, siblings.unwrap_or(2))
            .await
            .transpose()
    }

    /// One of its comments. Null when it is not in this discussion or the viewer may not see it.
    async fn comment(&self, ctx: &Context<'_>, id: ID) -> Option<Result<CommentNode>> {
        self.load_comment(ctx, &id).await.transpose()
    }
}

impl DiscussionNode {
    async fn load_comments(
        &self,
        ctx: &Context<'_>,
        mode: CommentsMode,
        order: CommentOrder,
        page: PageArgs<String>,
    ) -> Result<CommentConnection> {
        let loader = loader_of(ctx)?;
        let want = Want::of(ctx.field());
        let ask = CommentsAsk {
            mode: mode.named(),
            order: order.into(),
            page,
            look_behind: want.has("pageInfo"),
        };
        let page = loader
            .service
            .comments_page(&loader.request, &self.0, &ask)
            .await;
        Ok(loader.page(page.map_err(failure)?, &want).await)
    }

    async fn load_context(
        &self,
        ctx: &Context<'_>,
        comment: &ID,
        siblings: i32,
    ) -> Result<Option<ContextNode>> {
        let loader = loader_of(ctx)?;
        let (place, id) = decode_comment(comment).map_err(|error| bad_input("comment", error))?;
        let siblings = u32::try_from(siblings)
            .ok()
            .ok_or_else(|| bad_input("siblings", format!("{siblings} is less than 0")))?;
        if place != self.0.id {
            return Ok(None);
        }
        let context = loader
            .service
            .context(&loader.request, &self.0, id, siblings)
            .await;
        match context.map_err(failure)? {
            None => Ok(None),
            Some(context) => Ok(Some(
                ContextNode::load(loader, context, &Want::of(ctx.field())).await,
            )),
        }
    }

    async fn load_comment(&self, ctx: &Context<'_>, id: &ID) -> Result<Option<CommentNode>> {
        let loader = loader_of(ctx)?;
        let (place, id) = decode_comment(id).map_err(|error| bad_input("id", error))?;
        if place != self.0.id {
            return Ok(None);
        }
        let mut found = loader
            .by_ids(&[(place, id)], &Want::of(ctx.field()))
            .await?;
        Ok(found.remove(&(place, id)))
    }
}
