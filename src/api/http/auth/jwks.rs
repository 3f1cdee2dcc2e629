//! The issuer's published keys, kept in memory and fetched again when needed.
//!
//! A key id that is not known may be a new key, so it causes a fetch, but at most one in a while:
//! anybody can send tokens with made-up ids. Keys that grow old are fetched again behind the
//! requests, so that a withdrawn key goes. A fetch that fails leaves the old keys in place.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::{AuthError, AuthSettingsError};
use crate::api::http::settings::AuthSettings;
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

/// Largest key set that is read.
const BYTES_MAX: usize = 256 * 1024;
/// Base64 length of a 2048-bit modulus; shorter RSA keys can be broken.
const RSA_MODULUS_CHARACTERS_MIN: usize = 342;
/// Base64 length of an Ed25519 public key.
const ED25519_CHARACTERS: usize = 43;
/// Pause between fetches as long as none has succeeded.
const FIRST_FETCH_PAUSE: Duration = Duration::from_secs(1);

/// A public key and the one algorithm it may be used with.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) key: DecodingKey,
    pub(super) algorithm: Algorithm,
}

#[derive(Debug)]
struct KeySet {
    by_id: HashMap<String, Arc<Key>>,
    /// The key of a set of one: a token may then leave the id out.
    only: Option<Arc<Key>>,
    fetched_at: Duration,
}

impl KeySet {
    fn find(&self, id: Option<&str>) -> Option<Arc<Key>> {
        match id {
            Some(id) => self.by_id.get(id).map(Arc::clone),
            None => self.only.as_ref().map(Arc::clone),
        }
    }
}

#[derive(Debug)]
enum Source {
    Url {
        client: reqwest::Client,
        url: String,
    },
    File(PathBuf),
}

/// Keys from one source.
#[derive(Debug)]
pub(super) struct Jwks {
    source: Source,
    current: ArcSwapOption<KeySet>,
    /// When a fetch was last tried. Held over a fetch, so that requests share one.
    tried_at: Mutex<Option<Duration>>,
    pause: Duration,
    age_max: Duration,
    clock: Clock,
    tasks: Tasks,
}

impl Jwks {
    pub(super) fn new(
        settings: &AuthSettings,
        clock: &Clock,
        tasks: &Tasks,
    ) -> Result<Arc<Self>, AuthSettingsError> {
        let (source, current) = match (&settings.jwks_url, &settings.jwks_file) {
            (Some(url), None) => (url_source(url, settings.jwks_fetch_ms)?, None),
            (None, Some(path)) => {
                let keys = read_at_start(path, clock)?;
                (Source::File(path.clone()), Some(keys))
            }
            (Some(_), Some(_)) | (None, None) => return Err(AuthSettingsError::TwoKeySources),
        };
        Ok(Arc::new(Self {
            source,
            current: ArcSwapOption::new(current.map(Arc::new)),
            tried_at: Mutex::new(None),
            pause: Duration::from_secs(settings.jwks_refetch_s.into()),
            age_max: Duration::from_secs(settings.jwks_age_max_s.into()),
            clock: clock.clone(),
            tasks: tasks.clone(),
        }))
    }

    /// The key with this id, fetching once if it is not known.
    pub(super) async fn find(self: &Arc<Self>, id: Option<&str>) -> Result<Arc<Key>, AuthError> {
        if let Some(keys) = self.current.load_full()
            && let Some(key) = keys.find(id)
        {
            self.renew_if_old(&keys);
            return Ok(key);
        }
        self.fetch_if_due().await;
        let keys = self.current.load_full().ok_or(AuthError::Unavailable)?;
        keys.find(id)
            .ok_or(AuthError::Invalid("the token's key is not known"))
    }

    fn renew_if_old(self: &Arc<Self>, keys: &KeySet) {
        let is_old = self.clock.monotonic().saturating_sub(keys.fetched_at) > self.age_max;
        // While a fetch runs the lock is taken, and one is enough.
        if is_old
            && self
                .tried_at
                .try_lock()
                .is_ok_and(|tried_at| self.is_due(*tried_at))
        {
            let jwks = Arc::clone(self);
            drop(self.tasks.spawn(async move { jwks.fetch_if_due().await }));
        }
    }

    fn is_due(&self, tried_at: Option<Duration>) -> bool {
        let pause = if self.current.load().is_some() {
            self.pause
        } else {
            FIRST_FETCH_PAUSE
        };
        tried_at.is_none_or(|tried_at| self.clock.monotonic().saturating_sub(tried_at) >= pause)
    }

