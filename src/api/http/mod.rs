//! The HTTP edge: decode, guard, execute, encode.
//!
//! Nothing reaches the executor that could crash it, tie it up or make it write twice (`front`);
//! nothing leaves that a client should not see (`response`). What goes on after the answer, over
//! WebSockets and server-sent events, is in `live`. The schema is plugged in behind
//! [`Executor`]; this module knows no type of it.

mod accept;
pub mod auth;
mod client;
mod console;
mod error;
mod execute;
mod fixed;
mod front;
mod handler;
mod live;
mod probes;
mod request;
mod request_id;
mod response;
mod server;
pub mod settings;
#[cfg(test)]
mod tests;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::domain::viewer::ClientInfo;
use auth::Identity;

/// The routes as one service, for who serves or calls them without naming the HTTP library.
pub use axum::Router;
pub use error::{Code, RequestError};
pub use fixed::fixed_answers;
pub use front::PreparedRequest;
pub use live::{LiveEnd, LiveEvent, LiveStream};
pub use probes::{Check, CheckState, Readiness};
pub(super) use response::live_payload;
pub use server::{Edge, HttpSettingsError, router, serve};

/// Runs operations that passed the front. The schema implements it.
pub trait Executor: fmt::Debug + Send + Sync {
    /// Resolves one operation. A query's future may be dropped at any await; a mutation's is run to
    /// its end. An answer with `data` null and errors that all lack a path counts as a request that
    /// did not run. Errors for clients carry `extensions.code`; those without one are masked.
    fn execute(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, async_graphql::Response>;

    /// Begins a subscription. `Err`: it does not run, and why. Dropping the stream ends it.
    fn subscribe(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, Result<LiveStream, async_graphql::Response>>;
}

/// Who asks, with what, under which id.
#[derive(Clone, Debug, Default)]
pub struct RequestContext {
    /// The signed-in person, not yet mapped to a user; `None` is anonymous.
    pub identity: Option<Identity>,
    /// What the client says it is.
    pub client: ClientInfo,
    /// The raw read-your-own-writes token.
    pub read_after: Option<String>,
    /// Stands in the answer, its errors and the log.
    pub request_id: String,
}
