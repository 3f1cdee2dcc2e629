//! Everybody who sent the same subscription under the same role: each event is executed once.
//!
//! The group's task takes entries from the discussion's topic, runs the operation for each and hands
//! the same bytes to every member. A member that does not keep up is let go with that reason; the
//! others never wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::cache::Cache;
use super::event::Source;
use super::{GroupKey, Hub, Operation, Rendered, WAITING_MAX};
use crate::api::http::LiveEnd;
use crate::domain::ids::UserId;
use crate::service::live::{Batch, Following};

/// How often a group looks whether anybody is left, while nothing happens.
const LOOK: Duration = Duration::from_secs(5);

/// What a member receives, and why it ends.
#[derive(Debug)]
pub(super) struct Inbox {
    /// The member's number in the group.
    pub(super) place: u64,
    /// Whose blocks count; `None`: nobody's.
    pub(super) reader: Option<UserId>,
    pub(super) events: mpsc::Receiver<Rendered>,
    pub(super) end: Arc<OnceLock<LiveEnd>>,
}

#[derive(Debug)]
struct Outbox {
    place: u64,
    reader: Option<UserId>,
    events: mpsc::Sender<Rendered>,
    end: Arc<OnceLock<LiveEnd>>,
}

#[derive(Debug, Default)]
struct Members {
    last: u64,
    outboxes: Vec<Outbox>,
}

/// What somebody gets who blocks one of an event's authors.
#[derive(Clone, Debug)]
pub(super) enum Instead {
    /// The event without those texts.
    Event(Rendered),
    /// They need not know of it.
    Nothing,
    /// It cannot be told now.
    End(LiveEnd),
}

/// The members and what they asked for.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) key: GroupKey,
    pub(super) operation: Operation,
    members: Mutex<Members>,
    cache: Mutex<Cache>,
}

impl Group {
    pub(super) fn new(key: GroupKey, operation: Operation) -> Self {
        Self {
            key,
            operation,
            members: Mutex::default(),
            cache: Mutex::default(),
        }
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        // Nothing panics while it is held, and a list is whole after every call.
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was executed lately; learn of the entries at hand first.
    pub(super) fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members().outboxes.is_empty()
    }

    /// Takes somebody in: from now on they get every event.
    pub(super) fn admit(&self, reader: Option<UserId>) -> Inbox {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let end = Arc::new(OnceLock::new());
        let mut members = self.members();
        members.last = members.last.wrapping_add(1);
        let place = members.last;
        members.outboxes.push(Outbox {
            place,
            reader,
            events: sender,
            end: Arc::clone(&end),
        });
        Inbox {
            place,
            reader,
            events: receiver,
            end,
        }
    }

    pub(super) fn leave(&self, place: u64) {
        self.members()
            .outboxes
            .retain(|outbox| outbox.place != place);
    }

    /// Whose blocks count here.
    pub(super) fn blockers(&self) -> Vec<UserId> {
        let members = self.members();
        let all = members.outboxes.iter().filter_map(|outbox| outbox.reader);
        all.collect()
    }

    /// Hands an event to everybody, or what takes its place for a reader. Returns how many were let
    /// go because they are too slow.
    fn deliver(&self, event: &Rendered, instead: &HashMap<UserId, Instead>) -> u64 {
        let mut too_slow = 0;
        self.members().outboxes.retain(|outbox| {
            let own = outbox.reader.and_then(|reader| instead.get(&reader));
            let event = match own {
                None => event,
                Some(Instead::Event(event)) => event,
                Some(Instead::Nothing) => return true,
                Some(Instead::End(why)) => {
                    outbox.end.get_or_init(|| *why);
                    return false;
                }
            };
            match outbox.events.try_send(event.clone()) {
                Ok(()) => true,
                Err(TrySendError::Closed(_)) => false,
                Err(TrySendError::Full(_)) => {
                    too_slow += 1;
                    outbox.end.get_or_init(|| LiveEnd::TooSlow);
                    false
                }
            }
        });
        too_slow
    }

    /// Lets everybody go.
    fn end(&self, why: LiveEnd) {
        for outbox in self.members().outboxes.drain(..) {
            outbox.end.get_or_init(|| why);
        }
    }
}

/// The group's task, until nobody is left.
pub(super) async fn run(hub: Hub, group: Arc<Group>, mut following: Following) {
    loop {
        let batch = match tokio::time::timeout(LOOK, following.next()).await {
            Ok(Some(batch)) => Some(batch),
            Ok(None) => {
                group.end(LiveEnd::Stopping);
                None
            }
            Err(_) if hub.is_left(&group) => return,
            Err(_) => continue,
        };
        let Some(batch) = batch else { break };
        let sources: Vec<Source> = match batch {
            Batch::Entries(entries) => {
                group.cache().learn(&entries);
                entries.iter().copied().map(Source::Entry).collect()
            }
            Batch::Missed => vec![Source::Resync(hub.0.service.live_cursor())],
        };
        for source in sources {
            match hub.event(&group, source).await {
                Ok(Some(event)) => {
                    let instead = hub.instead(&group, source, &event).await;
                    let too_slow = group.deliver(&event, &instead);
                    metrics::counter!("threadline_live_too_slow_total").increment(too_slow);
                }
                Ok(None) => {}
                // They subscribe again after the last event they had, so nothing is lost.
                Err(why) => group.end(why),
            }
        }
        if hub.is_left(&group) {
            return;
        }
    }
    hub.is_left(&group);
}
