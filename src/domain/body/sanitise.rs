//! Turns any HTML into HTML that is safe to place in a page, by an allow list.
//!
//! The list is enforced by `ammonia` on a real parse tree. [`finish`] then walks the serialised
//! result, which is well formed and escaped, so it may only move verbatim pieces of it and must not
//! write any tag of its own. Pictures are shown as their description: where an attachment may come
//! from is a policy bodies do not decide.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What is said on every link: search engines, and the page behind it, learn nothing of the reader.
const LINK_REL: &str = "nofollow ugc noopener noreferrer";

/// Tags that stay, without their attributes but for `href`, `start` and a picture's `alt`.
const TAGS: [&str; 50] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

/// Tags that go together with what is inside, because it is not text for readers.
const TAGS_WITH_CONTENT: [&str; 13] = [
    "script", "style", "svg", "math", "iframe", "noscript", "noembed", "noframes", "template",
    "object", "applet", "title", "frameset",
];

static POLICY: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut policy = ammonia::Builder::empty();
    policy
        .tags(HashSet::from(TAGS))
        .clean_content_tags(HashSet::from(TAGS_WITH_CONTENT))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
            ("img", HashSet::from(["alt"])),
        ]))
        .generic_attributes(HashSet::new())
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            ("ol", "start") => value.parse::<u32>().is_ok().then(|| value.into()),
            _ => Some(value.into()),
        })
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some(LINK_REL))
        .strip_comments(true);
    policy
});

/// Sanitised HTML of any HTML. The caller has bounded the parser's work.
pub(super) fn sanitise(html: &str) -> String {
    finish(&POLICY.clean(html).to_string())
}

/// Closes direction controls at the end of the block they were opened in, so that they turn
/// nothing around in what follows, and puts descriptions in the place of pictures.
///
/// Takes only what `ammonia` or [`super::plain::to_html`] wrote.
pub(super) fn finish(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut open = DirectionControls::default();
    for piece in Pieces(html) {
        match piece {
            Piece::Text(text) => {
                open.read(text);
                out.push_str(text);
            }
            Piece::Tag(tag) if tag.name == "img" => {
                // Serialisers before HTML's change of 2025 leave these two as they are in attributes.
                let description = tag.description().replace('<', "&lt;").replace('>', "&gt;");
                open.read(&description);
                out.push_str(&description);
            }
            Piece::Tag(tag) => {
                if block_gap(tag.name) > Gap::Space {
                    open.close(&mut out);
                }
                out.push('<');
                out.push_str(tag.raw);
                out.push('>');
            }
        }
    }
    open.close(&mut out);
    out
}

/// What a tag puts between the text before it and the text after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing: the tag is inside a line.
    #[default]
    Nothing,
    /// Another cell of a row.
    Space,
    /// Another line.
    Line,
    /// Another paragraph.
    Paragraph,
}

pub(super) fn block_gap(name: &str) -> Gap {
    match name {
        "td" | "th" => Gap::Space,
        "br" | "dd" | "div" | "dl" | "dt" | "figcaption" | "li" | "ol" | "summary" | "tbody"
        | "tfoot" | "thead" | "tr" | "ul" => Gap::Line,
        "blockquote" | "details" | "figure" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr"
        | "p" | "pre" | "table" => Gap::Paragraph,
        _ => Gap::Nothing,
    }
}

/// A piece of serialised HTML without comments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// Text, still escaped.
    Text(&'a str),
    /// A start or end tag.
    Tag(PieceTag<'a>),
}

/// A tag of serialised HTML.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceTag<'a> {
    /// Everything between `<` and `>`.
    raw: &'a str,
    /// The element's name, lower case.
    pub(super) name: &'a str,
    /// Whether it is an end tag.
    pub(super) is_end: bool,
}

impl<'a> PieceTag<'a> {
    fn new(raw: &'a str) -> Self {
        let is_end = raw.starts_with('/');
        let inner = raw.strip_prefix('/').unwrap_or(raw);
        let name = inner.split_once(' ').map_or(inner, |(name, _)| name);
        Self { raw, name, is_end }
    }

    /// The `alt` of a picture, escaped as it stands in the attribute.
    fn description(self) -> &'a str {
        let value = self.raw.split_once("alt=\"").map(|(_, rest)| rest);
        value
            .and_then(|rest| rest.split_once('"'))
            .map_or("", |(alt, _)| alt)
    }
}

/// Splits serialised HTML, in which attributes stand in `"` and texts hold no `<`.
#[derive(Debug)]
pub(super) struct Pieces<'a>(pub(super) &'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let Some(tag) = self.0.strip_prefix('<') else {
            let (text, rest) = self.0.split_at(self.0.find('<').unwrap_or(self.0.len()));
            self.0 = rest;
            return Some(Piece::Text(text));
        };
        let mut is_quoted = false;
        let (raw, rest) = tag.split_once(|ch: char| {
            is_quoted ^= ch == '"';
            ch == '>' && !is_quoted
        })?;
        self.0 = rest;
        Some(Piece::Tag(PieceTag::new(raw)))
    }
}

/// The embeddings, overrides and isolates that are open at a place of the text.
#[derive(Debug, Default)]
struct DirectionControls {
    /// The end each one needs, outermost first.
    ends: Vec<char>,
    isolates: usize,
}

const POP_DIRECTIONAL_FORMAT: char = '\u{202C}';
const POP_DIRECTIONAL_ISOLATE: char = '\u{2069}';

impl DirectionControls {
    /// Follows the Unicode bidirectional algorithm's pairing: the end of an isolate also ends
    /// what was opened inside, the end of an embedding reaches no further than the isolate.
    fn read(&mut self, text: &str) {
        for ch in text.chars() {
            match ch {
                '\u{202A}' | '\u{202B}' | '\u{202D}' | '\u{202E}' => {
                    self.ends.push(POP_DIRECTIONAL_FORMAT);
                }
                '\u{2066}'..='\u{2068}' => {
                    self.ends.push(POP_DIRECTIONAL_ISOLATE);
                    self.isolates += 1;
                }
                POP_DIRECTIONAL_FORMAT if self.ends.last() == Some(&POP_DIRECTIONAL_FORMAT) => {
                    self.ends.pop();
                }
                POP_DIRECTIONAL_ISOLATE if self.isolates > 0 => {
                    while self
                        .ends
                        .pop()
                        .is_some_and(|end| end != POP_DIRECTIONAL_ISOLATE)
                    {}
                    self.isolates -= 1;
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, out: &mut String) {
        out.extend(self.ends.drain(..).rev());
        self.isolates = 0;
    }
}
