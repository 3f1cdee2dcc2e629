//! Bearer tokens: signature, times, issuer, audience, and the claims this service reads.
//!
//! The algorithm comes from our key, never from the token: a token whose header says otherwise is
//! refused before its signature is looked at, so neither `none` nor a public key used as a shared
//! secret gets through. Times are compared with the process's clock.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Number, Value as Json};

use super::jwks::Jwks;
use super::{AuthError, AuthSettingsError, Identity};
use crate::api::http::settings::AuthSettings;
use crate::domain::clock::Clock;
use crate::domain::viewer::Role;
use crate::tasks::Tasks;

/// Shortest shared secret, as RFC 7518 asks for HS256.
const SECRET_BYTES_MIN: usize = 32;
/// Longest token that is looked at.
const TOKEN_BYTES_MAX: usize = 8 * 1024;
/// Longest subject that can be stored.
const SUBJECT_BYTES_MAX: usize = 255;

/// Judges tokens.
#[derive(Debug)]
pub(super) struct Tokens {
    keys: Keys,
    issuer: Option<String>,
    audiences: Vec<String>,
    leeway_ms: i64,
    clock: Clock,
}

#[derive(Debug)]
enum Keys {
    Shared(DecodingKey),
    Published(Arc<Jwks>),
}

impl Tokens {
    /// `None` if no source of keys is set.
    pub(super) fn new(
        settings: &AuthSettings,
        clock: &Clock,
        tasks: &Tasks,
    ) -> Result<Option<Self>, AuthSettingsError> {
        let published = settings.jwks_url.is_some() || settings.jwks_file.is_some();
        let keys = match &settings.hs256_secret {
            Some(_) if published => return Err(AuthSettingsError::TwoKeySources),
            Some(secret) if secret.reveal().len() < SECRET_BYTES_MIN => {
                return Err(AuthSettingsError::ShortSecret);
            }
            Some(secret) => Keys::Shared(DecodingKey::from_secret(secret.reveal().as_bytes())),
            None if published => Keys::Published(Jwks::new(settings, clock, tasks)?),
            None => return Ok(None),
        };
        Ok(Some(Self {
            keys,
            issuer: settings.issuer.clone(),
            audiences: settings.audiences.clone(),
            leeway_ms: i64::from(settings.leeway_s) * 1000,
            clock: clock.clone(),
        }))
    }

    /// The identity in a token that is valid now.
    pub(super) async fn identity(&self, token: &str) -> Result<Identity, AuthError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(AuthError::Invalid("the token is too long"));
        }
        let malformed = |error: jsonwebtoken::errors::Error| {
            tracing::debug!(%error, "a token was refused");
            AuthError::Invalid("the token is malformed")
        };
        let header = decode_header(token).map_err(malformed)?;
        if header.crit.is_some() {
            // It names rules that must be understood, and none is.
            return Err(AuthError::Invalid("the token has critical extensions"));
        }
        let claims = match &self.keys {
            Keys::Shared(key) => claims(token, header.alg, key, Algorithm::HS256)?,
            Keys::Published(jwks) => {
                let key = jwks.find(header.kid.as_deref()).await?;
                claims(token, header.alg, &key.key, key.algorithm)?
            }
        };
        self.check_times(&claims)?;
        self.check_parties(&claims)?;
        claims.identity(self.leeway_ms)
    }

    fn check_times(&self, claims: &Claims) -> Result<(), AuthError> {
        let now = self.clock.now_ms();
        let exp = claims.exp.as_ref().and_then(milliseconds);
        let exp = exp.ok_or(AuthError::Invalid("the token never expires"))?;
        if now >= exp.saturating_add(self.leeway_ms) {
            return Err(AuthError::Invalid("the token has expired"));
        }
        if let Some(nbf) = &claims.nbf {
            let nbf = milliseconds(nbf).ok_or(AuthError::Invalid("the token is malformed"))?;
            if now < nbf.saturating_sub(self.leeway_ms) {
                return Err(AuthError::Invalid("the token is not valid yet"));
            }
        }
        Ok(())
    }

    fn check_parties(&self, claims: &Claims) -> Result<(), AuthError> {
        let issuer_fits = match (&self.issuer, &claims.iss) {
            (None, None | Some(Json::String(_))) => true,
            (Some(wanted), Some(Json::String(issuer))) => wanted == issuer,
            _ => false,
        };
        if !issuer_fits {
            return Err(AuthError::Invalid("the token is from another issuer"));
        }
        let is_ours = |audience: &Json| {
            audience
                .as_str()
                .is_some_and(|audience| self.audiences.iter().any(|us| us == audience))
        };
        let audience_fits = self.audiences.is_empty()
            || match &claims.aud {
                Some(Json::Array(audiences)) => audiences.iter().any(is_ours),
                Some(audience) => is_ours(audience),
                None => false,
            };
        if audience_fits {
            Ok(())
        } else {
            Err(AuthError::Invalid("the token is for others"))
        }
    }
}

fn claims(
    token: &str,
    stated: Algorithm,
    key: &DecodingKey,
    wanted: Algorithm,
) -> Result<Claims, AuthError> {
    if stated != wanted {
        return Err(AuthError::Invalid(
            "the token has another algorithm than its key",
        ));
    }
    // Only the signature is left to the library: it reads a clock of its own.
    let mut validation = Validation::new(wanted);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    let decoded = decode::<Claims>(token, key, &validation).map_err(|error| {
        tracing::debug!(%error, "a token was refused");
        AuthError::Invalid("the token's signature or claims are not valid")
    })?;
    Ok(decoded.claims)
}

/// The claims this service reads, typed loosely so that each fault gets its own message.
#[derive(Deserialize)]
struct Claims {
    exp: Option<Number>,
    nbf: Option<Number>,
    iss: Option<Json>,
    aud: Option<Json>,
    sub: Option<String>,
    roles: Option<Vec<String>>,
    name: Option<Json>,
}

impl Claims {
    fn identity(self, leeway_ms: i64) -> Result<Identity, AuthError> {
        let expires_ms = self.exp.as_ref().and_then(milliseconds);
        let subject = self
            .sub
            .filter(|sub| (1..=SUBJECT_BYTES_MAX).contains(&sub.len()));
        let subject = subject.ok_or(AuthError::Invalid("the token names no subject"))?;
        let text = |claim: Option<Json>| match claim {
            Some(Json::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        // Issuers have roles for other services too; those we do not know say nothing here.
        let roles = self.roles.unwrap_or_default();
        let roles = roles.iter().map(|role| match role.as_str() {
            "administrator" => Role::Administrator,
            "moderator" => Role::Moderator,
            _ => Role::Member,
        });
        Ok(Identity {
            issuer: text(self.iss).unwrap_or_default(),
            subject,
            role: roles.max().unwrap_or(Role::Member),
            name: text(self.name),
            expires_ms: expires_ms.map(|exp| exp.saturating_add(leeway_ms)),
        })
    }
}

/// A `NumericDate` (seconds since 1970, perhaps with a fraction) in milliseconds.
fn milliseconds(seconds: &Number) -> Option<i64> {
    let whole = seconds.as_i64().or_else(|| {
        let float = seconds.as_f64()?.trunc();
        // Prints no fraction; a number too large fails to parse.
        format!("{float:.0}").parse().ok()
    });
    whole?.checked_mul(1000)
}
