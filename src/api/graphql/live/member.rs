//! One subscriber: first what they missed, then what everybody gets.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use futures_util::{Stream, stream};

use super::Hub;
use super::event::Source;
use super::group::{Group, Inbox};
use crate::api::http::{LiveEnd, LiveEvent};
use crate::domain::ids::EventId;

/// A subscriber's place in their group. Dropping it leaves the group.
#[derive(Debug)]
pub(super) struct Member {
    hub: Hub,
    group: Arc<Group>,
    inbox: Inbox,
    missed: VecDeque<Source>,
    /// What was told as missed and may still come from the group as well.
    told: HashSet<EventId>,
    has_ended: bool,
}

impl Member {
    pub(super) fn new(hub: Hub, group: Arc<Group>, inbox: Inbox, missed: Vec<Source>) -> Self {
        metrics::counter!("threadline_live_subscriptions_total").increment(1);
        metrics::gauge!("threadline_live_subscribers").increment(1.0);
        Self {
            hub,
            group,
            inbox,
            missed: missed.into(),
            told: HashSet::new(),
            has_ended: false,
        }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Result<LiveEvent, LiveEnd>> + Send {
        stream::unfold(self, |mut member| async move {
            let next = member.next().await?;
            member.has_ended = next.is_err();
            Some((next, member))
        })
    }

    async fn next(&mut self) -> Option<Result<LiveEvent, LiveEnd>> {
        if self.has_ended {
            return None;
        }
        while let Some(source) = self.missed.pop_front() {
            let told = self.hub.event_for(&self.group, source, self.inbox.reader);
            match told.await {
                Ok(Some(rendered)) => {
                    self.told.insert(rendered.event);
                    return Some(Ok(rendered.live));
                }
                Ok(None) => {}
                Err(why) => return Some(Err(why)),
            }
        }
        loop {
            let Some(rendered) = self.inbox.events.recv().await else {
                // The group let go of this member, and says why.
                return self.inbox.end.get().copied().map(Err);
            };
            if !self.told.remove(&rendered.event) {
                return Some(Ok(rendered.live));
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.leave(self.inbox.place);
        metrics::gauge!("threadline_live_subscribers").decrement(1.0);
    }
}
