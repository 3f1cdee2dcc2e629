//! From HTTP to the four parameters of a GraphQL request.
//!
//! Statuses of what is refused here and behind: 405, 406, 413 and 415 where HTTP has a word for the
//! fault (408 for a body that does not arrive), and 400 for everything else. The current draft of
//! GraphQL over HTTP asks for 422 where the JSON or the document is well-formed but wrong; any 4xx
//! is conformant, the older text asks for 400, and clients and the public audit suite in use test
//! for 400. One number keeps both content.
//!
//! A POST must be `application/json`. Browsers never send that to another site without asking
//! first, so a foreign page cannot post with the viewer's rights; a GET has no side effects.

use std::time::Duration;

use async_graphql::Variables;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::error::{Code, RequestError};
use super::settings::RequestLimits;

/// A GraphQL request as it was sent; only its outer shape is known to be right.
#[derive(Debug, Default)]
pub(super) struct RawRequest {
    /// The document.
    pub(super) query: String,
    /// Which of its operations to run.
    pub(super) operation_name: Option<String>,
    /// Values of variables, not coerced yet.
    pub(super) variables: Variables,
    /// Whatever a client adds; unknown keys are fine.
    pub(super) extensions: Map<String, Json>,
}

/// Reads a whole body, at most as large and as slow as the limits say.
pub(super) async fn read_body(
    headers: &HeaderMap,
    body: Body,
    limits: &RequestLimits,
) -> Result<Bytes, RequestError> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    let announced = announced.and_then(|value| value.parse::<usize>().ok());
    if announced.is_some_and(|bytes| bytes > limits.body_bytes_max) {
        return Err(too_large(limits));
    }
    let limit = Duration::from_millis(limits.body_read_ms);
    let whole = collect(body, limits);
    tokio::time::timeout(limit, whole)
        .await
        .unwrap_or_else(|_| {
            let message = "the body did not arrive in time";
            Err(RequestError::new(
                StatusCode::REQUEST_TIMEOUT,
                Code::BadRequest,
                message,
            ))
        })
}

async fn collect(body: Body, limits: &RequestLimits) -> Result<Bytes, RequestError> {
    let mut chunks = body.into_data_stream();
    let mut whole = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            tracing::debug!(%error, "a request body broke off");
            RequestError::bad_request("the body could not be read")
        })?;
        if whole.len().saturating_add(chunk.len()) > limits.body_bytes_max {
            return Err(too_large(limits));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

fn too_large(limits: &RequestLimits) -> RequestError {
    let message = format!("the body is over {} bytes", limits.body_bytes_max);
    RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, Code::BadRequest, message)
}

/// The parameters as they come, so that a wrong type gets a message of its own.
#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    query: Json,
    #[serde(default, rename = "operationName")]
    operation_name: Json,
    #[serde(default)]
    variables: Json,
    #[serde(default)]
    extensions: Json,
}

impl Parameters {
    fn into_request(self) -> Result<RawRequest, RequestError> {
        let query = string(self.query, "query")?;
        let query = query.ok_or_else(|| RequestError::bad_request("\"query\" is missing"))?;
        let operation_name = string(self.operation_name, "operationName")?;
        let operation_name = operation_name.filter(|name| !name.is_empty());
        let variables = object(self.variables, "variables")?;
        let variables = Variables::from_json(Json::Object(variables));
        let extensions = object(self.extensions, "extensions")?;
        Ok(RawRequest {
            query,
            operation_name,
            variables,
            extensions,
        })
    }
}

fn string(value: Json, name: &str) -> Result<Option<String>, RequestError> {
    match value {
        Json::String(text) => Ok(Some(text)),
        Json::Null => Ok(None),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => Err(
            RequestError::bad_request(format!("\"{name}\" must be a string")),
        ),
    }
}

fn object(value: Json, name: &str) -> Result<Map<String, Json>, RequestError> {
    match value {
        Json::Object(map) => Ok(map),
        Json::Null => Ok(Map::new()),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => Err(
            RequestError::bad_request(format!("\"{name}\" must be an object")),
        ),
    }
}

/// Reads the parameters of a POST. `null` is as if absent and unknown keys are ignored.
pub(super) fn from_json(body: &[u8]) -> Result<RawRequest, RequestError> {
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(b'[') => return Err(RequestError::bad_request("batches are not supported")),
        None => return Err(RequestError::bad_request("the body is empty")),
        Some(_) => return Err(RequestError::bad_request("the body must be a JSON object")),
    }
    let parameters: Parameters = serde_json::from_slice(body)
        .map_err(|error| RequestError::bad_request(format!("the body is not JSON: {error}")))?;
    parameters.into_request()
}