    async fn fetch_if_due(&self) {
        let mut tried_at = self.tried_at.lock().await;
        if !self.is_due(*tried_at) {
            return;
        }
        *tried_at = Some(self.clock.monotonic());
        let fetched = match self.source.read().await {
            Ok(bytes) => parse(&bytes, self.clock.monotonic()),
            Err(reason) => Err(reason),
        };
        match fetched {
            Ok(keys) => {
                tracing::info!(keys = keys.by_id.len(), "sign-in keys fetched");
                self.current.store(Some(Arc::new(keys)));
            }
            Err(reason) => tracing::warn!(%reason, "sign-in keys could not be fetched"),
        }
    }
}

fn url_source(url: &str, fetch_ms: u64) -> Result<Source, AuthSettingsError> {
    let parsed = url::Url::parse(url).ok();
    if !parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
        return Err(AuthSettingsError::JwksUrl);
    }
    crate::tls::install();
    let client = reqwest::Client::builder()
        .timeout(Duration::from_millis(fetch_ms))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(AuthSettingsError::Client)?;
    Ok(Source::Url {
        client,
        url: url.to_owned(),
    })
}

fn read_at_start(path: &PathBuf, clock: &Clock) -> Result<KeySet, AuthSettingsError> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string());
    bytes
        .and_then(|bytes| parse(&bytes, clock.monotonic()))
        .map_err(|reason| AuthSettingsError::JwksFile {
            path: path.display().to_string(),
            reason,
        })
}

impl Source {
    async fn read(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::File(path) => tokio::fs::read(path)
                .await
                .map_err(|error| error.to_string()),
            Self::Url { client, url } => {
                let response = client.get(url).send().await;
                let response = response.and_then(reqwest::Response::error_for_status);
                let mut response = response.map_err(|error| error.to_string())?;
                let mut bytes = Vec::new();
                while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
                    bytes.extend_from_slice(&chunk);
                    if bytes.len() > BYTES_MAX {
                        return Err(format!("the key set is over {BYTES_MAX} bytes"));
                    }
                }
                Ok(bytes)
            }
        }
    }
}

/// Keys of kinds we do not use are passed over: issuers publish those for others.
fn parse(bytes: &[u8], fetched_at: Duration) -> Result<KeySet, String> {
    #[derive(Deserialize)]
    struct Published {
        keys: Vec<serde_json::Value>,
    }
    let published: Published =
        serde_json::from_slice(bytes).map_err(|error| format!("not a key set: {error}"))?;
    let parsed = published
        .keys
        .into_iter()
        .filter_map(|key| serde_json::from_value(key).ok());
    let usable = parsed.filter_map(|jwk: Jwk| {
        let key = Arc::new(usable(&jwk)?);
        Some((jwk.common.key_id, key))
    });
    let usable: Vec<_> = usable.collect();
    let only = match usable.as_slice() {
        [] => return Err("the key set holds no RS256, ES256 or EdDSA signing key".to_owned()),
        [(_, key)] => Some(Arc::clone(key)),
        _ => None,
    };
    let by_id = usable
        .into_iter()
        .filter_map(|(id, key)| Some((id?, key)))
        .collect();
    Ok(KeySet {
        by_id,
        only,
        fetched_at,
    })
}

fn usable(jwk: &Jwk) -> Option<Key> {
    let (algorithm, stated) = kind(&jwk.algorithm)?;
    let for_signing = jwk
        .common
        .public_key_use
        .as_ref()
        .is_none_or(|kind| *kind == PublicKeyUse::Signature);
    let same_algorithm = jwk.common.key_algorithm.is_none_or(|own| own == stated);
    if !for_signing || !same_algorithm {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some(Key { key, algorithm })
}

/// The one algorithm a key of this kind is used with; `None` for kinds that are not used.
fn kind(parameters: &AlgorithmParameters) -> Option<(Algorithm, KeyAlgorithm)> {
    match parameters {
        AlgorithmParameters::RSA(rsa) => (rsa.n.len() >= RSA_MODULUS_CHARACTERS_MIN)
            .then_some((Algorithm::RS256, KeyAlgorithm::RS256)),
        AlgorithmParameters::EllipticCurve(ec) => {
            (ec.curve == EllipticCurve::P256).then_some((Algorithm::ES256, KeyAlgorithm::ES256))
        }
        // The library cuts the key to its size without looking, so a short one must not get there.
        AlgorithmParameters::OctetKeyPair(pair) => (pair.curve == EllipticCurve::Ed25519
            && pair.x.len() == ED25519_CHARACTERS)
            .then_some((Algorithm::EdDSA, KeyAlgorithm::EdDSA)),
        AlgorithmParameters::OctetKey(_) | AlgorithmParameters::Other(_) | _ => None,
    }
}
