//! Variables are coerced before anything runs, so that a missing one cannot stop a mutation half-way.
//!
//! Knows the built-in scalars, lists and non-null; values of other named types (enums, input
//! objects, own scalars) are only checked for presence, and the executor judges them. Values of
//! variables the operation does not define are dropped.

use async_graphql::parser::types::{BaseType, OperationDefinition, Type, VariableDefinition};
use async_graphql::{Name, Number, Pos, Positioned, Value, Variables};

use crate::api::http::error::{Code, RequestError};

/// Coerces the given values to what the operation defines.
pub(super) fn coerce(
    operation: &OperationDefinition,
    mut given: Variables,
) -> Result<Variables, RequestError> {
    let mut coerced = Variables::default();
    for definition in &operation.variable_definitions {
        let name = &definition.node.name.node;
        if coerced.contains_key(name) {
            return Err(bad_input(
                format!("variable \"${name}\" is defined twice"),
                definition.pos,
            ));
        }
        if let Some(value) = variable(&definition.node, definition.pos, given.remove(name))? {
            coerced.insert(name.clone(), value);
        }
    }
    Ok(coerced)
}

/// `None` leaves the variable absent, which is not the same as null.
fn variable(
    definition: &VariableDefinition,
    position: Pos,
    given: Option<Value>,
) -> Result<Option<Value>, RequestError> {
    let name = &definition.name.node;
    let Positioned { node: wanted, .. } = &definition.var_type;
    let Some(value) = given else {
        if wanted.nullable || definition.default_value.is_some() {
            return Ok(None);
        }
        let message = format!("variable \"${name}\" of type \"{wanted}\" was not provided");
        return Err(bad_input(message, position));
    };
    match value_of(wanted, value) {
        Ok(value) => Ok(Some(value)),
        Err(reason) => {
            let message = format!("variable \"${name}\" of type \"{wanted}\": {reason}");
            Err(bad_input(message, position))
        }
    }
}

fn bad_input(message: String, position: Pos) -> RequestError {
    RequestError::refused(Code::BadUserInput, message).at(position)
}

