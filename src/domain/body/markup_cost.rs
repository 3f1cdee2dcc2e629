//! Says beforehand whether parsing some HTML stays cheap, with a look at its tags alone.
//!
//! A parser that follows the HTML standard re-creates every open formatting element (`<b>`, `<i>` …)
//! in each block that follows, with its attributes, so a few kilobytes of unclosed tags become
//! hundreds of megabytes. And deep nesting makes each look at the stack of open elements long.
//! Invariant: the bytes counted for re-opening are never below what the parser will re-create.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// Elements that may be open at once.
const NESTING_MAX: usize = 100;
/// The sum, over all tags, of the weight of the formatting elements open at that tag.
const REOPENED_BYTES_MAX: usize = 320_000;
/// What re-opening an element without attributes weighs in memory and output, in bytes.
const ELEMENT_BYTES: usize = 16;

/// Whether the markup nests and re-opens little enough to be parsed.
pub(super) fn is_bounded(html: &str) -> bool {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Cost::default(), TokenizerOpts::default());
    // The sink never asks to stop, so one call reads all of it; what is left would be uncounted.
    drop(tokenizer.feed(&input));
    if !input.is_empty() {
        return false;
    }
    tokenizer.end();
    !tokenizer.sink.is_exceeded.get()
}

#[derive(Debug, Default)]
struct Cost {
    /// The weight of each open element, by name; 0 for those that are not re-opened.
    open: RefCell<HashMap<LocalName, Vec<usize>>>,
    nesting: Cell<usize>,
    formatting_bytes: Cell<usize>,
    reopened_bytes: Cell<usize>,
    /// Set once an element was seen inside which the parser may ignore a formatting end tag.
    keeps_formatting: Cell<bool>,
    is_exceeded: Cell<bool>,
}

impl TokenSink for Cost {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token {
            self.count(&tag);
        }
        TokenSinkResult::Continue
    }
}

impl Cost {
    fn count(&self, tag: &Tag) {
        if may_hide_end_tags(&tag.name) {
            self.keeps_formatting.set(true);
        }
        match tag.kind {
            TagKind::StartTag if has_no_content(&tag.name) => {}
            TagKind::StartTag => {
                let bytes = formatting_bytes(tag);
                self.open
                    .borrow_mut()
                    .entry(tag.name.clone())
                    .or_default()
                    .push(bytes);
                self.nesting.set(self.nesting.get().saturating_add(1));
                self.formatting_bytes
                    .set(self.formatting_bytes.get().saturating_add(bytes));
            }
            TagKind::EndTag => self.close(&tag.name),
        }
        let reopened = self
            .reopened_bytes
            .get()
            .saturating_add(self.formatting_bytes.get());
        self.reopened_bytes.set(reopened);
        if self.nesting.get() > NESTING_MAX || reopened > REOPENED_BYTES_MAX {
            self.is_exceeded.set(true);
        }
    }

    fn close(&self, name: &LocalName) {
        let Some(bytes) = self.open.borrow_mut().get_mut(name).and_then(Vec::pop) else {
            return;
        };
        self.nesting.set(self.nesting.get().saturating_sub(1));
        if !self.keeps_formatting.get() {
            self.formatting_bytes
                .set(self.formatting_bytes.get().saturating_sub(bytes));
        }
    }
}

/// What re-opening an element costs each time: its tag with all attributes.
fn formatting_bytes(tag: &Tag) -> usize {
    if !is_formatting(&tag.name) {
        return 0;
    }
    tag.attrs
        .iter()
        .fold(ELEMENT_BYTES, |sum, it| sum.saturating_add(it.value.len()))
}

/// The standard's list of elements that are re-opened in later blocks.
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// Elements without an end tag, and those whose end tag people may leave out, which do not nest.
fn has_no_content(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    ) || matches!(
        name,
        "p" | "li"
            | "dt"
            | "dd"
            | "tr"
            | "td"
            | "th"
            | "thead"
            | "tbody"
            | "tfoot"
            | "option"
            | "optgroup"
            | "colgroup"
            | "html"
            | "head"
            | "body"
    )
}

/// Elements whose content is raw text, or that end the scope in which an end tag looks for its
/// start: an end tag inside them may close nothing.
fn may_hide_end_tags(name: &str) -> bool {
    matches!(
        name,
        "textarea"
            | "title"
            | "script"
            | "style"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "plaintext"
            | "select"
            | "svg"
            | "math"
            | "object"
            | "applet"
            | "marquee"
            | "template"
            | "table"
            | "td"
            | "th"
            | "caption"
            | "frameset"
    )
}
