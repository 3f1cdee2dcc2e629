//! What a comment's text is: its source, its format, and what readers get made from it.

/// How a body's source text is written. Numbers are stored and may never be reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BodyFormat {
    /// Text as typed.
    #[default]
    Plain,
    /// CommonMark.
    Markdown,
    /// HTML as another system exported it; sanitised when read.
    Html,
}

impl BodyFormat {
    /// The stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Plain => 0,
            Self::Markdown => 1,
            Self::Html => 2,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Plain),
            1 => Some(Self::Markdown),
            2 => Some(Self::Html),
            _ => None,
        }
    }
}
