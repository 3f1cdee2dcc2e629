//! Port `wake` within the process: instances of their own hear nothing of each other and poll.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::{Listener, Topic, WAITING_MAX, WakeBus};
use crate::domain::ids::EventId;
use crate::store::StoreError;

/// A wake through memory.
#[derive(Debug, Default)]
pub struct MemoryWake(Mutex<HashMap<Topic, broadcast::Sender<EventId>>>);

impl MemoryWake {
    /// Topics with somebody listening, as far as has been noticed.
    pub fn topics(&self) -> usize {
        self.senders().len()
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<Topic, broadcast::Sender<EventId>>> {
        // Nothing panics while it is held, and a map is whole after every call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl WakeBus for MemoryWake {
    async fn wake(&self, topic: Topic, event: EventId) -> Result<(), StoreError> {
        let mut senders = self.senders();
        let nobody = senders
            .get(&topic)
            .is_some_and(|sender| sender.send(event).is_err());
        if nobody {
            senders.remove(&topic);
        }
        Ok(())
    }

    fn listen(&self, topic: Topic) -> Listener {
        let mut senders = self.senders();
        if !senders.contains_key(&topic) {
            // A newcomer pays for those that left without a wake after it (W3).
            senders.retain(|_, sender| sender.receiver_count() > 0);
        }
        let sender = senders
            .entry(topic)
            .or_insert_with(|| broadcast::Sender::new(WAITING_MAX));
        Listener(sender.subscribe())
    }
}
