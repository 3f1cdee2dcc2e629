//! The way to one comment: what is above it, what is around it, and how much lies further off.
//!
//! A deep link costs a bounded number of reads, however far into a discussion it points.

use std::sync::Arc;

use super::lanes::LaneQuery;
use super::threads::{CommentsPage, page_of};
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::counts::{RUN_ROWS_MAX, Run};
use crate::domain::cursor::{Cursor, CursorList};
use crate::domain::discussion::Discussion;
use crate::domain::ids::CommentId;
use crate::domain::mode::{Mode, ModeChoice};
use crate::domain::page::{Order, PageArgs, PageRequest};
use crate::domain::visibility::CommentView;
use crate::store::comments::Lane;

/// Neighbours on each side at most.
pub const SIBLINGS_MAX: u32 = 20;
/// Gaps are counted exactly up to here.
pub const GAP_EXACT_MAX: i64 = 1_000;

/// Comments between a context and an end of its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// How many are shown there.
    pub count: i64,
    /// Whether there may be more than `count`.
    pub at_least: bool,
    /// From where to read on: `before` this for the gap before, `after` it for the gap after.
    pub cursor: String,
}

/// A comment and its surroundings, oldest first.
#[derive(Clone, Debug)]
pub struct CommentContext {
    /// The mode whose list surrounds it.
    pub choice: ModeChoice,
    /// Where.
    pub discussion: Arc<Discussion>,
    /// The comment asked for, or its tombstone.
    pub focus: CommentView,
    /// Neighbours just before it.
    pub before: Vec<CommentView>,
    /// Neighbours just after it.
    pub after: Vec<CommentView>,
    /// What lies before them.
    pub gap_before: Option<Gap>,
    /// What lies after them.
    pub gap_after: Option<Gap>,
}

impl Service {
    /// The surroundings of a comment; `None` when it is not in this discussion or may not be seen.
    pub async fn context(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        id: CommentId,
        siblings: u32,
    ) -> ServiceResult<Option<CommentContext>> {
        if siblings > SIBLINGS_MAX {
            let message = format!("{siblings} is more than {SIBLINGS_MAX}");
            return Err(ServiceError::bad_input("siblings", message));
        }
        let mut seen = self.comments(request, &[(discussion.id, id)]).await?;
        let Some(focus) = seen.remove(&(discussion.id, id)) else {
            return Ok(None);
        };
        let (discussion, choice) = self.mode_of(request, discussion, None, None).await?;
        let around = self.lane_of(&discussion, choice.mode, &focus);
        let (lane, list) = around;
        let [older, newer] = self
            .neighbours(request, &discussion, choice, around, (id, siblings))
            .await?;
        let oldest = older.comments.first().map_or(id, |row| row.id);
        let newest = newer.comments.last().map_or(id, |row| row.id);
        let mut context = CommentContext {
            choice,
            focus,
            gap_before: None,
            gap_after: None,
            before: older.comments,
            after: newer.comments,
            discussion: Arc::clone(&discussion),
        };
        if older.has_previous || newer.has_next {
            let layout = discussion.layout.number;
            let runs = self
                .ports
                .comments
                .runs(discussion.id, layout, lane)
                .await?;
            let cursor = |id| {
                Cursor {
                    list,
                    order: Order::Oldest,
                    id,
                }
                .encode()
            };
            if older.has_previous {
                let (count, at_least) = self.gap(&discussion, lane, &runs, oldest, false).await?;
                context.gap_before = Some(Gap {
                    count,
                    at_least,
                    cursor: cursor(oldest),
                });
            }
            if newer.has_next {
                let (count, at_least) = self.gap(&discussion, lane, &runs, newest, true).await?;
                context.gap_after = Some(Gap {
                    count,
                    at_least,
                    cursor: cursor(newest),
                });
            }
        }
        Ok(Some(context))
    }

    async fn neighbours(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        choice: ModeChoice,
        (lane, list): (Lane, CursorList),
        (id, siblings): (CommentId, u32),
    ) -> ServiceResult<[CommentsPage; 2]> {
        let page = |from_end| PageRequest {
            limit: siblings,
            from_end,
            keep_last: None,
            after: (!from_end).then_some(id),
            before: from_end.then_some(id),
        };
        let query = |from_end| LaneQuery {
            lane,
            order: Order::Oldest,
            page: page(from_end),
            look_behind: false,
        };
        let queries = [query(true), query(false)];
        let mut loaded = self.load_lanes(discussion, &queries).await?.into_iter();
        let reader = self.reader(request).await?;
        Ok(queries.map(|query| {
            let page = loaded.next().unwrap_or_default();
            page_of(
                (request, &reader),
                discussion,
                choice,
                list,
                (query, page),
                0,
            )
        }))
    }

