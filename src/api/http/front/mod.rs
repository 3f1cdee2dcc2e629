//! The front: from the text of a request to an operation that is safe to execute.
//!
//! In order: size of the text, tokens and brackets ([`lexer`]), parsing, which operation and
//! whether its kind may run here, size with fragments expanded ([`shape`]), identical and
//! contradicting selections ([`merge`]), variables ([`variables`]). All of it is linear in the text
//! or bounded by a limit, and a request refused here has run nothing.

mod lexer;
mod merge;
mod shape;
mod variables;

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, OperationDefinition, OperationType,
};
use async_graphql::parser::{self, parse_query};
use async_graphql::{Positioned, Variables};

use super::error::{Code, RequestError};
use super::request::RawRequest;
use super::settings::RequestLimits;

/// An operation that passed the front.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    /// The document, identical selections united. Only the chosen operation may run.
    pub document: ExecutableDocument,
    /// The document as it was sent.
    pub query: String,
    /// The chosen operation's name; `None` if it is the only one and has none.
    pub operation_name: Option<String>,
    /// The chosen operation's kind: query or mutation.
    pub operation_type: OperationType,
    /// Coerced values of the variables it defines.
    pub variables: Variables,
    /// The request's `extensions` as they were sent.
    pub extensions: serde_json::Map<String, serde_json::Value>,
}

impl PreparedRequest {
    /// As the executor library takes it; the caller adds its data and executes it.
    #[must_use]
    pub fn into_graphql(self) -> async_graphql::Request {
        let mut request = async_graphql::Request::new(self.query).variables(self.variables);
        request.operation_name = self.operation_name;
        request.set_parsed_query(self.document);
        request
    }
}

/// What a transport may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// A GET for one answer.
    Get,
    /// A POST for one answer.
    Post,
    /// A GET for a stream of answers.
    StreamGet,
    /// A POST or a WebSocket for a stream of answers.
    Stream,
}

/// Checks a request and makes it ready to execute.
pub(super) fn prepare(
    raw: RawRequest,
    transport: Transport,
    limits: &RequestLimits,
) -> Result<PreparedRequest, RequestError> {
    let mut document = parse(&raw.query, limits)?;
    let (operation_name, operation) = select(&document, raw.operation_name.as_deref())?;
    let operation_type = operation.node.ty;
    check_kind(operation_type, transport)?;
    let variables = variables::coerce(&operation.node, raw.variables)?;
    let operation_name = operation_name.map(str::to_owned);
    shape::check_directives(&document, limits)?;
    merge::merge(&mut document);
    shape::check(&document, limits)?;
    merge::check(&document, limits.expanded_selections_max.saturating_mul(4))?;
    if operation_type == OperationType::Subscription {
        shape::one_root(&mut document, operation_name.as_deref())?;
    }
    Ok(PreparedRequest {
        document,
        query: raw.query,
        operation_name,
        operation_type,
        variables,
        extensions: raw.extensions,
    })
}

fn parse(query: &str, limits: &RequestLimits) -> Result<ExecutableDocument, RequestError> {
    if query.len() > limits.document_bytes_max {
        let message = format!("the document is over {} bytes", limits.document_bytes_max);
        return Err(RequestError::refused(Code::QueryTooComplex, message));
    }
    let bounds = lexer::Bounds {
        tokens_max: limits.tokens_max,
        nesting_max: limits.nesting_max,
    };
    lexer::check(query, bounds)?;
    parse_query(query).map_err(|error| syntax_error(&error))
}

/// The parser prints a picture of several lines; clients get the place and the last line of it.
fn syntax_error(error: &parser::Error) -> RequestError {
    let text = error.to_string();
    let (code, message) = match error {
        parser::Error::Syntax { .. } => {
            let expected = text.lines().last().unwrap_or_default();
            let expected = expected.trim_start_matches([' ', '=']);
            (Code::ParseFailed, format!("syntax error: {expected}"))
        }
        parser::Error::MissingOperation => (
            Code::ParseFailed,
            "the document holds no operation".to_owned(),
        ),
        parser::Error::MultipleOperations { .. }
        | parser::Error::OperationDuplicated { .. }
        | parser::Error::FragmentDuplicated { .. }
        | parser::Error::MultipleRoots { .. }
        | parser::Error::MissingQueryRoot { .. }
        | parser::Error::RecursionLimitExceeded
        | _ => (Code::ValidationFailed, text),
    };
    let mut refused = RequestError::refused(code, message);
    refused.locations = error.positions().collect();
    refused
}

type Selected<'a> = (Option<&'a str>, &'a Positioned<OperationDefinition>);

