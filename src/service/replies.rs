//! Replies to the viewer, and what they have seen: what is new for one person.
//!
//! Everything is counted as the viewer would see it now: hidden and deleted comments are not new,
//! nor is what people write whom they block. Counts are exact to a thousand and cost a bounded
//! number of reads.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::request::LIST_COST;
use super::scan::Scan;
use super::writing::signed_in;
use super::{Request, Service, ServiceResult};
use crate::domain::comment::CommentState;
use crate::domain::cursor::CursorList;
use crate::domain::ids::{CommentId, DiscussionId, EventId};
use crate::domain::page::{Order, PageArgs, Slice};
use crate::domain::visibility::{CommentView, Facts, Reader, ShownState, is_readable};
use crate::store::comments::RowFacts;

/// Counts are exact up to here.
pub const NEW_EXACT_MAX: usize = 1_000;
/// Reads of a count at most.
const COUNT_ROUNDS_MAX: usize = 3;

/// A reply to the viewer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its place in the list.
    pub event_id: EventId,
    /// The reply.
    pub comment: CommentView,
    /// Whether it came after what they have marked as read.
    pub is_unread: bool,
}

/// A page of replies to the viewer, newest first.
#[derive(Clone, Debug, Default)]
pub struct RepliesPage {
    /// The replies.
    pub replies: Vec<Reply>,
    /// Whether a newer one comes before.
    pub has_previous: bool,
    /// Whether an older one comes after.
    pub has_next: bool,
    /// Where a page that came up short stopped looking.
    pub scanned_to: Option<CommentId>,
}

/// How much is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewCount {
    /// How many.
    pub count: usize,
    /// Whether there may be more than `count`.
    pub at_least: bool,
}

/// Up to where the viewer has seen a discussion, and what came after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenMark(pub CommentId);

impl Service {
    /// The replies to the viewer that they may see, newest first.
    pub async fn replies_to_viewer(
        &self,
        request: &Request,
        args: &PageArgs<String>,
    ) -> ServiceResult<RepliesPage> {
        let viewer = signed_in(request)?;
        let cursors = CursorList::RepliesTo(viewer.user_id);
        let page = self.page_request(args, cursors, Order::Newest)?;
        request.spend(LIST_COST)?;
        let blocked = self.blocked(request).await?;
        let comments = &self.ports.comments;
        let read_to = comments.replies_read(viewer.user_id).await?;
        let mut scan = Scan::new(page, Order::Newest);
        loop {
            let entries = comments.replies_to(viewer.user_id, scan.slice()).await?;
            let places: Vec<(DiscussionId, CommentId)> = entries
                .iter()
                .map(|entry| (entry.facts.discussion_id, entry.facts.row.id))
                .collect();
            let mut seen = self.comments(request, &places).await?;
            let replies = entries.iter().zip(places).filter_map(|(entry, place)| {
                // Of people whom they block not even a moderator wants to be told.
                let is_told = !blocked.contains(&entry.facts.author_id);
                let comment = seen.remove(&place).filter(|_| is_told)?;
                (comment.state == ShownState::Published).then(|| Reply {
                    event_id: entry.event_id,
                    is_unread: entry.event_id > read_to,
                    comment,
                })
            });
            let replies = replies.collect();
            let last = entries.last().map(|entry| entry.event_id);
            let last = last.map(|event| CommentId::new(event.get()));
            if !scan.take(entries.len(), last, replies) {
                break;
            }
        }
        let scanned = scan.end();
        Ok(RepliesPage {
            replies: scanned.items,
            has_previous: scanned.has_previous,
            has_next: scanned.has_next,
            scanned_to: scanned.stopped_at,
        })
    }

    /// How many replies to the viewer they have not read.
    pub async fn unread_replies(&self, request: &Request) -> ServiceResult<NewCount> {
        let viewer = signed_in(request)?;
        request.spend(LIST_COST)?;
        let read_to = self.ports.comments.replies_read(viewer.user_id).await?;
        let mut slice = Slice {
            above: Some(CommentId::new(read_to.get())),
            below: None,
            ascending: true,
            limit: COUNT_ROWS,
        };
        let mut counting = Counting::default();
        loop {
            let entries = self.ports.comments.replies_to(viewer.user_id, slice);
            let entries = entries.await?;
            let last = entries.last().map(|entry| entry.event_id);
            let facts: Vec<RowFacts> = entries.into_iter().map(|entry| entry.facts).collect();
            let new = self.readable(request, &facts).await?;
            match last.filter(|_| counting.take(facts.len(), new)) {
                Some(last) => slice = slice.beyond(CommentId::new(last.get()), COUNT_ROWS),
                None => return Ok(counting.end()),
            }
        }
    }

