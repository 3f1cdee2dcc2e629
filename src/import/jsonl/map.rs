//! Which of a foreign file's fields stands for which of ours: `id=message_id,format:=markdown`.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::{FormatField, StateField};

/// A field of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The comment's id.
    Id,
    /// The id of its discussion.
    Discussion,
    /// The id of what it answers.
    Parent,
    /// What its author is known by.
    Author,
    /// What its author is called.
    Name,
    /// When it was written.
    CreatedAt,
    /// When its text last changed.
    EditedAt,
    /// Its text.
    Body,
    /// How the text is written.
    Format,
    /// Where it stood.
    State,
    /// Whether it was deleted.
    Deleted,
    /// Whether a moderator had taken it away.
    Hidden,
    /// Its discussion's title.
    Title,
    /// Its discussion's address.
    Url,
    /// The kind of thing its discussion is about.
    EntityType,
    /// Which of these things.
    EntityId,
}

const FIELDS: [(&str, Field); 16] = [
    ("id", Field::Id),
    ("discussion", Field::Discussion),
    ("parent", Field::Parent),
    ("author", Field::Author),
    ("name", Field::Name),
    ("created_at", Field::CreatedAt),
    ("edited_at", Field::EditedAt),
    ("body", Field::Body),
    ("format", Field::Format),
    ("state", Field::State),
    ("deleted", Field::Deleted),
    ("hidden", Field::Hidden),
    ("title", Field::Title),
    ("url", Field::Url),
    ("entity_type", Field::EntityType),
    ("entity_id", Field::EntityId),
];

/// Without these there is no comment.
const NEEDED: [Field; 4] = [Field::Id, Field::Discussion, Field::CreatedAt, Field::Body];
/// What the whole file may have in common.
const CONSTANT: [Field; 6] = [
    Field::Discussion,
    Field::EntityType,
    Field::Format,
    Field::State,
    Field::Title,
    Field::Url,
];

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = FIELDS.iter().find(|(_, field)| field == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// Where a field's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A field of the row, or one inside another: `author.name`.
    Path(String),
    /// The same for every row.
    Constant(String),
}

/// One field of ours and where it comes from, written `ours=theirs` or `ours:=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(super) field: Field,
    pub(super) origin: Origin,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "write OURS=THEIRS, or OURS:=VALUE for what all rows have in common";
        let (ours, theirs) = text.split_once('=').ok_or(usage)?;
        let (ours, is_constant) = ours
            .strip_suffix(':')
            .map_or((ours, false), |ours| (ours, true));
        let (ours, theirs) = (ours.trim(), theirs.trim());
        let named = FIELDS.iter().find(|(name, _)| *name == ours);
        let Some((_, field)) = named else {
            let all: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            let all = all.join(", ");
            return Err(format!("`{ours}` is no field of ours; these are: {all}"));
        };
        if theirs.is_empty() {
            return Err(usage.to_owned());
        }
        if !is_constant {
            let origin = Origin::Path(theirs.to_owned());
            return Ok(Self {
                field: *field,
                origin,
            });
        }
        if !CONSTANT.contains(field) {
            return Err(format!("`{field}` cannot be the same for all rows"));
        }
        if *field == Field::Format {
            FormatField::named(theirs)?;
        }
        if *field == Field::State {
            StateField::named(theirs)?;
        }
        let origin = Origin::Constant(theirs.to_owned());
        Ok(Self {
            field: *field,
            origin,
        })
    }
}

/// All that is known about the foreign fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMap(Vec<Mapping>);

impl FieldMap {
    /// Checks that every needed field is there and none twice.
    ///
    /// # Errors
    ///
    /// In words, naming the field.
    pub fn new(mappings: Vec<Mapping>) -> Result<Self, String> {
        let times = |field| mappings.iter().filter(|one| one.field == field).count();
        if let Some(missing) = NEEDED.into_iter().find(|field| times(*field) == 0) {
            return Err(format!("--map does not say where `{missing}` comes from"));
        }
        if times(Field::EntityType) != times(Field::EntityId) {
            return Err(
                "--map names `entity_type` and `entity_id` together or not at all".to_owned(),
            );
        }
        match mappings.iter().find(|one| times(one.field) > 1) {
            Some(twice) => Err(format!("--map names `{}` more than once", twice.field)),
            None => Ok(Self(mappings)),
        }
    }

    /// The mappings, in a fixed order.
    pub(super) fn mappings(&self) -> &[Mapping] {
        &self.0
    }
}

/// The value at `path`: the field of that very name, else one field inside the other.
pub(super) fn at_path<'v>(row: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    if let Some(value) = row.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    match row.get(first)? {
        Value::Object(inner) => at_path(inner, rest),
        // Nothing stands there in this row, but the field is no misspelt one.
        null @ Value::Null => Some(null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(text: &str) -> Result<FieldMap, String> {
        let mappings: Result<Vec<Mapping>, String> = text.split(',').map(str::parse).collect();
        FieldMap::new(mappings?)
    }

    #[test]
    fn a_map_names_every_needed_field_once() {
        assert!(map("id=id,discussion=root,created_at=ts,body=text").is_ok());
        let all = "id=a,discussion:=one list,created_at=ts,body=c,format:=markdown,state:=pending";
        assert!(map(all).is_ok());
        let wrong = [
            ("id=id,discussion=root,created_at=ts", "`body`"),
            (
                "id=id,discussion=root,created_at=ts,body=a,body=b",
                "more than once",
            ),
            (
                "id=id,discussion=a,created_at=b,body=c,entity_id=d",
                "together",
            ),
            ("subject=id", "`subject` is no field"),
            ("id", "OURS=THEIRS"),
            ("body=", "OURS=THEIRS"),
            ("id:=1", "cannot be the same"),
            ("format:=bbcode", "bbcode"),
            ("state:=gone", "gone"),
        ];
        for (text, part) in wrong {
            let error = map(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_leads_into_objects_and_a_name_with_dots_is_a_name_first() {
        let row = json!({"a.b": 1, "a": {"b": 2, "c": {"d": 3}}, "n": null, "t": "x"});
        let Value::Object(row) = row else {
            panic!("{row}");
        };
        assert_eq!(at_path(&row, "a.b"), Some(&json!(1)));
        assert_eq!(at_path(&row, "a.c.d"), Some(&json!(3)));
        assert_eq!(at_path(&row, "n.b"), Some(&Value::Null));
        assert_eq!(at_path(&row, "a.x"), None);
        assert_eq!(at_path(&row, "t.x"), None);
    }
}