/// Reads the parameters of an operation that came as a JSON value.
pub(super) fn from_value(value: Json) -> Result<RawRequest, RequestError> {
    let parameters: Parameters = serde_json::from_value(value)
        .map_err(|error| RequestError::bad_request(format!("no operation: {error}")))?;
    parameters.into_request()
}

/// Reads the parameters of a GET. An empty value is as if absent.
pub(super) fn from_uri_query(text: &str) -> Result<RawRequest, RequestError> {
    let mut parameters = Parameters::default();
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        if value.is_empty() {
            continue;
        }
        let (slot, value) = match name.as_ref() {
            "query" => (&mut parameters.query, Json::String(value.into_owned())),
            "operationName" => (
                &mut parameters.operation_name,
                Json::String(value.into_owned()),
            ),
            "variables" => (&mut parameters.variables, json_parameter(&name, &value)?),
            "extensions" => (&mut parameters.extensions, json_parameter(&name, &value)?),
            _ => continue,
        };
        if !slot.is_null() {
            return Err(RequestError::bad_request(format!(
                "\"{name}\" is given twice"
            )));
        }
        *slot = value;
    }
    parameters.into_request()
}

fn json_parameter(name: &str, text: &str) -> Result<Json, RequestError> {
    serde_json::from_str(text)
        .map_err(|error| RequestError::bad_request(format!("\"{name}\" is not JSON: {error}")))
}

/// Whether a GET asks for anything at all, or only for the page.
pub(super) fn has_query(text: &str) -> bool {
    url::form_urlencoded::parse(text.as_bytes()).any(|(name, _)| name == "query")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(result: Result<RawRequest, RequestError>) -> String {
        let error = result.unwrap_err();
        assert_eq!(
            (error.status, error.code),
            (StatusCode::BAD_REQUEST, Code::BadRequest)
        );
        error.message
    }

    #[test]
    fn null_and_empty_parameters_are_as_if_absent() {
        let body = br#" {"query":"{a}","operationName":null,"variables":null,"extensions":null}"#;
        let request = from_json(body).unwrap();
        assert_eq!(
            (request.query.as_str(), request.operation_name),
            ("{a}", None)
        );
        let request = from_json(br#"{"query":"{a}","operationName":"","other":[1]}"#).unwrap();
        assert_eq!(request.operation_name, None);
        let request = from_uri_query("query=%7Ba%7D&operationName=&variables=&extensions=&x=1");
        assert_eq!(request.unwrap().query, "{a}");
        let request =
            from_uri_query("query=a+b&variables=%7B%22x%22:1%7D&operationName=N").unwrap();
        assert_eq!(request.operation_name.as_deref(), Some("N"));
        assert_eq!(request.variables.len(), 1);
    }

    #[test]
    fn wrong_shapes_are_refused_with_a_message_each() {
        for (body, want) in [
            ("", "the body is empty"),
            ("[{\"query\":\"{a}\"}]", "batches are not supported"),
            ("7", "the body must be a JSON object"),
            ("{", "the body is not JSON"),
            ("{}", "\"query\" is missing"),
            ("{\"query\":7}", "\"query\" must be a string"),
            (
                "{\"query\":\"{a}\",\"variables\":[7]}",
                "\"variables\" must be an object",
            ),
            (
                "{\"query\":\"{a}\",\"variables\":\"x\"}",
                "\"variables\" must be an object",
            ),
            (
                "{\"query\":\"{a}\",\"extensions\":1}",
                "\"extensions\" must be an object",
            ),
            (
                "{\"query\":\"{a}\",\"operationName\":1}",
                "\"operationName\" must be a string",
            ),
            (
                "{\"query\":\"{a}\",\"query\":\"{b}\"}",
                "the body is not JSON: duplicate field",
            ),
        ] {
            let message = refusal(from_json(body.as_bytes()));
            assert!(message.starts_with(want), "{body}: {message}");
        }
        let deep = format!(
            "{{\"query\":\"{{a}}\",\"variables\":{{\"x\":{}{}}}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        assert!(refusal(from_json(deep.as_bytes())).contains("recursion limit"));
        for (query, want) in [
            ("", "\"query\" is missing"),
            ("query=a&query=b", "\"query\" is given twice"),
            ("query=a&variables=%7B", "\"variables\" is not JSON"),
            ("query=a&variables=1", "\"variables\" must be an object"),
        ] {
            assert!(refusal(from_uri_query(query)).starts_with(want), "{query}");
        }
    }
}
