//! Reads a Disqus export: `<disqus>` with `<thread dsq:id>` and `<post dsq:id>` in any order.
//!
//! A thread is known by its `dsq:id`; its `<id>` is whatever the site had put there, often nothing,
//! and is not used. A post names its thread and its parent by `dsq:id`. Messages are HTML. Times
//! are UTC. An author is known by user name, else by mail, else by name; a mail address is kept
//! only as a hash and never shown. `isSpam` beats `isDeleted`.

use quick_xml::events::BytesStart;

use super::input::{Input, ReadError};
use super::names::author_by_mail;
use super::record::{
    ExportReader, RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem,
    SourceState, check_id,
};
use super::report::{Reason, RowKind};
use super::times::rfc3339_or_utc;
use super::xml::{XmlEvent, XmlReader, attribute};
use crate::domain::body::BodyFormat;

/// Bytes of all the texts of one thread or post.
const ROW_BYTES_MAX: usize = 4 << 20;

/// A stream of threads and posts.
#[derive(Debug)]
pub struct DisqusReader {
    xml: XmlReader,
    path: Vec<Tag>,
    row: Option<Row>,
    seen_root: bool,
}

/// What an open element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Root,
    Row,
    Author,
    Field(Field),
    Other,
}

/// A text of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Link,
    Message,
    Created,
    Deleted,
    Spam,
    Closed,
    Email,
    Name,
    Username,
}

/// A thread or post as far as it has been read.
#[derive(Debug, Default)]
struct Row {
    is_post: bool,
    line: u64,
    id: String,
    thread: String,
    parent: Option<String>,
    title: String,
    link: String,
    message: String,
    created: String,
    deleted: String,
    spam: String,
    closed: String,
    email: String,
    name: String,
    username: String,
    bytes: usize,
}

impl DisqusReader {
    /// Reads `input` from its beginning.
    pub fn new(input: Input) -> Result<Self, ReadError> {
        Ok(Self {
            xml: XmlReader::new(input)?,
            path: Vec::new(),
            row: None,
            seen_root: false,
        })
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        let name = tag.local_name();
        let name = name.as_ref();
        let opened = match (self.path.len(), &mut self.row) {
            (0, _) if name == "disqus" => {
                self.seen_root = true;
                Tag::Root
            }
            (0, _) => {
                let what = format!("this is no Disqus export: it begins with <{name}>");
                return Err(self.xml.error(&what));
            }
            (1, _) if matches!(name, "thread" | "post") => {
                self.row = Some(Row {
                    is_post: name == "post",
                    line: self.xml.line(),
                    id: attribute(tag, "id").unwrap_or_default(),
                    ..Row::default()
                });
                Tag::Row
            }
            (2, Some(row)) => row.open_child(name, tag),
            (3, Some(_)) if self.path.last() == Some(&Tag::Author) => match name {
                "email" => Tag::Field(Field::Email),
                "name" => Tag::Field(Field::Name),
                "username" => Tag::Field(Field::Username),
                _ => Tag::Other,
            },
            _ => Tag::Other,
        };
        self.path.push(opened);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ReadError> {
        let field = self.path.iter().find_map(|tag| match tag {
            Tag::Field(field) => Some(*field),
            Tag::Root | Tag::Row | Tag::Author | Tag::Other => None,
        });
        let (Some(row), Some(field)) = (&mut self.row, field) else {
            return Ok(());
        };
        row.bytes += text.len();
        if row.bytes > ROW_BYTES_MAX {
            let what = format!(
                "the row that began on line {} has more than {ROW_BYTES_MAX} bytes",
                row.line
            );
            return Err(self.xml.error(&what));
        }
        row.field(field).push_str(text);
        Ok(())
    }
}

impl ExportReader for DisqusReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        loop {
            match self.xml.next()? {
                XmlEvent::Open(tag) => self.open(&tag)?,
                XmlEvent::Text(text) => self.text(&text)?,
                XmlEvent::Close => {
                    if self.path.pop() == Some(Tag::Row)
                        && let Some(row) = self.row.take()
                    {
                        return Ok(Some(row.finish()));
                    }
                }
                XmlEvent::End if self.seen_root => return Ok(None),
                XmlEvent::End => return Err(self.xml.error("this is no XML")),
            }
        }
    }

    fn opens_undeclared(&self) -> bool {
        false
    }
}

impl Row {
    fn open_child(&mut self, name: &str, tag: &BytesStart<'_>) -> Tag {
        match name {
            "title" => Tag::Field(Field::Title),
            "link" => Tag::Field(Field::Link),
            "message" => Tag::Field(Field::Message),
            "createdAt" => Tag::Field(Field::Created),
            "isDeleted" => Tag::Field(Field::Deleted),
            "isSpam" => Tag::Field(Field::Spam),
            "isClosed" => Tag::Field(Field::Closed),
            "author" => Tag::Author,
            "thread" => {
                self.thread = attribute(tag, "id").unwrap_or_default();
                Tag::Other
            }
            "parent" => {
                self.parent = attribute(tag, "id").filter(|id| !id.is_empty());
                Tag::Other
            }
            _ => Tag::Other,
        }
    }

    fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Title => &mut self.title,
            Field::Link => &mut self.link,
            Field::Message => &mut self.message,
            Field::Created => &mut self.created,
            Field::Deleted => &mut self.deleted,
            Field::Spam => &mut self.spam,
            Field::Closed => &mut self.closed,
            Field::Email => &mut self.email,
            Field::Name => &mut self.name,
            Field::Username => &mut self.username,
        }
    }

    fn finish(self) -> SourceItem {
        let kind = if self.is_post {
            RowKind::Comment
        } else {
            RowKind::Discussion
        };
        let wrong = check_id(&self.id).err().or_else(|| {
            let unnamed = self.is_post && check_id(&self.thread).is_err();
            unnamed.then(|| (Reason::NoDiscussion, "the post names no thread".to_owned()))
        });
        if let Some((reason, detail)) = wrong {
            return SourceItem::Rejected(RejectedRow {
                kind,
                source_id: self.id,
                line: self.line,
                reason,
                detail,
            });
        }
        match kind {
            RowKind::Comment => SourceItem::Comment(Box::new(self.comment())),
            RowKind::Discussion => SourceItem::Discussion(self.discussion()),
        }
    }

    fn discussion(self) -> SourceDiscussion {
        let link = self.link.trim();
        SourceDiscussion {
            created: rfc3339_or_utc(&self.created),
            closed: is_true(&self.closed),
            deleted: is_true(&self.deleted),
            url: (!link.is_empty()).then(|| link.to_owned()),
            source_id: self.id,
            title: self.title,
            entity: None,
            line: self.line,
        }
    }

    fn comment(self) -> SourceComment {
        let state = if is_true(&self.spam) {
            SourceState::Spam
        } else if is_true(&self.deleted) {
            SourceState::Deleted
        } else {
            SourceState::Published
        };
        SourceComment {
            author: self.author(),
            created: rfc3339_or_utc(&self.created),
            source_id: self.id,
            discussion_source_id: self.thread,
            parent_source_id: self.parent,
            edited: None,
            body: self.message,
            format: BodyFormat::Html,
            state,
            line: self.line,
        }
    }

    fn author(&self) -> SourceAuthor {
        let (username, name) = (self.username.trim(), self.name.trim());
        let shown = if name.is_empty() { username } else { name };
        if username.is_empty() {
            return author_by_mail(&self.email, name);
        }
        SourceAuthor {
            key: format!("user:{username}"),
            name: shown.to_owned(),
        }
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.trim(), "true" | "1")
}

#[cfg(test)]
mod tests;
