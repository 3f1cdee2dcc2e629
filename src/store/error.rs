//! What can go wrong in a store, by what the caller can do about it.

use std::error::Error;
use std::fmt;

/// A failed store operation. The cause is for the log; clients see only the kind's code.
#[derive(Debug)]
pub struct StoreError {
    /// Which operation failed, for example `comments.create`.
    pub op: &'static str,
    /// What it means for the caller.
    pub kind: StoreErrorKind,
    /// The driver's error, if there was one.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// What a failed operation means for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The store cannot be reached; nothing was done. Try again later.
    Unavailable,
    /// No answer in time; whether it was done is unknown. Safe to repeat only with a key.
    Timeout,
    /// Somebody else changed the same thing; read again and repeat.
    Conflict,
    /// The request is larger than the store takes.
    Limit,
    /// A stored row does not parse. Never repaired silently.
    Corrupt {
        /// Where it lies.
        table: &'static str,
        /// Which row.
        key: String,
        /// Which column.
        column: String,
    },
}

impl StoreError {
    /// An error of `kind` with the driver's own error as its cause.
    pub fn new(
        op: &'static str,
        kind: StoreErrorKind,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            op,
            kind,
            source: Some(source.into()),
        }
    }

    /// A stored row that does not parse.
    pub fn corrupt(table: &'static str, key: impl fmt::Display, column: &'static str) -> Self {
        let kind = StoreErrorKind::Corrupt {
            table,
            key: key.to_string(),
            column: column.to_owned(),
        };
        Self {
            op: table,
            kind,
            source: None,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StoreErrorKind::Corrupt { table, key, column } => {
                write!(
                    f,
                    "{}: row {key} of {table} has an unreadable {column}",
                    self.op
                )
            }
            StoreErrorKind::Unavailable => write!(f, "{}: the store is unavailable", self.op),
            StoreErrorKind::Timeout => write!(f, "{}: the store did not answer in time", self.op),
            StoreErrorKind::Conflict => write!(f, "{}: changed by somebody else", self.op),
            StoreErrorKind::Limit => write!(f, "{}: larger than the store takes", self.op),
        }?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| {
            let source: &(dyn Error + 'static) = source;
            source
        })
    }
}