    /// How many shown comments lie beyond `edge`: whole runs by their sums, the cut one row by row.
    async fn gap(
        &self,
        discussion: &Arc<Discussion>,
        lane: Lane,
        runs: &[Run],
        edge: CommentId,
        after: bool,
    ) -> ServiceResult<(i64, bool)> {
        let whole = |run: &&Run| {
            if after {
                run.from_id > edge
            } else {
                run.to_id < edge
            }
        };
        let sum: i64 = runs.iter().filter(whole).map(|run| run.tally.shown).sum();
        let cut = runs
            .iter()
            .find(|run| run.from_id <= edge && edge <= run.to_id);
        let Some(cut) = cut.filter(|_| sum < GAP_EXACT_MAX) else {
            return Ok((sum, cut.is_some()));
        };
        // The cut run holds few rows by design; its edge is the query's other bound.
        let page = PageRequest {
            limit: u32::try_from(2 * RUN_ROWS_MAX).unwrap_or(u32::MAX),
            from_end: false,
            keep_last: None,
            after: Some(if after {
                edge
            } else {
                CommentId::new(cut.from_id.get().saturating_sub(1))
            }),
            before: Some(if after {
                CommentId::new(cut.to_id.get().saturating_add(1))
            } else {
                edge
            }),
        };
        let query = LaneQuery {
            lane,
            order: Order::Oldest,
            page,
            look_behind: false,
        };
        let rows = self
            .load_lanes(discussion, &[query])
            .await?
            .pop()
            .unwrap_or_default()
            .rows;
        let count = sum + i64::try_from(rows.len()).unwrap_or(i64::MAX);
        Ok((count, false))
    }

    /// What lies above a comment, oldest first, a page of it.
    pub async fn ancestors(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
        choice: ModeChoice,
        below: &CommentView,
        args: &PageArgs<String>,
    ) -> ServiceResult<CommentsPage> {
        let list = CursorList::Ancestors(discussion.id, below.id);
        let page = self.page_request(args, list, Order::Oldest)?;
        let between: Vec<CommentId> = below
            .ancestors
            .iter()
            .copied()
            .filter(|id| page.after.is_none_or(|after| *id > after))
            .filter(|id| page.before.is_none_or(|before| *id < before))
            .collect();
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let (mut from, mut to) = (0, between.len().min(limit));
        if page.from_end {
            (from, to) = (between.len().saturating_sub(limit), between.len());
        } else if let Some(keep) = page.keep_last {
            from = to.saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        }
        let wanted = between.get(from..to).unwrap_or_default();
        let ids: Vec<_> = wanted.iter().map(|id| (discussion.id, *id)).collect();
        let mut seen = self.comments(request, &ids).await?;
        let comments: Vec<CommentView> = ids.iter().filter_map(|at| seen.remove(at)).collect();
        // What lies on each side of the page; an empty page lies at the end it is read from.
        let from = if page.from_end && wanted.is_empty() {
            between.len()
        } else {
            from
        };
        let lies_above = |id: &CommentId| page.after.is_some_and(|after| *id <= after);
        let lies_below = |id: &CommentId| page.before.is_some_and(|before| *id >= before);
        let has_previous = from > 0 || below.ancestors.iter().any(lies_above);
        let to = if wanted.is_empty() { from } else { to };
        let has_next = to < between.len() || below.ancestors.iter().any(lies_below);
        // Those the viewer may not see are passed by: a page without its last ones goes on all the
        // same.
        let edge = if page.from_end {
            wanted.first().copied()
        } else {
            wanted.last().copied()
        };
        let missing = comments.len() < wanted.len();
        Ok(CommentsPage {
            discussion: Arc::clone(discussion),
            choice,
            list,
            order: Order::Oldest,
            comments,
            has_previous,
            has_next,
            scanned_to: edge.filter(|_| missing),
            from_end: page.from_end,
            total: i64::try_from(below.ancestors.len()).unwrap_or(i64::MAX),
        })
    }

    /// Whether this reader's lists of replies are their own: threads are open and the index serves.
    pub async fn threads_served(
        &self,
        request: &Request,
        discussion: &Arc<Discussion>,
    ) -> ServiceResult<Option<(Arc<Discussion>, ModeChoice)>> {
        if !crate::domain::mode::threads_open(request.threaded()) {
            return Ok(None);
        }
        let (discussion, choice) = self
            .mode_of(request, discussion, Some(Mode::Threaded), None)
            .await?;
        Ok((choice.mode == Mode::Threaded).then_some((discussion, choice)))
    }
}
