//! One id for each request: the client's if it is sane, else our own.
//!
//! It stands in `x-request-id` of every answer, in `extensions.requestId` of every error and in the
//! log, so that a report from a user can be found. It is no secret and proves nothing.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

/// The header of the id, in requests and answers.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LENGTH_MAX: usize = 64;

/// The id of a request, kept in its extensions.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub(super) HeaderValue);

impl RequestId {
    /// The id as text; ids are made of a few ASCII characters, so there is always one.
    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Makes ids that no other process makes: a random start and a count.
#[derive(Debug)]
pub(super) struct RequestIds {
    prefix: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> Self {
        // The standard library seeds its hash maps from the system's randomness.
        Self {
            prefix: RandomState::new().hash_one(0),
            next: AtomicU64::new(1),
        }
    }

    fn of(&self, headers: &HeaderMap) -> RequestId {
        let sane = |value: &&HeaderValue| {
            let bytes = value.as_bytes();
            let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            (1..=LENGTH_MAX).contains(&bytes.len()) && bytes.iter().all(allowed)
        };
        if let Some(value) = headers.get(REQUEST_ID).filter(sane) {
            return RequestId(value.clone());
        }
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let text = format!("{:016x}-{count:x}", self.prefix);
        RequestId(HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("unknown")))
    }
}

/// Gives the request its id, and every answer the headers that none may lack.
pub(super) async fn attach(
    State(ids): State<Arc<RequestIds>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = ids.of(request.headers());
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.0);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sane_id_is_kept_and_any_other_replaced() {
        let ids = RequestIds::new();
        let of = |value: &str| {
            let value = HeaderValue::from_str(value).unwrap();
            ids.of(&[(REQUEST_ID, value)].into_iter().collect())
                .as_str()
                .to_owned()
        };
        assert_eq!(of("a.B_c-9"), "a.B_c-9");
        for bad in ["", "a b", "a\"", "a/b", &"x".repeat(65)] {
            assert!(
                of(bad).starts_with(&format!("{:016x}-", ids.prefix)),
                "{bad}"
            );
        }
        assert_ne!(of(""), of(""));
    }
}
