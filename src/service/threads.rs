//! Reading a discussion: the mode a reader gets, its pages, replies, and the way to one comment.

use std::sync::Arc;

use super::error::bad_cursor;
use super::lanes::{LanePage, LaneQuery};
use super::request::LIST_COST;
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::comment::branch_of;
use crate::domain::cursor::{Cursor, CursorError, CursorList};
use crate::domain::discussion::Discussion;
use crate::domain::ids::CommentId;
use crate::domain::mode::{Mode, ModeChoice, ModeReason, Servable, choose, threads_open};
use crate::domain::page::{Order, PageArgs, PageRequest, page_size};
use crate::domain::visibility::{CommentView, Reader, into_view};
use crate::store::comments::Lane;

/// What a client asks of a discussion.
#[derive(Clone, Debug, Default)]
pub struct CommentsAsk {
    /// A named mode; `None` is AUTO.
    pub mode: Option<Mode>,
    /// Oldest or newest first.
    pub order: Order,
    /// Which part; cursors as text.
    pub page: PageArgs<String>,
    /// Whether the side the page is not read towards must be known.
    pub look_behind: bool,
}

/// A page of comments as one reader sees it, in the order asked.
#[derive(Clone, Debug)]
pub struct CommentsPage {
    /// Where.
    pub discussion: Arc<Discussion>,
    /// What is read, and why.
    pub choice: ModeChoice,
    /// What cursors of this page are bound to.
    pub list: CursorList,
    /// The page's order.
    pub order: Order,
    /// The comments.
    pub comments: Vec<CommentView>,
    /// Whether something shown comes before.
    pub has_previous: bool,
    /// Whether something shown comes after.
    pub has_next: bool,
    /// Where a short page stopped looking; stands in for the last comment's cursor.
    pub scanned_to: Option<CommentId>,
    /// Whether the page was read from the end, so `scanned_to` is its start.
    pub from_end: bool,
    /// Comments in the whole list, shown ones.
    pub total: i64,
}

impl CommentsPage {
    /// The cursor of one of its comments.
    #[must_use]
    pub fn cursor(&self, id: CommentId) -> String {
        Cursor {
            list: self.list,
            order: self.order,
            id,
        }
        .encode()
    }

    /// The cursors of its ends; `None` for an empty page that looked at everything.
    #[must_use]
    pub fn ends(&self) -> (Option<String>, Option<String>) {
        let mut first = self.comments.first().map(|row| row.id);
        let mut last = self.comments.last().map(|row| row.id);
        if let Some(scanned) = self.scanned_to {
            if self.from_end {
                first = Some(scanned);
                last = last.or(first);
            } else {
                last = Some(scanned);
                first = first.or(last);
            }
        }
        (
            first.map(|id| self.cursor(id)),
            last.map(|id| self.cursor(id)),
        )
    }
}

/// Replies to load under some heads: the same part of each branch.
#[derive(Clone, Debug)]
pub struct RepliesAsk {
    /// Oldest or newest first.
    pub order: Order,
    /// Which part; cursors as text.
    pub page: PageArgs<String>,
    /// Whether the side the page is not read towards must be known.
    pub look_behind: bool,
}

fn cursor_mode(cursor: &Cursor) -> Option<Mode> {
    match cursor.list {
        CursorList::Linear(_) => Some(Mode::Linear),
        CursorList::Threaded(_) => Some(Mode::Threaded),
        CursorList::Replies(..)
        | CursorList::Author(_)
        | CursorList::Ancestors(..)
        | CursorList::Discussions
        | CursorList::Queue(..)
        | CursorList::Audit(..)
        | CursorList::RepliesTo(_) => None,
    }
}

fn decode(field: &'static str, text: Option<&str>) -> ServiceResult<Option<Cursor>> {
    text.map(Cursor::decode)
        .transpose()
        .map_err(bad_cursor(field))
}

impl Service {
    /// Checks a page's sizes and cursors against the list it is for.
    pub fn page_request(
        &self,
        args: &PageArgs<String>,
        list: CursorList,
        order: Order,
    ) -> ServiceResult<PageRequest> {
        let bind = |field, text: Option<&str>| -> ServiceResult<Option<CommentId>> {
            let cursor = decode(field, text)?;
            cursor
                .map(|cursor| cursor.bound_to(list, order))
                .transpose()
                .map_err(bad_cursor(field))
        };
        let after = bind("after", args.after.as_deref())?;
        let before = bind("before", args.before.as_deref())?;
        self.sized(args, after, before)
    }

    /// A page's checked sizes, between two places.
    pub(super) fn sized(
        &self,
        args: &PageArgs<String>,
        after: Option<CommentId>,
        before: Option<CommentId>,
    ) -> ServiceResult<PageRequest> {
        let settings = &self.settings;
        let (limit, from_end, keep_last) = page_size(
            args.first,
            args.last,
            settings.page_size_default,
            settings.page_size_max,
        )?;
        Ok(PageRequest {
            limit,
            from_end,
            keep_last,
            after,
            before,
        })
    }

    /// The mode a reader gets for a discussion, without a cursor. Builds or queues the index where
    /// that is due.
    pub async fn mode_of(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        named: Option<Mode>,
        cursor: Option<Mode>,
    ) -> ServiceResult<(Arc<Discussion>, ModeChoice)> {
        let flag = request.threaded();
        let servable = self.servable(discussion);
        let choice = choose(flag, servable, named, cursor)?;
        if servable == Servable::No && threads_open(flag) {
            // Whatever the arm: the index is wanted.
            self.ports.comments.enqueue(discussion.id).await?;
        }
        if servable == Servable::AfterBuild && choice.mode == Mode::Threaded {
            self.build_for_read(discussion).await?;
            let fresh = self.discussions(&[discussion.id]).await?.pop();
            return Ok((fresh.unwrap_or_else(|| Arc::clone(discussion)), choice));
        }
        Ok((Arc::clone(discussion), choice))
    }

