//! A flag's TOML file: its form and its limits. Text in, a checked [`Flag`] or the first error out.
//!
//! Unknown fields are errors: a typing mistake must not silently widen a rollout. Every list has a
//! limit, and an error names the field with it.

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Date;
use serde::Deserialize;
use toml::value::Datetime;

use super::clients::{ClientGate, ClientsForm};
use super::definition::{Condition, Flag, Prerequisite, Rollout, Rule, Salt, Serve, Split, Test};
use super::error::FlagError;
use super::key::FlagKey;
use super::share::{DEN_MAX, Share};
use super::value::{Attribute, Kind, Value, Variant};

/// The largest flag file, in bytes.
pub const FLAG_FILE_BYTES_MAX: usize = 64 * 1024;

const NAME_LEN_MAX: usize = 64;
const TEXT_LEN_MAX: usize = 2_000;
const UNIT_LEN_MAX: usize = 256;
const VARIANTS_MAX: usize = 64;
const UNITS_MAX: usize = 1_024;
const PREREQUISITES_MAX: usize = 8;
const RULES_MAX: usize = 64;
const CONDITIONS_MAX: usize = 16;
const IN_MAX: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlagForm {
    key: FlagKey,
    description: String,
    owner: String,
    created: Datetime,
    expires: Datetime,
    kind: Kind,
    enabled: bool,
    salt: String,
    on: Option<String>,
    off: Option<String>,
    #[serde(default)]
    deny: Vec<UnitForm>,
    #[serde(default)]
    allow: Vec<UnitForm>,
    variants: Option<BTreeMap<String, toml::Value>>,
    clients: Option<ClientsForm>,
    #[serde(default)]
    prerequisites: Vec<PrerequisiteForm>,
    #[serde(default)]
    rules: Vec<RuleForm>,
    rollout: Option<RolloutForm>,
}

