//! The texts of one row, by the names of its elements.

/// What has been read of a row's fields.
#[derive(Debug)]
pub(super) struct Texts {
    names: &'static [&'static str],
    values: Vec<String>,
    line: u64,
    bytes: usize,
}

impl Texts {
    /// A row with nothing in it, which began on `line`.
    pub(super) fn new(names: &'static [&'static str], line: u64) -> Self {
        Self {
            names,
            values: vec![String::new(); names.len()],
            line,
            bytes: 0,
        }
    }

    /// The place of a field; `None` for one that is not read.
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|field| *field == name)
    }

    /// Adds to a field, whose text may come in pieces.
    pub(super) fn push(&mut self, field: usize, text: &str) {
        if let Some(value) = self.values.get_mut(field) {
            value.push_str(text);
            self.bytes += text.len();
        }
    }

    /// A field as it stands in the file; empty if it is not there.
    pub(super) fn raw(&self, name: &str) -> &str {
        let field = self.field(name);
        debug_assert!(field.is_some(), "{name} is not read");
        field
            .and_then(|field| self.values.get(field))
            .map_or("", String::as_str)
    }

    /// A field without the white space around it.
    pub(super) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Where the row began, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of all its fields.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
