//! A WebSocket with `graphql-transport-ws`.
//!
//! One task a socket. Browsers let any page open a socket to any host, so an `Origin` must be this
//! host's own or an allowed one. Closing codes are the protocol's: 4400 a message out of shape, 4401
//! an operation before the introduction, 4403 credentials that do not count, 4408 no introduction in
//! time, 4409 an id that is in use, 4429 two introductions; 1001 when this instance stops.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, AbortHandle, BoxStream, SelectAll, StreamExt};
use serde_json::{Map, Value as Json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::MissedTickBehavior;

use super::message::{self, Close, FromClient, ID_BYTES_MAX, PROTOCOL};
use super::operation::{self, Out};
use crate::api::http::RequestContext;
use crate::api::http::accept::MediaType;
use crate::api::http::auth::{Identity, ROLES_HEADER, USER_HEADER};
use crate::api::http::client;
use crate::api::http::error::{Code, RequestError};
use crate::api::http::front::Transport;
use crate::api::http::handler::peer_of;
use crate::api::http::request::from_value;
use crate::api::http::request_id::RequestId;
use crate::api::http::response::{Frame, encode_error};
use crate::api::http::server::Shared;
use crate::domain::viewer::ClientInfo;

/// Bytes read from a socket at a time; idle ones hold this much.
const READ_BYTES: usize = 4 * 1024;
/// Bytes that a message may have beyond its operation.
const ENVELOPE_BYTES: usize = 4 * 1024;

/// Makes a WebSocket of a request, or says why not.
pub(in crate::api::http) async fn upgrade(shared: Arc<Shared>, request: Request) -> Response {
    let request_id = request.extensions().get::<RequestId>().cloned();
    let request_id = request_id
        .as_ref()
        .map_or("unknown", RequestId::as_str)
        .to_owned();
    let peer = peer_of(&request);
    let (mut parts, _) = request.into_parts();
    let refuse = |error: RequestError| {
        let frame = Frame {
            media: MediaType::Json,
            request_id: &request_id,
            errors_max: 1,
        };
        encode_error(error, frame)
    };
    if let Err(error) = check_origin(&parts.headers, &shared.settings.cors.origins) {
        return refuse(error);
    }
    let place = match shared.live.place() {
        Ok(place) => place,
        Err(error) => return refuse(error),
    };
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade.protocols([PROTOCOL]),
        Err(rejection) => return rejection.into_response(),
    };
    if upgrade.selected_protocol().is_none() {
        let message = format!("the subprotocol must be {PROTOCOL}");
        return refuse(RequestError::bad_request(message));
    }
    let bytes_max = shared.settings.limits.body_bytes_max + ENVELOPE_BYTES;
    let caller = Caller {
        headers: parts.headers,
        peer,
        request_id,
    };
    upgrade
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(bytes_max)
        .max_frame_size(bytes_max)
        .on_upgrade(async move |socket| {
            let tasks = shared.tasks.clone();
            let session = serve(shared, socket, caller, place);
            // What the session does is logged there; a task that panicked wrote where and why.
            let _ended = tasks.spawn(session).await;
        })
}

/// A page of another site may open a socket here and would speak with its reader's rights.
fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<(), RequestError> {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let host = headers.get(header::HOST);
    let origin = origin.to_str().unwrap_or_default();
    let own = origin.split_once("://").is_some_and(|(_, authority)| {
        host.is_some_and(|host| host.as_bytes() == authority.as_bytes())
    });
    if own || allowed.iter().any(|allowed| allowed == origin) {
        return Ok(());
    }
    let message = "pages of this origin may not connect";
    Err(RequestError::new(
        StatusCode::FORBIDDEN,
        Code::Forbidden,
        message,
    ))
}

/// Where a socket came from.
struct Caller {
    headers: HeaderMap,
    peer: Option<SocketAddr>,
    request_id: String,
}

/// A client that has introduced itself.
struct Introduced {
    identity: Option<Identity>,
    client: ClientInfo,
}

