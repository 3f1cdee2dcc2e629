//! What goes on after the answer: subscriptions over WebSockets ([`socket`]) and as server-sent
//! events ([`sse`]).
//!
//! Both carry queries and mutations too. A connection costs a task and small buffers; how many there
//! may be is limited, and one that does not read, does not answer or whose token has expired is
//! closed with the reason.

mod message;
mod operation;
pub(super) mod socket;
pub(super) mod sse;

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use futures_util::stream::BoxStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::{Code, RequestError};
use crate::domain::clock::Clock;

/// One event of a subscription.
#[derive(Clone, Debug)]
pub struct LiveEvent {
    /// The event, as clients name it to go on from there.
    pub id: Arc<str>,
    /// The execution's result as JSON, shared by all who get the same.
    pub payload: Arc<str>,
}

/// Why a subscription ends before its client ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEnd {
    /// The client does not read as fast as events come.
    TooSlow,
    /// Events cannot be told now.
    Failed,
    /// The process is stopping.
    Stopping,
}

impl LiveEnd {
    pub(super) fn error(self) -> RequestError {
        let (code, message) = match self {
            Self::TooSlow => (
                Code::SubscriberTooSlow,
                "events come faster than they are read; subscribe again after the last one",
            ),
            Self::Failed => (
                Code::Unavailable,
                "events cannot be told now; subscribe again after the last one",
            ),
            Self::Stopping => (
                Code::Unavailable,
                "this instance is stopping; subscribe again after the last event",
            ),
        };
        RequestError::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }
}

/// The events of a subscription; an `Err` is the last item.
pub type LiveStream = BoxStream<'static, Result<LiveEvent, LiveEnd>>;

/// Limits of connections that stay open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSettings {
    /// Connections at a time, WebSockets and event streams together.
    pub connections_max: usize,
    /// Operations under way on one WebSocket.
    pub operations_max: usize,
    /// Milliseconds a WebSocket may take to introduce itself.
    pub init_ms: u64,
    /// Milliseconds between two signs of life that are sent; two without an answer end a WebSocket.
    pub keepalive_ms: u64,
    /// Milliseconds that a message may take to be sent.
    pub send_ms: u64,
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self {
            connections_max: 20_000,
            operations_max: 32,
            init_ms: 10_000,
            keepalive_ms: 25_000,
            send_ms: 10_000,
        }
    }
}

/// What connections that stay open share.
#[derive(Debug)]
pub(super) struct Live {
    places: Arc<Semaphore>,
    clock: Clock,
}

impl Live {
    pub(super) fn new(settings: &LiveSettings, clock: Clock) -> Self {
        let places = settings.connections_max.min(Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(places)),
            clock,
        }
    }

    /// A place for one more connection.
    fn place(&self) -> Result<OwnedSemaphorePermit, RequestError> {
        Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_full| {
                let message = "this instance holds as many connections as it may";
                RequestError::new(StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable, message)
                    .with_header(header::RETRY_AFTER, 5.into())
            })
    }

    /// Resolves when a token stops counting; never, if it does not.
    async fn expired(&self, expires_ms: Option<i64>) {
        let Some(expires_ms) = expires_ms else {
            return std::future::pending().await;
        };
        loop {
            let left = expires_ms.saturating_sub(self.clock.now_ms());
            let Ok(left @ 1..) = u64::try_from(left) else {
                return;
            };
            // Looked at again now and then: the wall clock may be set.
            tokio::time::sleep(Duration::from_millis(left.min(60_000))).await;
        }
    }
}

/// Whether a request wants to become a WebSocket.
pub(super) fn wants_socket(headers: &HeaderMap) -> bool {
    let upgrade = headers
        .get(header::UPGRADE)
        .and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
}
