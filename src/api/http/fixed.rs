//! Answers that never change: what measurements compare the gateway with.
//!
//! Nothing of the edge is around them, so they cost what the HTTP library alone costs.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::routing::any;
use bytes::Bytes;

use super::accept::MediaType;

/// One answer a path, for any method and body. Paths start with `/`.
pub fn fixed_answers(answers: impl IntoIterator<Item = (String, Bytes)>) -> Router {
    let content_type: HeaderValue = MediaType::Json.content_type();
    answers
        .into_iter()
        .fold(Router::new(), |router, (path, bytes)| {
            let content_type = content_type.clone();
            let answer = async move || ([(header::CONTENT_TYPE, content_type)], bytes);
            router.route(&path, any(answer))
        })
}
