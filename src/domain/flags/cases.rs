//! Cases of single flags: the order of evaluation, and what a flag file may hold.

use super::properties::{flag_with, set_with};
use super::*;

fn client(name: &str, version: &str) -> ClientInfo {
    ClientInfo {
        name: Some(name.to_owned()),
        version: Some(version.to_owned()),
    }
}

fn answer(set: &FlagSet, context: &Context) -> (bool, Reason) {
    let got = evaluate(set, "f", context);
    (got.is_on(), got.reason)
}

/// A flag in which every step could decide for unit 42.
const FULL: &str = "deny = [1, 42]\nallow = [42, 'юзер']\n\
    prerequisites = [{ flag = 'base', variant = 'on' }]\n\
    rollout = { num = 0, den = 1 }\n\
    [clients]\nminimum = { web = '2.0.0' }\n\
    [[rules]]\nwhen = [{ attribute = 'staff', equals = true }]\nserve = 'on'\n";

#[test]
fn the_steps_decide_in_their_fixed_order() {
    let key = FlagKey::new("f").unwrap();
    let base = FlagKey::new("base").unwrap();
    let mut context = Context::of_unit("42");
    context.attributes.insert("staff".to_owned(), true.into());

    let state = |enabled, kill| StateOverride {
        enabled: Some(enabled),
        kill: Some(kill),
        rollout: None,
    };
    let with = |rest: &str, f: StateOverride, base_on: bool| {
        let flags = vec![
            flag_with("f", "s", rest).into(),
            flag_with("base", "b", "").into(),
        ];
        let states = [(key.clone(), f), (base.clone(), state(base_on, false))].into();
        let (set, rejected) = FlagSet::default().next(flags, &states);
        assert!(rejected.is_empty(), "{rejected:?}");
        set
    };

    assert_eq!(
        answer(&with(FULL, state(false, true), false), &context),
        (false, Reason::Killed)
    );
    assert_eq!(
        answer(&with(FULL, state(false, false), false), &context),
        (false, Reason::Disabled)
    );
    assert_eq!(
        answer(&with(FULL, state(true, false), false), &context),
        (false, Reason::Client)
    );
    context.client = client("web", "2.0");
    assert_eq!(
        answer(&with(FULL, state(true, false), false), &context),
        (false, Reason::Prerequisite)
    );
    assert_eq!(
        answer(&with(FULL, state(true, false), true), &context),
        (false, Reason::Denied)
    );
    let rest = FULL.replace("deny = [1, 42]", "");
    assert_eq!(
        answer(&with(&rest, state(true, false), true), &context),
        (true, Reason::Allowed)
    );
    let rest = rest.replace("allow = [42, 'юзер']", "");
    assert_eq!(
        answer(&with(&rest, state(true, false), true), &context),
        (true, Reason::Rule)
    );
    context.attributes.clear();
    assert_eq!(
        answer(&with(&rest, state(true, false), true), &context),
        (false, Reason::Rollout)
    );
    let rest = rest.replace("rollout = { num = 0, den = 1 }", "");
    assert_eq!(
        answer(&with(&rest, state(true, false), true), &context),
        (true, Reason::Default)
    );
}

#[test]
fn without_a_unit_nobody_is_in_a_rollout_and_the_reason_is_default() {
    for context in [Context::default(), Context::of_unit("")] {
        for share in ["num = 1, den = 16", "num = 1, den = 1"] {
            let set = set_with("f", "s", &format!("rollout = {{ {share} }}"));
            assert_eq!(answer(&set, &context), (false, Reason::Default));
        }
    }
}

// cases/flags.md row 21: no rollout is a defined thing, unlike a rollout of 0.
#[test]
fn a_flag_without_a_rollout_is_on_for_everyone_also_without_a_unit() {
    let set = set_with("f", "s", "");
    assert_eq!(answer(&set, &Context::default()), (true, Reason::Default));
    assert_eq!(
        answer(&set, &Context::of_unit("1")),
        (true, Reason::Default)
    );
    let set = set_with("f", "s", "rollout = { num = 0, den = 100 }");
    assert_eq!(
        answer(&set, &Context::of_unit("1")),
        (false, Reason::Rollout)
    );
}

