//! Reads our own plain format: UTF-8, one JSON object a line, in any order. Empty lines are passed.
//!
//! ```json
//! {"type":"discussion","id":"d1","title":"…","url":"https://…","entity":{"type":"article","id":"7"},"created_at":"2024-05-01T12:00:00Z","closed":false}
//! {"type":"comment","id":"c1","discussion":"d1","parent":null,"author":{"id":"u1","name":"Ann"},"created_at":1714564800000,"edited_at":null,"format":"markdown","body":"…","state":"published"}
//! ```
//!
//! Of a discussion only `id` is needed, of a comment `id`, `discussion`, `created_at` and `body`.
//! A discussion that is named but not declared opens under that id. Times are RFC 3339 or ms since
//! 1970. `format` is `plain` (the default), `markdown` or `html`; `state` is `published` (the
//! default), `pending`, `hidden`, `deleted` or `spam`. An unknown field is an error, so that a
//! misspelt one cannot be lost.
//!
//! Lines of an export of this service hold one more field, `threadline`, with ids, revisions and
//! origins ([`crate::export`]). It is looked at only when restoring.
//!
//! Files of others are read by a [`map`] of their fields.

pub mod map;
pub mod mapped;

use std::fmt;
use std::io::{BufRead as _, Read as _};

use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::Value;

use crate::domain::body::BodyFormat;
use crate::import::input::{Counted, Input, ReadError};
use crate::import::record::{
    ExportReader, RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem,
    SourceState, SourceTime, check_id,
};
use crate::import::report::{Reason, RowKind};
use crate::import::times::rfc3339;

pub use crate::export::LINE_BYTES_MAX;
use crate::export::{CommentField, DiscussionField, Kept};

/// A stream of lines.
pub struct JsonlReader {
    lines: Counted<Input>,
    line: Vec<u8>,
    /// The field `threadline` of the last line, and its number.
    kept: Option<(RowKind, u64, Value)>,
}

