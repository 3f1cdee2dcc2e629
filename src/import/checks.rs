//! The rules an imported text, name and address must keep.
//!
//! A text is taken or refused as a whole, never cut. A name may be cleaned, because it was written
//! for another system's rules.

use super::report::Reason;
use crate::domain::body::BodyFormat;

/// Scalars a body may have.
const BODY_SCALARS_MAX: usize = 10_000;
/// UTF-8 bytes a body may have.
const BODY_BYTES_MAX: usize = 40_000;
/// Marks one base character may carry.
const MARKS_MAX: usize = 8;
/// Scalars a name may have.
const NAME_SCALARS_MAX: usize = 64;
/// Scalars a title may have; a longer one is dropped, not cut.
const TITLE_SCALARS_MAX: usize = 300;
/// Bytes an address may have.
const URL_BYTES_MAX: usize = 2_048;

/// Why a body cannot be taken over, and the words for it.
pub type TextRefusal = (Reason, String);

/// Checks a comment's source text. [`Reason::Empty`] means that readers would see nothing.
pub fn check_text(body: &str, format: BodyFormat) -> Result<(), TextRefusal> {
    let scalars = body.chars().count();
    if scalars > BODY_SCALARS_MAX {
        let detail = format!("the text has {scalars} characters (limit {BODY_SCALARS_MAX})");
        return Err((Reason::TooLong, detail));
    }
    if body.len() > BODY_BYTES_MAX {
        let detail = format!("the text has {} bytes (limit {BODY_BYTES_MAX})", body.len());
        return Err((Reason::TooLong, detail));
    }
    let marks = longest_run_of_marks(body);
    if marks > MARKS_MAX {
        let detail = format!("a character carries {marks} combining marks (limit {MARKS_MAX})");
        return Err((Reason::TextRefused, detail));
    }
    if is_visible(body, format) {
        Ok(())
    } else {
        Err((Reason::Empty, "the text has nothing to see".to_owned()))
    }
}

fn longest_run_of_marks(text: &str) -> usize {
    let (mut run, mut longest) = (0, 0);
    for ch in text.chars() {
        run = if unicode_normalization::char::is_combining_mark(ch) {
            run + 1
        } else {
            0
        };
        longest = longest.max(run);
    }
    longest
}

fn is_visible(text: &str, format: BodyFormat) -> bool {
    let shows = |ch: char| !ch.is_whitespace() && !ch.is_control() && !is_format_control(ch);
    match format {
        BodyFormat::Plain | BodyFormat::Markdown => text.chars().any(shows),
        BodyFormat::Html => {
            let mut inside_tag = false;
            let outside = |ch: char| {
                match ch {
                    '<' => inside_tag = true,
                    '>' => inside_tag = false,
                    _ => return !inside_tag && shows(ch),
                }
                false
            };
            text.chars().any(outside) || text.contains("<img")
        }
    }
}

fn is_format_control(ch: char) -> bool {
    matches!(ch, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// A display name from another system's: no controls, no direction overrides, no address of mail.
#[must_use]
pub fn clean_name(name: &str) -> String {
    let kept: String = name
        .chars()
        .filter(|ch| {
            let joiner = matches!(ch, '\u{200c}' | '\u{200d}');
            ch.is_whitespace() || joiner || !(ch.is_control() || is_format_control(*ch))
        })
        .collect();
    let words: Vec<&str> = kept.split_whitespace().collect();
    let name = words.join(" ");
    if looks_like_mail(&name) {
        return String::new();
    }
    name.chars().take(NAME_SCALARS_MAX).collect()
}

fn looks_like_mail(name: &str) -> bool {
    !name.contains(' ')
        && name
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// The title, or nothing when it is longer than a title may be.
#[must_use]
pub fn check_title(title: &str) -> Option<String> {
    let title = title.trim();
    (title.chars().count() <= TITLE_SCALARS_MAX).then(|| title.to_owned())
}

/// The address a discussion claims; `None` when it is not an address of the web.
#[must_use]
pub fn canonical_url(link: &str) -> Option<String> {
    let link = link.trim();
    let url = url::Url::parse(link).ok()?;
    let usable = matches!(url.scheme(), "http" | "https") && link.len() <= URL_BYTES_MAX;
    usable.then(|| link.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(body: &str, format: BodyFormat) -> Option<Reason> {
        check_text(body, format).err().map(|(reason, _)| reason)
    }

    #[test]
    fn a_text_that_shows_nothing_is_empty_in_every_format() {
        for body in ["", " \n", "\u{200b}\u{2060}\u{feff}", "\u{3000}"] {
            assert_eq!(reason(body, BodyFormat::Plain), Some(Reason::Empty), "{body:?}");
        }
        assert_eq!(reason("<p> <br></p>", BodyFormat::Html), Some(Reason::Empty));
        assert_eq!(reason("<p>👩‍👩‍👧</p>", BodyFormat::Html), None);
    }

    #[test]
    fn an_over_long_text_is_refused_with_limit_and_length() {
        let (reason, detail) = check_text(&"x".repeat(10_001), BodyFormat::Plain).unwrap_err();
        assert_eq!(reason, Reason::TooLong);
        assert!(detail.contains("10001") && detail.contains("10000"), "{detail}");
        assert_eq!(check_text(&"x".repeat(10_000), BodyFormat::Plain), Ok(()));
        assert!(check_text(&format!("a{}", "\u{301}".repeat(9)), BodyFormat::Plain).is_err());
    }

    #[test]
    fn a_name_is_never_an_address_of_mail_and_never_turns_the_text_around() {
        assert_eq!(clean_name("bob\u{202e}"), "bob");
        assert_eq!(clean_name("  Ann\n Lee "), "Ann Lee");
        assert_eq!(clean_name("ann@example.com"), "");
        assert_eq!(clean_name("ann @ home"), "ann @ home");
    }
}