    /// A page of a discussion, in the mode this reader gets.
    pub async fn comments_page(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        ask: &CommentsAsk,
    ) -> ServiceResult<CommentsPage> {
        let after = decode("after", ask.page.after.as_deref())?;
        let before = decode("before", ask.page.before.as_deref())?;
        let modes = (
            after.as_ref().and_then(cursor_mode),
            before.as_ref().and_then(cursor_mode),
        );
        let cursor = match modes {
            (Some(after), Some(before)) if after != before => {
                return Err(ServiceError::bad_input("before", CursorError::Foreign));
            }
            (after, before) => after.or(before),
        };
        let (discussion, choice) = self.mode_of(request, discussion, ask.mode, cursor).await?;
        // A translated cursor was made in threads: it is checked against those, and names a root.
        let list_of = |mode| match mode {
            Mode::Linear => CursorList::Linear(discussion.id),
            Mode::Threaded => CursorList::Threaded(discussion.id),
        };
        let made_in = if choice.reason == ModeReason::Translated {
            list_of(Mode::Threaded)
        } else {
            list_of(choice.mode)
        };
        let page = self.page_request(&ask.page, made_in, ask.order)?;
        let lane = match choice.mode {
            Mode::Linear => Lane::Linear,
            Mode::Threaded => Lane::Roots,
        };
        request.spend(LIST_COST)?;
        let query = LaneQuery {
            lane,
            order: ask.order,
            page,
            look_behind: ask.look_behind,
        };
        let loaded = self
            .load_lanes(&discussion, &[query])
            .await?
            .pop()
            .unwrap_or_default();
        request.spend(loaded.rows.len())?;
        let total = match choice.mode {
            Mode::Linear => discussion.counts.all.shown,
            Mode::Threaded => discussion.counts.roots.shown,
        };
        let list = list_of(choice.mode);
        let reader = self.reader(request).await?;
        Ok(page_of(
            (request, &reader),
            &discussion,
            choice,
            list,
            (query, loaded),
            total,
        ))
    }

    /// The same part of the branches under some heads, in the order of `heads`.
    pub async fn replies(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        choice: ModeChoice,
        heads: &[(CommentId, i64)],
        ask: &RepliesAsk,
    ) -> ServiceResult<Vec<CommentsPage>> {
        let mut queries = Vec::with_capacity(heads.len());
        for (head, _) in heads {
            let list = CursorList::Replies(discussion.id, *head);
            let page = self.page_request(&ask.page, list, ask.order)?;
            let lane = Lane::Branch(*head);
            queries.push(LaneQuery {
                lane,
                order: ask.order,
                page,
                look_behind: ask.look_behind,
            });
        }
        request.spend(heads.len().saturating_mul(LIST_COST))?;
        let loaded = self.load_lanes(discussion, &queries).await?;
        request.spend(loaded.iter().map(|page| page.rows.len()).sum())?;
        let reader = self.reader(request).await?;
        Ok(heads
            .iter()
            .zip(queries)
            .zip(loaded)
            .map(|(((head, total), query), page)| {
                let list = CursorList::Replies(discussion.id, *head);
                page_of(
                    (request, &reader),
                    discussion,
                    choice,
                    list,
                    (query, page),
                    *total,
                )
            })
            .collect())
    }

    /// Whether replies of a comment are a list of their own for this reader, and the comment heads
    /// it: the index is servable, threads are not closed, and the comment opens a branch.
    #[must_use]
    pub fn heads_branch(&self, discussion: &Discussion, comment: &CommentView) -> bool {
        comment.depth() < discussion.layout.depth_limit
    }

    /// The list that shows a comment among its neighbours, in a mode.
    #[must_use]
    pub fn lane_of(
        &self,
        discussion: &Discussion,
        mode: Mode,
        comment: &CommentView,
    ) -> (Lane, CursorList) {
        if mode == Mode::Linear {
            return (Lane::Linear, CursorList::Linear(discussion.id));
        }
        match branch_of(&comment.ancestors, discussion.layout.depth_limit) {
            0 => (Lane::Roots, CursorList::Threaded(discussion.id)),
            head => {
                let head = CommentId::new(head);
                (Lane::Branch(head), CursorList::Replies(discussion.id, head))
            }
        }
    }
}

/// A loaded list page as one reader sees it.
pub(super) fn page_of(
    (request, reader): (&Request, &Reader),
    discussion: &Arc<Discussion>,
    choice: ModeChoice,
    list: CursorList,
    (query, loaded): (LaneQuery, LanePage),
    total: i64,
) -> CommentsPage {
    // Listed rows have nothing hidden above them; only the reader is left to ask.
    CommentsPage {
        discussion: Arc::clone(discussion),
        choice,
        list,
        order: query.order,
        comments: loaded
            .rows
            .into_iter()
            .filter_map(|row| into_view(row, reader, false))
            .inspect(|view| request.note_shown(view))
            .collect(),
        has_previous: loaded.has_previous,
        has_next: loaded.has_next,
        scanned_to: loaded.scanned_to,
        from_end: query.page.from_end,
        total,
    }
}
