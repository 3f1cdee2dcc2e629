//! Reads a foreign file of JSON lines by a [`FieldMap`]: every line is a comment.
//!
//! Fields that the map does not name are passed. A field that it names and no row has is an error at
//! the end of the file, so that a typing mistake cannot import comments without text. Times are RFC
//! 3339 or numbers: below 10^11 seconds since 1970, else ms. A discussion's title, address and
//! entity are those of the first row that has any of them. Of the file only a few bytes a discussion are kept.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::map::{Field, FieldMap, Origin, at_path};
use super::{FormatField, StateField};
use crate::import::input::{Input, ReadError};
use crate::import::lines::Lines;
use crate::import::loose::Firsts;
use crate::import::names::{ANONYMOUS, mail_key};
use crate::import::record::{
    ExportReader, RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem,
    SourceTime, check_id,
};
use crate::import::report::{Reason, RowKind};
use crate::import::times::{rfc3339, unix_seconds_or_ms};

/// Bytes of one line: foreign rows carry more than ours.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// A stream of foreign lines.
#[derive(Debug)]
pub struct MappedReader {
    lines: Lines,
    map: FieldMap,
    /// For each mapping, whether a row had its field.
    occurred: Vec<bool>,
    /// Discussions that have been described.
    described: Firsts,
    ready: VecDeque<SourceItem>,
    last_line: u64,
}

/// A row's values; empty where it has none.
#[derive(Debug, Default)]
struct Texts {
    id: String,
    discussion: String,
    parent: String,
    author: String,
    name: String,
    created: String,
    edited: String,
    body: String,
    format: String,
    state: String,
    deleted: bool,
    hidden: bool,
    title: String,
    url: String,
    entity_type: String,
    entity_id: String,
}

impl MappedReader {
    /// Reads `input` from its beginning.
    #[must_use]
    pub fn new(input: Input, map: FieldMap) -> Self {
        Self {
            lines: Lines::new(input, LINE_BYTES_MAX),
            occurred: vec![false; map.mappings().len()],
            map,
            described: Firsts::default(),
            ready: VecDeque::new(),
            last_line: 0,
        }
    }

    fn texts(&mut self, row: &Map<String, Value>) -> Result<Texts, String> {
        let mut texts = Texts::default();
        for (mapping, occurred) in self.map.mappings().iter().zip(&mut self.occurred) {
            let path = match &mapping.origin {
                Origin::Constant(value) => {
                    *occurred = true;
                    texts.set(mapping.field, value.clone());
                    continue;
                }
                Origin::Path(path) => path,
            };
            let Some(value) = at_path(row, path) else {
                continue;
            };
            *occurred = true;
            let field = mapping.field;
            if field == Field::Deleted {
                texts.deleted = is_true(value);
            } else if field == Field::Hidden {
                texts.hidden = is_true(value);
            } else {
                let text = text(value).map_err(|kind| {
                    format!("the field `{path}` holds {kind}, but `{field}` is text")
                })?;
                texts.set(field, text);
            }
        }
        Ok(texts)
    }

    fn take(&mut self, texts: Texts, line: u64) -> Result<(), String> {
        if let Err((reason, detail)) = texts.check_ids() {
            self.ready.push_back(SourceItem::Rejected(RejectedRow {
                kind: RowKind::Comment,
                source_id: texts.id,
                line,
                reason,
                detail,
            }));
            return Ok(());
        }
        let described = [&texts.title, &texts.url, &texts.entity_id];
        let says_something = described.iter().any(|text| !text.trim().is_empty());
        if says_something && self.described.is_first(&texts.discussion) {
            let discussion = texts.discussion();
            self.ready.push_back(SourceItem::Discussion(discussion));
        }
        let comment = texts.comment(line)?;
        self.ready.push_back(SourceItem::Comment(Box::new(comment)));
        Ok(())
    }

