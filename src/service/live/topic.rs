//! One discussion's log, read once for everybody who follows it in this process.
//!
//! A wake makes the topic read from the smallest event it was told of; every few seconds, and when
//! wakes were lost, it reads the last minute again. What it has seen of that minute it keeps, so
//! that each entry goes out once. It ends when nobody follows any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::MissedTickBehavior;

use crate::domain::ids::{DiscussionId, EventId};
use crate::domain::live::{Window, overlap_from};
use crate::service::{Service, ServiceError, ServiceResult};
use crate::store::comments::LogEntry;
use crate::store::wake::{Listener, News, Topic};

/// How often a log is read although nobody woke its topic.
const POLL: Duration = Duration::from_secs(5);
/// Batches that wait for one follower at most.
const BATCHES_MAX: usize = 64;

/// How a topic began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// It has not read the log yet.
    Reading,
    /// Everything from now on goes out.
    Begun,
    /// It could not, and is gone.
    Failed,
}

/// Where followers of a topic hang on.
#[derive(Clone, Debug)]
pub(super) struct Subscribers {
    batches: broadcast::Sender<Arc<[LogEntry]>>,
    beginning: watch::Receiver<Beginning>,
}

/// One follower of a discussion's log.
#[derive(Debug)]
pub struct Following(broadcast::Receiver<Arc<[LogEntry]>>);

/// What a follower gets.
#[derive(Clone, Debug)]
pub enum Batch {
    /// New entries, oldest first.
    Entries(Arc<[LogEntry]>),
    /// The follower was too slow and missed some.
    Missed,
}

impl Following {
    /// Waits for new entries. `None`: the process is stopping.
    pub async fn next(&mut self) -> Option<Batch> {
        match self.0.recv().await {
            Ok(entries) => Some(Batch::Entries(entries)),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Batch::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Hangs on to a discussion's topic, which begins if there is none.
pub(super) async fn follow(
    service: &Service,
    discussion: DiscussionId,
) -> ServiceResult<Following> {
    loop {
        let (following, mut beginning) = hang_on(service, discussion);
        let begun = beginning
            .wait_for(|state| *state != Beginning::Reading)
            .await
            .map(|state| *state);
        match begun {
            Ok(Beginning::Begun) => return Ok(following),
            // Its error went to whoever began it; this one asks the store for its own.
            Ok(Beginning::Failed | Beginning::Reading) | Err(_) => {
                service
                    .read_log(discussion, service.live_cursor(), 1)
                    .await?;
            }
        }
    }
}

fn hang_on(service: &Service, discussion: DiscussionId) -> (Following, watch::Receiver<Beginning>) {
    let mut topics = service.live.topics();
    let subscribers = topics
        .entry(discussion)
        .or_insert_with(|| begin(service, discussion));
    let following = Following(subscribers.batches.subscribe());
    (following, subscribers.beginning.clone())
}

fn begin(service: &Service, discussion: DiscussionId) -> Subscribers {
    let (batches, _) = broadcast::channel(BATCHES_MAX);
    let (told, beginning) = watch::channel(Beginning::Reading);
    let follower = LogReader {
        service: service.clone(),
        discussion,
        wakes: service.ports.wake.listen(Topic::Discussion(discussion)),
        batches: batches.clone(),
        window: Window::default(),
    };
    service.ports.tasks.spawn(follower.run(told));
    Subscribers { batches, beginning }
}

/// The task behind a topic.
struct LogReader {
    service: Service,
    discussion: DiscussionId,
    wakes: Listener,
    batches: broadcast::Sender<Arc<[LogEntry]>>,
    window: Window,
}

impl LogReader {
    async fn run(mut self, told: watch::Sender<Beginning>) {
        // What is there already is nobody's news. It is read before anybody is let in, so that
        // everything written after that goes out.
        if let Err(error) = self.new_entries(self.a_minute_ago()).await {
            tracing::warn!(%error, discussion = %self.discussion, "a log could not be followed");
            drop(self);
            told.send_replace(Beginning::Failed);
            return;
        }
        told.send_replace(Beginning::Begun);
        let stopping = self.service.ports.tasks.stopping();
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once.
        poll.tick().await;
        let mut is_failing = false;
        loop {
            let from = tokio::select! {
                () = stopping.cancelled() => None,
                _ = poll.tick() => Some(self.a_minute_ago()),
                news = self.wakes.next() => self.smallest(news),
            };
            let Some(from) = from else { return };
            if self.is_left() {
                return;
            }
            let read = self.publish(from).await;
            match &read {
                Err(error) if !is_failing => {
                    tracing::warn!(%error, discussion = %self.discussion, "a log cannot be read");
                }
                _ => {}
            }
            is_failing = read.is_err();
        }
    }

    /// Ends the topic if nobody follows. Newcomers ask under the same lock, so none comes too late.
    fn is_left(&self) -> bool {
        let mut topics = self.service.live.topics();
        let is_left = self.batches.receiver_count() == 0;
        if is_left {
            topics.remove(&self.discussion);
        }
        is_left
    }

    fn a_minute_ago(&self) -> EventId {
        overlap_from(self.service.ports.clock.now_ms())
    }

    /// From where to read after a wake; all that were heard meanwhile are answered by one read.
    fn smallest(&mut self, first: Option<News>) -> Option<EventId> {
        let (mut next, mut from) = (Some(first?), EventId::new(i64::MAX));
        while let Some(news) = next {
            from = from.min(match news {
                News::Event(event) => event,
                News::Missed => self.a_minute_ago(),
            });
            next = self.wakes.heard();
        }
        Some(from)
    }

    async fn publish(&mut self, from: EventId) -> Result<(), ServiceError> {
        let entries = self.new_entries(from).await?;
        if !entries.is_empty() {
            // Nobody to send to: then nobody misses it.
            let _sent_to = self.batches.send(entries.into());
        }
        Ok(())
    }

    /// The entries from `from` on that were not seen before. They count as seen only if what they
    /// speak of can be read as well.
    async fn new_entries(&mut self, from: EventId) -> Result<Vec<LogEntry>, ServiceError> {
        let (service, discussion) = (self.service.clone(), self.discussion);
        let floor = self.a_minute_ago();
        // What was seen before the floor is forgotten, so nothing before it is read again.
        let from = from.max(floor);
        let entries = service.read_log(discussion, from, usize::MAX).await?;
        service.catch_up(discussion, &entries).await?;
        self.window.forget_before(floor);
        Ok(entries
            .into_iter()
            .filter(|entry| self.window.admit(entry.event_id))
            .collect())
    }
}

impl Drop for LogReader {
    /// However it ends, the next follower begins a new one.
    fn drop(&mut self) {
        let mut topics = self.service.live.topics();
        let is_this = |topic: &Subscribers| topic.batches.same_channel(&self.batches);
        if topics.get(&self.discussion).is_some_and(is_this) {
            topics.remove(&self.discussion);
        }
    }
}
