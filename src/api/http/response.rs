//! From a result to bytes, status and headers.
//!
//! A request that ran answers 200 with `data`, even `null` or partial, and at most a few errors; a
//! request that did not run answers 4xx or 5xx and has no `data` key. Errors that resolvers did not
//! give a code are faults: clients see "internal error" and the request id, the log has the cause.

use std::collections::BTreeMap;

use async_graphql::{
    ErrorExtensionValues, PathSegment, Pos, Response as Executed, ServerError, Value,
};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

use super::accept::MediaType;
use super::error::{Code, RequestError};

/// Entries of `errors` in one event.
const EVENT_ERRORS_MAX: usize = 10;

/// What every answer of one request shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) media: MediaType,
    pub(super) request_id: &'a str,
    pub(super) errors_max: usize,
}

/// One entry of `errors`.
#[derive(Serialize)]
struct ErrorEntry {
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Pos>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<PathSegment>,
    extensions: ErrorExtensionValues,
}

impl ErrorEntry {
    fn new(message: String, code: Code, request_id: &str) -> Self {
        let mut entry = Self {
            message,
            locations: Vec::new(),
            path: Vec::new(),
            extensions: ErrorExtensionValues::default(),
        };
        entry.extensions.set("code", code.as_str());
        entry.extensions.set("requestId", request_id);
        entry
    }
}

/// An answer that is part of a stream: a whole body, or the errors of a request that did not run.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// `{"data":…}`, perhaps with `errors`.
    Body(String),
    /// `[{"message":…}]`
    Errors(String),
}

/// Encodes what the executor answered as part of a stream.
pub(super) fn encode_part(executed: Executed, request_id: &str, errors_max: usize) -> Part {
    let frame = Frame {
        media: MediaType::Json,
        request_id,
        errors_max,
    };
    if did_not_run(&executed) {
        let errors = entries(executed.errors, frame, Code::ValidationFailed);
        return errors_part(&errors, request_id);
    }
    let errors = entries(executed.errors, frame, Code::Internal);
    let mut body = Vec::with_capacity(512);
    let written = write_body(&mut body, &errors, &executed.data, &executed.extensions);
    match (written, String::from_utf8(body)) {
        (Ok(()), Ok(body)) => Part::Body(body),
        (Err(error), _) => {
            tracing::error!(request.id = request_id, %error, "an answer could not be encoded");
            error_part(RequestError::internal(), request_id)
        }
        (Ok(()), Err(error)) => {
            tracing::error!(request.id = request_id, %error, "an answer is not UTF-8");
            error_part(RequestError::internal(), request_id)
        }
    }
}

/// Encodes a refused request as part of a stream.
pub(super) fn error_part(error: RequestError, request_id: &str) -> Part {
    let mut entry = ErrorEntry::new(error.message, error.code, request_id);
    entry.locations = error.locations;
    errors_part(&[entry], request_id)
}

fn errors_part(errors: &[ErrorEntry], request_id: &str) -> Part {
    Part::Errors(serde_json::to_string(errors).unwrap_or_else(|error| {
        tracing::error!(request.id = request_id, %error, "an error could not be encoded");
        r#"[{"message":"internal error"}]"#.to_owned()
    }))
}

/// The body of an event's execution. `None`: it did not run.
pub(in crate::api) fn live_payload(executed: Executed) -> Option<String> {
    match encode_part(executed, "event", EVENT_ERRORS_MAX) {
        Part::Body(body) => Some(body),
        Part::Errors(errors) => {
            tracing::error!(errors, "an event did not run");
            None
        }
    }
}

/// Encodes what the executor answered.
pub(super) fn encode(executed: Executed, frame: Frame<'_>) -> Response {
    if did_not_run(&executed) {
        return encode_refused_by_executor(executed, frame);
    }
    let Executed {
        errors,
        data,
        extensions,
        http_headers,
        ..
    } = executed;
    let errors = entries(errors, frame, Code::Internal);
    let mut body = Vec::with_capacity(1024);
    let written = write_body(&mut body, &errors, &data, &extensions);
    if let Err(error) = written {
        tracing::error!(request.id = frame.request_id, %error, "an answer could not be encoded");
        return encode_error(RequestError::internal(), frame);
    }
    answer(StatusCode::OK, http_headers, body, frame)
}

/// Whether the executor refused the request: nothing has a path, because no field was resolved.
fn did_not_run(executed: &Executed) -> bool {
    executed.data == Value::Null
        && !executed.errors.is_empty()
        && executed.errors.iter().all(|error| error.path.is_empty())
}