/// Serves a socket until one side ends it.
async fn serve(
    shared: Arc<Shared>,
    socket: WebSocket,
    caller: Caller,
    place: OwnedSemaphorePermit,
) {
    let _place = place;
    metrics::gauge!("threadline_live_sockets").increment(1.0);
    let send_max = Duration::from_millis(shared.settings.live.send_ms);
    let mut line = Line { socket, send_max };
    let stopping = shared.tasks.stopping();
    let ended = tokio::select! {
        ended = session(&shared, &mut line, &caller) => ended,
        () = stopping.cancelled() => End::Close(Close::new(1001, "this instance is stopping")),
    };
    if let End::Close(close) = ended {
        tracing::debug!(request.id = %caller.request_id, code = close.code, reason = close.reason, "a socket was closed");
        // Whether the other side still hears it does not matter.
        let _heard = line.send(close.frame()).await;
    }
    metrics::gauge!("threadline_live_sockets").decrement(1.0);
}

/// How a session ended.
enum End {
    /// The other side is gone, or does not listen any more.
    Gone,
    /// This side ends it.
    Close(Close),
}

impl From<Close> for End {
    fn from(close: Close) -> Self {
        Self::Close(close)
    }
}

/// The socket, with a limit on how long it may take a message.
struct Line {
    socket: WebSocket,
    send_max: Duration,
}