#[test]
fn a_missing_flag_is_off() {
    assert_eq!(
        answer(&FlagSet::default(), &Context::of_unit("1")),
        (false, Reason::Missing)
    );
}

#[test]
fn a_rule_needs_all_its_conditions_and_the_first_that_matches_decides() {
    let set = set_with(
        "f",
        "comments-tree",
        "rollout = { num = 1, den = 1 }\n\
         [[rules]]\nserve = 'off'\nwhen = [{ attribute = 'country', in = ['KZ', 'RU'] }, \
         { attribute = 'level', equals = 3 }]\n\
         [[rules]]\nrollout = { num = 9703, den = 10000 }\n\
         when = [{ attribute = 'country', equals = 'KZ' }]\n",
    );
    let context = |unit: &str, attributes: &[(&str, Attribute)]| {
        let mut context = Context::of_unit(unit);
        let owned = attributes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        context.attributes = owned.collect();
        context
    };
    let kz = ("country", Attribute::from("KZ"));
    let level = |value: Attribute| ("level", value);
    let both = context("1", &[kz.clone(), level(3.into())]);
    assert_eq!(answer(&set, &both), (false, Reason::Rule));
    // Types do not mix, so the first rule does not match and the second's rollout decides.
    let text = context("1", &[kz.clone(), level("3".into())]);
    assert_eq!(answer(&set, &text), (true, Reason::Rule));
    // Unit 42 lies in part 9703 of 10000: just out, and the flag's own rollout is not asked.
    assert_eq!(answer(&set, &context("42", &[kz])), (false, Reason::Rule));
    assert_eq!(
        answer(&set, &context("42", &[level(3.into())])),
        (true, Reason::Rollout)
    );
}

#[test]
fn flags_of_other_kinds_serve_their_values() {
    for (kind, on, off, want) in [
        ("string", "'new'", "'old'", Value::String("new".into())),
        ("int", "20", "10", Value::Int(20)),
        (
            "json",
            "{ size = [1, 2.5], name = 'x' }",
            "{}",
            Value::Json(serde_json::json!({ "size": [1, 2.5], "name": "x" }).into()),
        ),
    ] {
        let text = format!(
            "key = 'f'\ndescription = 'A test.'\nowner = 'tests'\ncreated = 2026-01-01\n\
             expires = 2027-01-01\nkind = {kind:?}\nenabled = true\nsalt = 's'\n\
             variants = {{ on = {on}, off = {off} }}\nallow = [7]\nrollout = {{ num = 0, den = 1 }}"
        );
        let set = FlagSet::from_definitions(vec![Flag::from_toml(&text).unwrap()]).unwrap();
        let got = evaluate(&set, "f", &Context::of_unit("7"));
        assert_eq!((got.value.clone(), &*got.variant), (want, "on"));
        assert!(!got.is_on());
        assert_eq!(&*evaluate(&set, "f", &Context::of_unit("8")).variant, "off");
    }
}

const GOOD: &str = "key = 'f'\ndescription = 'A test.'\nowner = 'tests'\ncreated = 2026-01-01\n\
    expires = 2027-01-01\nkind = 'bool'\nenabled = true\nsalt = 's'\n";