fn encode_refused_by_executor(executed: Executed, frame: Frame<'_>) -> Response {
    let errors = entries(executed.errors, frame, Code::ValidationFailed);
    let status = errors.first().map_or(StatusCode::BAD_REQUEST, status_of);
    refusal(status, executed.http_headers, &errors, frame)
}

/// The status of a request that was refused with this error first.
fn status_of(entry: &ErrorEntry) -> StatusCode {
    let Some(Value::String(code)) = entry.extensions.get("code") else {
        return StatusCode::BAD_REQUEST;
    };
    match code.as_str() {
        "UNAUTHENTICATED" => StatusCode::UNAUTHORIZED,
        "FORBIDDEN" => StatusCode::FORBIDDEN,
        "RATE_LIMITED" => StatusCode::TOO_MANY_REQUESTS,
        "TIMEOUT" => StatusCode::GATEWAY_TIMEOUT,
        "INTERNAL_SERVER_ERROR" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Encodes a refused request.
pub(super) fn encode_error(error: RequestError, frame: Frame<'_>) -> Response {
    let mut entry = ErrorEntry::new(error.message, error.code, frame.request_id);
    entry.locations = error.locations;
    let headers = error.headers.into_iter().collect();
    refusal(error.status, headers, &[entry], frame)
}

#[derive(Serialize)]
struct Refusal<'a> {
    errors: &'a [ErrorEntry],
}

fn refusal(
    status: StatusCode,
    headers: HeaderMap,
    errors: &[ErrorEntry],
    frame: Frame<'_>,
) -> Response {
    let body = serde_json::to_vec(&Refusal { errors }).unwrap_or_else(|error| {
        tracing::error!(request.id = frame.request_id, %error, "an error could not be encoded");
        Vec::from(r#"{"errors":[{"message":"internal error"}]}"#)
    });
    answer(status, headers, body, frame)
}

fn answer(status: StatusCode, headers: HeaderMap, body: Vec<u8>, frame: Frame<'_>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let target = response.headers_mut();
    *target = headers;
    target.insert(header::CONTENT_TYPE, frame.media.content_type());
    target.append(
        header::VARY,
        HeaderValue::from_static("Accept, Authorization, Accept-Encoding"),
    );
    response
}

/// The first errors as clients may see them; the log gets what they may not.
fn entries(errors: Vec<ServerError>, frame: Frame<'_>, default: Code) -> Vec<ErrorEntry> {
    let total = errors.len();
    if total > frame.errors_max {
        tracing::debug!(
            request.id = frame.request_id,
            total,
            "errors beyond the limit are cut"
        );
    }
    errors
        .into_iter()
        .take(frame.errors_max)
        .map(|error| entry(error, frame, default))
        .collect()
}

fn entry(error: ServerError, frame: Frame<'_>, default: Code) -> ErrorEntry {
    let mut extensions = error.extensions.clone().unwrap_or_default();
    let own_code = extensions.get("code").cloned();
    let is_fault = match &own_code {
        Some(code) => *code == Value::from(Code::Internal.as_str()),
        None => default == Code::Internal && !is_bad_argument(&error),
    };
    if is_fault {
        tracing::error!(
            request.id = frame.request_id,
            path = %path_text(&error.path),
            cause = %error.message,
            "a field failed"
        );
        let message = "internal error".to_owned();
        let entry = ErrorEntry::new(message, Code::Internal, frame.request_id);
        return ErrorEntry {
            locations: error.locations,
            path: error.path,
            ..entry
        };
    }
    if own_code.is_none() {
        let code = if is_bad_argument(&error) {
            Code::BadUserInput
        } else {
            default
        };
        extensions.set("code", code.as_str());
    }
    extensions.set("requestId", frame.request_id);
    let ServerError {
        message,
        locations,
        path,
        ..
    } = error;
    ErrorEntry {
        message,
        locations,
        path,
        extensions,
    }
}

/// The executor judges some arguments only when it meets them, and gives those errors no code.
/// Errors made from another error carry it as their source; these do not.
fn is_bad_argument(error: &ServerError) -> bool {
    let openings = ["Failed to parse \"", "Expected input type \""];
    error.source.is_none()
        && openings
            .iter()
            .any(|opening| error.message.starts_with(opening))
}

fn path_text(path: &[PathSegment]) -> String {
    let each = path.iter().map(|segment| match segment {
        PathSegment::Field(name) => name.clone(),
        PathSegment::Index(index) => index.to_string(),
    });
    each.collect::<Vec<_>>().join(".")
}

/// `errors` stands first, so that people see it first.
fn write_body(
    out: &mut Vec<u8>,
    errors: &[ErrorEntry],
    data: &Value,
    extensions: &BTreeMap<String, Value>,
) -> serde_json::Result<()> {
    out.push(b'{');
    if !errors.is_empty() {
        out.extend_from_slice(b"\"errors\":");
        serde_json::to_writer(&mut *out, errors)?;
        out.push(b',');
    }
    out.extend_from_slice(b"\"data\":");
    write_value(data, out)?;
    if !extensions.is_empty() {
        out.extend_from_slice(b",\"extensions\":");
        serde_json::to_writer(&mut *out, extensions)?;
    }
    out.push(b'}');
    Ok(())
}

/// Writes `data` as JSON: the one place that knows how a value becomes bytes.
fn write_value(value: &Value, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(out, value)
}

#[cfg(test)]
mod tests {
    use async_graphql::value;
    use serde_json::{Value as Json, json};

    use super::*;

    const FRAME: Frame<'_> = Frame {
        media: MediaType::Json,
        request_id: "r1",
        errors_max: 2,
    };

    async fn read(response: Response) -> (StatusCode, Json) {
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn field_error(message: &str, code: Option<&str>) -> ServerError {
        let mut error = ServerError::new(message, Some(Pos { line: 1, column: 2 }));
        error.path = vec![PathSegment::Field("a".to_owned()), PathSegment::Index(0)];
        if let Some(code) = code {
            let mut extensions = ErrorExtensionValues::default();
            extensions.set("code", code);
            extensions.set("more", 1);
            error.extensions = Some(extensions);
        }
        error
    }

    #[tokio::test]
    async fn data_alone_has_no_errors_key() {
        let executed = Executed::new(value!({"b": 1, "a": [null, "é"]}));
        let (status, body) = read(encode(executed, FRAME)).await;
        assert_eq!(
            (status, body),
            (StatusCode::OK, json!({"data": {"b": 1, "a": [null, "é"]}}))
        );
    }

    #[tokio::test]
    async fn a_failed_field_leaves_data_even_if_it_is_null() {
        let mut executed = Executed::new(Value::Null);
        executed.errors = vec![field_error("no such thing", Some("NOT_FOUND"))];
        let (status, body) = read(encode(executed, FRAME)).await;
        assert_eq!(status, StatusCode::OK);
        let extensions = json!({"code": "NOT_FOUND", "more": 1, "requestId": "r1"});
        let error = json!({
            "message": "no such thing",
            "locations": [{"line": 1, "column": 2}],
            "path": ["a", 0],
            "extensions": extensions,
        });
        assert_eq!(body, json!({"errors": [error], "data": null}));
    }

    #[tokio::test]
    async fn a_cause_without_a_code_of_its_own_stays_inside() {
        for code in [None, Some("INTERNAL_SERVER_ERROR")] {
            let mut executed = Executed::new(value!({"a": null}));
            executed.errors = vec![field_error("password is hunter2", code)];
            let (status, body) = read(encode(executed, FRAME)).await;
            assert_eq!(status, StatusCode::OK);
            assert!(!body.to_string().contains("hunter2"));
            let extensions = json!({"code": "INTERNAL_SERVER_ERROR", "requestId": "r1"});
            assert_eq!(body["errors"][0]["extensions"], extensions);
            assert_eq!(body["errors"][0]["path"], json!(["a", 0]));
        }
    }

    #[tokio::test]
    async fn what_the_executor_refuses_has_no_data_and_few_errors() {
        let errors = (0..5).map(|n| ServerError::new(format!("unknown field {n}"), None));
        let executed = Executed::from_errors(errors.collect());
        let (status, body) = read(encode(executed, FRAME)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(body["errors"].as_array().unwrap().len(), 2);
        assert_eq!(
            body["errors"][0]["extensions"]["code"],
            "GRAPHQL_VALIDATION_FAILED"
        );
        assert!(body.get("data").is_none());
    }

    #[tokio::test]
    async fn a_refusal_with_a_code_has_the_status_of_its_code() {
        for (code, want) in [
            ("FORBIDDEN", 403),
            ("RATE_LIMITED", 429),
            ("TIMEOUT", 504),
            ("X", 400),
        ] {
            let error = ServerError {
                path: Vec::new(),
                ..field_error("no", Some(code))
            };
            let (status, _) = read(encode(Executed::from_errors(vec![error]), FRAME)).await;
            assert_eq!(status.as_u16(), want, "{code}");
        }
    }
}
