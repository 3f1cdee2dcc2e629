//! The rules of this service, put to what other systems allowed.
//!
//! A text is taken or refused as a whole, never cut. A name, title, address or entity that cannot
//! be taken is dropped and reported, because the comment is worth keeping without it.

use super::report::Reason;
use crate::domain::body::{self, BodyFormat};
use crate::domain::text::{self, TextError, TextLimits};
use crate::domain::urls::{CanonicalUrl, EntityRef};

/// Checks a comment's source text. [`Reason::Empty`] means that readers would see nothing.
pub fn check_text(
    source: &str,
    format: BodyFormat,
    limits: &TextLimits,
) -> Result<(), (Reason, String)> {
    body::check(source, format, limits).map_err(|error| {
        let reason = match error {
            TextError::Empty => Reason::Empty,
            TextError::TooLongScalars { .. } | TextError::TooLongBytes { .. } => Reason::TooLong,
            TextError::TooManyCombiningMarks { .. }
            | TextError::ControlCharacter { .. }
            | TextError::DirectionControl { .. }
            | TextError::LineBreak { .. }
            | TextError::NotVisibleAscii { .. } => Reason::TextRefused,
        };
        (reason, format!("the text: {error}"))
    })
}

/// A display name in this service's form; the other part says whether one had to be dropped.
///
/// An address of mail is dropped: people did not write it to be shown beside their comments.
#[must_use]
pub fn display_name(name: &str) -> (String, bool) {
    if name.trim().is_empty() {
        return (String::new(), false);
    }
    match text::clean_name(name) {
        Ok(name) if !looks_like_mail(&name) => (name.into_owned(), false),
        Ok(_) | Err(_) => (String::new(), true),
    }
}

fn looks_like_mail(name: &str) -> bool {
    !name.contains(char::is_whitespace)
        && name
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// A title as one line; the other part says whether it had to be dropped.
#[must_use]
pub fn title(title: &str) -> (String, bool) {
    let words: Vec<&str> = title.split_whitespace().collect();
    let line = words.join(" ");
    if line.is_empty() {
        return (line, false);
    }
    match text::check_title(&line) {
        Ok(()) => (line, false),
        Err(_) => (String::new(), true),
    }
}

/// The address a discussion claims; `None` when it cannot be one.
#[must_use]
pub fn canonical_url(link: &str, kept_parameters: &[String]) -> Option<String> {
    let url = CanonicalUrl::parse(link.trim(), kept_parameters).ok()?;
    Some(url.as_str().to_owned())
}

/// The entity a discussion claims; `None` when it cannot be one.
#[must_use]
pub fn entity((kind, id): &(String, String)) -> Option<(String, String)> {
    let entity = EntityRef::new(kind.clone(), id.clone()).ok()?;
    Some((entity.entity_type().to_owned(), entity.id().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(body: &str, format: BodyFormat) -> Option<Reason> {
        check_text(body, format, &TextLimits::default())
            .err()
            .map(|(reason, _)| reason)
    }

    #[test]
    fn a_text_that_shows_nothing_is_empty_in_every_format() {
        for body in ["", " \n", "\u{200b}\u{2060}\u{feff}", "\u{3000}"] {
            assert_eq!(
                reason(body, BodyFormat::Plain),
                Some(Reason::Empty),
                "{body:?}"
            );
        }
        assert_eq!(
            reason("<p> <br></p>", BodyFormat::Html),
            Some(Reason::Empty)
        );
        assert_eq!(reason("<p>👩‍👩‍👧</p>", BodyFormat::Html), None);
    }

    #[test]
    fn an_over_long_text_is_refused_with_limit_and_length() {
        let limits = TextLimits::default();
        let (reason, detail) =
            check_text(&"x".repeat(10_001), BodyFormat::Plain, &limits).unwrap_err();
        assert_eq!(reason, Reason::TooLong);
        assert!(
            detail.contains("10001") && detail.contains("10000"),
            "{detail}"
        );
    }

    #[test]
    fn a_name_is_never_an_address_of_mail_and_never_turns_the_text_around() {
        assert_eq!(display_name("bob\u{202e}"), ("bob".to_owned(), false));
        assert_eq!(display_name("ann@example.com"), (String::new(), true));
        assert_eq!(display_name("ann @ home"), ("ann @ home".to_owned(), false));
        assert_eq!(display_name(" "), (String::new(), false));
    }

    #[test]
    fn what_cannot_be_an_address_or_title_is_dropped() {
        let url = canonical_url(" https://Example.com/a#b ", &[]);
        assert_eq!(url.as_deref(), Some("example.com/a"));
        assert_eq!(canonical_url("mailto:a@example.com", &[]), None);
        assert_eq!(title(" a\n b "), ("a b".to_owned(), false));
        assert_eq!(title(&"x".repeat(301)), (String::new(), true));
    }
}
