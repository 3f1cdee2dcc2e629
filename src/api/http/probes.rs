//! What the platform asks: is the process alive, may it get traffic, what are its numbers.

use std::fmt;

use async_trait::async_trait;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Judges whether the process may get traffic.
#[async_trait]
pub trait Readiness: fmt::Debug + Send + Sync {
    /// The state of each thing the process needs, now.
    async fn checks(&self) -> Vec<Check>;
}

/// One thing the process needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// For example `comments`.
    pub name: String,
    /// How it is.
    pub state: CheckState,
    /// For people; no secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// How a thing is; the worst decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// As it should be.
    Ready,
    /// Worse than it should be, but requests are answered.
    Degraded,
    /// No traffic should come.
    Failed,
}

#[derive(Serialize)]
struct Report {
    status: CheckState,
    checks: Vec<Check>,
}

/// `/readyz`: 200, or 503 if a check failed.
pub(super) async fn ready(readiness: &dyn Readiness) -> Response {
    let checks = readiness.checks().await;
    let worst = checks
        .iter()
        .map(|check| check.state)
        .max()
        .unwrap_or(CheckState::Ready);
    let code = match worst {
        CheckState::Ready | CheckState::Degraded => StatusCode::OK,
        CheckState::Failed => StatusCode::SERVICE_UNAVAILABLE,
    };
    (
        code,
        axum::Json(Report {
            status: worst,
            checks,
        }),
    )
        .into_response()
}

/// `/metrics` in the Prometheus text format.
pub(super) fn metrics(text: String) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