impl Line {
    async fn send(&mut self, message: Message) -> Result<(), End> {
        match tokio::time::timeout(self.send_max, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    /// The next text; other frames are answered by the library or mean nothing here.
    async fn next(&mut self) -> Result<Option<Utf8Bytes>, End> {
        match self.socket.recv().await {
            Some(Ok(Message::Text(text))) => Ok(Some(text)),
            Some(Ok(Message::Binary(_))) => Err(Close::new(4400, "messages are texts").into()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(None),
            Some(Ok(Message::Close(_))) | None => Err(End::Gone),
            // Too large a message is one of these; the library answers it.
            Some(Err(error)) => {
                tracing::debug!(%error, "a socket broke off");
                Err(End::Gone)
            }
        }
    }
}

async fn session(shared: &Arc<Shared>, line: &mut Line, caller: &Caller) -> End {
    let limit = Duration::from_millis(shared.settings.live.init_ms);
    let introduced = match tokio::time::timeout(limit, introduction(shared, line, caller)).await {
        Ok(Ok(introduced)) => introduced,
        Ok(Err(end)) => return end,
        Err(_) => return Close::new(4408, "no connection_init came in time").into(),
    };
    if let Err(end) = line.send(message::ack()).await {
        return end;
    }
    let expires_ms = introduced
        .identity
        .as_ref()
        .and_then(|identity| identity.expires_ms);
    let mut session = Session {
        shared: Arc::clone(shared),
        introduced,
        request_id: caller.request_id.clone(),
        running: SelectAll::new(),
        ids: HashMap::new(),
    };
    tokio::select! {
        end = session.run(line) => end,
        () = shared.live.expired(expires_ms) => Close::new(4403, "the token has expired").into(),
    }
}

/// Waits for the first message and finds out who it is.
async fn introduction(
    shared: &Shared,
    line: &mut Line,
    caller: &Caller,
) -> Result<Introduced, End> {
    let text = loop {
        if let Some(text) = line.next().await? {
            break text;
        }
    };
    let payload = match message::read(&text) {
        Some(FromClient::ConnectionInit { payload }) => payload.unwrap_or_default(),
        Some(_) => return Err(Close::new(4401, "connection_init comes first").into()),
        None => return Err(Close::new(4400, "not a message of graphql-transport-ws").into()),
    };
    let headers = with_payload(&caller.headers, &payload)
        .ok_or_else(|| Close::new(4400, "connection_init has a value that is no header's"))?;
    let identity = shared.authenticator.identify(&headers, caller.peer).await;
    let identity = identity.map_err(|error| Close::new(4403, error.to_string()))?;
    Ok(Introduced {
        identity,
        client: client::client_info(&headers),
    })
}

/// The upgrade's headers with what `connection_init` says instead: browsers cannot set headers on a
/// WebSocket. Names count as headers or as they are written in JSON.
fn with_payload(headers: &HeaderMap, payload: &Map<String, Json>) -> Option<HeaderMap> {
    let known = [
        ("authorization", header::AUTHORIZATION),
        ("devuser", USER_HEADER),
        ("devroles", ROLES_HEADER),
        ("clientname", client::NAME),
        ("clientversion", client::VERSION),
    ];
    let mut joined = headers.clone();
    for (key, value) in payload {
        let key = key.to_ascii_lowercase();
        let name = known
            .iter()
            .find(|(name, header)| *name == key || header.as_str() == key)
            .map(|(_, header)| header.clone());
        let name: Option<HeaderName> = name.or_else(|| client::family_member(&key));
        let Some(name) = name else { continue };
        match value {
            Json::Null => {}
            Json::String(text) => {
                joined.insert(name, HeaderValue::from_str(text).ok()?);
            }
            Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => return None,
        }
    }
    Some(joined)
}

/// An introduced client and what it has under way.
struct Session {
    shared: Arc<Shared>,
    introduced: Introduced,
    request_id: String,
    /// Whatever is ready is sent in turn: a hot operation does not keep the others back.
    running: SelectAll<BoxStream<'static, (Arc<str>, Out)>>,
    ids: HashMap<Arc<str>, AbortHandle>,
}

impl Session {
    async fn run(&mut self, line: &mut Line) -> End {
        let every = Duration::from_millis(self.shared.settings.live.keepalive_ms);
        let mut keepalive = tokio::time::interval(every);
        keepalive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once.
        keepalive.tick().await;
        let mut unanswered = 0;
        loop {
            let done = tokio::select! {
                said = line.next() => match said {
                    Ok(said) => {
                        unanswered = 0;
                        self.heard(line, said).await
                    }
                    Err(end) => Err(end),
                },
                Some((id, out)) = self.running.next() => self.tell(line, &id, &out).await,
                _ = keepalive.tick() => {
                    unanswered += 1;
                    if unanswered > 2 {
                        return Close::new(4408, "no sign of life").into();
                    }
                    line.send(Message::Ping(bytes::Bytes::new())).await
                }
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn tell(&mut self, line: &mut Line, id: &Arc<str>, out: &Out) -> Result<(), End> {
        if matches!(out, Out::Errors(_) | Out::Complete) && self.ids.remove(id).is_none() {
            // An error was its last word; the end of the stream behind it is none.
            return Ok(());
        }
        line.send(message::write(id, out)).await
    }

    async fn heard(&mut self, line: &mut Line, said: Option<Utf8Bytes>) -> Result<(), End> {
        let Some(text) = said else { return Ok(()) };
        match message::read(&text) {
            None => Err(Close::new(4400, "not a message of graphql-transport-ws").into()),
            Some(FromClient::ConnectionInit { .. }) => {
                Err(Close::new(4429, "connection_init came before").into())
            }
            Some(FromClient::Ping { payload }) => line.send(message::pong(payload)).await,
            Some(FromClient::Pong {}) => Ok(()),
            Some(FromClient::Complete { id }) => {
                if let Some(running) = self.ids.remove(id.as_str()) {
                    running.abort();
                }
                Ok(())
            }
            Some(FromClient::Subscribe { id, payload }) => self.begin(line, id, payload).await,
        }
    }

    async fn begin(&mut self, line: &mut Line, id: String, payload: Json) -> Result<(), End> {
        if !(1..=ID_BYTES_MAX).contains(&id.len()) {
            let reason = format!("an id has 1 to {ID_BYTES_MAX} bytes");
            return Err(Close::new(4400, reason).into());
        }
        if self.ids.contains_key(id.as_str()) {
            return Err(Close::new(4409, format!("Subscriber for {id} already exists")).into());
        }
        let id: Arc<str> = id.into();
        let limit = self.shared.settings.live.operations_max;
        if self.ids.len() >= limit {
            let message = format!("{limit} operations are under way on this connection");
            let error = RequestError::refused(Code::QueryTooComplex, message);
            let out = operation::errors(error, &self.request_id);
            return line.send(message::write(&id, &out)).await;
        }
        let context = RequestContext {
            identity: self.introduced.identity.clone(),
            client: self.introduced.client.clone(),
            read_after: None,
            request_id: self.request_id.clone(),
        };
        let shared = Arc::clone(&self.shared);
        let request_id = self.request_id.clone();
        let outs = async move {
            let begun = async {
                let raw = from_value(payload)?;
                operation::begin(&shared, raw, Transport::Stream, context).await
            };
            match begun.await {
                Ok(outs) => outs,
                Err(error) => stream::iter([operation::errors(error, &request_id)]).boxed(),
            }
        };
        let named = Arc::clone(&id);
        let outs = stream::once(outs)
            .flatten()
            .map(move |out| (Arc::clone(&named), out));
        let (outs, running) = stream::abortable(outs);
        self.ids.insert(id, running);
        self.running.push(outs.boxed());
        Ok(())
    }
}
