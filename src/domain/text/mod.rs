//! The rules for text people write, each with a typed outcome.
//!
//! Invariant: text is accepted or refused as a whole. It is never cut, trimmed or normalised, so
//! what was accepted is stored and returned byte for byte (also `\r\n` and NFC against NFD). Only
//! [`clean_name`], for names other systems wrote, changes anything. Lengths are in Unicode scalars.
//! Direction controls in bodies and titles are kept: isolating them is the renderer's work.

mod error;
#[cfg(test)]
mod tests;
pub mod visible;

use std::borrow::Cow;

pub use error::{TextError, TextField};
use visible::{
    is_direction_control, is_forbidden, is_ignorable, is_line_break, is_mark, is_visible,
};

/// Scalars a user's name may have.
pub const NAME_SCALARS_MAX: usize = 64;
/// Scalars a discussion's title may have.
pub const TITLE_SCALARS_MAX: usize = 300;
/// Characters a posting key may have.
pub const POSTING_KEY_CHARS_MAX: usize = 64;
/// Marks one base may carry where no setting says otherwise; written languages stay below 6.
pub const COMBINING_MARKS_MAX: usize = 8;

/// What a body may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// Unicode scalars of a body.
    pub body_scalars_max: usize,
    /// UTF-8 bytes of a body.
    pub body_bytes_max: usize,
    /// Marks on one base character.
    pub combining_marks_max: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self {
            body_scalars_max: 10_000,
            body_bytes_max: 40_000,
            combining_marks_max: COMBINING_MARKS_MAX,
        }
    }
}

/// Checks a comment's source text, whatever its format.
///
/// A source that is visible by itself may still render to nothing; see
/// [`crate::domain::body::check`].
pub fn check_body(body: &str, limits: &TextLimits) -> Result<(), TextError> {
    check_scalars(body, limits.body_scalars_max)?;
    if body.len() > limits.body_bytes_max {
        return Err(TextError::TooLongBytes {
            limit: limits.body_bytes_max,
            actual: body.len(),
        });
    }
    check_characters(body)?;
    check_marks(body, limits.combining_marks_max)?;
    check_visible(body)
}

/// Checks a user's name as it comes from a person: one visible line of at most
/// [`NAME_SCALARS_MAX`] scalars, without controls that turn the text after it around.
pub fn check_name(name: &str) -> Result<(), TextError> {
    check_line(name, NAME_SCALARS_MAX)?;
    match find(name, is_direction_control) {
        Some((at, code)) => Err(TextError::DirectionControl { code, at }),
        None => Ok(()),
    }
}

/// Makes a name that another system accepted into one [`check_name`] accepts, or says why not.
///
/// Control characters and direction controls are removed, line ends and tabs become spaces, outer
/// white space goes. Nothing is cut: a name that is too long stays an error.
pub fn clean_name(name: &str) -> Result<Cow<'_, str>, TextError> {
    let is_dropped = |ch| is_forbidden(ch) || is_direction_control(ch);
    let is_replaced = |ch| is_line_break(ch) || ch == '\t';
    let cleaned = if name.chars().any(|ch| is_dropped(ch) || is_replaced(ch)) {
        let kept = name.chars().filter(|ch| !is_dropped(*ch));
        let line: String = kept
            .map(|ch| if is_replaced(ch) { ' ' } else { ch })
            .collect();
        Cow::Owned(line.trim().to_owned())
    } else {
        Cow::Borrowed(name.trim())
    };
    check_name(&cleaned)?;
    Ok(cleaned)
}

/// Checks a discussion's title: one visible line of at most [`TITLE_SCALARS_MAX`] scalars.
pub fn check_title(title: &str) -> Result<(), TextError> {
    check_line(title, TITLE_SCALARS_MAX)
}

/// Checks a note, such as a report's text: nothing, or a visible text of any number of lines with
/// at most `scalars_max` scalars.
pub fn check_note(note: &str, scalars_max: usize) -> Result<(), TextError> {
    if note.is_empty() {
        return Ok(());
    }
    check_scalars(note, scalars_max)?;
    check_characters(note)?;
    check_marks(note, COMBINING_MARKS_MAX)?;
    check_visible(note)
}

/// Checks a posting key: 1 to [`POSTING_KEY_CHARS_MAX`] characters of visible ASCII, no spaces.
pub fn check_posting_key(key: &str) -> Result<(), TextError> {
    if key.is_empty() {
        return Err(TextError::Empty);
    }
    check_scalars(key, POSTING_KEY_CHARS_MAX)?;
    match find(key, |ch| !ch.is_ascii_graphic()) {
        Some((at, code)) => Err(TextError::NotVisibleAscii { code, at }),
        None => Ok(()),
    }
}

/// Refuses a text in which a reader sees nothing.
pub fn check_visible(text: &str) -> Result<(), TextError> {
    if text.chars().any(is_visible) {
        Ok(())
    } else {
        Err(TextError::Empty)
    }
}

fn check_line(line: &str, scalars_max: usize) -> Result<(), TextError> {
    check_scalars(line, scalars_max)?;
    if let Some((at, _)) = find(line, is_line_break) {
        return Err(TextError::LineBreak { at });
    }
    if let Some((at, code)) = find(line, |ch| ch == '\t') {
        return Err(TextError::ControlCharacter { code, at });
    }
    check_characters(line)?;
    check_marks(line, COMBINING_MARKS_MAX)?;
    check_visible(line)
}

fn check_scalars(text: &str, limit: usize) -> Result<(), TextError> {
    let actual = text.chars().count();
    if actual > limit {
        Err(TextError::TooLongScalars { limit, actual })
    } else {
        Ok(())
    }
}

fn check_characters(text: &str) -> Result<(), TextError> {
    match find(text, is_forbidden) {
        Some((at, code)) => Err(TextError::ControlCharacter { code, at }),
        None => Ok(()),
    }
}

/// Counts the marks since the last base. Ignorable characters between marks do not start a new
/// base, or a joiner after every eighth mark would lift the limit.
fn check_marks(text: &str, limit: usize) -> Result<(), TextError> {
    let mut marks = 0_usize;
    let mut first_above = None;
    for (at, ch) in text.chars().enumerate() {
        if is_mark(ch) {
            marks += 1;
            if marks == limit.saturating_add(1) {
                first_above = Some(at);
            }
        } else if !is_ignorable(ch) {
            if first_above.is_some() {
                break;
            }
            marks = 0;
        }
    }
    match first_above {
        Some(at) => Err(TextError::TooManyCombiningMarks {
            limit,
            actual: marks,
            at,
        }),
        None => Ok(()),
    }
}

fn find(text: &str, is_wanted: impl Fn(char) -> bool) -> Option<(usize, u32)> {
    text.chars()
        .enumerate()
        .find(|(_, ch)| is_wanted(*ch))
        .map(|(at, ch)| (at, u32::from(ch)))
}