    /// At the end: whether every field of the map was seen.
    fn check_occurred(&self) -> Result<(), ReadError> {
        let mut unseen = (self.map.mappings().iter().zip(&self.occurred))
            .filter(|(_, occurred)| !**occurred)
            .map(|(mapping, _)| mapping);
        match unseen.next() {
            // An empty file has its own error.
            Some(mapping) if self.last_line > 0 => {
                let field = mapping.field;
                let Origin::Path(path) = &mapping.origin else {
                    return Ok(());
                };
                let what = format!("no row has the field `{path}`, which --map takes as `{field}`");
                Err(self.lines.error(self.last_line, &what))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl ExportReader for MappedReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        while self.ready.is_empty() {
            let Some((number, text)) = self.lines.next()? else {
                self.check_occurred()?;
                return Ok(None);
            };
            let read: Result<Map<String, Value>, serde_json::Error> = serde_json::from_str(text);
            let row = read.map_err(|error| self.lines.json_error(number, &error))?;
            self.last_line = number;
            let taken = self.texts(&row).and_then(|texts| self.take(texts, number));
            taken.map_err(|what| self.lines.error(number, &what))?;
        }
        Ok(self.ready.pop_front())
    }

    fn opens_undeclared(&self) -> bool {
        true
    }
}

impl Texts {
    fn set(&mut self, field: Field, text: String) {
        let place = match field {
            Field::Id => &mut self.id,
            Field::Discussion => &mut self.discussion,
            Field::Parent => &mut self.parent,
            Field::Author => &mut self.author,
            Field::Name => &mut self.name,
            Field::CreatedAt => &mut self.created,
            Field::EditedAt => &mut self.edited,
            Field::Body => &mut self.body,
            Field::Format => &mut self.format,
            Field::State => &mut self.state,
            Field::Title => &mut self.title,
            Field::Url => &mut self.url,
            Field::EntityType => &mut self.entity_type,
            Field::EntityId => &mut self.entity_id,
            Field::Deleted | Field::Hidden => return,
        };
        *place = text;
    }

    fn check_ids(&self) -> Result<(), (Reason, String)> {
        check_id(&self.id)?;
        check_id(&self.discussion).map_err(|(_, detail)| {
            let what = format!("the discussion of the row is none: {detail}");
            (Reason::NoDiscussion, what)
        })
    }

    fn discussion(&self) -> SourceDiscussion {
        let url = Some(self.url.clone());
        SourceDiscussion {
            source_id: self.discussion.clone(),
            title: self.title.clone(),
            url: url.filter(|url| !url.trim().is_empty()),
            entity: (!self.entity_id.is_empty())
                .then(|| (self.entity_type.clone(), self.entity_id.clone())),
            // Its first comment tells; it has no row of its own.
            created: Err(String::new()),
            closed: false,
            deleted: false,
            line: 0,
        }
    }

    fn comment(self, line: u64) -> Result<SourceComment, String> {
        let format = match self.format.as_str() {
            "" => FormatField::default(),
            name => FormatField::named(name)?,
        };
        let state = match self.state.as_str() {
            _ if self.deleted => StateField::Deleted,
            _ if self.hidden => StateField::Hidden,
            "" => StateField::default(),
            name => StateField::named(name)?,
        };
        Ok(SourceComment {
            author: self.author(),
            source_id: self.id,
            discussion_source_id: self.discussion,
            parent_source_id: Some(self.parent).filter(|parent| !parent.is_empty()),
            created: time(&self.created),
            edited: (!self.edited.trim().is_empty()).then(|| time(&self.edited)),
            body: self.body,
            format: format.format(),
            state: state.state(),
            line,
        })
    }

    /// Known by what the map takes as author, else by name. An address of mail is hashed.
    fn author(&self) -> SourceAuthor {
        let (author, name) = (self.author.trim(), self.name.trim());
        let key = if author.contains('@') {
            mail_key(author)
        } else if !author.is_empty() {
            format!("user:{author}")
        } else if !name.is_empty() {
            format!("name:{name}")
        } else {
            ANONYMOUS.to_owned()
        };
        let shown = if name.is_empty() { author } else { name };
        SourceAuthor {
            key,
            name: shown.to_owned(),
        }
    }
}

fn time(text: &str) -> SourceTime {
    unix_seconds_or_ms(text).or_else(|_no_number| rfc3339(text))
}

/// A value as text, or what it is instead.
fn text(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(_) => Err("true or false"),
        Value::Array(_) => Err("a list"),
        Value::Object(_) => Err("an object"),
    }
}

/// Whatever says yes, such as the time of a deletion.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(
            text.trim().to_ascii_lowercase().as_str(),
            "" | "false" | "no" | "0"
        ),
        Value::Array(list) => !list.is_empty(),
        Value::Object(_) => true,
    }
}
