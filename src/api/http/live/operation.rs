//! One operation of a connection that stays open, as a stream of what is to be sent.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use futures_util::stream::{self, BoxStream, StreamExt};

use crate::api::http::error::RequestError;
use crate::api::http::front::{self, Transport};
use crate::api::http::request::RawRequest;
use crate::api::http::response::{Part, encode_part, error_part};
use crate::api::http::server::Shared;
use crate::api::http::{LiveStream, PreparedRequest, RequestContext, execute};

/// What is sent for an operation; [`Out::Errors`] and [`Out::Complete`] are the last.
#[derive(Clone, Debug)]
pub(super) enum Out {
    /// A result.
    Next {
        /// The event it tells of, to go on from; `None` for queries and mutations.
        event: Option<Arc<str>>,
        /// The result as JSON.
        payload: Arc<str>,
    },
    /// It did not run, or could not go on: a JSON list of errors.
    Errors(String),
    /// It is done.
    Complete,
}

/// Everything an operation sends.
pub(super) type Outs = BoxStream<'static, Out>;

/// Checks an operation and begins it. `Err`: it does not run.
pub(super) async fn begin(
    shared: &Arc<Shared>,
    raw: RawRequest,
    transport: Transport,
    context: RequestContext,
) -> Result<Outs, RequestError> {
    let prepared = front::prepare(raw, transport, &shared.settings.limits)?;
    if prepared.operation_type == OperationType::Subscription {
        return Ok(subscription(shared, prepared, context).await);
    }
    let request_id = context.request_id.clone();
    let limits = &shared.settings.limits;
    let limit = Duration::from_millis(limits.operation_ms);
    let executed =
        execute::execute(&shared.executor, &shared.tasks, limit, prepared, context).await?;
    let outs = match encode_part(executed, &request_id, limits.errors_max) {
        Part::Errors(errors) => vec![Out::Errors(errors)],
        Part::Body(payload) => vec![
            Out::Next {
                event: None,
                payload: payload.into(),
            },
            Out::Complete,
        ],
    };
    Ok(stream::iter(outs).boxed())
}

async fn subscription(
    shared: &Arc<Shared>,
    prepared: PreparedRequest,
    context: RequestContext,
) -> Outs {
    let request_id = context.request_id.clone();
    match shared.executor.subscribe(prepared, context).await {
        Ok(events) => outs(events, request_id),
        Err(refused) => {
            let errors_max = shared.settings.limits.errors_max;
            let out = match encode_part(refused, &request_id, errors_max) {
                Part::Errors(errors) => Out::Errors(errors),
                // A subscription that was refused has no data; were there any, it is no event.
                Part::Body(_) => errors(RequestError::internal(), &request_id),
            };
            stream::iter([out]).boxed()
        }
    }
}

fn outs(events: LiveStream, request_id: String) -> Outs {
    let outs = events.map(move |event| match event {
        Ok(event) => Out::Next {
            event: Some(event.id),
            payload: event.payload,
        },
        Err(end) => errors(end.error(), &request_id),
    });
    outs.chain(stream::iter([Out::Complete])).boxed()
}

/// A refused operation.
pub(super) fn errors(error: RequestError, request_id: &str) -> Out {
    match error_part(error, request_id) {
        Part::Errors(errors) | Part::Body(errors) => Out::Errors(errors),
    }
}