fn value_of(wanted: &Type, value: Value) -> Result<Value, String> {
    match (value, &wanted.base) {
        (Value::Null, _) if wanted.nullable => Ok(Value::Null),
        (Value::Null, _) => Err(format!("\"{wanted}\" cannot be null")),
        (Value::List(items), BaseType::List(item)) => {
            let items = items.into_iter().enumerate().map(|(at, value)| {
                value_of(item, value).map_err(|reason| format!("item {at}: {reason}"))
            });
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        // A single value stands for a list of one.
        (value, BaseType::List(item)) => Ok(Value::List(vec![value_of(item, value)?])),
        (value, BaseType::Named(name)) => named(name, value),
    }
}

fn named(name: &Name, value: Value) -> Result<Value, String> {
    let coerced = match (name.as_str(), &value) {
        ("Int", Value::Number(number)) => int(number).map(Value::from),
        ("Float", Value::Number(_))
        | ("String" | "ID", Value::String(_))
        | ("Boolean", Value::Boolean(_)) => Some(value.clone()),
        ("ID", Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Some(Value::String(number.to_string()))
        }
        ("Int" | "Float" | "String" | "ID" | "Boolean", _) => None,
        _ => return Ok(value),
    };
    coerced.ok_or_else(|| format!("{} is not a valid {name}", describe(&value)))
}

/// A 32-bit integer; `1.0` counts, as it does in the languages that cannot tell it from `1`.
fn int(number: &Number) -> Option<i32> {
    if let Some(integer) = number.as_i64() {
        return i32::try_from(integer).ok();
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    // Printing without a fraction is exact here, and a float too large fails to parse.
    format!("{float:.0}").parse().ok()
}

/// The value as an error may repeat it: short, and nothing of a list or an object.
fn describe(value: &Value) -> String {
    const CHARACTERS_MAX: usize = 40;
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => {
            let short: String = text.chars().take(CHARACTERS_MAX).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            format!("{short:?}{more}")
        }
        Value::List(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Binary(_) | Value::Enum(_) => "this value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;
    use serde_json::{Value as Json, json};

    use super::*;

    fn coerced(definitions: &str, given: Json) -> Result<Json, String> {
        let document = parse_query(format!("query({definitions}){{a}}")).unwrap();
        let (_, operation) = document.operations.iter().next().unwrap();
        let variables = coerce(&operation.node, Variables::from_json(given));
        let variables = variables.map_err(|error| error.message)?;
        Ok(serde_json::to_value(variables).unwrap())
    }

    #[test]
    fn missing_and_null_are_judged_before_execution() {
        for (definitions, given, want) in [
            ("$x:Int", json!({}), Some(json!({}))),
            ("$x:Int", json!({"x": null}), Some(json!({"x": null}))),
            ("$x:Int!", json!({}), None),
            ("$x:Int!", json!({"x": null}), None),
            ("$x:Int!=3", json!({}), Some(json!({}))),
            ("$x:Int!=3", json!({"x": null}), None),
            ("$x:Boolean!", json!({}), None),
            ("$x:Own!", json!({}), None),
            ("$x:Own!", json!({"x": null}), None),
            (
                "$x:Own!",
                json!({"x": {"a": [1]}}),
                Some(json!({"x": {"a": [1]}})),
            ),
            ("$x:Int", json!({"x": 1, "y": 2}), Some(json!({"x": 1}))),
        ] {
            assert_eq!(
                coerced(definitions, given.clone()).ok(),
                want,
                "{definitions} {given}"
            );
        }
    }

    #[test]
    fn built_in_scalars_take_what_the_specification_lets_them() {
        for (wanted, given, want) in [
            ("Int", json!(2_147_483_647), Some(json!(2_147_483_647))),
            ("Int", json!(2_147_483_648_i64), None),
            (
                "Int",
                json!(-2_147_483_648_i64),
                Some(json!(-2_147_483_648_i64)),
            ),
            ("Int", json!(1.0), Some(json!(1))),
            ("Int", json!(1.5), None),
            ("Int", json!(1e30), None),
            ("Int", json!("1"), None),
            ("Int", json!(true), None),
            ("Float", json!(1), Some(json!(1))),
            ("Float", json!(1.5), Some(json!(1.5))),
            ("Float", json!("1.5"), None),
            ("String", json!("é"), Some(json!("é"))),
            ("String", json!(1), None),
            ("Boolean", json!(false), Some(json!(false))),
            ("Boolean", json!(0), None),
            ("Boolean", json!("true"), None),
            ("ID", json!("a"), Some(json!("a"))),
            ("ID", json!(7), Some(json!("7"))),
            ("ID", json!(7.5), None),
            ("ID", json!([7]), None),
            ("String", json!({}), None),
        ] {
            let got = coerced(&format!("$x:{wanted}"), json!({"x": given}));
            let want = want.map(|want| json!({ "x": want }));
            assert_eq!(got.ok(), want, "{wanted} {given}");
        }
    }

    #[test]
    fn lists_coerce_their_items_and_single_values() {
        for (wanted, given, want) in [
            ("[Int]", json!([1, null]), Some(json!([1, null]))),
            ("[Int!]", json!([1, null]), None),
            ("[Int]", json!(1), Some(json!([1]))),
            ("[[Int]]", json!(1), Some(json!([[1]]))),
            ("[[Int]]", json!([1, 2]), Some(json!([[1], [2]]))),
            ("[Int]", json!(null), Some(json!(null))),
            ("[Int]!", json!(null), None),
            ("[ID!]!", json!([1, "b"]), Some(json!(["1", "b"]))),
            ("[Int]", json!(["1"]), None),
        ] {
            let got = coerced(&format!("$x:{wanted}"), json!({"x": given}));
            let want = want.map(|want| json!({ "x": want }));
            assert_eq!(got.ok(), want, "{wanted} {given}");
        }
    }

    #[test]
    fn errors_name_the_variable_and_stay_short() {
        let error = coerced("$x:[Int!]!", json!({"x": [1, "y".repeat(5_000)]})).unwrap_err();
        assert!(
            error.starts_with("variable \"$x\" of type \"[Int!]!\": item 1: \"yyy"),
            "{error}"
        );
        assert!(error.len() < 150, "{error}");
        assert!(coerced("$x:Int $x:Int", json!({"x": 1})).is_err());
    }
}