impl fmt::Debug for JsonlReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlReader")
            .field("line", &self.lines.line())
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Discussion(DiscussionLine),
    Comment(Box<CommentLine>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiscussionLine {
    id: String,
    #[serde(default)]
    title: String,
    url: Option<String>,
    entity: Option<EntityField>,
    created_at: Option<TimeField>,
    #[serde(default)]
    closed: bool,
    threadline: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityField {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommentLine {
    id: String,
    discussion: String,
    parent: Option<String>,
    author: Option<AuthorField>,
    created_at: Option<TimeField>,
    edited_at: Option<TimeField>,
    #[serde(default)]
    format: FormatField,
    body: String,
    #[serde(default)]
    state: StateField,
    threadline: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuthorField {
    id: Option<String>,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TimeField {
    Ms(i64),
    Text(String),
    Other(Value),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FormatField {
    #[default]
    Plain,
    Markdown,
    Html,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateField {
    #[default]
    Published,
    Pending,
    Hidden,
    Deleted,
    Spam,
}

impl FormatField {
    fn named(name: &str) -> Result<Self, String> {
        Self::deserialize(StrDeserializer::new(name)).map_err(|error: ValueError| error.to_string())
    }

    const fn format(&self) -> BodyFormat {
        match self {
            Self::Plain => BodyFormat::Plain,
            Self::Markdown => BodyFormat::Markdown,
            Self::Html => BodyFormat::Html,
        }
    }
}

impl StateField {
    fn named(name: &str) -> Result<Self, String> {
        Self::deserialize(StrDeserializer::new(name)).map_err(|error: ValueError| error.to_string())
    }

    const fn state(&self) -> SourceState {
        match self {
            Self::Published => SourceState::Published,
            Self::Pending => SourceState::Pending,
            Self::Hidden => SourceState::Hidden,
            Self::Deleted => SourceState::Deleted,
            Self::Spam => SourceState::Spam,
        }
    }
}

impl JsonlReader {
    /// Reads `input` from its beginning.
    pub fn new(input: Input) -> Self {
        Self {
            lines: Counted::new(input, u64::MAX),
            line: Vec::new(),
            kept: None,
        }
    }

    /// Reads the next line that is not empty; `None` at the end. Gives its number.
    fn next_line(&mut self) -> Result<Option<u64>, ReadError> {
        loop {
            let number = self.lines.line();
            self.line.clear();
            let mut line = (&mut self.lines).take(LINE_BYTES_MAX + 1);
            let read = line
                .read_until(b'\n', &mut self.line)
                .map_err(|error| self.lines.error(&error))?;
            if read == 0 {
                return Ok(None);
            }
            let whole = self.line.ends_with(b"\n");
            if u64::try_from(read).is_ok_and(|read| read > LINE_BYTES_MAX) && !whole {
                let what = format!("the line is longer than {LINE_BYTES_MAX} bytes");
                return Err(self.lines.error(&what));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(number));
            }
        }
    }

    fn error(&self, number: u64, what: &(impl ToString + ?Sized)) -> ReadError {
        ReadError {
            line: number,
            ..self.lines.error(what)
        }
    }
}

impl ExportReader for JsonlReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        let Some(number) = self.next_line()? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&self.line).map_err(|error| {
            self.error(number, &format!("the bytes here are not UTF-8: {error}"))
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let line: Line = serde_json::from_str(text).map_err(|error| self.error(number, &error))?;
        Ok(Some(match line {
            Line::Discussion(mut line) => {
                let kept = line.threadline.take();
                self.kept = kept.map(|kept| (RowKind::Discussion, number, kept));
                line.item(number)
            }
            Line::Comment(mut line) => {
                let kept = line.threadline.take();
                self.kept = kept.map(|kept| (RowKind::Comment, number, kept));
                line.item(number)
            }
        }))
    }

    fn opens_undeclared(&self) -> bool {
        true
    }

    fn kept(&mut self) -> Result<Option<Kept>, ReadError> {
        let Some((kind, number, field)) = self.kept.take() else {
            return Ok(None);
        };
        let kept = match kind {
            RowKind::Discussion => DiscussionField::deserialize(field).map(Kept::from),
            RowKind::Comment => CommentField::deserialize(field).map(Kept::from),
        };
        let kept = kept.map_err(|error| self.error(number, &format!("threadline: {error}")));
        kept.map(Some)
    }
}

impl DiscussionLine {
    fn item(self, line: u64) -> SourceItem {
        if let Err(wrong) = check_id(&self.id) {
            return reject(RowKind::Discussion, self.id, line, wrong);
        }
        SourceItem::Discussion(SourceDiscussion {
            source_id: self.id,
            title: self.title,
            url: self.url.filter(|url| !url.trim().is_empty()),
            entity: self.entity.map(|entity| (entity.kind, entity.id)),
            created: time(self.created_at),
            closed: self.closed,
            deleted: false,
            line,
        })
    }
}

impl CommentLine {
    fn item(self, line: u64) -> SourceItem {
        let unnamed = || {
            (
                Reason::NoDiscussion,
                "the comment names no discussion".to_owned(),
            )
        };
        let checked =
            check_id(&self.id).and(check_id(&self.discussion).map_err(|_bad_id| unnamed()));
        if let Err(wrong) = checked {
            return reject(RowKind::Comment, self.id, line, wrong);
        }
        let author = self.author.map_or_else(
            || SourceAuthor {
                key: "anonymous".to_owned(),
                name: String::new(),
            },
            AuthorField::author,
        );
        SourceItem::Comment(Box::new(SourceComment {
            source_id: self.id,
            discussion_source_id: self.discussion,
            parent_source_id: self.parent.filter(|parent| !parent.is_empty()),
            author,
            created: time(self.created_at),
            edited: self.edited_at.map(|edited| time(Some(edited))),
            body: self.body,
            format: self.format.format(),
            state: self.state.state(),
            line,
        }))
    }
}

impl AuthorField {
    fn author(self) -> SourceAuthor {
        let key = match self.id.filter(|id| !id.is_empty()) {
            Some(id) => format!("user:{id}"),
            None if self.name.is_empty() => "anonymous".to_owned(),
            None => format!("name:{}", self.name),
        };
        SourceAuthor {
            key,
            name: self.name,
        }
    }
}

fn time(field: Option<TimeField>) -> SourceTime {
    match field {
        Some(TimeField::Ms(ms)) => Ok(ms),
        Some(TimeField::Text(text)) => rfc3339(&text),
        Some(TimeField::Other(value)) => Err(value.to_string()),
        None => Err(String::new()),
    }
}

fn reject(
    kind: RowKind,
    source_id: String,
    line: u64,
    (reason, detail): (Reason, String),
) -> SourceItem {
    SourceItem::Rejected(RejectedRow {
        kind,
        source_id,
        line,
        reason,
        detail,
    })
}

#[cfg(test)]
mod mapped_tests;
#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<SourceItem>, ReadError> {
        let mut reader = JsonlReader::new(Box::new(std::io::Cursor::new(text.to_vec())));
        std::iter::from_fn(|| reader.next_item().transpose()).collect()
    }

    fn refused(text: &str) -> ReadError {
        read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_file_of_nothing_but_plain_comments_is_enough() {
        let text = concat!(
            "\u{feff}{\"type\":\"comment\",\"id\":\"1\",\"discussion\":\"d\",\"created_at\":1714564800000,\"body\":\"a\"}\n",
            "\r\n",
            "{\"type\":\"comment\",\"id\":\"2\",\"discussion\":\"d\",\"parent\":\"1\",\"author\":{\"name\":\"Ann\"},",
            "\"created_at\":\"2024-05-01T14:00:00+02:00\",\"format\":\"html\",\"state\":\"hidden\",\"body\":\"b\"}",
        );
        let items = read(text.as_bytes()).unwrap();
        let [SourceItem::Comment(first), SourceItem::Comment(second)] = &items[..] else {
            panic!("{items:?}");
        };
        assert_eq!(first.author.key, "anonymous");
        assert_eq!(first.created, second.created);
        assert_eq!((first.line, second.line), (1, 3));
        assert_eq!(second.author.key, "name:Ann");
        assert_eq!(second.parent_source_id.as_deref(), Some("1"));
        assert_eq!(second.format, BodyFormat::Html);
        assert_eq!(second.state, SourceState::Hidden);
    }

    #[test]
    fn an_unknown_field_is_an_error_with_line_and_name() {
        let comment = r#"{"type":"comment","id":"1","discussion":"d","body":"a","parnet":"0"}"#;
        let error = refused(&format!("\n{comment}"));
        assert_eq!(error.line, 2);
        assert!(error.what.contains("parnet"), "{error}");
        let error = refused(r#"{"type":"discussion","id":"1","comments":[]}"#);
        assert!(error.what.contains("comments"), "{error}");
        let error = refused(r#"{"type":"comment","id":"1","discussion":"d"}"#);
        assert!(error.what.contains("body"), "{error}");
        assert!(refused(r#"{"type":"vote","id":"1"}"#).what.contains("vote"));
    }

    #[test]
    fn what_is_no_line_of_the_format_stops_with_its_place() {
        assert_eq!(refused("{}\n").line, 1);
        let cut = r#"{"type":"discussion","id":"1"}"#.to_owned() + "\n{\"type\":\"disc";
        assert_eq!(refused(&cut).line, 2);
        let error = read(b"{\"type\":\"discussion\",\"id\":\"1\"}\n{\"id\":\"\xe4\"}").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.what.contains("UTF-8"), "{error}");
        let long = "x".repeat(usize::try_from(LINE_BYTES_MAX).unwrap() + 1);
        assert!(refused(&long).what.contains("longer"));
        assert!(refused(&format!("{}{}", "[".repeat(100_000), "\n")).line == 1);
    }

    #[test]
    fn a_time_of_another_kind_is_kept_as_unreadable_and_an_empty_id_is_rejected() {
        let line = |id: &str, time: &str| {
            format!(
                r#"{{"type":"comment","id":"{id}","discussion":"d","body":"a","created_at":{time}}}"#
            )
        };
        for time in ["1.5", "\"soon\"", "[]", "true"] {
            match &read(line("1", time).as_bytes()).unwrap()[..] {
                [SourceItem::Comment(comment)] => assert!(comment.created.is_err(), "{time}"),
                other => panic!("{other:?}"),
            }
        }
        match &read(line("", "1").as_bytes()).unwrap()[..] {
            [SourceItem::Rejected(row)] => assert_eq!(row.reason, Reason::NoId),
            other => panic!("{other:?}"),
        }
    }
}