/// A unit: text, or an integer that stands for its decimal text.
#[derive(Deserialize)]
#[serde(untagged)]
enum UnitForm {
    Int(i64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrerequisiteForm {
    flag: FlagKey,
    variant: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleForm {
    when: Vec<ConditionForm>,
    serve: Option<String>,
    rollout: Option<RolloutForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionForm {
    attribute: String,
    equals: Option<Attribute>,
    r#in: Option<Vec<Attribute>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RolloutForm {
    num: i64,
    den: i64,
    split: Option<BTreeMap<String, u32>>,
}

impl Flag {
    /// Reads a flag's file, at most [`FLAG_FILE_BYTES_MAX`] bytes. The error names the line or the
    /// field, and the limit. Prerequisites are checked when the flag joins a set.
    pub fn from_toml(text: &str) -> Result<Self, FlagError> {
        if text.len() > FLAG_FILE_BYTES_MAX {
            let problem = format!(
                "has {} bytes; the limit is {FLAG_FILE_BYTES_MAX}",
                text.len()
            );
            return Err(FlagError::field("file", problem));
        }
        let form =
            toml::from_str::<FlagForm>(text).map_err(|error| FlagError::form(text, &error))?;
        flag(form)
    }
}

fn flag(form: FlagForm) -> Result<Flag, FlagError> {
    let description = text("description", form.description)?;
    let owner = text("owner", form.owner)?;
    let created = date("created", form.created)?;
    let expires = date("expires", form.expires)?;
    if expires <= created {
        return Err(FlagError::field(
            "expires",
            format!("{expires} is not after {created}"),
        ));
    }
    let variants = variants(form.kind, form.variants)?;
    let on = named(&variants, "on", form.on.as_deref().unwrap_or("on"))?;
    let off = named(&variants, "off", form.off.as_deref().unwrap_or("off"))?;
    if off.value == Value::Bool(true) {
        // Killed, gated and denied all mean "off"; a caller of `is_on` must be able to rely on it.
        return Err(FlagError::field(
            "off",
            "the off variant of a bool flag must be false",
        ));
    }
    Ok(Flag {
        key: form.key,
        description,
        owner,
        created,
        expires,
        kind: form.kind,
        on,
        off,
        enabled: form.enabled,
        salt: salt(form.salt)?,
        clients: form.clients.map(ClientGate::try_from).transpose()?,
        prerequisites: prerequisites(form.prerequisites)?,
        deny: units("deny", form.deny)?,
        allow: units("allow", form.allow)?,
        rules: rules(&variants, form.rules)?,
        rollout: form
            .rollout
            .map(|form| rollout(&variants, "", form))
            .transpose()?,
        variants,
    })
}

/// Refuses a list longer than its limit.
fn limit(field: &str, len: usize, max: usize) -> Result<(), FlagError> {
    if len > max {
        return Err(FlagError::field(
            field,
            format!("has {len} entries; the limit is {max}"),
        ));
    }
    Ok(())
}

fn text(field: &str, text: String) -> Result<String, FlagError> {
    if text.trim().is_empty() || text.len() > TEXT_LEN_MAX {
        let problem = format!(
            "has {} bytes; it needs 1 to {TEXT_LEN_MAX}",
            text.trim().len()
        );
        return Err(FlagError::field(field, problem));
    }
    Ok(text)
}

fn name(field: &str, name: &str) -> Result<(), FlagError> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if name.is_empty() || name.len() > NAME_LEN_MAX || !name.bytes().all(allowed) {
        let problem = format!("{name:?} is not 1 to {NAME_LEN_MAX} of [A-Za-z0-9._-]");
        return Err(FlagError::field(field, problem));
    }
    Ok(())
}

fn salt(text: String) -> Result<Salt, FlagError> {
    name("salt", &text)?;
    Ok(Salt::new(text))
}

fn date(field: &str, given: Datetime) -> Result<Date, FlagError> {
    let wrong = || FlagError::field(field, format!("{given} is not a date such as 2026-12-01"));
    let (Some(date), None, None) = (given.date, given.time, given.offset) else {
        return Err(wrong());
    };
    let whole = (
        i16::try_from(date.year),
        i8::try_from(date.month),
        i8::try_from(date.day),
    );
    let (Ok(year), Ok(month), Ok(day)) = whole else {
        return Err(wrong());
    };
    Date::new(year, month, day).map_err(|error| FlagError::field(field, error.to_string()))
}

fn variants(
    kind: Kind,
    form: Option<BTreeMap<String, toml::Value>>,
) -> Result<Vec<Variant>, FlagError> {
    let Some(form) = form else {
        if kind != Kind::Bool {
            return Err(FlagError::field(
                "variants",
                "only a bool flag may leave them out",
            ));
        }
        return Ok(vec![
            Variant {
                name: "off".into(),
                value: Value::Bool(false),
            },
            Variant {
                name: "on".into(),
                value: Value::Bool(true),
            },
        ]);
    };
    limit("variants", form.len(), VARIANTS_MAX)?;
    let mut variants = Vec::with_capacity(form.len());
    for (key, value) in form {
        name("variants", &key)?;
        let value = Value::from_toml(kind, value)
            .map_err(|problem| FlagError::field(format!("variants.{key}"), problem))?;
        variants.push(Variant {
            name: key.into(),
            value,
        });
    }
    Ok(variants)
}

fn named(variants: &[Variant], field: &str, name: &str) -> Result<Variant, FlagError> {
    let found = variants.iter().find(|variant| &*variant.name == name);
    found.cloned().ok_or_else(|| {
        FlagError::field(
            field,
            format!("names variant {name:?}, which `variants` does not have"),
        )
    })
}

fn prerequisites(form: Vec<PrerequisiteForm>) -> Result<Vec<Prerequisite>, FlagError> {
    limit("prerequisites", form.len(), PREREQUISITES_MAX)?;
    let prepare = |form: PrerequisiteForm| Prerequisite {
        flag: form.flag,
        variant: form.variant.into_boxed_str(),
    };
    Ok(form.into_iter().map(prepare).collect())
}

fn units(field: &str, form: Vec<UnitForm>) -> Result<HashSet<Box<str>>, FlagError> {
    limit(field, form.len(), UNITS_MAX)?;
    let mut units = HashSet::with_capacity(form.len());
    for unit in form {
        let unit = match unit {
            UnitForm::Int(unit) => unit.to_string(),
            UnitForm::Text(unit) => unit,
        };
        if unit.is_empty() || unit.len() > UNIT_LEN_MAX {
            let problem = format!(
                "a unit has {} bytes; it needs 1 to {UNIT_LEN_MAX}",
                unit.len()
            );
            return Err(FlagError::field(field, problem));
        }
        units.insert(unit.into_boxed_str());
    }
    Ok(units)
}

fn rules(variants: &[Variant], form: Vec<RuleForm>) -> Result<Vec<Rule>, FlagError> {
    limit("rules", form.len(), RULES_MAX)?;
    let mut rules = Vec::with_capacity(form.len());
    for (position, form) in form.into_iter().enumerate() {
        let field = format!("rules[{position}]");
        if form.when.is_empty() {
            // It would match everybody and so hide the rollout.
            return Err(FlagError::field(
                format!("{field}.when"),
                "needs at least one condition",
            ));
        }
        limit(&format!("{field}.when"), form.when.len(), CONDITIONS_MAX)?;
        let serve = match (form.serve, form.rollout) {
            (Some(name), None) => {
                Serve::Variant(named(variants, &format!("{field}.serve"), &name)?)
            }
            (None, Some(form)) => Serve::Rollout(rollout(variants, &format!("{field}."), form)?),
            (Some(_), Some(_)) | (None, None) => {
                return Err(FlagError::field(field, "needs either `serve` or `rollout`"));
            }
        };
        let mut when = Vec::with_capacity(form.when.len());
        for (position, form) in form.when.into_iter().enumerate() {
            when.push(condition(&format!("{field}.when[{position}]"), form)?);
        }
        rules.push(Rule { when, serve });
    }
    Ok(rules)
}

fn condition(field: &str, form: ConditionForm) -> Result<Condition, FlagError> {
    if form.attribute.is_empty() || form.attribute.len() > NAME_LEN_MAX {
        let problem = format!("needs 1 to {NAME_LEN_MAX} bytes");
        return Err(FlagError::field(format!("{field}.attribute"), problem));
    }
    let test = match (form.equals, form.r#in) {
        (Some(wanted), None) => Test::Equals(wanted),
        (None, Some(wanted)) => {
            limit(&format!("{field}.in"), wanted.len(), IN_MAX)?;
            Test::In(wanted.into_iter().collect())
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(FlagError::field(field, "needs either `equals` or `in`"));
        }
    };
    Ok(Condition {
        attribute: form.attribute.into_boxed_str(),
        test,
    })
}

fn rollout(variants: &[Variant], at: &str, form: RolloutForm) -> Result<Rollout, FlagError> {
    let share = Share::new(form.num, form.den)
        .map_err(|problem| FlagError::field(format!("{at}rollout"), problem))?;
    let Some(weights) = form.split else {
        return Ok(Rollout { share, split: None });
    };
    let field = format!("{at}rollout.split");
    let mut upto = Vec::with_capacity(weights.len());
    let mut total = 0_u32;
    for (name, weight) in weights {
        total = total
            .checked_add(weight)
            .filter(|total| *total <= DEN_MAX)
            .ok_or_else(|| {
                FlagError::field(
                    &*field,
                    format!("the weights add up to more than {DEN_MAX}"),
                )
            })?;
        upto.push((total, named(variants, &field, &name)?));
    }
    if total == 0 {
        return Err(FlagError::field(
            field,
            "needs a variant with a weight of at least 1",
        ));
    }
    Ok(Rollout {
        share,
        split: Some(Split { upto, total }),
    })
}
