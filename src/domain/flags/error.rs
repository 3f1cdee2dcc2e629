//! Why a flag, a state or a set of flags was rejected. Each message names the place and the limit.

use super::key::FlagKey;

/// A rejected flag definition or state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// The text is not TOML, or not of the form of a flag.
    #[error("line {line}, column {column}: {message}")]
    Form {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong, on one line.
        message: String,
    },
    /// A field holds what it may not.
    #[error("{field}: {problem}")]
    Field {
        /// As in the file, for example `rules[2].when[0]`.
        field: String,
        /// The rule it breaks, with the limit.
        problem: String,
    },
    /// A prerequisite names a flag that is not loaded.
    #[error("prerequisites: flag `{0}` does not exist or is itself rejected")]
    PrerequisiteMissing(FlagKey),
    /// A prerequisite waits for a variant that its flag does not have.
    #[error("prerequisites: flag `{flag}` has no variant `{variant}`")]
    PrerequisiteVariant {
        /// The flag that is required.
        flag: FlagKey,
        /// The variant it was to serve.
        variant: String,
    },
    /// The flag requires itself, directly or through others.
    #[error("prerequisites: the flag requires itself, through `{0}`")]
    PrerequisiteCycle(FlagKey),
    /// Prerequisites of prerequisites go deeper than evaluation may.
    #[error("prerequisites: a chain is longer than {0} flags")]
    PrerequisiteDepth(usize),
}

impl FlagError {
    /// A rejected field.
    pub(super) fn field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Field {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// A parser's error with its place in `text`.
    pub(super) fn form(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let message = error
            .message()
            .lines()
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ");
        Self::Form {
            line,
            column,
            message,
        }
    }
}
