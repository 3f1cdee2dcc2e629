//! Why a gateway does not start, said so that whoever started it can mend it.

use std::io;
use std::net::SocketAddr;

use super::gate::GateError;
use crate::api::http::HttpSettingsError;
use crate::api::http::auth::AuthSettingsError;
use crate::service::ServiceError;
use crate::store::open::OpenError;
use crate::telemetry::TelemetryError;

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("server.listen = \"{listen}\": {}", advice(*listen, cause))]
    Listen {
        /// The setting.
        listen: SocketAddr,
        /// What the system said.
        cause: io::Error,
    },
    /// A store cannot be opened.
    #[error(transparent)]
    Stores(#[from] OpenError),
    /// No right to mint ids was to be had.
    #[error("no worker lease, so nothing could be written: {0}")]
    Lease(ServiceError),
    /// The settings of sign-in cannot be used.
    #[error(transparent)]
    Auth(#[from] AuthSettingsError),
    /// The settings of moderation cannot be used.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The settings of the HTTP edge cannot be used.
    #[error(transparent)]
    Http(#[from] HttpSettingsError),
    /// The metrics cannot be set up.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// The made-up community could not be written.
    #[error("the made-up community cannot be written: {0}")]
    Seed(ServiceError),
}

/// What to do about an address that cannot be had.
fn advice(listen: SocketAddr, cause: &io::Error) -> String {
    let other = match listen.port() {
        port @ 0..1_024 => port + 8_000,
        port @ 1_024..u16::MAX => port + 1,
        u16::MAX => 8_080,
    };
    let other = SocketAddr::new(listen.ip(), other);
    let change = format!(
        "choose another with THREADLINE_SERVER__LISTEN={other}, or with `listen` in the section \
         [server] of a file for --config"
    );
    if cause.kind() == io::ErrorKind::AddrInUse {
        return format!("the port is taken, something already listens there; stop it, or {change}");
    }
    if cause.kind() == io::ErrorKind::PermissionDenied {
        return format!("this user may not listen there ({cause}); {change}");
    }
    if cause.kind() == io::ErrorKind::AddrNotAvailable {
        return format!("this machine does not have that address; {change}");
    }
    format!("{cause}; {change}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_had_names_the_setting_and_another_one() {
        for (listen, kind, expected) in [
            (
                "127.0.0.1:8080",
                io::ErrorKind::AddrInUse,
                "LISTEN=127.0.0.1:8081",
            ),
            ("[::1]:65535", io::ErrorKind::AddrInUse, "LISTEN=[::1]:8080"),
            (
                "0.0.0.0:80",
                io::ErrorKind::PermissionDenied,
                "LISTEN=0.0.0.0:8080",
            ),
            (
                "192.0.2.1:90",
                io::ErrorKind::AddrNotAvailable,
                "LISTEN=192.0.2.1:8090",
            ),
            (
                "127.0.0.1:8080",
                io::ErrorKind::Other,
                "LISTEN=127.0.0.1:8081",
            ),
        ] {
            let listen = listen.parse().unwrap();
            let cause = io::Error::from(kind);
            let text = StartError::Listen { listen, cause }.to_string();
            assert!(text.starts_with("server.listen = "), "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }
}
