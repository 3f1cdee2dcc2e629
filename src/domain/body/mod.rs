//! What a comment's text is: its source, its format, and what readers get made from it.
//!
//! The source is what is stored, byte for byte; `text` and `html` are made when it is read. The
//! html of any source, also a hostile one, holds only the tags `sanitise` lists, links only to http,
//! https and mailto, and closes the direction controls it opens. It is wrapped in nothing: whoever
//! renders it puts it in an element with `dir="auto"`, and names and titles in a `<bdi>`.

#[cfg(test)]
mod hostile_tests;
mod markup_cost;
mod plain;
mod sanitise;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod xss_tests;

use std::borrow::Cow;

use crate::domain::text::{TextError, TextLimits, check_body, check_visible};

/// Sources longer than this many bytes are rendered as plain text, whatever their format.
///
/// Bodies that people post are shorter by their own limit; this bounds what an import may cost.
pub const MARKUP_BYTES_MAX: usize = 100_000;

/// How a body's source text is written. Numbers are stored and may never be reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BodyFormat {
    /// Text as typed.
    #[default]
    Plain,
    /// `CommonMark`, with tables and strikethrough.
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

/// What a reader gets of a comment's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Readable without markup; see [`plain_text`].
    pub text: String,
    /// Safe to place in a page; see [`render_html`].
    pub html: String,
    /// How the source is written.
    pub format: BodyFormat,
}

impl Body {
    /// Makes both forms of a source. Pure, so the result may be cached by revision.
    #[must_use]
    pub fn read(source: &str, format: BodyFormat) -> Self {
        let html = render_html(source, format);
        let text = match format {
            BodyFormat::Plain => source.to_owned(),
            BodyFormat::Markdown | BodyFormat::Html => plain::text_of(&html),
        };
        Self { text, html, format }
    }
}

/// Checks a source that somebody wants to post: the rules of [`check_body`], and that something
/// visible is left once its markup is rendered (`<b></b>` and `[](https://a)` are empty).
pub fn check(source: &str, format: BodyFormat, limits: &TextLimits) -> Result<(), TextError> {
    check_body(source, limits)?;
    match format {
        BodyFormat::Plain => Ok(()),
        BodyFormat::Markdown | BodyFormat::Html => check_visible(&plain_text(source, format)),
    }
}

/// The source as HTML that is safe to place in a page.
///
/// Markup that is too long, too deeply nested or too costly is shown as the text it is written in,
/// so that the work stays linear in the source and nothing is lost.
#[must_use]
pub fn render_html(source: &str, format: BodyFormat) -> String {
    let is_short = source.len() <= MARKUP_BYTES_MAX;
    let markup = match format {
        BodyFormat::Html if is_short => Some(Cow::Borrowed(source)),
        BodyFormat::Markdown if is_short => Some(Cow::Owned(markdown_to_html(source))),
        BodyFormat::Plain | BodyFormat::Markdown | BodyFormat::Html => None,
    };
    match markup.filter(|markup| is_in_proportion(source, markup)) {
        Some(markup) if markup_cost::is_bounded(&markup) => sanitise::sanitise(&markup),
        Some(_) | None => sanitise::finish(&plain::to_html(source)),
    }
}

/// A few characters of Markdown can stand for many cells of a table or one long link many times.
fn is_in_proportion(source: &str, html: &str) -> bool {
    html.len() <= source.len().saturating_mul(10).saturating_add(65_536)
}

/// The source without its markup, for search, notifications and clients that show no HTML.
///
/// PLAIN is the source as it is. MARKDOWN and HTML are what a reader sees of the rendered body:
/// blocks are separated by an empty line, list items and rows by a line end, links keep their
/// text, pictures their description.
#[must_use]
pub fn plain_text(source: &str, format: BodyFormat) -> String {
    Body::read(source, format).text
}

fn markdown_to_html(source: &str) -> String {
    let extensions =
        pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_STRIKETHROUGH;
    let mut html = String::with_capacity(source.len().saturating_mul(3) / 2);
    pulldown_cmark::html::push_html(
        &mut html,
        pulldown_cmark::Parser::new_ext(source, extensions),
    );
    html
}
