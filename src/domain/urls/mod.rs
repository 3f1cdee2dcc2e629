//! What a discussion is about: a page's canonical URL, or an entity of another system.
//!
//! Two addresses of one page must give one key, or its comments fall apart into two discussions;
//! two pages must never share a key. So the scheme, the fragment, the port a scheme implies and
//! every query parameter that is not configured are dropped, and nothing else. Invariant: a
//! canonical form read again, with either scheme before it, is itself.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use url::Url;
use url::form_urlencoded;

use crate::domain::text::visible::is_visible;

/// Bytes a URL may have, as given and as canonical form.
pub const URL_BYTES_MAX: usize = 2_048;
/// Characters an entity's type may have.
pub const ENTITY_TYPE_CHARS_MAX: usize = 32;
/// Unicode scalars an entity's id may have.
pub const ENTITY_ID_SCALARS_MAX: usize = 128;

/// Why a URL names no discussion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Longer than a key may be.
    #[error("the URL is {actual} bytes long (limit {limit} bytes)")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
        /// Bytes found.
        actual: usize,
    },
    /// It needs a base to mean anything.
    #[error("the URL is relative; it must start with http:// or https://")]
    Relative,
    /// `javascript:`, `file:` and so on.
    #[error("the URL's scheme is neither http nor https")]
    Scheme,
    /// A user name or password before the host.
    #[error("the URL holds a user name or password")]
    Credentials,
    /// Not a URL at all.
    #[error("the URL cannot be read: {0}")]
    Invalid(url::ParseError),
}

impl UrlError {
    /// The stable code clients see.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong { .. } => "URL_TOO_LONG",
            Self::Relative => "URL_RELATIVE",
            Self::Scheme => "URL_SCHEME",
            Self::Credentials => "URL_CREDENTIALS",
            Self::Invalid(_) => "URL_INVALID",
        }
    }
}

/// A page's address in the one form it is looked up by, such as `example.com/p/1?id=5`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// Reads an absolute http or https URL.
    ///
    /// The host is lower case and in its ASCII form (`bücher.example` is `xn--bcher-kva.example`),
    /// without a final dot; `www.` is kept. Ports 80 and 443 are dropped, whatever the scheme. The
    /// path is kept with its percent-encoding, case, double and final slashes; an empty one is `/`.
    /// Of the query, parameters whose name is in `kept_parameters` stay, sorted by name; several of
    /// one name keep their order.
    pub fn parse(input: &str, kept_parameters: &[String]) -> Result<Self, UrlError> {
        check_length(input)?;
        let url = Url::parse(input).map_err(|error| {
            if error == url::ParseError::RelativeUrlWithoutBase {
                UrlError::Relative
            } else {
                UrlError::Invalid(error)
            }
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        // A second final dot is no DNS name, and without both some hosts would read as a number.
        if host.is_empty() || host.ends_with('.') {
            return Err(UrlError::Invalid(url::ParseError::EmptyHost));
        }
        let mut canonical = host.to_owned();
        if let Some(port) = url.port().filter(|port| !matches!(port, 80 | 443)) {
            canonical.push(':');
            canonical.push_str(&port.to_string());
        }
        canonical.push_str(url.path());
        push_query(
            &mut canonical,
            url.query().unwrap_or_default(),
            kept_parameters,
        );
        check_length(&canonical)?;
        Ok(Self(canonical))
    }

    /// The canonical form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key a discussion is claimed by: `url:<canonical>`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("url:{}", self.0)
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_length(url: &str) -> Result<(), UrlError> {
    if url.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong {
            limit: URL_BYTES_MAX,
            actual: url.len(),
        });
    }
    Ok(())
}

