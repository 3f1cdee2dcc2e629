//! A socket of a measurement: it follows a discussion and reads nothing but what it needs.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::cli::bench::Fallible;

const EVENTS: &str = "subscription ($d: ID!) { commentEvents(discussion: $d) { id kind \
    comment { id author { name } body { text } } discussion { counts { visible } } } }";

/// An open socket.
#[derive(Debug)]
pub(super) struct Socket(WebSocketStream<TcpStream>);

/// What of an event is looked at.
#[derive(Deserialize)]
struct Next {
    payload: Payload,
}
#[derive(Deserialize)]
struct Payload {
    data: Data,
}
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    comment_events: Event,
}
#[derive(Deserialize)]
struct Event {
    comment: Comment,
}
#[derive(Deserialize)]
struct Comment {
    body: Body,
}
#[derive(Deserialize)]
struct Body {
    text: String,
}

impl Socket {
    /// Opens a socket and introduces itself.
    pub(super) async fn open(address: SocketAddr) -> Fallible<Self> {
        let mut request = format!("ws://{address}/graphql").into_client_request()?;
        let protocol = HeaderValue::from_static("graphql-transport-ws");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let stream = TcpStream::connect(address).await?;
        // Thousands of them share this process.
        let small = WebSocketConfig::default()
            .read_buffer_size(1024)
            .write_buffer_size(0);
        let (stream, _) = client_async_with_config(request, stream, Some(small)).await?;
        let mut socket = Self(stream);
        socket.send(&json!({"type": "connection_init"})).await?;
        socket.text().await?.ok_or("no introduction was accepted")?;
        Ok(socket)
    }

    async fn send(&mut self, message: &serde_json::Value) -> Fallible<()> {
        Ok(self.0.send(Message::text(message.to_string())).await?)
    }

    /// Follows a discussion from now on.
    pub(super) async fn follow(&mut self, discussion: &str) -> Fallible<()> {
        let payload = json!({"query": EVENTS, "variables": {"d": discussion}});
        let message = json!({"type": "subscribe", "id": "1", "payload": payload});
        self.send(&message).await
    }

    /// The text of the next event; `None`: the other side has closed.
    pub(super) async fn event(&mut self) -> Fallible<Option<String>> {
        let Some(text) = self.text().await? else {
            return Ok(None);
        };
        let next: Next =
            serde_json::from_str(&text).map_err(|error| format!("{error} in {}", text.as_str()))?;
        Ok(Some(next.payload.data.comment_events.comment.body.text))
    }

    async fn text(&mut self) -> Fallible<Option<tungstenite::Utf8Bytes>> {
        while let Some(message) = self.0.next().await {
            match message? {
                Message::Text(text) => return Ok(Some(text)),
                Message::Close(_) => return Ok(None),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        Ok(None)
    }
}
