//! Port `wake`: says that a topic's log has news. The log is the truth; a wake may be lost.
//!
//! Who hears a wake reads the log; who hears none reads it every few seconds anyway. So nothing
//! here is stored, confirmed or repeated. Promises, each a conformance case of the same name:
//!
//! - **W1** who listened before a wake hears of it, in order, in this process;
//! - **W2** a listener that falls behind hears that it missed some, and costs bounded memory;
//! - **W3** a topic that nobody listens to costs nothing.

pub mod memory;

use std::fmt::Debug;

use async_trait::async_trait;
use tokio::sync::broadcast;

use crate::domain::ids::{DiscussionId, EventId};
use crate::store::StoreError;

/// Wakes that wait for one listener at most; older ones become [`News::Missed`] (W2).
pub const WAITING_MAX: usize = 256;

/// What one may listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A discussion's log.
    Discussion(DiscussionId),
}

/// What a listener hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The log has this event.
    Event(EventId),
    /// Some wakes were lost: anything may be new.
    Missed,
}

/// One listener's ear. Dropping it ends the listening.
#[derive(Debug)]
pub struct Listener(broadcast::Receiver<EventId>);

impl Listener {
    /// Waits for the next wake. `None`: the port has closed and says nothing any more.
    pub async fn next(&mut self) -> Option<News> {
        match self.0.recv().await {
            Ok(event) => Some(News::Event(event)),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(News::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// What has been heard and not taken yet; `None` if that is nothing.
    pub fn heard(&mut self) -> Option<News> {
        match self.0.try_recv() {
            Ok(event) => Some(News::Event(event)),
            Err(broadcast::error::TryRecvError::Lagged(_)) => Some(News::Missed),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => {
                None
            }
        }
    }
}

/// Tells and hears.
#[async_trait]
pub trait WakeBus: Send + Sync + Debug {
    /// Tells every listener of a topic about an event that is in the log. A failure loses the wake
    /// and nothing else.
    async fn wake(&self, topic: Topic, event: EventId) -> Result<(), StoreError>;

    /// Hears every later wake of a topic.
    fn listen(&self, topic: Topic) -> Listener;
}
