//! What a selection asks for, as plain data: names, arguments, what lies below.
//!
//! Loading happens before rows are written, so it has to know what the rows will be asked. Fragments
//! are flattened, whatever their type condition, and `@skip` is ignored: at worst something is
//! loaded that nobody reads.

use async_graphql::{SelectionField, Value};

use crate::domain::page::{Order, PageArgs};

/// The fields selected at one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Want {
    fields: Vec<WantField>,
}

/// One selected field.
#[derive(Clone, Debug)]
pub(super) struct WantField {
    name: String,
    arguments: Vec<(String, Value)>,
    below: Want,
}

impl Want {
    /// Reads the selection below a field.
    pub(super) fn of(field: SelectionField<'_>) -> Self {
        let fields = field
            .selection_set()
            .filter(|field| !field.name().starts_with("__"))
            .map(|field| WantField {
                name: field.name().to_owned(),
                // An argument that cannot be read fails its own field when that is resolved.
                arguments: field
                    .arguments()
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value))
                    .collect(),
                below: Self::of(field),
            })
            .collect();
        Self { fields }
    }

    /// Whether a field is selected here.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// Every selection of a field here; there are several with aliases and fragments.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a WantField> {
        self.fields.iter().filter(move |field| field.name == name)
    }

    /// What lies below all selections of a field, together.
    pub(super) fn below(&self, name: &str) -> Self {
        let fields = self
            .all(name)
            .flat_map(|field| field.below.fields.iter().cloned())
            .collect();
        Self { fields }
    }

    /// What lies below any of some fields' selections.
    pub(super) fn join<'a, I: Iterator<Item = &'a WantField>>(fields: I) -> Self {
        Self {
            fields: fields
                .flat_map(|field| field.below.fields.iter().cloned())
                .collect(),
        }
    }
}

/// The arguments of a list of comments: what a loaded list is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListArgs {
    /// Oldest or newest first.
    pub(super) order: Order,
    /// Which part.
    pub(super) page: PageArgs<String>,
}

/// A connection's four arguments as the schema has them.
pub(super) fn page_args(
    first: Option<i32>,
    after: Option<String>,
    last: Option<i32>,
    before: Option<String>,
) -> PageArgs<String> {
    PageArgs {
        first: first.map(i64::from),
        after,
        last: last.map(i64::from),
        before,
    }
}

impl WantField {
    fn value(&self, name: &str) -> Option<&Value> {
        self.arguments
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value)
    }

    /// An argument that is an integer.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Some(Value::Number(number)) => number.as_i64(),
            _ => None,
        }
    }

    /// An argument that is a text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.value(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// The field's arguments as those of a list; absent and null are the same.
    pub(super) fn list_args(&self) -> ListArgs {
        let value = |name| self.value(name);
        let integer = |name| self.integer(name);
        let text = |name| self.text(name);
        let newest = match value("order") {
            Some(Value::Enum(name)) => name.as_str() == "NEWEST",
            Some(Value::String(name)) => name == "NEWEST",
            _ => false,
        };
        ListArgs {
            order: if newest { Order::Newest } else { Order::Oldest },
            page: PageArgs {
                first: integer("first"),
                after: text("after"),
                last: integer("last"),
                before: text("before"),
            },
        }
    }
}

impl Want {
    /// Adds another selection to this one.
    pub(super) fn extend(&mut self, other: Self) {
        self.fields.extend(other.fields);
    }
}
