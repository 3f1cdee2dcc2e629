//! Line ends as WordPress shows them.
//!
//! WordPress stores a comment as it was typed and makes paragraphs only when it shows it: an empty
//! line separates paragraphs, any other line end is a line break. As HTML both would be a space, so
//! they are written down as tags here. Invariant: words are neither added, lost nor moved; what
//! stands in `<pre>` stays as it is.

/// The HTML that shows `text` with its lines and paragraphs.
pub(super) fn shown(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim();
    if !text.contains('\n') {
        return text.to_owned();
    }
    // At the very end `</` is text; with an end tag behind it, it would be a comment.
    let closed = text.strip_suffix("</").map(|text| format!("{text}&lt;/"));
    let text = closed.as_deref().unwrap_or(text);
    let mut page = Page {
        out: String::with_capacity(text.len() + text.len() / 8),
        makes_paragraphs: text.lines().any(|line| line.trim().is_empty()),
        pending: Break::None,
        is_in_paragraph: false,
        is_at_edge: true,
        containers: 0,
        verbatim: 0,
    };
    for piece in Pieces(text) {
        match piece {
            Piece::Text(text) => page.text(text),
            Piece::Tag(raw) => page.tag(raw),
        }
    }
    page.close_paragraph();
    page.out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    None,
    Line,
    Paragraph,
}

#[derive(Debug)]
struct Page {
    out: String,
    makes_paragraphs: bool,
    /// The line ends since the last word, not yet written: what follows decides what they are.
    pending: Break,
    is_in_paragraph: bool,
    /// Whether a new line begins here anyway.
    is_at_edge: bool,
    /// Lists and tables that are open; their items are no paragraphs.
    containers: usize,
    /// `<pre>`s that are open.
    verbatim: usize,
}

impl Page {
    fn text(&mut self, text: &str) {
        if self.verbatim > 0 {
            self.out.push_str(text);
            return;
        }
        for (nth, line) in text.split('\n').enumerate() {
            if nth > 0 {
                self.pending = match self.pending {
                    Break::None => Break::Line,
                    Break::Line | Break::Paragraph => Break::Paragraph,
                };
            }
            if !line.trim().is_empty() {
                self.begin_words();
                self.out.push_str(line);
                self.is_at_edge = false;
            } else if self.pending == Break::None {
                self.out.push_str(line);
            }
        }
    }

    /// Writes the line ends before words.
    fn begin_words(&mut self) {
        match self.pending {
            Break::Paragraph if self.makes_paragraphs && self.containers == 0 => {
                self.close_paragraph();
                self.out.push_str("\n\n");
            }
            Break::Line | Break::Paragraph if self.is_at_edge => self.out.push('\n'),
            Break::Line | Break::Paragraph => self.out.push_str("<br>\n"),
            Break::None => {}
        }
        self.pending = Break::None;
        if self.makes_paragraphs && !self.is_in_paragraph && self.containers == 0 {
            self.out.push_str("<p>");
            self.is_in_paragraph = true;
        }
    }

    fn close_paragraph(&mut self) {
        if self.is_in_paragraph {
            self.out.push_str("</p>");
            self.is_in_paragraph = false;
        }
    }

    fn tag(&mut self, raw: &str) {
        let (name, is_end) = name_of(raw);
        match name.as_str() {
            "br" => {
                if self.pending == Break::Paragraph {
                    self.begin_words();
                }
                self.pending = Break::None;
                self.out.push_str(raw);
                self.is_at_edge = true;
            }
            // Its end is dropped where an empty line has already ended it.
            "p" if is_end => {
                self.close_paragraph();
                // Without the end a `<` typed before it would make a tag of the words behind it.
                if self.out.ends_with('<') {
                    self.out.push(' ');
                }
                self.is_at_edge = true;
            }
            "p" => {
                self.block(raw);
                self.is_in_paragraph = true;
            }
            name if is_block(name) => {
                self.block(raw);
                self.count(name, is_end);
            }
            _ if is_end || self.verbatim > 0 => self.out.push_str(raw),
            _ => {
                self.begin_words();
                self.out.push_str(raw);
            }
        }
    }

    /// A block begins or ends a line by itself.
    fn block(&mut self, raw: &str) {
        self.close_paragraph();
        if self.pending != Break::None {
            self.out.push('\n');
        }
        self.pending = Break::None;
        self.is_at_edge = true;
        self.out.push_str(raw);
    }

    fn count(&mut self, name: &str, is_end: bool) {
        let open = match name {
            "pre" => &mut self.verbatim,
            "ul" | "ol" | "dl" | "table" => &mut self.containers,
            _ => return,
        };
        *open = if is_end {
            open.saturating_sub(1)
        } else {
            open.saturating_add(1)
        };
    }
}

