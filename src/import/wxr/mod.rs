//! Reads a WordPress export, "WordPress eXtended RSS": `<rss>`, `<channel>`, and in it `<item>`s
//! (posts, pages, pictures, menus) that hold their `<wp:comment>`s.
//!
//! Elements are known by their names alone: the namespaces changed with every version. An item is
//! known by `wp:post_id`, else by its link. Comments stream as they come; only where their item's
//! own fields do not stand before them, which WordPress never writes, they wait for its end. What a
//! row becomes is decided in `row`.

mod paragraphs;
mod row;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::VecDeque;

use jiff::fmt::temporal::DateTimeParser;
pub use jiff::tz::TimeZone;
use quick_xml::events::BytesStart;

use self::row::{ItemState, Times};
use self::texts::Texts;
use super::input::{Input, ReadError};
use super::record::{ExportReader, SourceItem};
use super::report::Oddity;
use super::xml::{XmlEvent, XmlReader, attribute};

/// Bytes of one text: articles may hold their pictures, and pass through here with their comments.
const EVENT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of all the texts of one row, of the fields that are read.
const ROW_BYTES_MAX: usize = 4 << 20;
/// Bytes of the comments that may stand before their item's own fields.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// How to read a WordPress export.
#[derive(Clone, Debug, Default)]
pub struct WxrOptions {
    /// The site's zone, for rows that have only a local time. Without it they are read as UTC and
    /// noted.
    pub zone: Option<TimeZone>,
    /// Whether pingbacks, trackbacks and webmentions are comments too.
    pub pings: bool,
    /// Whether comments of drafts, private and password-protected pages are read too. What is
    /// imported is for everyone to read.
    pub unpublished: bool,
}

/// Reads the name of a zone, `Europe/Helsinki`, or an offset, `+02:00`.
pub fn zone(text: &str) -> Result<TimeZone, String> {
    const PARSER: DateTimeParser = DateTimeParser::new();
    PARSER.parse_time_zone(text).map_err(|error| {
        format!("{error}; write a name such as Europe/Helsinki, or an offset such as +02:00")
    })
}

/// A stream of items and comments.
#[derive(Debug)]
pub struct WxrReader {
    xml: XmlReader,
    options: WxrOptions,
    path: Vec<Tag>,
    item: Option<Item>,
    comment: Option<Texts>,
    ready: VecDeque<SourceItem>,
    notes: Vec<Oddity>,
    seen_root: bool,
}

/// What an open element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Root,
    Channel,
    Item,
    Comment,
    /// A text of the innermost row.
    Field(usize),
    Other,
}

/// An item as far as it has been read.
#[derive(Debug)]
struct Item {
    texts: Texts,
    /// Comments that stand before its own fields.
    waiting: Vec<Texts>,
    waiting_bytes: usize,
    /// How many of its comments were given as such.
    given: u64,
}

impl WxrReader {
    /// Reads `input` from its beginning.
    pub fn new(input: Input, options: WxrOptions) -> Result<Self, ReadError> {
        Ok(Self {
            xml: XmlReader::with_limit(input, EVENT_BYTES_MAX)?,
            options,
            path: Vec::new(),
            item: None,
            comment: None,
            ready: VecDeque::new(),
            notes: Vec::new(),
            seen_root: false,
        })
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        let name = tag.local_name();
        let name = name.as_ref();
        let line = self.xml.line();
        let opened = match (self.path.last(), &mut self.item, &mut self.comment) {
            (None, _, _) => {
                self.check_root(name, tag)?;
                self.seen_root = true;
                Tag::Root
            }
            (Some(Tag::Root), _, _) if name == "channel" => Tag::Channel,
            (Some(Tag::Channel), _, _) if name == "item" => {
                self.item = Some(Item {
                    texts: Texts::new(&row::ITEM_FIELDS, line),
                    waiting: Vec::new(),
                    waiting_bytes: 0,
                    given: 0,
                });
                Tag::Item
            }
            (Some(Tag::Item), Some(_), _) if name == "comment" => {
                self.comment = Some(Texts::new(&row::COMMENT_FIELDS, line));
                Tag::Comment
            }
            (Some(Tag::Item), Some(item), _) => field(&item.texts, name),
            (Some(Tag::Comment), _, Some(comment)) => field(comment, name),
            _ => Tag::Other,
        };
        self.path.push(opened);
        Ok(())
    }

