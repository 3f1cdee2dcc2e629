//! Errors as clients see them: a stable code, a message that tells them what they can mend.
//!
//! A fault's cause is logged here, once, and never sent.

use std::fmt::Display;

use async_graphql::{Error, ErrorExtensions as _};

use crate::service::ServiceError;

/// The client's error for a failed rule.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(super) fn failure(error: ServiceError) -> Error {
    let code = error.code();
    if let ServiceError::Store(cause) = &error {
        tracing::error!(op = cause.op, code, error = %cause, "a store failed");
    }
    let message = if error.is_public() {
        error.to_string()
    } else {
        match code {
            "TIMEOUT" => "the store did not answer in time; the outcome is unknown".to_owned(),
            "CORRUPT" => "stored data cannot be read; the operators have been told".to_owned(),
            _ => "the store is unavailable; try again later".to_owned(),
        }
    };
    Error::new(message).extend_with(|_, extensions| {
        extensions.set("code", code);
        if let ServiceError::BadInput { field, .. } = &error {
            extensions.set("field", *field);
        }
    })
}

/// A wrong argument, by name.
pub(super) fn bad_input(field: &'static str, message: impl Display) -> Error {
    failure(ServiceError::bad_input(field, message))
}

/// Something that the loader must have loaded is not there: a fault of this service.
pub(super) fn not_loaded(field: &'static str) -> Error {
    tracing::error!(field, "a row was asked for what was not loaded");
    Error::new("internal error").extend_with(|_, e| e.set("code", "INTERNAL_SERVER_ERROR"))
}
