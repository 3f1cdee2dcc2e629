//! Who asks: a bearer token, the development identity, or nobody.
//!
//! A token that is not valid refuses the request; it never makes an anonymous viewer. Which user
//! an identity is, is decided elsewhere (the users port maps issuer and subject).

mod development;
mod jwks;
mod jwt;

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::error::{Code, RequestError};
use super::settings::AuthSettings;
use crate::domain::clock::Clock;
use crate::domain::viewer::Role;
use crate::tasks::Tasks;

pub use development::{ISSUER as DEVELOPMENT_ISSUER, ROLES_HEADER, USER_HEADER};

/// A signed-in person as the issuer knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The token's `iss`, empty if it has none; [`DEVELOPMENT_ISSUER`] for the development identity.
    pub issuer: String,
    /// The token's `sub`, 1 to 255 bytes.
    pub subject: String,
    /// The highest role among the token's `roles`.
    pub role: Role,
    /// The token's `name`, if it has one.
    pub name: Option<String>,
    /// When the token stops counting, leeway included, in ms since 1970; `None`: it does not.
    pub expires_ms: Option<i64>,
}

/// Why a request's credentials do not count.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token or header is wrong; the text is safe to show.
    #[error("{0}")]
    Invalid(&'static str),
    /// The issuer's keys were never fetched, so no token can be judged now.
    #[error("tokens cannot be checked now")]
    Unavailable,
}

impl From<AuthError> for RequestError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Invalid(reason) => {
                let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
                Self::new(StatusCode::UNAUTHORIZED, Code::Unauthenticated, reason)
                    .with_header(header::WWW_AUTHENTICATE, challenge)
            }
            AuthError::Unavailable => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                Code::Internal,
                error.to_string(),
            )
            .with_header(header::RETRY_AFTER, HeaderValue::from_static("30")),
        }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthSettingsError {
    /// More than one source of keys.
    #[error("auth: set at most one of hs256_secret, jwks_url and jwks_file")]
    TwoKeySources,
    /// A secret that can be guessed.
    #[error("auth.hs256_secret must be at least 32 bytes")]
    ShortSecret,
    /// A URL that cannot be fetched.
    #[error("auth.jwks_url is not an http or https address")]
    JwksUrl,
    /// A key file that cannot be read or holds no usable key.
    #[error("auth.jwks_file {path}: {reason}")]
    JwksFile {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The HTTP client for keys cannot be made.
    #[error("auth: no HTTP client for keys: {0}")]
    Client(#[source] reqwest::Error),
    /// Everybody who reaches the port could be anybody.
    #[error("auth.development works on a loopback listen address only, not on {0}")]
    DevelopmentNotLoopback(SocketAddr),
}

/// Tells who asks. One per process.
#[derive(Debug)]
pub struct Authenticator {
    tokens: Option<jwt::Tokens>,
    development: bool,
}

impl Authenticator {
    /// Checks the settings against the listen address. Keys behind a URL are fetched with the first
    /// token.
    pub fn new(
        settings: &AuthSettings,
        listen: SocketAddr,
        clock: &Clock,
        tasks: &Tasks,
    ) -> Result<Self, AuthSettingsError> {
        if settings.development && !listen.ip().is_loopback() {
            return Err(AuthSettingsError::DevelopmentNotLoopback(listen));
        }
        let tokens = jwt::Tokens::new(settings, clock, tasks)?;
        Ok(Self {
            tokens,
            development: settings.development,
        })
    }

    /// Who sent these headers; `None` is an anonymous viewer. `peer` is the other end of the
    /// connection.
    pub async fn identify(
        &self,
        headers: &HeaderMap,
        peer: Option<SocketAddr>,
    ) -> Result<Option<Identity>, AuthError> {
        let mut credentials = headers.get_all(header::AUTHORIZATION).iter();
        if let Some(value) = credentials.next() {
            if credentials.next().is_some() {
                return Err(AuthError::Invalid("more than one Authorization header"));
            }
            let token = bearer(value).ok_or(AuthError::Invalid("Authorization must be Bearer"))?;
            let Some(tokens) = &self.tokens else {
                return Err(AuthError::Invalid("this server takes no tokens"));
            };
            return tokens.identity(token).await.map(Some);
        }
        if self.development {
            development::identity(headers, peer)
        } else {
            Ok(None)
        }
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