fn select<'a>(
    document: &'a ExecutableDocument,
    wanted: Option<&str>,
) -> Result<Selected<'a>, RequestError> {
    let unknown =
        |message: String| RequestError::refused(Code::OperationResolutionFailure, message);
    match (&document.operations, wanted) {
        (DocumentOperations::Single(operation), None) => Ok((None, operation)),
        (DocumentOperations::Multiple(operations), None) => {
            let mut all = operations.iter();
            match (all.next(), all.next()) {
                (Some((name, operation)), None) => Ok((Some(name.as_str()), operation)),
                _ => Err(unknown(
                    "operationName must say which operation to run".to_owned(),
                )),
            }
        }
        (DocumentOperations::Multiple(operations), Some(wanted)) => operations
            .get_key_value(wanted)
            .map(|(name, operation)| (Some(name.as_str()), operation))
            .ok_or_else(|| unknown("the document has no operation of this name".to_owned())),
        (DocumentOperations::Single(_), Some(_)) => Err(unknown(
            "operationName is given but the operation has no name".to_owned(),
        )),
    }
}

fn check_kind(kind: OperationType, transport: Transport) -> Result<(), RequestError> {
    match (kind, transport) {
        // A GET must be safe: links, prefetching and other sites can cause one.
        (OperationType::Mutation, Transport::Get | Transport::StreamGet) => {
            Err(RequestError::method("mutations need POST", "POST"))
        }
        (OperationType::Subscription, Transport::Get | Transport::Post) => {
            Err(RequestError::bad_request(
                "subscriptions need a WebSocket, or Accept: text/event-stream",
            ))
        }
        (OperationType::Query, _)
        | (OperationType::Mutation, Transport::Post | Transport::Stream)
        | (OperationType::Subscription, Transport::Stream | Transport::StreamGet) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    fn prepared(query: &str, name: Option<&str>) -> Result<PreparedRequest, RequestError> {
        let raw = RawRequest {
            query: query.to_owned(),
            operation_name: name.map(str::to_owned),
            ..RawRequest::default()
        };
        prepare(raw, Transport::Get, &RequestLimits::default())
    }

    #[test]
    fn a_syntax_error_is_one_line_with_a_place() {
        let error = prepared("{a(}", None).unwrap_err();
        assert_eq!(error.code, Code::ParseFailed);
        assert!(
            error.message.starts_with("syntax error: "),
            "{}",
            error.message
        );
        assert!(!error.message.contains('\n'));
        assert_eq!(error.locations.len(), 1);
        assert_eq!(prepared("", None).unwrap_err().code, Code::ParseFailed);
    }

    #[test]
    fn the_operation_is_chosen_by_name_before_anything_runs() {
        let two = "query A{a} query B{b}";
        assert_eq!(
            prepared(two, Some("B")).unwrap().operation_name.as_deref(),
            Some("B")
        );
        assert_eq!(
            prepared("query A{a}", None)
                .unwrap()
                .operation_name
                .as_deref(),
            Some("A")
        );
        assert_eq!(prepared("{a}", None).unwrap().operation_name, None);
        for (query, name) in [(two, None), (two, Some("C")), ("{a}", Some("A"))] {
            let error = prepared(query, name).unwrap_err();
            assert_eq!(
                error.code,
                Code::OperationResolutionFailure,
                "{query} {name:?}"
            );
        }
    }

    #[test]
    fn a_mutation_needs_post_even_if_a_query_stands_beside_it() {
        let both = "query A{a} mutation B{b}";
        let error = prepared(both, Some("B")).unwrap_err();
        assert_eq!(error.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(
            prepared(both, Some("A")).unwrap().operation_type,
            OperationType::Query
        );
        let error = prepared("subscription{a}", None).unwrap_err();
        assert_eq!(error.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn nesting_at_the_limit_leaves_the_stack_alone() {
        for (open, close) in [("[", "]"), ("{a:", "}")] {
            let value = format!("{}1{}", open.repeat(38), close.repeat(38));
            assert!(prepared(&format!("{{a(b:{value})}}"), None).is_ok());
        }
        // The highest limit that settings may set, and the kind of brackets with the largest frames.
        let limits = RequestLimits {
            nesting_max: 64,
            ..RequestLimits::default()
        };
        let value = format!("{}1{}", "[{a:".repeat(31), "}]".repeat(31));
        let raw = RawRequest {
            query: format!("{{a(b:{value})}}"),
            ..RawRequest::default()
        };
        assert!(prepare(raw, Transport::Get, &limits).is_ok());
        let value = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
        let error = prepared(&format!("{{a(b:{value})}}"), None).unwrap_err();
        assert_eq!(error.code, Code::QueryTooComplex);
        let types = format!(
            "query($a:{}Int{}){{a}}",
            "[".repeat(2_000),
            "]".repeat(2_000)
        );
        assert_eq!(
            prepared(&types, None).unwrap_err().code,
            Code::QueryTooComplex
        );
    }

    #[test]
    fn a_document_over_the_byte_limit_is_refused_before_it_is_read() {
        let error = prepared(&format!("{{a #{}\n}}", "x".repeat(33_000)), None).unwrap_err();
        assert_eq!(error.code, Code::QueryTooComplex);
    }
}
