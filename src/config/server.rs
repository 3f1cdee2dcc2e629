//! `[server]`: where the gateway listens and what one request may cost.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::HumanDuration;

/// The settings of `[server]`; each limit is refused before any work that it limits.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The address and port that HTTP is served on.
    pub listen: SocketAddr,
    /// Whether the GraphiQL page is served.
    pub graphiql: bool,
    /// Whether the reader page is served at `/`, and the embed at `/embed`.
    pub reader: bool,
    /// Web origins whose pages may show the embed in a frame; empty: none but the gateway's own.
    pub embed_origins: Vec<String>,
    /// Web origins whose pages may call from a browser; empty: none but the gateway's own.
    pub cors_origins: Vec<String>,
    /// The longest request body, in bytes.
    pub body_bytes_max: usize,
    /// The longest GraphQL document, in bytes.
    pub document_bytes_max: usize,
    /// The most lexical tokens in a document.
    pub document_tokens_max: usize,
    /// How deep brackets of any kind may nest in a document.
    pub document_nesting_max: usize,
    /// How deep selection sets may nest, each spread fragment counting as one.
    pub selection_levels_max: usize,
    /// The most selections once fragments are expanded.
    pub expanded_selections_max: usize,
    /// The most aliased fields once fragments are expanded.
    pub aliases_max: usize,
    /// The most fields at the root of an operation, fragments expanded and equal ones merged.
    pub root_fields_max: usize,
    /// The most directives in a document.
    pub directives_max: usize,
    /// The most errors listed in one answer.
    pub errors_max: usize,
    /// How long a body may take to arrive.
    pub body_read_timeout: HumanDuration,
    /// How long one operation may take.
    pub operation_timeout: HumanDuration,
    /// How long a shutdown waits for requests that are under way.
    pub shutdown_timeout: HumanDuration,
}

impl Server {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        checks.between(
            "server.body_bytes_max",
            self.body_bytes_max,
            1_024,
            16 << 20,
        );
        checks.between(
            "server.document_bytes_max",
            self.document_bytes_max,
            1_024,
            16 << 20,
        );
        if self.document_bytes_max > self.body_bytes_max {
            let must = format!(
                "must be at most server.body_bytes_max ({})",
                self.body_bytes_max
            );
            checks.problem("server.document_bytes_max", must);
        }
        checks.between(
            "server.document_tokens_max",
            self.document_tokens_max,
            100,
            1_000_000,
        );
        // The parser recurses by bracket and the executor by level: more would risk the stack.
        checks.between(
            "server.document_nesting_max",
            self.document_nesting_max,
            8,
            64,
        );
        checks.between(
            "server.selection_levels_max",
            self.selection_levels_max,
            4,
            31,
        );
        let expanded = self.expanded_selections_max;
        checks.between("server.expanded_selections_max", expanded, 50, 20_000);
        checks.between("server.aliases_max", self.aliases_max, 0, 10_000);
        checks.between("server.root_fields_max", self.root_fields_max, 1, 1_000);
        checks.between("server.directives_max", self.directives_max, 0, 10_000);
        checks.between("server.errors_max", self.errors_max, 1, 1_000);
        checks.lasts(
            "server.body_read_timeout",
            self.body_read_timeout,
            ("100ms", "10m"),
        );
        checks.lasts(
            "server.operation_timeout",
            self.operation_timeout,
            ("10ms", "10m"),
        );
        checks.lasts(
            "server.shutdown_timeout",
            self.shutdown_timeout,
            ("0ms", "10m"),
        );
        let lists = [
            ("server.cors_origins", &self.cors_origins),
            ("server.embed_origins", &self.embed_origins),
        ];
        for (key, origins) in lists {
            if let Some(wrong) = origins.iter().find(|origin| !is_origin(origin)) {
                let must = format!("{wrong:?} must be an origin such as \"https://example.org\"");
                checks.problem(key, must);
            }
        }
    }
}

/// Whether the text is what a browser sends as `Origin`: a scheme, a host, perhaps a port, no path.
fn is_origin(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text
    })
}