fn push_query(canonical: &mut String, query: &str, kept_parameters: &[String]) {
    let mut kept: Vec<(Cow<'_, str>, &str)> = query
        .split('&')
        .filter_map(|pair| {
            let (raw_name, _) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, _) = form_urlencoded::parse(raw_name.as_bytes()).next()?;
            let value = pair.strip_prefix(raw_name).unwrap_or_default();
            kept_parameters
                .iter()
                .any(|kept| *kept == name)
                .then_some((name, value))
        })
        .collect();
    kept.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (nth, (name, value)) in kept.into_iter().enumerate() {
        canonical.push(if nth == 0 { '?' } else { '&' });
        // The name is written in one way, however it was encoded; the value stays as it is.
        canonical.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        canonical.push_str(value);
    }
}

/// Why a type and id name no entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntityError {
    /// Not a lower-case ASCII letter followed by up to 31 of `a-z`, `0-9`, `_`, `-`.
    #[error(
        "the entity type must be 1 to {ENTITY_TYPE_CHARS_MAX} characters: a-z first, then a-z, 0-9, _ or -"
    )]
    Type,
    /// No id at all.
    #[error("the entity id is empty")]
    IdEmpty,
    /// An id longer than a key may be.
    #[error("the entity id is {actual} characters long (limit {limit} Unicode scalars)")]
    IdTooLong {
        /// Scalars allowed.
        limit: usize,
        /// Scalars found.
        actual: usize,
    },
    /// A character two readers could not tell apart from nothing.
    #[error("character U+{code:04X} at offset {at} of the entity id is not visible")]
    IdCharacter {
        /// Its code point.
        code: u32,
        /// Its offset in Unicode scalars.
        at: usize,
    },
}

impl EntityError {
    /// The stable code clients see.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Type => "ENTITY_TYPE_INVALID",
            Self::IdEmpty => "ENTITY_ID_EMPTY",
            Self::IdTooLong { .. } => "ENTITY_ID_TOO_LONG",
            Self::IdCharacter { .. } => "ENTITY_ID_CHARACTER",
        }
    }
}

/// A thing of another system that is discussed, by its type and its id there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityRef {
    entity_type: String,
    id: String,
}

impl EntityRef {
    /// A type `[a-z][a-z0-9_-]{0,31}` and an id of 1 to 128 visible characters of any script.
    ///
    /// Single spaces are allowed inside an id (some systems make ids of a number and an address),
    /// not at its ends, where people lose them. Ids are compared byte for byte.
    pub fn new(entity_type: impl Into<String>, id: impl Into<String>) -> Result<Self, EntityError> {
        let (entity_type, id) = (entity_type.into(), id.into());
        if !is_entity_type(&entity_type) {
            return Err(EntityError::Type);
        }
        check_entity_id(&id)?;
        Ok(Self { entity_type, id })
    }

    /// What kind of thing it is.
    #[must_use]
    pub fn entity_type(&self) -> &str {
        &self.entity_type
    }

    /// Which one it is, in the words of the system that has it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key a discussion is claimed by: `entity:<type>:<id>`. A type holds no `:`, so no two
    /// entities share one.
    #[must_use]
    pub fn key(&self) -> String {
        format!("entity:{}:{}", self.entity_type, self.id)
    }
}

fn is_entity_type(entity_type: &str) -> bool {
    let is_inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    entity_type.len() <= ENTITY_TYPE_CHARS_MAX
        && entity_type.starts_with(|ch: char| ch.is_ascii_lowercase())
        && entity_type.bytes().all(is_inner)
}

fn check_entity_id(id: &str) -> Result<(), EntityError> {
    let actual = id.chars().count();
    if actual == 0 {
        return Err(EntityError::IdEmpty);
    }
    if actual > ENTITY_ID_SCALARS_MAX {
        return Err(EntityError::IdTooLong {
            limit: ENTITY_ID_SCALARS_MAX,
            actual,
        });
    }
    let mut is_after_visible = false;
    for (at, ch) in id.chars().enumerate() {
        let is_inner_space = ch == ' ' && is_after_visible && at + 1 < actual;
        if !is_visible(ch) && !is_inner_space {
            return Err(EntityError::IdCharacter {
                code: u32::from(ch),
                at,
            });
        }
        is_after_visible = ch != ' ';
    }
    Ok(())
}
