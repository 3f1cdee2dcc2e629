//! `[auth]`: how the gateway learns who is asking.
//!
//! The development identity lets anyone claim to be anyone, so it is refused on any address but
//! loopback.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::checks::Checks;
use super::server::Server;
use super::values::{HumanDuration, Secret, empty_is_off};

/// The shortest shared secret, in bytes: RFC 7518 asks for as many bits as the hash has.
const HS256_SECRET_BYTES_MIN: usize = 32;

/// The settings of `[auth]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// Whether a request may simply name its viewer; loopback only.
    pub development: bool,
    /// The secret that tokens are signed with (HS256), if it is shared.
    #[serde(with = "empty_is_off")]
    pub hs256_secret: Option<Secret>,
    /// Where the issuer of tokens publishes its keys, if it does.
    #[serde(with = "empty_is_off")]
    pub jwks_url: Option<Url>,
    /// The file that those keys are in instead, if they are.
    #[serde(with = "empty_is_off")]
    pub jwks_file: Option<PathBuf>,
    /// How long a fetch of keys may take.
    pub jwks_fetch_timeout: HumanDuration,
    /// The least time between two fetches that an unknown key causes.
    pub jwks_refetch_interval: HumanDuration,
    /// The age at which keys are fetched again although none is missing.
    pub jwks_age_max: HumanDuration,
    /// The `iss` that a token must carry, if any.
    #[serde(with = "empty_is_off")]
    pub issuer: Option<String>,
    /// The `aud` values of which a token must carry one; empty: any token of the issuer.
    pub audiences: Vec<String>,
    /// By how much the issuer's clock may differ from ours.
    pub clock_leeway: HumanDuration,
}

impl Auth {
    pub(super) fn check(&self, server: &Server, checks: &mut Checks<'_>) {
        if self.development && !server.listen.ip().is_loopback() {
            let must = format!(
                "must be false unless server.listen is a loopback address: on {} anybody on the \
                 network could act as anybody",
                server.listen
            );
            checks.problem("auth.development", must);
        }
        if let Some(secret) = &self.hs256_secret
            && secret.reveal().len() < HS256_SECRET_BYTES_MIN
        {
            let must = format!("must be at least {HS256_SECRET_BYTES_MIN} bytes, or empty for off");
            checks.problem("auth.hs256_secret", must);
        }
        let others = [
            (
                "auth.jwks_url",
                self.jwks_url.is_some(),
                self.hs256_secret.is_some(),
            ),
            (
                "auth.jwks_file",
                self.jwks_file.is_some(),
                self.hs256_secret.is_some() || self.jwks_url.is_some(),
            ),
        ];
        for (key, _, _) in others
            .into_iter()
            .filter(|(_, is_set, is_second)| *is_set && *is_second)
        {
            let must = "must be empty: only one of auth.hs256_secret, auth.jwks_url and \
                        auth.jwks_file may be set";
            checks.problem(key, must.into());
        }
        if self
            .jwks_url
            .as_ref()
            .is_some_and(|url| !is_trusted_transport(url))
        {
            let must = "must be an https URL without a password (http only to a loopback address)";
            checks.problem("auth.jwks_url", must.into());
        }
        checks.lasts(
            "auth.jwks_fetch_timeout",
            self.jwks_fetch_timeout,
            ("100ms", "1m"),
        );
        checks.lasts(
            "auth.jwks_refetch_interval",
            self.jwks_refetch_interval,
            ("1s", "1h"),
        );
        checks.lasts("auth.jwks_age_max", self.jwks_age_max, ("1m", "7d"));
        checks.lasts("auth.clock_leeway", self.clock_leeway, ("0s", "5m"));
    }

    pub(super) fn warnings(&self, server: &Server) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.development {
            warnings.push(format!(
                "DEVELOPMENT IDENTITY IS ON: whoever reaches {} can act as any user by sending \
                 X-Dev-User; set auth.development = false for anything but trying things out",
                server.listen
            ));
        }
        let has_tokens =
            self.hs256_secret.is_some() || self.jwks_url.is_some() || self.jwks_file.is_some();
        if !self.development && !has_tokens {
            warnings.push(
                "nobody can sign in: auth.development is off, and none of \
                 auth.hs256_secret, auth.jwks_url and auth.jwks_file is set; every viewer is anonymous"
                    .into(),
            );
        }
        if has_tokens && self.audiences.is_empty() {
            warnings.push(
                "auth.audiences is empty: a token that was issued for another application is \
                 accepted as well"
                    .into(),
            );
        }
        warnings
    }
}

/// Keys that anyone on the way could replace would let them sign any token.
fn is_trusted_transport(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let is_private = url.scheme() == "https" || (url.scheme() == "http" && is_loopback);
    is_private && url.password().is_none()
}
