//! What a client says about itself in headers. Nothing is trusted: a name out of shape is as if absent.

use axum::http::{HeaderMap, HeaderName};

use crate::domain::viewer::ClientInfo;

/// Longest name or version that counts.
const TEXT_BYTES_MAX: usize = 64;
/// Longest `X-Read-After` that is passed on; the service's own tokens are far shorter.
const READ_AFTER_BYTES_MAX: usize = 256;

/// The two families of names in use; the first whose name is well-formed wins whole.
const FAMILIES: [(HeaderName, HeaderName); 2] = [
    (
        HeaderName::from_static("x-client-name"),
        HeaderName::from_static("x-client-version"),
    ),
    (
        HeaderName::from_static("apollographql-client-name"),
        HeaderName::from_static("apollographql-client-version"),
    ),
];

/// Where a client's name stands.
pub(super) const NAME: HeaderName = HeaderName::from_static("x-client-name");
/// Where its version stands.
pub(super) const VERSION: HeaderName = HeaderName::from_static("x-client-version");

/// The header of a client's name or version by this name, of either family.
pub(super) fn family_member(name: &str) -> Option<HeaderName> {
    FAMILIES
        .iter()
        .flat_map(|(name, version)| [name, version])
        .find(|header| header.as_str() == name)
        .cloned()
}

/// The header of read-your-own-writes tokens.
pub(super) const READ_AFTER: HeaderName = HeaderName::from_static("x-read-after");

/// Reads the client's name and version.
pub(super) fn client_info(headers: &HeaderMap) -> ClientInfo {
    for (name_header, version_header) in &FAMILIES {
        let name = text(headers, name_header, is_name_byte);
        if name.is_some() {
            let version = text(headers, version_header, is_version_byte);
            return ClientInfo { name, version };
        }
    }
    ClientInfo::default()
}

/// The raw token of `X-Read-After`, if it is short printable ASCII.
pub(super) fn read_after(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(READ_AFTER)?.to_str().ok()?;
    (1..=READ_AFTER_BYTES_MAX)
        .contains(&value.len())
        .then(|| value.to_owned())
}

fn text(headers: &HeaderMap, name: &HeaderName, allowed: fn(u8) -> bool) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    let in_shape = (1..=TEXT_BYTES_MAX).contains(&value.len()) && value.bytes().all(allowed);
    in_shape.then(|| value.to_owned())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

fn is_version_byte(byte: u8) -> bool {
    // `+` opens the build part of a semantic version.
    is_name_byte(byte) || byte == b'+'
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            )
        });
        pairs.collect()
    }

    fn info(name: &str, version: Option<&str>) -> ClientInfo {
        ClientInfo {
            name: Some(name.to_owned()),
            version: version.map(str::to_owned),
        }
    }

    #[test]
    fn the_first_family_with_a_well_formed_name_wins_whole() {
        let both = headers(&[
            ("apollographql-client-name", "ios"),
            ("apollographql-client-version", "9"),
            ("x-client-name", "web"),
        ]);
        assert_eq!(client_info(&both), info("web", None));
        let second = headers(&[
            ("apollographql-client-name", "ios"),
            ("apollographql-client-version", "2.1.0+7"),
            ("x-client-name", "bad name"),
        ]);
        assert_eq!(client_info(&second), info("ios", Some("2.1.0+7")));
    }

    #[test]
    fn text_out_of_shape_counts_as_absent() {
        let long = "x".repeat(65);
        for bad in ["", "a b", "a\"b", "a/b", &long] {
            assert_eq!(
                client_info(&headers(&[("x-client-name", bad)])),
                ClientInfo::default()
            );
        }
        let bad_version = headers(&[("x-client-name", "web"), ("x-client-version", "1 2")]);
        assert_eq!(client_info(&bad_version), info("web", None));
    }

    #[test]
    fn a_read_after_token_is_passed_on_as_it_stands() {
        assert_eq!(
            read_after(&headers(&[("x-read-after", "d:1:2")])).as_deref(),
            Some("d:1:2")
        );
        assert_eq!(read_after(&headers(&[("x-read-after", "")])), None);
        assert_eq!(
            read_after(&headers(&[("x-read-after", &"x".repeat(257))])),
            None
        );
    }
}
