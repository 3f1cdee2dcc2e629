//! Reading on until a page is full: lists from which the reader sees only a part.
//!
//! A page costs a bounded number of reads. When they did not fill it, it says where it stopped
//! looking, so that the next page goes on there.

use super::lanes::ROUNDS_MAX;
use crate::domain::ids::CommentId;
use crate::domain::page::{Order, PageRequest, Slice};

/// A page under way.
#[derive(Debug)]
pub(super) struct Scan<T> {
    page: PageRequest,
    slice: Slice,
    wanted: usize,
    found: Vec<T>,
    rounds: usize,
    more: bool,
    stopped_at: Option<CommentId>,
}

/// A page of what the reader sees, in the order asked.
#[derive(Debug)]
pub(super) struct Scanned<T> {
    /// What is seen.
    pub(super) items: Vec<T>,
    /// Whether something comes before.
    pub(super) has_previous: bool,
    /// Whether something comes after.
    pub(super) has_next: bool,
    /// Where a page that came up short stopped looking.
    pub(super) stopped_at: Option<CommentId>,
}

impl<T> Scan<T> {
    pub(super) fn new(page: PageRequest, order: Order) -> Self {
        Self {
            slice: page.slice(order, page.limit.saturating_add(1)),
            wanted: usize::try_from(page.limit).unwrap_or(usize::MAX),
            page,
            found: Vec::new(),
            rounds: 0,
            more: false,
            stopped_at: None,
        }
    }

    /// What to read next.
    pub(super) fn slice(&self) -> Slice {
        self.slice
    }

    /// Takes what is seen of `read` entries, the last of which is `last`. Whether to read on.
    pub(super) fn take(&mut self, read: usize, last: Option<CommentId>, seen: Vec<T>) -> bool {
        self.rounds += 1;
        self.found.extend(seen);
        let all_read = read < usize::try_from(self.slice.limit).unwrap_or(usize::MAX);
        self.more = self.found.len() > self.wanted || !all_read;
        self.stopped_at = last.filter(|_| self.more && self.found.len() < self.wanted);
        let Some(last) = last.filter(|_| self.found.len() <= self.wanted && !all_read) else {
            return false;
        };
        let limit = self.page.limit.saturating_mul(2).saturating_add(1);
        self.slice = self.slice.beyond(last, limit);
        self.rounds < ROUNDS_MAX
    }

    /// The page.
    pub(super) fn end(self) -> Scanned<T> {
        let (page, mut found) = (self.page, self.found);
        found.truncate(self.wanted);
        // An entry before the bound was on the page the bound came from.
        let (after, before) = (page.after.is_some(), page.before.is_some());
        let (mut has_previous, has_next) = if page.from_end {
            (self.more, before)
        } else {
            (after, self.more)
        };
        if page.from_end {
            found.reverse();
        } else if let Some(keep) = page.keep_last {
            let keep = usize::try_from(keep).unwrap_or(usize::MAX);
            let cut = found.len().saturating_sub(keep);
            found.drain(..cut);
            has_previous |= cut > 0;
        }
        Scanned {
            items: found,
            has_previous,
            has_next,
            stopped_at: self.stopped_at,
        }
    }
}
