//! What an operator may set about the HTTP edge, in its own terms; the wiring fills it from the
//! configuration.
//!
//! Every number carries its unit in its name. Secrets never print.

use std::path::PathBuf;

pub use super::live::LiveSettings;
use crate::config::Secret;

/// Everything about the HTTP edge except where it listens.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// What one request may cost.
    pub limits: RequestLimits,
    /// How viewers sign in.
    pub auth: AuthSettings,
    /// Which web origins may call.
    pub cors: CorsSettings,
    /// Connections that stay open.
    pub live: LiveSettings,
    /// Whether `GET /graphql` from a browser answers with the query page.
    pub console: bool,
}

/// What one request may cost before it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Bytes of a request body.
    pub body_bytes_max: usize,
    /// Bytes of a GraphQL document.
    pub document_bytes_max: usize,
    /// Lexical tokens of a document.
    pub tokens_max: usize,
    /// Nested brackets of any kind in a document. The parser recurses, so this guards the stack.
    pub nesting_max: usize,
    /// Levels of selection sets, each spread fragment counting as one. The executor stops at 32.
    pub selection_levels_max: usize,
    /// Selections once every fragment is put in place of its spreads.
    pub expanded_selections_max: usize,
    /// Aliased fields, fragments expanded.
    pub aliases_max: usize,
    /// Fields at the root of an operation, fragments expanded and identical ones merged.
    pub root_fields_max: usize,
    /// Directives in a document.
    pub directives_max: usize,
    /// Milliseconds a body may take to arrive.
    pub body_read_ms: u64,
    /// Milliseconds an operation may run. A query stops then; a mutation goes on unwatched.
    pub operation_ms: u64,
    /// Entries of `errors` in one answer.
    pub errors_max: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: 64 * 1024,
            document_bytes_max: 32 * 1024,
            tokens_max: 2_000,
            nesting_max: 40,
            selection_levels_max: 30,
            expanded_selections_max: 2_000,
            aliases_max: 50,
            root_fields_max: 20,
            directives_max: 50,
            body_read_ms: 10_000,
            operation_ms: 10_000,
            errors_max: 10,
        }
    }
}

impl RequestLimits {
    /// Names a limit that would let a request crash the process or tie it up, whatever it is for.
    pub(super) fn too_high(&self) -> Option<TooHigh> {
        // What the parser's and the executor's recursion bears with a stack of 2 MiB, and room.
        let ceilings = [
            ("body_bytes_max", self.body_bytes_max, 64 * 1024 * 1024),
            ("nesting_max", self.nesting_max, 64),
            ("selection_levels_max", self.selection_levels_max, 32),
            (
                "expanded_selections_max",
                self.expanded_selections_max,
                20_000,
            ),
        ];
        let over = ceilings
            .into_iter()
            .find(|(_, value, ceiling)| value > ceiling)?;
        Some(TooHigh {
            name: over.0,
            ceiling: over.2,
        })
    }
}

/// A limit above what is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooHigh {
    pub(super) name: &'static str,
    pub(super) ceiling: usize,
}

/// How viewers sign in. At most one of the three key sources may be set; with none, a token is
/// refused and everybody is anonymous.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    /// Shared secret of `HS256` tokens, at least 32 bytes.
    pub hs256_secret: Option<Secret>,
    /// Where the issuer publishes its keys (`RS256`, `ES256`, `EdDSA`).
    pub jwks_url: Option<String>,
    /// The same as a file on disk.
    pub jwks_file: Option<PathBuf>,
    /// The `iss` a token must have; unset accepts any.
    pub issuer: Option<String>,
    /// A token's `aud` must hold one of these; empty accepts any.
    pub audiences: Vec<String>,
    /// Seconds by which the issuer's clock may differ from ours.
    pub leeway_s: u32,
    /// Milliseconds a fetch of keys may take.
    pub jwks_fetch_ms: u64,
    /// Least seconds between two fetches that an unknown key id causes.
    pub jwks_refetch_s: u32,
    /// Seconds after which keys are fetched again although nothing is missing.
    pub jwks_age_max_s: u32,
    /// Accept `X-Dev-User` from this machine. Anybody who reaches the port can then be anybody, so
    /// it is refused on any other listen address than loopback.
    pub development: bool,
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self {
            hs256_secret: None,
            jwks_url: None,
            jwks_file: None,
            issuer: None,
            audiences: Vec::new(),
            leeway_s: 30,
            jwks_fetch_ms: 5_000,
            jwks_refetch_s: 30,
            jwks_age_max_s: 3_600,
            development: false,
        }
    }
}

/// Which web origins may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsSettings {
    /// Origins as browsers send them, for example `https://example.org`; empty allows none.
    pub origins: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_guard_the_stack_cannot_be_lifted() {
        assert_eq!(RequestLimits::default().too_high(), None);
        let lifted = RequestLimits {
            nesting_max: 65,
            ..RequestLimits::default()
        };
        assert_eq!(
            lifted.too_high(),
            Some(TooHigh {
                name: "nesting_max",
                ceiling: 64
            })
        );
    }
}
