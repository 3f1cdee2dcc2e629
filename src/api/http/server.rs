//! Routes and layers, and the loop that serves them until the process should end.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::CorsLayer;

use super::accept::MediaType;
use super::auth::Authenticator;
use super::console::Console;
use super::error::RequestError;
use super::live::Live;
use super::probes::{self, Readiness};
use super::request_id::{self, REQUEST_ID, RequestIds};
use super::response::{Frame, encode_error};
use super::settings::{CorsSettings, HttpSettings, TooHigh};
use super::{Executor, handler};
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

/// Answers up to this size are not worth compressing.
const COMPRESS_ABOVE_BYTES: u64 = 1024;
/// How long a browser may remember what an origin may send.
const PREFLIGHT_AGE: Duration = Duration::from_mins(10);

/// What the edge needs of the rest of the process.
pub struct Edge {
    /// Runs operations.
    pub executor: Arc<dyn Executor>,
    /// Tells who asks.
    pub authenticator: Arc<Authenticator>,
    /// Answers `/readyz`.
    pub readiness: Arc<dyn Readiness>,
    /// Renders `/metrics`.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Tells when tokens stop counting.
    pub clock: Clock,
    /// Where mutations run.
    pub tasks: Tasks,
    /// Limits, origins, the query page.
    pub settings: HttpSettings,
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge")
            .field("executor", &self.executor)
            .field("authenticator", &self.authenticator)
            .field("readiness", &self.readiness)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What handlers share.
pub(super) struct Shared {
    pub(super) executor: Arc<dyn Executor>,
    pub(super) authenticator: Arc<Authenticator>,
    pub(super) tasks: Tasks,
    pub(super) settings: HttpSettings,
    pub(super) console: Option<Console>,
    pub(super) live: Arc<Live>,
    readiness: Arc<dyn Readiness>,
    metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

/// Why the settings cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpSettingsError {
    /// An origin that no browser sends.
    #[error("cors.origins: \"{0}\" is not an origin such as https://example.org")]
    Origin(String),
    /// A limit above what is safe.
    #[error("limits.{name} may be at most {ceiling}")]
    Limit {
        /// The setting.
        name: &'static str,
        /// Its largest value.
        ceiling: usize,
    },
}

/// The routes: `/graphql`, `/healthz`, `/readyz`, `/metrics`.
pub fn router(edge: Edge) -> Result<Router, HttpSettingsError> {
    let Edge {
        executor,
        authenticator,
        readiness,
        metrics,
        clock,
        tasks,
        settings,
    } = edge;
    if let Some(TooHigh { name, ceiling }) = settings.limits.too_high() {
        return Err(HttpSettingsError::Limit { name, ceiling });
    }
    let cors = cors(&settings.cors)?;
    let live = Arc::new(Live::new(&settings.live, clock));
    let console = settings.console.then(Console::new);
    let shared = Shared {
        executor,
        authenticator,
        tasks,
        settings,
        console,
        live,
        readiness,
        metrics,
    };
    let mut router = Router::new()
        .route("/graphql", any(handler::graphql))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(render_metrics))
        .fallback(async || (StatusCode::NOT_FOUND, "not found"))
        .with_state(Arc::new(shared))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(
            CompressionLayer::new()
                .gzip(true)
                .compress_when(SizeAbove::new(COMPRESS_ABOVE_BYTES).and(NotForContentType::SSE)),
        );
    if let Some(cors) = cors {
        router = router.layer(cors);
    }
    let ids = Arc::new(RequestIds::new());
    Ok(router.layer(axum::middleware::from_fn_with_state(
        ids,
        request_id::attach,
    )))
}

/// Serves until `tasks` are told to stop, then lets running requests end.
pub async fn serve(
    listener: tokio::net::TcpListener,
    router: Router,
    tasks: &Tasks,
) -> std::io::Result<()> {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    // Answers are written whole, so there is nothing to wait for before sending.
    let listener = listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    axum::serve(listener, service)
        .with_graceful_shutdown(tasks.stopping().cancelled_owned())
        .await
}

async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    probes::ready(shared.readiness.as_ref()).await
}

async fn render_metrics(State(shared): State<Arc<Shared>>) -> Response {
    probes::metrics((shared.metrics)())
}

/// A panic outside of an operation, which would be a fault of this module. The panic hook has
/// written where and why, and `request_id` adds the id to the headers.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    let frame = Frame {
        media: MediaType::Json,
        request_id: "unknown",
        errors_max: 1,
    };
    encode_error(RequestError::internal(), frame).into_response()
}

/// `None` if no origin may call: browsers then let no other site read an answer.
fn cors(settings: &CorsSettings) -> Result<Option<CorsLayer>, HttpSettingsError> {
    let origins = settings.origins.iter().map(|text| origin(text));
    let origins = origins.collect::<Result<Vec<_>, _>>()?;
    if origins.is_empty() {
        return Ok(None);
    }
    let names = ["x-client-name", "x-client-version", "x-read-after"];
    let apollo = ["apollographql-client-name", "apollographql-client-version"];
    let names = names.into_iter().chain(apollo).map(HeaderName::from_static);
    let standard = [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        REQUEST_ID,
    ];
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(names.chain(standard).collect::<Vec<_>>())
        .expose_headers([REQUEST_ID, header::RETRY_AFTER, header::ETAG])
        .max_age(PREFLIGHT_AGE);
    Ok(Some(layer))
}

/// Takes an origin exactly as browsers write it: scheme, host, perhaps a port, nothing behind.
fn origin(text: &str) -> Result<HeaderValue, HttpSettingsError> {
    let parsed = url::Url::parse(text).ok();
    let is_origin = parsed.is_some_and(|url| url.origin().ascii_serialization() == text);
    let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
    value.ok_or_else(|| HttpSettingsError::Origin(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        for good in ["https://example.org", "http://localhost:3000"] {
            assert!(origin(good).is_ok(), "{good}");
        }
        for bad in [
            "*",
            "null",
            "example.org",
            "https://example.org/",
            "https://Example.org",
            "",
        ] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }
}