#[test]
fn an_unknown_or_badly_typed_field_is_an_error_with_its_line() {
    for (rest, start, part) in [
        (
            "percent = 5",
            "line 9, column 1: ",
            "unknown field `percent`",
        ),
        (
            "clients = { minumum = {} }",
            "line 9, column 13: ",
            "unknown field `minumum`",
        ),
        ("deny = 5", "line 9, ", "invalid type"),
        (
            "rollout = { num = 1, den = 2, of = 3 }",
            "line 9, ",
            "unknown field `of`",
        ),
        (
            "[[rules]]\nwhen = []\nwhen = []",
            "line 11, ",
            "duplicate key",
        ),
    ] {
        let error = Flag::from_toml(&format!("{GOOD}{rest}"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(start) && error.contains(part), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let error = Flag::from_toml("key = 'f'").unwrap_err().to_string();
    assert!(error.contains("missing field"), "{error}");
}

#[test]
fn a_field_out_of_its_limits_is_an_error_with_its_name_and_the_limit() {
    let many = |n: usize, one: &str| vec![one; n].join(", ");
    let allow = format!("allow = [{}]", many(1025, "1"));
    let rules = "[[rules]]\nserve = 'on'\nwhen = [{ attribute = 'a', equals = 1 }]\n".repeat(65);
    let long_in = format!(
        "[[rules]]\nserve = 'on'\nwhen = [{{ attribute = 'a', in = [{}] }}]",
        many(257, "1")
    );
    let require = format!(
        "prerequisites = [{}]",
        many(9, "{ flag = 'b', variant = 'on' }")
    );
    let variants = (0..65)
        .map(|n| format!("v{n} = true"))
        .collect::<Vec<_>>()
        .join(", ");
    let variants = format!("variants = {{ {variants} }}");
    let unit = format!("deny = ['{}']", "u".repeat(257));
    for (rest, field, limit) in [
        ("rollout = { num = 150, den = 100 }", "rollout", "100"),
        ("rollout = { num = 1, den = 0 }", "rollout", "2147483647"),
        (
            "rollout = { num = 1, den = 2, split = { on = 0 } }",
            "rollout.split",
            "at least 1",
        ),
        (
            "rollout = { num = 1, den = 2, split = { red = 1 } }",
            "rollout.split",
            "red",
        ),
        (&allow, "allow", "1024"),
        (&rules, "rules", "64"),
        (&long_in, "rules[0].when[0].in", "256"),
        (&require, "prerequisites", "8"),
        (&variants, "variants", "64"),
        (&unit, "deny", "256"),
    ] {
        let error = Flag::from_toml(&format!("{GOOD}{rest}"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("{field}: ")) && error.contains(limit),
            "{error}"
        );
    }
}

#[test]
fn a_field_that_does_not_fit_the_others_is_an_error_with_its_name() {
    for (rest, field, problem) in [
        ("off = 'on'", "off", "false"),
        ("on = 'red'", "on", "red"),
        (
            "variants = { on = 1, off = false }",
            "variants.on",
            "integer",
        ),
        (
            "[[rules]]\nserve = 'on'\nwhen = []",
            "rules[0].when",
            "at least one",
        ),
        (
            "[[rules]]\nwhen = [{ attribute = 'a', equals = 1 }]",
            "rules[0]",
            "serve",
        ),
        (
            "[[rules]]\nserve = 'on'\nwhen = [{ attribute = 'a' }]",
            "rules[0].when[0]",
            "equals",
        ),
    ] {
        let error = Flag::from_toml(&format!("{GOOD}{rest}"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("{field}: ")) && error.contains(problem),
            "{error}"
        );
    }
}

#[test]
fn what_people_need_to_know_of_a_flag_is_required_and_checked() {
    for (from, to, field) in [
        ("salt = 's'", "salt = 'a/variant'", "salt: "),
        ("owner = 'tests'", "owner = ' '", "owner: "),
        (
            "created = 2026-01-01",
            "created = 2026-01-01T00:00:00Z",
            "created: ",
        ),
        ("expires = 2027-01-01", "expires = 2026-01-01", "expires: "),
        ("key = 'f'", "key = 'F'", "line 1, column 7: flag key"),
    ] {
        let error = Flag::from_toml(&GOOD.replace(from, to))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(field), "{error}");
    }
}

#[test]
fn a_file_above_64_kib_is_rejected() {
    let fits = format!(
        "{GOOD}#{}\n",
        "x".repeat(FLAG_FILE_BYTES_MAX - GOOD.len() - 2)
    );
    assert!(Flag::from_toml(&fits).is_ok());
    let error = Flag::from_toml(&(fits + "#")).unwrap_err().to_string();
    assert!(error.contains("65537 bytes; the limit is 65536"), "{error}");
}

#[test]
fn every_definition_keeps_what_people_need_to_know_of_it() {
    let flag = Flag::from_toml(GOOD).unwrap();
    assert_eq!(flag.key().as_str(), "f");
    assert_eq!(
        (flag.description(), flag.owner(), flag.salt()),
        ("A test.", "tests", "s")
    );
    assert_eq!(
        (flag.created().to_string(), flag.expires().to_string()),
        ("2026-01-01".into(), "2027-01-01".into())
    );
    assert_eq!((flag.kind(), flag.variants().len()), (Kind::Bool, 2));
}