    /// Notes that the viewer has read the replies to them up to one. Only moves forward.
    pub async fn mark_replies_read(
        &self,
        request: &Request,
        up_to: (DiscussionId, CommentId),
    ) -> ServiceResult<()> {
        let viewer = signed_in(request)?;
        let comments = &self.ports.comments;
        comments.mark_replies_read(viewer.user_id, up_to).await?;
        Ok(())
    }

    /// Notes that the viewer has seen a discussion up to a comment. Only moves forward.
    pub async fn mark_seen(
        &self,
        request: &Request,
        discussion: DiscussionId,
        up_to: CommentId,
    ) -> ServiceResult<()> {
        let viewer = signed_in(request)?;
        let comments = &self.ports.comments;
        comments
            .mark_seen(viewer.user_id, discussion, up_to)
            .await?;
        Ok(())
    }

    /// Up to where the viewer has seen a discussion; `None`: they never said so.
    pub async fn seen_mark(
        &self,
        request: &Request,
        discussion: DiscussionId,
    ) -> ServiceResult<Option<SeenMark>> {
        let Some(viewer) = request.viewer.filter(|_| !request.is_shared) else {
            return Ok(None);
        };
        let comments = &self.ports.comments;
        let mut marks = comments.seen_marks(viewer.user_id, &[discussion]).await?;
        Ok(marks.pop().map(|(_, mark)| SeenMark(mark)))
    }

    /// What others wrote in a discussion after the viewer's mark.
    pub async fn new_since(
        &self,
        request: &Request,
        discussion: DiscussionId,
        mark: SeenMark,
    ) -> ServiceResult<NewCount> {
        request.spend(LIST_COST)?;
        let mut after = mark.0;
        let mut counting = Counting::default();
        loop {
            let rows = self
                .ports
                .comments
                .written_after(discussion, after, COUNT_ROWS);
            let rows = rows.await?;
            let new = self.readable(request, &rows).await?;
            let last = rows.last().map(|row| row.row.id);
            match last.filter(|_| counting.take(rows.len(), new)) {
                Some(last) => after = last,
                None => return Ok(counting.end()),
            }
        }
    }

    /// How many of some rows are published, by others, and seen by the reader. Two store calls.
    async fn readable(&self, request: &Request, rows: &[RowFacts]) -> ServiceResult<usize> {
        if rows.is_empty() {
            return Ok(0);
        }
        let blocked = self.blocked(request).await?;
        let reader = Reader::new(request.viewer, Arc::clone(&blocked));
        let viewer = request.viewer.map(|viewer| viewer.user_id);
        let homes: HashSet<DiscussionId> = rows.iter().map(|row| row.discussion_id).collect();
        let homes: Vec<DiscussionId> = homes.into_iter().collect();
        let homes = self.discussions(&homes).await?;
        let hidden_in: HashMap<DiscussionId, bool> =
            homes.iter().map(|row| (row.id, row.has_hidden)).collect();
        let above: HashSet<(DiscussionId, CommentId)> = rows
            .iter()
            .filter(|row| hidden_in.get(&row.discussion_id) == Some(&true))
            .flat_map(|row| row.row.ancestors.iter().map(|id| (row.discussion_id, *id)))
            .collect();
        let above: Vec<_> = above.into_iter().collect();
        let hiding = self.ports.comments.hiding_among(&above).await?;
        let hiding: HashSet<(DiscussionId, CommentId)> = hiding.into_iter().collect();
        let is_new = |row: &&RowFacts| {
            Some(row.author_id) != viewer
                && !blocked.contains(&row.author_id)
                && is_shown(row, &reader, &hiding)
        };
        Ok(rows.iter().filter(is_new).count())
    }
}

/// Whether a row is published and its text seen by a reader.
fn is_shown(row: &RowFacts, reader: &Reader, hiding: &HashSet<(DiscussionId, CommentId)>) -> bool {
    let facts = Facts {
        author_id: row.author_id,
        state: row.row.state,
        live_below: row.row.live_below,
    };
    let mut above = row.row.ancestors.iter();
    let hidden_above = above.any(|id| hiding.contains(&(row.discussion_id, *id)));
    row.row.state == CommentState::Published && is_readable(facts, reader, hidden_above)
}

/// Rows of one read of a count: enough to pass what is counted exactly.
const COUNT_ROWS: u32 = 1_001;

/// A count under way.
#[derive(Debug, Default)]
struct Counting {
    count: usize,
    rounds: usize,
    more: bool,
}

impl Counting {
    /// Takes what is new of `read` rows. Whether to read on.
    fn take(&mut self, read: usize, new: usize) -> bool {
        self.rounds += 1;
        self.count += new;
        self.more = read >= usize::try_from(COUNT_ROWS).unwrap_or(usize::MAX);
        self.more && self.count <= NEW_EXACT_MAX && self.rounds < COUNT_ROUNDS_MAX
    }

    fn end(self) -> NewCount {
        NewCount {
            count: self.count.min(NEW_EXACT_MAX),
            at_least: self.more || self.count > NEW_EXACT_MAX,
        }
    }
}
