//! `/graphql`: one request from headers to answer.
//!
//! The order is part of the contract: method, `Accept`, `Content-Type`, identity, body, front,
//! execution. What is cheap to refuse is refused first, and a body is read for known callers only.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use super::accept::{self, MediaType};
use super::error::{Code, RequestError};
use super::front::Transport;
use super::live::{self, socket, sse};
use super::request::{RawRequest, from_json, from_uri_query, has_query, read_body};
use super::request_id::RequestId;
use super::response::{Frame, encode, encode_error};
use super::server::Shared;
use super::{RequestContext, client, console, execute, front};

/// Answers any method on `/graphql`.
pub(super) async fn graphql(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if shared.console.is_some() && wants_console(&request) {
        return console::answer(shared.console.as_ref());
    }
    if live::wants_socket(request.headers()) {
        return socket::upgrade(shared, request).await;
    }
    let request_id = request.extensions().get::<RequestId>().cloned();
    let request_id = request_id
        .as_ref()
        .map_or("unknown", RequestId::as_str)
        .to_owned();
    let frame = Frame {
        media: accept::negotiate(request.headers()).unwrap_or_default(),
        request_id: &request_id,
        errors_max: shared.settings.limits.errors_max,
    };
    let answered = if accept::wants_events(request.headers()) {
        sse::answer(&shared, request, &request_id).await
    } else {
        answer(&shared, request, &request_id)
            .await
            .map(|executed| encode(executed, frame))
    };
    match answered {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(
                request.id = %request_id,
                status = error.status.as_u16(),
                code = error.code.as_str(),
                reason = %error,
                "a request was refused"
            );
            encode_error(error, frame)
        }
    }
}

fn wants_console(request: &Request) -> bool {
    request.method() == Method::GET
        && !has_query(request.uri().query().unwrap_or_default())
        && accept::prefers_html(request.headers())
}

async fn answer(
    shared: &Shared,
    request: Request,
    request_id: &str,
) -> Result<async_graphql::Response, RequestError> {
    let limits = &shared.settings.limits;
    check_method(request.method())?;
    check_accept(request.headers())?;
    // HEAD is a GET whose body is not sent.
    let transport = if *request.method() == Method::POST {
        Transport::Post
    } else {
        Transport::Get
    };
    let (raw, context) = take_in(shared, request, request_id).await?;
    let prepared = front::prepare(raw, transport, limits)?;
    let limit = Duration::from_millis(limits.operation_ms);
    execute::execute(&shared.executor, &shared.tasks, limit, prepared, context).await
}

/// Who asks and what, from headers and body.
pub(super) async fn take_in(
    shared: &Shared,
    request: Request,
    request_id: &str,
) -> Result<(RawRequest, RequestContext), RequestError> {
    check_content_type(&request)?;
    let peer = peer_of(&request);
    let identity = shared
        .authenticator
        .identify(request.headers(), peer)
        .await?;
    let context = RequestContext {
        identity,
        client: client::client_info(request.headers()),
        read_after: client::read_after(request.headers()),
        request_id: request_id.to_owned(),
    };
    Ok((read_request(request, shared).await?, context))
}

/// The other end of the connection.
pub(super) fn peer_of(request: &Request) -> Option<SocketAddr> {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map(|info| info.0)
}

pub(super) fn check_method(method: &Method) -> Result<(), RequestError> {
    if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
        return Err(RequestError::method(
            "GraphQL needs GET or POST",
            "GET, HEAD, POST",
        ));
    }
    Ok(())
}

fn check_accept(headers: &HeaderMap) -> Result<(), RequestError> {
    if accept::negotiate(headers).is_none() {
        let message = format!(
            "answers come as {:?} or {:?}",
            MediaType::GraphqlResponse.content_type(),
            MediaType::Json.content_type()
        );
        return Err(RequestError::new(
            StatusCode::NOT_ACCEPTABLE,
            Code::BadRequest,
            message,
        ));
    }
    Ok(())
}

fn check_content_type(request: &Request) -> Result<(), RequestError> {
    if *request.method() == Method::POST && !accept::is_json_body(request.headers()) {
        let message = "the body must be application/json in UTF-8, not compressed";
        return Err(RequestError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::BadRequest,
            message,
        ));
    }
    Ok(())
}

async fn read_request(request: Request, shared: &Shared) -> Result<RawRequest, RequestError> {
    if request.method() != Method::POST {
        return from_uri_query(request.uri().query().unwrap_or_default());
    }
    let (parts, body) = request.into_parts();
    let body = read_body(&parts.headers, body, &shared.settings.limits).await?;
    from_json(&body)
}
