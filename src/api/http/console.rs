//! The query page: a small editor for trying queries, answered to browsers where it is turned on.
//!
//! Everything is in the page and nothing comes from another host. The content security policy
//! names the script and the style by hash, so nothing else runs, whatever an answer holds.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("console/page.html");
const STYLE: &str = include_str!("console/style.css");
const SCRIPT: &str = include_str!("console/script.js");

/// The page and its policy, put together once.
#[derive(Debug)]
pub(super) struct Console {
    page: String,
    policy: Option<HeaderValue>,
}

impl Console {
    pub(super) fn new() -> Self {
        let page = PAGE
            .replace("/*style*/", STYLE)
            .replace("/*script*/", SCRIPT);
        let policy = format!(
            "default-src 'none'; connect-src 'self'; style-src '{}'; script-src '{}'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        Self {
            page,
            policy: HeaderValue::from_str(&policy).ok(),
        }
    }
}

fn hash(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

/// The page, or 404 where it is turned off. Without its policy it is not shown either.
pub(super) fn answer(console: Option<&Console>) -> Response {
    let Some((page, policy)) = console.and_then(|it| Some((&it.page, it.policy.as_ref()?))) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_SECURITY_POLICY, policy.clone()),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        (header::VARY, HeaderValue::from_static("Accept")),
    ];
    (headers, Html(page.clone())).into_response()
}
