//! Why a request failed, with the stable code clients see.
//!
//! Expected outcomes of a write (stale, closed, too long) are not errors but part of its answer.

use std::fmt::Display;

use crate::domain::cursor::CursorError;
use crate::domain::ids::generator::MintError;
use crate::domain::ids::opaque::MalformedId;
use crate::domain::mode::ModeMismatch;
use crate::domain::page::PageSizeError;
use crate::store::{StoreError, StoreErrorKind};

/// The answer of a rule that may fail.
pub type ServiceResult<T> = Result<T, ServiceError>;

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// An argument is not what it must be. The message names the field and the limit.
    #[error("{field}: {message}")]
    BadInput {
        /// The argument, as the schema names it.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// Nobody is signed in.
    #[error("sign in to do this")]
    Unauthenticated,
    /// The viewer's role does not allow it.
    #[error("this needs the role {needed}")]
    Forbidden {
        /// The role that may.
        needed: &'static str,
    },
    /// The request's lists hold more than one request may load.
    #[error("the lists of this request hold more than {limit} comments together; ask for fewer")]
    TooComplex {
        /// Comments a request may load.
        limit: usize,
    },
    /// This instance may not mint ids now.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// A store failed. The cause is for the log.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ServiceError {
    /// A wrong argument.
    pub fn bad_input(field: &'static str, message: impl Display) -> Self {
        Self::BadInput {
            field,
            message: message.to_string(),
        }
    }

    /// The code in `extensions.code`. Codes never change their meaning.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadInput { .. } => "BAD_USER_INPUT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden { .. } => "FORBIDDEN",
            Self::TooComplex { .. } => "QUERY_TOO_COMPLEX",
            Self::Mint(MintError::ClockSkew { .. }) => "CLOCK_SKEW",
            Self::Mint(MintError::NoLease) => "UNAVAILABLE",
            Self::Store(error) => match error.kind {
                StoreErrorKind::Unavailable => "UNAVAILABLE",
                StoreErrorKind::Timeout => "TIMEOUT",
                StoreErrorKind::Conflict => "CONFLICT",
                StoreErrorKind::Limit => "LIMIT",
                StoreErrorKind::Corrupt { .. } => "CORRUPT",
            },
        }
    }

    /// Whether the message may be shown to clients as it is; a fault's cause may not.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        !matches!(self, Self::Store(_))
    }
}

impl From<PageSizeError> for ServiceError {
    fn from(error: PageSizeError) -> Self {
        Self::BadInput {
            field: error.argument,
            message: error.to_string(),
        }
    }
}

impl From<ModeMismatch> for ServiceError {
    fn from(error: ModeMismatch) -> Self {
        Self::bad_input("mode", error)
    }
}

/// A malformed id in a named argument.
pub fn bad_id(field: &'static str) -> impl Fn(MalformedId) -> ServiceError {
    move |error| ServiceError::bad_input(field, error)
}

/// A cursor that cannot be used, in a named argument.
pub fn bad_cursor(field: &'static str) -> impl Fn(CursorError) -> ServiceError {
    move |error| ServiceError::bad_input(field, error)
}
