//! The messages of `graphql-transport-ws`, the protocol of the `graphql-ws` library.

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::operation::Out;

/// The name of the protocol.
pub(super) const PROTOCOL: &str = "graphql-transport-ws";
/// Bytes of an operation's id at most.
pub(super) const ID_BYTES_MAX: usize = 128;
/// Bytes that a close frame has for its reason.
const REASON_BYTES_MAX: usize = 123;

/// What a client says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromClient {
    /// Who it is; the first message.
    ConnectionInit {
        /// Credentials and the client's name.
        #[serde(default)]
        payload: Option<Map<String, Json>>,
    },
    /// Asks for a sign of life.
    Ping {
        /// Comes back with the answer.
        #[serde(default)]
        payload: Option<Map<String, Json>>,
    },
    /// Gives one.
    Pong {},
    /// Begins an operation.
    Subscribe {
        /// Names it on this connection.
        id: String,
        /// The operation as in an HTTP body.
        payload: Json,
    },
    /// Ends an operation.
    Complete {
        /// Which.
        id: String,
    },
}

/// Reads a client's message; `None` if it is not one.
pub(super) fn read(text: &str) -> Option<FromClient> {
    serde_json::from_str(text).ok()
}

/// Says that the client may begin.
pub(super) fn ack() -> Message {
    Message::Text(Utf8Bytes::from_static(r#"{"type":"connection_ack"}"#))
}

/// Answers a ping with its own payload.
pub(super) fn pong(payload: Option<Map<String, Json>>) -> Message {
    let text = match payload {
        None => r#"{"type":"pong"}"#.to_owned(),
        Some(payload) => format!(r#"{{"type":"pong","payload":{}}}"#, Json::Object(payload)),
    };
    Message::text(text)
}

/// Writes what an operation sends. The payload is put in as it is, shared by all who get it.
pub(super) fn write(id: &str, out: &Out) -> Message {
    let id = Json::from(id);
    Message::text(match out {
        Out::Next { payload, .. } => {
            format!(r#"{{"id":{id},"type":"next","payload":{payload}}}"#)
        }
        Out::Errors(errors) => format!(r#"{{"id":{id},"type":"error","payload":{errors}}}"#),
        Out::Complete => format!(r#"{{"id":{id},"type":"complete"}}"#),
    })
}

/// Why a connection is closed, in the protocol's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    pub(super) reason: String,
}

impl Close {
    pub(super) fn new(code: u16, reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        if reason.len() > REASON_BYTES_MAX {
            // A longer one would be an invalid frame, which hides every reason.
            let end = reason.floor_char_boundary(REASON_BYTES_MAX);
            reason.truncate(end);
        }
        Self { code, reason }
    }

    pub(super) fn frame(self) -> Message {
        Message::Close(Some(CloseFrame {
            code: self.code,
            reason: self.reason.into(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_anything_else_is_none() {
        for good in [
            r#"{"type":"connection_init"}"#,
            r#"{"type":"connection_init","payload":null}"#,
            r#"{"type":"ping","payload":{"a":1}}"#,
            r#"{"type":"pong","payload":{}}"#,
            r#"{"type":"complete","id":"1"}"#,
            r#"{"type":"subscribe","id":"1","payload":{"query":"{a}"}}"#,
        ] {
            assert!(read(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "[]",
            "7",
            r#"{"type":"start","id":"1"}"#,
            r#"{"type":"subscribe","payload":{}}"#,
            r#"{"type":"subscribe","id":1,"payload":{}}"#,
            r#"{"type":"complete"}"#,
            r#"{"type":"connection_init","payload":7}"#,
        ] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_id_cannot_leave_its_string_and_a_reason_fits_its_frame() {
        let Message::Text(text) = write("a\"}", &Out::Complete) else {
            panic!("not a text");
        };
        assert_eq!(text.as_str(), r#"{"id":"a\"}","type":"complete"}"#);
        let close = Close::new(4400, "é".repeat(100));
        assert!(close.reason.len() <= 123);
        assert!(close.reason.chars().all(|ch| ch == 'é'));
    }
}
