//! The development identity: whoever reaches the port from this machine names themselves.
//!
//! Meant for trying things out. Three things must hold besides the setting: the listener is bound
//! to loopback (checked at start), the peer is loopback and came without a proxy, and the `Host`
//! is this machine, so that a page of another site cannot get in by pointing its name here.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, header};

use super::{AuthError, Identity};
use crate::domain::viewer::Role;

/// The issuer of development identities.
pub const ISSUER: &str = "development";
/// Says which user is asking, for example `42`.
pub const USER_HEADER: HeaderName = HeaderName::from_static("x-dev-user");
/// Says their roles, separated by commas.
pub const ROLES_HEADER: HeaderName = HeaderName::from_static("x-dev-roles");

const FORWARDED: [HeaderName; 3] = [
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
];

/// Reads the identity; `None` if the header is absent.
pub(super) fn identity(
    headers: &HeaderMap,
    peer: Option<SocketAddr>,
) -> Result<Option<Identity>, AuthError> {
    let Some(user) = headers.get(USER_HEADER) else {
        return Ok(None);
    };
    let is_local_peer = peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback());
    let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(name));
    if !is_local_peer || is_forwarded || !is_local_host(headers) {
        return Err(AuthError::Invalid(
            "X-Dev-User works from this machine only",
        ));
    }
    let subject = user.to_str().ok().filter(|subject| is_subject(subject));
    let subject = subject.ok_or(AuthError::Invalid("X-Dev-User is not a user"))?;
    Ok(Some(Identity {
        issuer: ISSUER.to_owned(),
        subject: subject.to_owned(),
        role: role(headers)?,
        name: None,
        expires_ms: None,
    }))
}

fn is_subject(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._|-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

fn role(headers: &HeaderMap) -> Result<Role, AuthError> {
    let Some(value) = headers.get(ROLES_HEADER) else {
        return Ok(Role::Member);
    };
    let names = value.to_str().unwrap_or("?").split(',').map(str::trim);
    // A typing error here should be seen, not make a member.
    let roles = names.map(|name| match name {
        "" | "member" => Ok(Role::Member),
        "moderator" => Ok(Role::Moderator),
        "administrator" => Ok(Role::Administrator),
        _ => Err(AuthError::Invalid(
            "X-Dev-Roles knows moderator and administrator",
        )),
    });
    let roles = roles.collect::<Result<Vec<_>, _>>()?;
    Ok(roles.into_iter().max().unwrap_or(Role::Member))
}

/// Whether `Host` names this machine; HTTP/2 has none in its headers, and browsers do not speak
/// that without TLS.
fn is_local_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        return true;
    };
    let Ok(host) = host.to_str() else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost")
            || name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn identify(pairs: &[(HeaderName, &str)], peer: &str) -> Result<Option<Identity>, AuthError> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        identity(&pairs.collect(), Some(peer.parse().unwrap()))
    }

    #[test]
    fn a_local_peer_names_itself() {
        let sent = [
            (USER_HEADER, "42"),
            (ROLES_HEADER, "moderator, administrator"),
        ];
        for peer in ["127.0.0.1:9", "[::1]:9", "[::ffff:127.0.0.1]:9"] {
            let identity = identify(&sent, peer).unwrap().unwrap();
            assert_eq!(
                (identity.subject.as_str(), identity.role),
                ("42", Role::Administrator)
            );
            assert_eq!(identity.issuer, ISSUER);
        }
        assert!(identify(&[], "10.0.0.1:9").unwrap().is_none());
        let host = [(USER_HEADER, "42"), (header::HOST, "localhost:8080")];
        assert_eq!(
            identify(&host, "127.0.0.1:9").unwrap().unwrap().role,
            Role::Member
        );
    }

    #[test]
    fn nobody_else_does() {
        let user = (USER_HEADER, "42");
        assert!(identify(std::slice::from_ref(&user), "10.0.0.1:9").is_err());
        for more in [
            (HeaderName::from_static("x-forwarded-for"), "127.0.0.1"),
            (header::HOST, "rebound.example:8080"),
            (header::HOST, "127.0.0.1.example"),
            (ROLES_HEADER, "moderatr"),
        ] {
            assert!(
                identify(&[user.clone(), more.clone()], "127.0.0.1:9").is_err(),
                "{more:?}"
            );
        }
        for bad in ["", "a b", "a'b"] {
            assert!(
                identify(&[(USER_HEADER, bad)], "127.0.0.1:9").is_err(),
                "{bad}"
            );
        }
    }
}
