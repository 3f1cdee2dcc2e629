//! Everybody who sent the same subscription under the same role: each event is executed once.
//!
//! The group's task takes entries from the discussion's topic, runs the operation for each and hands
//! the same bytes to every member. A member that does not keep up is let go with that reason; the
//! others never wait for it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::cache::Cache;
use super::event::Source;
use super::{GroupKey, Hub, Operation, Rendered, WAITING_MAX};
use crate::api::graphql::load::Loader;
use crate::api::http::{LiveEnd, LiveEvent, live_payload};
use crate::domain::ids::opaque::encode_event;
use crate::service::live::{Batch, Following};

/// How long one execution may take. A store that hangs must not hold everybody for ever.
const EXECUTION_MAX: Duration = Duration::from_secs(10);
/// How often a group looks whether anybody is left, while nothing happens.
const LOOK: Duration = Duration::from_secs(5);

/// What a member receives, and why it ends.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) events: mpsc::Receiver<Rendered>,
    pub(super) end: Arc<OnceLock<LiveEnd>>,
}

#[derive(Debug)]
struct Outbox {
    member: u64,
    events: mpsc::Sender<Rendered>,
    end: Arc<OnceLock<LiveEnd>>,
}

#[derive(Debug, Default)]
struct Members {
    last: u64,
    outboxes: Vec<Outbox>,
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
    pub(super) fn admit(&self) -> (u64, Inbox) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let end = Arc::new(OnceLock::new());
        let mut members = self.members();
        members.last = members.last.wrapping_add(1);
        let member = members.last;
        members.outboxes.push(Outbox {
            member,
            events: sender,
            end: Arc::clone(&end),
        });
        let inbox = Inbox {
            events: receiver,
            end,
        };
        (member, inbox)
    }

    pub(super) fn leave(&self, member: u64) {
        self.members()
            .outboxes
            .retain(|outbox| outbox.member != member);
    }

    /// Hands an event to everybody. Returns how many were let go because they are too slow.
    fn deliver(&self, event: &Rendered) -> u64 {
        let mut too_slow = 0;
        self.members()
            .outboxes
            .retain(|outbox| match outbox.events.try_send(event.clone()) {
                Ok(()) => true,
                Err(TrySendError::Closed(_)) => false,
                Err(TrySendError::Full(_)) => {
                    too_slow += 1;
                    outbox.end.get_or_init(|| LiveEnd::TooSlow);
                    false
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
                    let too_slow = group.deliver(&event);
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

impl Hub {
    /// An event for a group, executed now or lately. `None`: its readers must not know of it.
    pub(super) async fn event(
        &self,
        group: &Group,
        source: Source,
    ) -> Result<Option<Rendered>, LiveEnd> {
        let event = source.event();
        let begun = {
            let cache = group.cache();
            if let Some(kept) = cache.get(event) {
                return Ok(kept.0);
            }
            cache.generation()
        };
        let rendered = self.render(group.key, &group.operation, source).await?;
        let now_ms = self.0.service.live_cursor().time_ms();
        if matches!(source, Source::Entry(_)) {
            group.cache().put(begun, event, rendered.clone(), now_ms);
        }
        Ok(rendered)
    }

    async fn render(
        &self,
        key: GroupKey,
        operation: &Operation,
        source: Source,
    ) -> Result<Option<Rendered>, LiveEnd> {
        let service = &self.0.service;
        let loader = Loader {
            service: service.clone(),
            request: Arc::new(service.event_request(key.role, Arc::default())),
        };
        let request = Operation::graphql(&operation.0).data(loader).data(source);
        metrics::counter!("threadline_live_executions_total").increment(1);
        let answers = self.0.schema.execute_stream(request);
        let answer = async { answers.boxed().next().await };
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = match tokio::time::timeout(EXECUTION_MAX, answer).await {
            Ok(Ok(Some(answer))) => answer,
            Ok(Ok(None)) => return Ok(None),
            // The panic hook has written where and why.
            Ok(Err(_)) => return Err(LiveEnd::Failed),
            Err(_) => {
                tracing::warn!(discussion = %key.discussion, "an event took too long");
                return Err(LiveEnd::Failed);
            }
        };
        if answer.data == async_graphql::Value::Null {
            for error in &answer.errors {
                tracing::warn!(discussion = %key.discussion, %error, "an event could not be told");
            }
            return Err(LiveEnd::Failed);
        }
        let event = source.event();
        let payload = live_payload(answer).ok_or(LiveEnd::Failed)?;
        Ok(Some(Rendered {
            event,
            live: LiveEvent {
                id: encode_event(key.discussion, event).into(),
                payload: payload.into(),
            },
        }))
    }
}