fn name_of(raw: &str) -> (String, bool) {
    let inner = raw.trim_start_matches('<');
    let (inner, is_end) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let name = inner.split(|ch: char| !ch.is_ascii_alphanumeric()).next();
    (name.unwrap_or_default().to_ascii_lowercase(), is_end)
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "ol"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Tag(&'a str),
}

/// Splits HTML as people type it. A `<` that begins no tag is text.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.0.is_empty() {
            return None;
        }
        if begins_tag(self.0) {
            // Browsers drop one that never ends, so nothing may be put into it that ends it.
            let Some(end) = end_of_tag(self.0) else {
                return Some(Piece::Tag(std::mem::take(&mut self.0)));
            };
            let (tag, rest) = self.0.split_at(end);
            self.0 = rest;
            return Some(Piece::Tag(tag));
        }
        let next = self
            .0
            .match_indices('<')
            .map(|(at, _)| at)
            .find(|at| self.0.get(*at..).is_some_and(begins_tag));
        let (text, rest) = self.0.split_at(next.unwrap_or(self.0.len()));
        self.0 = rest;
        Some(Piece::Text(text))
    }
}

fn begins_tag(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('<') else {
        return false;
    };
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let is_end = rest.len() + 1 < text.len();
    // After `</` anything is a tag or a comment that browsers drop; so is `<!` and `<?`.
    rest.starts_with(|ch: char| ch.is_ascii_alphabetic() || (is_end && ch != '>'))
        || (!is_end && rest.starts_with(['!', '?']))
}

/// Where the tag that `text` begins with ends: behind the first `>` that is in no quotes. In what is
/// no tag but a comment, quotes mean nothing.
fn end_of_tag(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|at| at + "-->".len());
    }
    let name = text.trim_start_matches('<');
    let name = name.strip_prefix('/').unwrap_or(name);
    if !name.starts_with(|ch: char| ch.is_ascii_alphabetic()) {
        return text.find('>').map(|at| at + 1);
    }
    let mut quote = None;
    for (at, ch) in text.char_indices() {
        match (quote, ch) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(ch),
            (Some(open), _) if open == ch => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::body::{BodyFormat, plain_text};

    fn read(text: &str) -> String {
        plain_text(&shown(text), BodyFormat::Html)
    }

    #[test]
    fn empty_lines_make_paragraphs_and_other_line_ends_break_lines() {
        assert_eq!(shown("one line"), "one line");
        assert_eq!(shown("a\nb"), "a<br>\nb");
        assert_eq!(shown("a\r\n\r\nb\rc"), "<p>a</p>\n\n<p>b<br>\nc</p>");
        for text in ["a\n\nb", "a\nb\nc", "a\n\nb\nc\n\nd", "a < b\n\nc > d"] {
            assert_eq!(read(text), text);
        }
        assert_eq!(read("\n\na\n \t\n\n\nb\n"), "a\n\nb");
    }

    #[test]
    fn line_ends_beside_blocks_and_breaks_are_not_doubled() {
        assert_eq!(
            shown("a\n\n<blockquote>b\n\nc</blockquote>\n\nd"),
            "<p>a</p>\n<blockquote><p>b</p>\n\n<p>c</p></blockquote>\n\n<p>d</p>"
        );
        assert_eq!(
            read("<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n\nc"),
            "a\nb\n\nc"
        );
        assert_eq!(shown("a<br />\nb"), "a<br />\nb");
        assert_eq!(shown("a\n<br>b"), "a<br>b");
        assert_eq!(
            shown("<p>a\n\nb</p>\n<p>c</p>"),
            "<p>a</p>\n\n<p>b</p>\n<p>c</p>"
        );
        assert_eq!(read("<b>a\n\nb</b>\nc"), "a\n\nb\nc");
    }

    #[test]
    fn preformatted_text_stays_and_what_only_looks_like_a_tag_is_text() {
        let pre = "<pre>x\n\n  y\n</pre>";
        assert_eq!(shown(&format!("a\n\n{pre}")), format!("<p>a</p>\n{pre}"));
        assert_eq!(read("1 < 2\n3 <4"), "1 < 2\n3 <4");
        assert_eq!(
            shown("<a title=\"x>\ny\" href='#'>t</a>\nu"),
            "<a title=\"x>\ny\" href='#'>t</a><br>\nu"
        );
        assert_eq!(shown("a\n<b c"), "a<br>\n<b c");
    }

    proptest! {
        #[test]
        fn words_are_neither_added_lost_nor_moved(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "b ", " c", "\n", "\n\n", "\r\n", "<p>", "</p>", "<b>", "</b>", "<br>", "<ul>",
                "<li>", "</ul>", "<pre>", "</pre>", "<blockquote>", "</blockquote>", "&amp;", "<", ">",
                "😀", "<td>", "<table>", "</table>", "\"", "</", "<?", "<!", "<!-- ", " -->", "</ ",
            ]), 0..24),
        ) {
            let text = pieces.concat().trim().to_owned();
            let words = |html: &str| {
                plain_text(html, BodyFormat::Html).split_whitespace().collect::<String>()
            };
            prop_assert_eq!(words(&shown(&text)), words(&text), "{} -> {}", text, shown(&text));
        }
    }
}
