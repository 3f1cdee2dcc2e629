//! Request errors: what refuses a request before any field is resolved.
//!
//! Each has an HTTP status, a stable code and a message for people. They never carry a `data` key.
//! Faults of single fields are not request errors; `response` handles those.

use async_graphql::Pos;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};

/// The stable codes clients switch on; messages are free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The HTTP request is not a well-formed GraphQL request.
    BadRequest,
    /// The document is not GraphQL.
    ParseFailed,
    /// The document does not fit the schema or the rules of GraphQL.
    ValidationFailed,
    /// A variable or argument has a wrong value.
    BadUserInput,
    /// The document has no operation of that name, or needs a name.
    OperationResolutionFailure,
    /// The document asks for more than one request may.
    QueryTooComplex,
    /// The token is not valid.
    Unauthenticated,
    /// The viewer may not do this.
    Forbidden,
    /// The operation took too long.
    Timeout,
    /// A subscriber did not read its events as fast as they came.
    SubscriberTooSlow,
    /// A part that is needed does not answer, or this instance is full or stopping.
    Unavailable,
    /// Our fault; the cause is in the log under the request id.
    Internal,
}

impl Code {
    /// The text in `extensions.code`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::ParseFailed => "GRAPHQL_PARSE_FAILED",
            Self::ValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::OperationResolutionFailure => "OPERATION_RESOLUTION_FAILURE",
            Self::QueryTooComplex => "QUERY_TOO_COMPLEX",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::Timeout => "TIMEOUT",
            Self::SubscriberTooSlow => "SUBSCRIBER_TOO_SLOW",
            Self::Unavailable => "UNAVAILABLE",
            Self::Internal => "INTERNAL_SERVER_ERROR",
        }
    }
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// HTTP status, always 4xx or 5xx.
    pub status: StatusCode,
    /// Stable code.
    pub code: Code,
    /// For people; names the limit or the culprit, never internals.
    pub message: String,
    /// Where in the document, if known.
    pub locations: Vec<Pos>,
    /// Headers the status asks for, such as `Allow`.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl RequestError {
    /// An error with any status.
    pub fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            locations: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// Status 400 with this code.
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Status 400, not a well-formed GraphQL request.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::refused(Code::BadRequest, message)
    }

    /// Status 500; the cause must have been logged.
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Code::Internal,
            "internal error",
        )
    }

    /// Status 405, saying which methods work.
    pub fn method(message: impl Into<String>, allow: &'static str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadRequest, message)
            .with_header(header::ALLOW, HeaderValue::from_static(allow))
    }

    /// Adds a place in the document.
    #[must_use]
    pub fn at(mut self, position: Pos) -> Self {
        self.locations.push(position);
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}
