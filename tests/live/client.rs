//! A client of `graphql-transport-ws` that keeps what it is told.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::common::Server;
use crate::sharing::metric;

/// Longer than anything may take that is not a hang.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) const EVENTS: &str = "subscription Live($d: ID!, $after: ID) { \
    commentEvents(discussion: $d, after: $after) { id kind commentId \
    comment { id state depth body { text } author { id } parent { id body { text } } \
    viewerCan { edit } } discussion { state counts { total visible } } } }";

/// Who a socket says it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct As {
    pub(crate) user: Option<&'static str>,
    pub(crate) roles: Option<&'static str>,
}

pub(crate) const NOBODY: As = As {
    user: None,
    roles: None,
};
pub(crate) const MODERATOR: As = As {
    user: Some("900"),
    roles: Some("moderator"),
};

impl As {
    pub(crate) fn payload(self) -> Value {
        json!({
            "devUser": self.user, "devRoles": self.roles,
            "clientName": "reader", "clientVersion": "1.0.0",
        })
    }
}

/// A socket that may have been introduced.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

/// How a connection ended, or what it said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Message(Value),
    Closed(u16, String),
    Gone,
}

impl Socket {
    /// Opens a socket with these headers; `Err` is the refusal's status.
    pub(crate) async fn open(address: &str, headers: &[(&'static str, &str)]) -> Result<Self, u16> {
        let url = format!("ws://{address}/graphql");
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            request.headers_mut().insert(*name, value);
        }
        let tcp = TcpStream::connect(address).await.unwrap();
        match client_async(request, tcp).await {
            Ok((stream, _)) => Ok(Self { stream }),
            Err(tungstenite::Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Opens a socket of the right protocol.
    pub(crate) async fn raw(address: &str) -> Self {
        let protocol = [("sec-websocket-protocol", "graphql-transport-ws")];
        Self::open(address, &protocol).await.unwrap()
    }

    /// Opens a socket and introduces itself.
    pub(crate) async fn connect(server: &Server, who: As) -> Self {
        Self::connect_to(server.address(), who).await
    }

    pub(crate) async fn connect_to(address: &str, who: As) -> Self {
        let mut socket = Self::raw(address).await;
        socket
            .send(json!({"type": "connection_init", "payload": who.payload()}))
            .await;
        assert_eq!(
            socket.hear().await,
            Said::Message(json!({"type": "connection_ack"}))
        );
        socket
    }

    /// As [`Socket::connect_to`]; `None` where nobody answers, or not any more.
    pub(crate) async fn try_connect(address: &str, who: As) -> Option<Self> {
        let tcp = TcpStream::connect(address).await.ok()?;
        let mut request = format!("ws://{address}/graphql")
            .into_client_request()
            .unwrap();
        let protocol = HeaderValue::from_static("graphql-transport-ws");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let (stream, _) = client_async(request, tcp).await.ok()?;
        let mut socket = Self { stream };
        socket
            .send(json!({"type": "connection_init", "payload": who.payload()}))
            .await;
        match socket.hear().await {
            Said::Message(message) if message["type"] == "connection_ack" => Some(socket),
            _ => None,
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    /// Whether the other side still hears it is judged by what it says.
    pub(crate) async fn send_text(&mut self, text: String) {
        self.stream.send(Message::text(text)).await.ok();
    }

    pub(crate) async fn subscribe(&mut self, id: &str, query: &str, variables: Value) {
        let payload = json!({"query": query, "variables": variables});
        self.send(json!({"type": "subscribe", "id": id, "payload": payload}))
            .await;
    }

    /// Follows a discussion as operation `1`.
    pub(crate) async fn follow(&mut self, discussion: &str, after: Option<&str>) {
        self.subscribe("1", EVENTS, json!({"d": discussion, "after": after}))
            .await;
    }

    /// Begins a subscription as operation `1` and waits until it has begun: only what happens from
    /// then on is told, and the protocol has no word for that.
    pub(crate) async fn subscribed(&mut self, server: &Server, query: &str, variables: Value) {
        const BEGUN: &str = "threadline_live_subscriptions_total ";
        let before = metric(server, BEGUN).await;
        self.subscribe("1", query, variables).await;
        while metric(server, BEGUN).await == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Follows a discussion from now on.
    pub(crate) async fn follows(&mut self, server: &Server, discussion: &str) {
        let variables = json!({"d": discussion, "after": null});
        self.subscribed(server, EVENTS, variables).await;
    }

    /// The next message or the end.
    pub(crate) async fn hear(&mut self) -> Said {
        let next = async {
            loop {
                match self.stream.next().await {
                    Some(Ok(Message::Text(text))) => {
                        return Said::Message(serde_json::from_str(&text).unwrap());
                    }
                    Some(Ok(Message::Close(Some(frame)))) => {
                        return Said::Closed(frame.code.into(), frame.reason.to_string());
                    }
                    Some(Ok(Message::Close(None)) | Err(_)) | None => return Said::Gone,
                    Some(Ok(_)) => {}
                }
            }
        };
        tokio::time::timeout(DEADLINE, next).await.unwrap()
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn message(&mut self) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            match self.hear().await {
                Said::Message(message) => message,
                other => panic!("{at}: {other:?}"),
            }
        }
    }

    /// The next event of operation `1`.
    #[track_caller]
    pub(crate) fn event(&mut self) -> impl Future<Output = Value> {
        let message = self.message();
        async move {
            let message = message.await;
            assert_eq!(message["type"], "next", "{message:#}");
            let payload = &message["payload"];
            assert!(payload.get("errors").is_none(), "{message:#}");
            payload["data"]["commentEvents"].clone()
        }
    }

    /// Whether nothing comes before the answer to a ping.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        self.send(json!({"type": "ping"})).await;
        self.message().await == json!({"type": "pong"})
    }
}
