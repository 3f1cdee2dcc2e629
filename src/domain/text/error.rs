//! Why a text is refused, with the limit and what was found, and the stable codes clients see.
//!
//! The error does not know which field it is about: [`TextError::code_for`] adds that. Must never
//! hold a part of the text: errors are logged, texts are not.

/// Why a text is refused. Offsets and lengths are in Unicode scalars unless a name says bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing a reader could see.
    #[error("holds nothing visible")]
    Empty,
    /// More scalars than allowed.
    #[error("{actual} characters long (limit {limit} Unicode scalars)")]
    TooLongScalars {
        /// Scalars allowed.
        limit: usize,
        /// Scalars found.
        actual: usize,
    },
    /// More bytes of UTF-8 than allowed.
    #[error("{actual} bytes long in UTF-8 (limit {limit} bytes)")]
    TooLongBytes {
        /// Bytes allowed.
        limit: usize,
        /// Bytes found.
        actual: usize,
    },
    /// More marks on one base character than any language writes.
    #[error("{actual} combining marks on one character, from offset {at} on (limit {limit})")]
    TooManyCombiningMarks {
        /// Marks allowed on one base.
        limit: usize,
        /// Marks found on that base.
        actual: usize,
        /// Offset of the first mark above the limit.
        at: usize,
    },
    /// A control character or noncharacter.
    #[error("character U+{code:04X} at offset {at} is not allowed in text")]
    ControlCharacter {
        /// Its code point.
        code: u32,
        /// Its offset.
        at: usize,
    },
    /// A direction embedding, override or isolate where only plain text may stand.
    #[error("direction control U+{code:04X} at offset {at} is not allowed here")]
    DirectionControl {
        /// Its code point.
        code: u32,
        /// Its offset.
        at: usize,
    },
    /// A line end where only one line may stand.
    #[error("line break at offset {at}, but only one line is allowed")]
    LineBreak {
        /// Its offset.
        at: usize,
    },
    /// Not a visible ASCII character where only those may stand.
    #[error("character U+{code:04X} at offset {at} is not visible ASCII")]
    NotVisibleAscii {
        /// Its code point.
        code: u32,
        /// Its offset.
        at: usize,
    },
}

/// Which text an error is about; only used for its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextField {
    /// A comment's source text.
    Body,
    /// A user's name.
    Name,
    /// A discussion's title.
    Title,
    /// A client's key that makes a retried create one comment.
    PostingKey,
    /// What somebody says about a comment that they report.
    Report,
    /// Why a moderator acts.
    Reason,
}

macro_rules! prefixed {
    ($prefix:literal, $error:expr) => {
        match $error {
            TextError::Empty => concat!($prefix, "_EMPTY"),
            TextError::TooLongScalars { .. } | TextError::TooLongBytes { .. } => {
                concat!($prefix, "_TOO_LONG")
            }
            TextError::TooManyCombiningMarks { .. } => concat!($prefix, "_TOO_MANY_MARKS"),
            TextError::ControlCharacter { .. } => concat!($prefix, "_CONTROL_CHARACTER"),
            TextError::DirectionControl { .. } => concat!($prefix, "_DIRECTION_CONTROL"),
            TextError::LineBreak { .. } => concat!($prefix, "_LINE_BREAK"),
            TextError::NotVisibleAscii { .. } => concat!($prefix, "_NOT_ASCII"),
        }
    };
}

impl TextError {
    /// The stable code when no field is known: `TEXT_EMPTY`, `TEXT_TOO_LONG` and so on.
    #[must_use]
    pub const fn code(self) -> &'static str {
        prefixed!("TEXT", self)
    }

    /// The stable code of this problem in a field: `BODY_EMPTY`, `NAME_TOO_LONG` and so on.
    #[must_use]
    pub const fn code_for(self, field: TextField) -> &'static str {
        match field {
            TextField::Body => prefixed!("BODY", self),
            TextField::Name => prefixed!("NAME", self),
            TextField::Title => prefixed!("TITLE", self),
            TextField::PostingKey => prefixed!("POSTING_KEY", self),
            TextField::Report => prefixed!("REPORT", self),
            TextField::Reason => prefixed!("REASON", self),
        }
    }

    /// The limit that was passed and what was found, for problems that have a limit.
    #[must_use]
    pub const fn limit_and_actual(self) -> Option<(usize, usize)> {
        match self {
            Self::TooLongScalars { limit, actual }
            | Self::TooLongBytes { limit, actual }
            | Self::TooManyCombiningMarks { limit, actual, .. } => Some((limit, actual)),
            Self::Empty
            | Self::ControlCharacter { .. }
            | Self::DirectionControl { .. }
            | Self::LineBreak { .. }
            | Self::NotVisibleAscii { .. } => None,
        }
    }
}
