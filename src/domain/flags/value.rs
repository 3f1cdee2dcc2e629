//! What flags serve (values, named variants) and what rules compare (attributes).

use std::sync::Arc;

use serde::Deserialize;

/// What kind of value a flag serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// On or off.
    Bool,
    /// Text.
    String,
    /// A 64-bit integer.
    Int,
    /// Any JSON value.
    Json,
}

/// A value a flag serves; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Bool(bool),
    /// Text.
    String(Arc<str>),
    /// A 64-bit integer.
    Int(i64),
    /// Any JSON value.
    Json(Arc<serde_json::Value>),
}

impl Value {
    /// Reads a value of a kind as it is written in a flag's file. The error says what does not fit.
    pub(super) fn from_toml(kind: Kind, value: toml::Value) -> Result<Self, String> {
        let found = value.type_str();
        match (kind, value) {
            (Kind::Bool, toml::Value::Boolean(value)) => Ok(Self::Bool(value)),
            (Kind::String, toml::Value::String(value)) => Ok(Self::String(Arc::from(value))),
            (Kind::Int, toml::Value::Integer(value)) => Ok(Self::Int(value)),
            (Kind::Json, value) => Ok(Self::Json(Arc::new(json(value)?))),
            (Kind::Bool | Kind::String | Kind::Int, _) => Err(format!(
                "is a TOML {found}, which does not fit the flag's kind"
            )),
        }
    }
}

fn json(value: toml::Value) -> Result<serde_json::Value, String> {
    Ok(match value {
        toml::Value::String(value) => value.into(),
        toml::Value::Integer(value) => value.into(),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Float(value) => serde_json::Number::from_f64(value)
            .ok_or("holds a float that JSON cannot carry: inf or nan")?
            .into(),
        toml::Value::Datetime(_) => {
            return Err("holds a date, which JSON cannot carry: write it as text".to_owned());
        }
        toml::Value::Array(values) => values
            .into_iter()
            .map(json)
            .collect::<Result<Vec<_>, _>>()?
            .into(),
        toml::Value::Table(table) => table
            .into_iter()
            .map(|(name, value)| Ok((name, json(value)?)))
            .collect::<Result<serde_json::Map<_, _>, String>>()?
            .into(),
    })
}

/// A named value of a flag; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Unique in its flag; what metrics and rules name.
    pub name: Arc<str>,
    /// What callers get.
    pub value: Value,
}

/// A fact about the asker that rules compare. Types do not mix: `1` is not `"1"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub enum Attribute {
    /// Yes or no.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// Text, compared byte by byte.
    Text(String),
}

impl From<bool> for Attribute {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
