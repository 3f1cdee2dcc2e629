//! Server-sent events: one request, one operation, its results as they come.
//!
//! The "distinct connections" mode of the GraphQL over SSE protocol: `next` events, then `complete`.
//! Each event of a subscription has its id, so a browser that reconnects says in `Last-Event-ID`
//! where it was; an operation with a variable `after` goes on from there.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Name, Value};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response, Sse, sse};
use futures_util::StreamExt as _;

use super::operation::{self, Out};
use crate::api::http::error::RequestError;
use crate::api::http::front::Transport;
use crate::api::http::handler::{check_method, take_in};
use crate::api::http::server::Shared;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Answers with a stream, or refuses as any other request is refused.
pub(in crate::api::http) async fn answer(
    shared: &Arc<Shared>,
    request: Request,
    request_id: &str,
) -> Result<Response, RequestError> {
    check_method(request.method())?;
    let transport = match *request.method() {
        Method::POST => Transport::Stream,
        _ => Transport::StreamGet,
    };
    let is_head = *request.method() == Method::HEAD;
    let last = request.headers().get(LAST_EVENT_ID);
    let last = last.and_then(|value| value.to_str().ok().map(str::to_owned));
    let (mut raw, context) = take_in(shared, request, request_id).await?;
    if let Some(last) = last.filter(|last| !last.is_empty()) {
        raw.variables
            .insert(Name::new("after"), Value::String(last));
    }
    let place = shared.live.place()?;
    let identity = context.identity.as_ref();
    let expires_ms = identity.and_then(|identity| identity.expires_ms);
    let outs = operation::begin(shared, raw, transport, context).await?;
    let (live, stopping) = (Arc::clone(&shared.live), shared.tasks.stopping());
    let ends = Box::pin(async move {
        tokio::select! {
            () = live.expired(expires_ms) => {}
            () = stopping.cancelled() => {}
        }
    });
    let events = outs
        .map(move |out| {
            let _held_as_long_as_the_stream = &place;
            Ok::<_, Infallible>(event(out))
        })
        .take_until(ends);
    if is_head {
        return Ok(dressed(Body::empty().into_response()));
    }
    let every = Duration::from_millis(shared.settings.live.keepalive_ms);
    let stream = Sse::new(events).keep_alive(sse::KeepAlive::new().interval(every));
    Ok(dressed(stream.into_response()))
}

fn event(out: Out) -> sse::Event {
    match out {
        Out::Next { event, payload } => {
            let next = sse::Event::default().event("next").data(payload.as_ref());
            match event {
                Some(id) => next.id(id.as_ref()),
                None => next,
            }
        }
        Out::Errors(errors) => sse::Event::default()
            .event("next")
            .data(format!(r#"{{"errors":{errors}}}"#)),
        Out::Complete => sse::Event::default().event("complete").data(""),
    }
}

/// Proxies must hand on each event at once and keep none.
fn dressed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream; charset=utf-8"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-store"),
    );
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}