    fn check_root(&self, name: &str, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        let what = if name != "rss" {
            format!("this is no WordPress export: it begins with <{name}>")
        } else if attribute(tag, "wp").is_none() {
            "this is a feed, no WordPress export: its <rss> knows no xmlns:wp".to_owned()
        } else {
            return Ok(());
        };
        Err(self.xml.error(&what))
    }

    fn text(&mut self, text: &str) -> Result<(), ReadError> {
        // Markup within a field belongs to it.
        let field = self.path.iter().rev().find_map(|tag| match tag {
            Tag::Field(field) => Some(*field),
            Tag::Root | Tag::Channel | Tag::Item | Tag::Comment | Tag::Other => None,
        });
        let item = self.item.as_mut().map(|item| &mut item.texts);
        let (Some(row), Some(field)) = (self.comment.as_mut().or(item), field) else {
            return Ok(());
        };
        row.push(field, text);
        if row.bytes() > ROW_BYTES_MAX {
            let what = format!(
                "the row that began on line {} has more than {ROW_BYTES_MAX} bytes",
                row.line()
            );
            return Err(self.xml.error(&what));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), ReadError> {
        match self.path.pop() {
            Some(Tag::Comment) => return self.end_comment(),
            Some(Tag::Item) => self.give_item(),
            Some(Tag::Root | Tag::Channel | Tag::Field(_) | Tag::Other) | None => {}
        }
        Ok(())
    }

    fn end_comment(&mut self) -> Result<(), ReadError> {
        let (Some(comment), Some(item)) = (self.comment.take(), &mut self.item) else {
            return Ok(());
        };
        if row::is_known(&item.texts) {
            self.give_comment(&comment);
            return Ok(());
        }
        item.waiting_bytes += comment.bytes();
        item.waiting.push(comment);
        if item.waiting_bytes > WAITING_BYTES_MAX {
            let what = format!(
                "the item that began on line {} has {WAITING_BYTES_MAX} bytes of comments before its \
                 wp:post_id, wp:status and wp:post_type",
                item.texts.line()
            );
            return Err(self.xml.error(&what));
        }
        Ok(())
    }

    fn times(&self) -> Times<'_> {
        Times(self.options.zone.as_ref())
    }

    fn give_comment(&mut self, comment: &Texts) {
        let Some(item) = &self.item else {
            return;
        };
        let made = row::comment(comment, &item.texts, &self.options, &self.times());
        let is_given = matches!(made.item, SourceItem::Comment(_));
        self.notes.extend(made.note);
        self.ready.push_back(made.item);
        if let Some(item) = self.item.as_mut().filter(|_| is_given) {
            item.given += 1;
        }
    }

    fn give_item(&mut self) {
        let waiting = self
            .item
            .as_mut()
            .map(|item| std::mem::take(&mut item.waiting));
        for comment in waiting.unwrap_or_default() {
            self.give_comment(&comment);
        }
        let Some(item) = self.item.take() else {
            return;
        };
        let state = ItemState::of(&item.texts, &self.options);
        let made = row::discussion(&item.texts, state, item.given, &self.times());
        self.notes.extend(made.note);
        self.ready.push_back(made.item);
    }
}

fn field(row: &Texts, name: &str) -> Tag {
    row.field(name).map_or(Tag::Other, Tag::Field)
}

impl ExportReader for WxrReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            match self.xml.next()? {
                XmlEvent::Open(tag) => self.open(&tag)?,
                XmlEvent::Text(text) => self.text(&text)?,
                XmlEvent::Close => self.close()?,
                XmlEvent::End if self.seen_root => return Ok(None),
                XmlEvent::End => return Err(self.xml.error("this is no XML")),
            }
        }
    }

    fn opens_undeclared(&self) -> bool {
        false
    }

    fn take_notes(&mut self) -> Vec<Oddity> {
        std::mem::take(&mut self.notes)
    }
}
