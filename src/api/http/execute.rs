//! Runs a prepared operation: a time limit, a panic caught, a mutation that outlives its client.
//!
//! A query is dropped at its time limit or when its client goes. A mutation is spawned: half a
//! write is worse than a write nobody waits for.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::Response as Executed;
use async_graphql::parser::types::OperationType;
use axum::http::StatusCode;
use futures_util::FutureExt;
use tracing::Instrument;

use super::error::{Code, RequestError};
use super::{Executor, PreparedRequest, RequestContext};
use crate::tasks::Tasks;

/// Executes the operation within `limit`.
pub(super) async fn execute(
    executor: &Arc<dyn Executor>,
    tasks: &Tasks,
    limit: Duration,
    request: PreparedRequest,
    context: RequestContext,
) -> Result<Executed, RequestError> {
    let request_id = context.request_id.clone();
    let is_mutation = request.operation_type == OperationType::Mutation;
    let span = tracing::info_span!(
        "graphql",
        request.id = %request_id,
        operation.kind = %request.operation_type,
        operation.name = request.operation_name.as_deref().unwrap_or_default(),
        client.name = context.client.name.as_deref().unwrap_or_default(),
    );
    let executor = Arc::clone(executor);
    let running = async move { executor.execute(request, context).await };
    let running = AssertUnwindSafe(running).catch_unwind().instrument(span);
    let outcome = if is_mutation {
        let task = tasks.spawn(running);
        tokio::time::timeout(limit, task).await.map(Result::ok)
    } else {
        tokio::time::timeout(limit, running).await.map(Some)
    };
    match outcome {
        Ok(Some(Ok(executed))) => Ok(executed),
        // The panic hook has written where and why. A task that was aborted left no answer either.
        Ok(Some(Err(_)) | None) => {
            tracing::error!(request.id = %request_id, "an operation panicked");
            Err(RequestError::internal())
        }
        Err(_) => {
            tracing::warn!(request.id = %request_id, is_mutation, "an operation took too long");
            Err(timed_out(is_mutation))
        }
    }
}

/// 504: whoever waits for us gets the same as from a gateway that gave up on us.
fn timed_out(is_mutation: bool) -> RequestError {
    let message = if is_mutation {
        "the mutation takes longer than an answer may; it goes on, its outcome is not known yet"
    } else {
        "the query took too long"
    };
    RequestError::new(StatusCode::GATEWAY_TIMEOUT, Code::Timeout, message)
}
