//! Plain text as HTML, and HTML as plain text.
//!
//! [`to_html`] writes tags of its own, `<p>` and `<br>`, and escapes everything it is given.
//! [`text_of`] reads only what the sanitiser wrote.

use super::sanitise::{Gap, Piece, Pieces, block_gap};

/// Paragraphs are separated by empty lines; within one, every line end stays a line end.
pub(super) fn to_html(source: &str) -> String {
    let mut html = String::with_capacity(source.len() + 16);
    let mut is_open = false;
    for line in source.replace("\r\n", "\n").split(['\n', '\r']) {
        if line.trim().is_empty() {
            if is_open {
                html.push_str("</p>\n");
            }
            is_open = false;
            continue;
        }
        html.push_str(if is_open { "<br>\n" } else { "<p>" });
        is_open = true;
        push_escaped(&mut html, line);
    }
    if is_open {
        html.push_str("</p>\n");
    }
    html
}

fn push_escaped(html: &mut String, text: &str) {
    for ch in text.chars() {
        match ch {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // HTML may not hold it, and a browser's parser would drop or replace it.
            '\0' => html.push('\u{FFFD}'),
            other => html.push(other),
        }
    }
}

/// What a reader sees of sanitised HTML.
pub(super) fn text_of(html: &str) -> String {
    let mut text = Text::default();
    for piece in Pieces(html) {
        match piece {
            Piece::Text(escaped) => text.push(escaped),
            Piece::Tag(tag) => {
                if tag.name == "pre" {
                    text.is_verbatim = !tag.is_end;
                }
                if tag.name == "br" && text.gap == Gap::Line {
                    text.gap = Gap::Paragraph;
                }
                text.gap = text.gap.max(block_gap(tag.name));
                if tag.name == "hr" {
                    text.push_visible("---");
                    text.gap = Gap::Paragraph;
                }
            }
        }
    }
    text.out.truncate(text.out.trim_end_matches('\n').len());
    text.out
}

#[derive(Debug, Default)]
struct Text {
    out: String,
    gap: Gap,
    is_verbatim: bool,
}

impl Text {
    fn push(&mut self, escaped: &str) {
        let mut rest = escaped;
        while let Some((before, after)) = rest.split_once('&') {
            self.push_raw(before);
            let (ch, after) = unescape(after);
            self.push_visible(ch);
            rest = after;
        }
        self.push_raw(rest);
    }

    /// Runs of white space are one space, as in a browser, except in `<pre>`.
    fn push_raw(&mut self, text: &str) {
        if self.is_verbatim {
            self.push_visible(text);
            return;
        }
        for (nth, word) in text.split(|ch: char| ch.is_ascii_whitespace()).enumerate() {
            if nth > 0 {
                self.gap = self.gap.max(Gap::Space);
            }
            self.push_visible(word);
        }
    }

    fn push_visible(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(match self.gap {
                Gap::Nothing => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::Nothing;
        self.out.push_str(text);
    }
}

/// The character behind an `&`, and what follows it. Serialised HTML holds no other names.
fn unescape(after: &str) -> (&'static str, &str) {
    const NAMES: [(&str, &str); 6] = [
        ("amp;", "&"),
        ("lt;", "<"),
        ("gt;", ">"),
        ("quot;", "\""),
        ("nbsp;", "\u{A0}"),
        ("#39;", "'"),
    ];
    let found = NAMES
        .into_iter()
        .find_map(|(name, ch)| after.strip_prefix(name).map(|rest| (ch, rest)));
    found.unwrap_or(("&", after))
}
