//! Live: who follows a discussion's log in this process, and what an entry is to a reader.
//!
//! Each discussion that somebody follows has one topic here, which reads its log once for all
//! of them. What they get are entries, not texts: a text is read when it is shown, under the rules
//! that hold then, so nothing that was hidden since leaks out of a queue.

mod topic;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use topic::{Batch, Following};

use super::reading::DiscussionRef;
use super::{Request, Service, ServiceResult};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, EventId, first_id_of_ms};
use crate::domain::live::{OVERLAP_MS, REPLAY_MAX, is_kept, overlap_from};
use crate::domain::visibility::CommentView;
use crate::store::comments::{LogEntry, LogKind};
use crate::store::wake::Topic;
use topic::Subscribers;

/// Entries of a log read in one call.
const READ_ROWS: u32 = 500;

/// The topics of this process, and what they did.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    topics: Arc<Mutex<HashMap<DiscussionId, Subscribers>>>,
}

impl Live {
    fn topics(&self) -> MutexGuard<'_, HashMap<DiscussionId, Subscribers>> {
        // Nothing panics while it is held, and a map is whole after every call.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What somebody who was away gets first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// These, oldest first; perhaps some that they had already.
    Entries(Vec<LogEntry>),
    /// Too much happened, or too long ago: they read the discussion anew and go on from here.
    Resync(EventId),
}

/// An entry as a reader may know of it.
#[derive(Clone, Debug)]
pub struct SeenEvent {
    /// What happened.
    pub kind: LogKind,
    /// To which comment; `None` when the discussion itself changed.
    pub comment_id: Option<CommentId>,
    /// The comment as it is now; `None`: it is out of this reader's sight.
    pub comment: Option<CommentView>,
}

impl Service {
    /// Follows a discussion: every entry that its log gets from now on.
    pub async fn follow(&self, discussion: DiscussionId) -> ServiceResult<Following> {
        topic::follow(self, discussion).await
    }

    /// From where somebody who reads now goes on, so that they miss nothing.
    #[must_use]
    pub fn live_cursor(&self) -> EventId {
        EventId::new(first_id_of_ms(self.ports.clock.now_ms()))
    }

    /// What happened since `after`, the last event that a reader had.
    ///
    /// Begins a minute before it, since an event with a smaller id may have appeared after that one.
    pub async fn replay(&self, discussion: DiscussionId, after: EventId) -> ServiceResult<Replay> {
        let now = self.live_cursor();
        if !is_kept(after, now.time_ms()) || after.time_ms() > now.time_ms() + OVERLAP_MS {
            return Ok(Replay::Resync(now));
        }
        let from = overlap_from(after.time_ms());
        let mut entries = self
            .read_log(discussion, from, REPLAY_MAX.saturating_add(1))
            .await?;
        if entries.len() > REPLAY_MAX {
            return Ok(Replay::Resync(now));
        }
        entries.retain(|entry| entry.event_id != after);
        if !entries.is_empty() {
            self.catch_up(discussion, &entries).await?;
        }
        Ok(Replay::Entries(entries))
    }

    /// What an entry is to a reader, as things are now. `None`: they must not know of it.
    pub async fn seen_event(
        &self,
        request: &Request,
        discussion: DiscussionId,
        entry: &LogEntry,
    ) -> ServiceResult<Option<(Arc<Discussion>, SeenEvent)>> {
        let place = self.discussion(&DiscussionRef::Id(discussion)).await?;
        let Some(place) = place else {
            return Ok(None);
        };
        let comment = match entry.comment_id {
            None => None,
            Some(id) => {
                let at = (discussion, id);
                self.comments(request, &[at]).await?.remove(&at)
            }
        };
        let is_told = match entry.kind {
            // A text that cannot be read is no news; how it came out of sight is an entry of its own.
            LogKind::Created | LogKind::Edited => comment.is_some(),
            LogKind::StateChanged | LogKind::DiscussionChanged => true,
        };
        let event = SeenEvent {
            kind: entry.kind,
            comment_id: entry.comment_id,
            comment,
        };
        Ok(is_told.then_some((place, event)))
    }

    /// Says that a discussion's log has an entry. Losing that costs a few seconds, so a write does
    /// not fail over it.
    pub(super) async fn wake(&self, discussion: DiscussionId, event: EventId) {
        let topic = Topic::Discussion(discussion);
        if let Err(error) = self.ports.wake.wake(topic, event).await {
            tracing::warn!(%error, %discussion, "a wake was lost");
        }
    }

    /// Up to `limit` entries from `from` on, oldest first.
    async fn read_log(
        &self,
        discussion: DiscussionId,
        from: EventId,
        limit: usize,
    ) -> ServiceResult<Vec<LogEntry>> {
        let (mut entries, mut from) = (Vec::new(), from);
        loop {
            metrics::counter!("threadline_live_log_reads_total").increment(1);
            let page = self.ports.comments.log(discussion, from, READ_ROWS).await?;
            let is_last = page.len() < usize::try_from(READ_ROWS).unwrap_or(usize::MAX);
            let last = page.last().map(|entry| entry.event_id);
            entries.extend(page);
            match last {
                Some(last) if !is_last && entries.len() < limit => {
                    from = EventId::new(last.get().saturating_add(1));
                }
                _ => return Ok(entries),
            }
        }
    }

    /// Makes what is shown of these entries not older than they are, whoever wrote them.
    async fn catch_up(&self, discussion: DiscussionId, entries: &[LogEntry]) -> ServiceResult<()> {
        let newest = entries.iter().map(|entry| entry.event_id).max();
        if let Some(newest) = newest {
            self.ports.comments.catch_up(discussion, newest).await?;
        }
        Ok(())
    }
}
