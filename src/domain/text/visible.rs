//! What single characters are: seen or not, marks, direction controls, characters no text may hold.
//!
//! The sets come from the Unicode tables, so that a new version of Unicode is a new version of a
//! library and not a list to keep here. Must not decide what is refused: [`super`] does.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use unicode_normalization::char::is_combining_mark;

/// Whether fonts draw nothing for it by design, such as joiners, variation selectors, tags, soft
/// hyphens, Hangul fillers and direction marks.
#[must_use]
pub fn is_ignorable(ch: char) -> bool {
    // ASCII is most of all text and holds none, so the table is not asked.
    !ch.is_ascii() && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(ch)
}

/// Whether a reader sees it: not white space, not a control, not ignorable, not a blank glyph.
#[must_use]
pub fn is_visible(ch: char) -> bool {
    !(ch.is_whitespace() || ch.is_control() || is_blank_glyph(ch) || is_ignorable(ch))
}

/// Characters that are no white space by their category and are still drawn as nothing.
const fn is_blank_glyph(ch: char) -> bool {
    matches!(
        ch,
        // the empty Braille cell, the musical null notehead, and interlinear annotation marks
        '\u{2800}' | '\u{1D159}' | '\u{FFF9}'..='\u{FFFB}'
    )
}

/// Whether it is drawn onto the character before it (general category M).
#[must_use]
pub fn is_mark(ch: char) -> bool {
    !ch.is_ascii() && is_combining_mark(ch)
}

/// Embeddings, overrides, isolates and their ends: U+202A–202E and U+2066–2069.
#[must_use]
pub const fn is_direction_control(ch: char) -> bool {
    matches!(ch, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether it ends a line in some renderer.
#[must_use]
pub const fn is_line_break(ch: char) -> bool {
    matches!(ch, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Characters no text may hold: C0 but tab and line ends, DEL, C1, and noncharacters.
#[must_use]
pub fn is_forbidden(ch: char) -> bool {
    (ch.is_control() && !matches!(ch, '\t' | '\n' | '\r')) || is_noncharacter(ch)
}

/// U+FDD0–FDEF and the last two code points of each plane.
fn is_noncharacter(ch: char) -> bool {
    let code = u32::from(ch);
    matches!(code, 0xFDD0..=0xFDEF) || code & 0xFFFE == 0xFFFE
}
