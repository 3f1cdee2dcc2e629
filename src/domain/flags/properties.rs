//! What must hold of rollouts for all salts, units and shares.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// A boolean flag with what `rest` adds; `rest` may start with plain fields.
pub(super) fn flag_with(key: &str, salt: &str, rest: &str) -> Flag {
    let text = format!(
        "key = {key:?}\ndescription = 'A test.'\nowner = 'tests'\ncreated = 2026-01-01\n\
         expires = 2027-01-01\nkind = 'bool'\nenabled = true\nsalt = {salt:?}\n{rest}"
    );
    Flag::from_toml(&text).unwrap()
}

pub(super) fn set_with(key: &str, salt: &str, rest: &str) -> FlagSet {
    FlagSet::from_definitions(vec![flag_with(key, salt, rest)]).unwrap()
}

fn rollout(salt: &str, num: u32, den: u32) -> FlagSet {
    set_with(
        "f",
        salt,
        &format!("rollout = {{ num = {num}, den = {den} }}"),
    )
}

/// The same definition under another share, as an operator ramps it.
fn ramped(set: &FlagSet, num: u32, den: u32) -> FlagSet {
    let share = Some(Share::new(num.into(), den.into()).unwrap());
    let states = set.iter().map(|one| {
        (
            one.flag.key().clone(),
            StateOverride {
                rollout: share,
                ..StateOverride::default()
            },
        )
    });
    let flags = set.iter().map(|one| Arc::clone(&one.flag)).collect();
    set.next(flags, &states.collect::<BTreeMap<_, _>>()).0
}

fn is_in(set: &FlagSet, unit: &str) -> bool {
    evaluate(set, "f", &Context::of_unit(unit)).is_on()
}

fn share() -> impl Strategy<Value = (u32, u32)> {
    (1..=DEN_MAX).prop_flat_map(|den| (0..=den, Just(den)))
}

/// Three standard deviations of a binomial count, in whole units, rounded up.
fn three_sigma(n: u64, num: u64, den: u64) -> u64 {
    (9 * n * num * (den - num) / (den * den)).isqrt() + 1
}

proptest! {
    #[test]
    fn a_larger_share_keeps_everyone_who_was_in(
        salt in "[a-z]{1,12}", unit in ".{1,40}", (a, b) in (share(), share()),
    ) {
        let product = |x: u32, y: u32| u64::from(x) * u64::from(y);
        let (small, large) = if product(a.0, b.1) <= product(b.0, a.1) { (a, b) } else { (b, a) };
        let set = rollout(&salt, small.0, small.1);
        // Parts of different size meet at exact fractions of the hash space, so this holds for any
        // two denominators, not only for multiples.
        prop_assert!(!is_in(&set, &unit) || is_in(&ramped(&set, large.0, large.1), &unit));
    }

    #[test]
    fn none_is_nobody_and_the_whole_is_everybody(
        salt in "[a-z]{1,12}", unit in ".{1,40}", den in 1..=DEN_MAX,
    ) {
        let set = rollout(&salt, 0, den);
        let out = evaluate(&set, "f", &Context::of_unit(&*unit));
        prop_assert_eq!((out.is_on(), out.reason), (false, Reason::Rollout));
        prop_assert!(is_in(&ramped(&set, den, den), &unit));
    }

    // cases/flags.md row 22.
    #[test]
    fn rollback_and_a_new_ramp_choose_the_same_units(
        salt in "[a-z]{1,12}", unit in ".{1,40}", (num, den) in share(),
    ) {
        let set = rollout(&salt, num, den);
        let again = ramped(&ramped(&set, 0, 1), num, den);
        prop_assert_eq!(is_in(&again, &unit), is_in(&set, &unit));
    }

    #[test]
    fn deny_allow_and_kill_win_over_any_share(unit in "[a-z0-9]{1,20}", (num, den) in share()) {
        let rest = |list: &str| {
            format!("{list} = [{unit:?}]\nrollout = {{ num = {num}, den = {den} }}")
        };
        let context = Context::of_unit(&*unit);
        let denied = evaluate(&set_with("f", "s", &rest("deny")), "f", &context);
        prop_assert_eq!((denied.is_on(), denied.reason), (false, Reason::Denied));
        let set = set_with("f", "s", &rest("allow"));
        let allowed = evaluate(&set, "f", &context);
        prop_assert_eq!((allowed.is_on(), allowed.reason), (true, Reason::Allowed));
        let kill = StateOverride { kill: Some(true), ..StateOverride::default() };
        let flags = set.iter().map(|one| Arc::clone(&one.flag)).collect();
        let states = BTreeMap::from([(FlagKey::new("f").unwrap(), kill)]);
        let killed = evaluate(&set.next(flags, &states).0, "f", &context);
        prop_assert_eq!((killed.is_on(), killed.reason), (false, Reason::Killed));
    }

    #[test]
    fn the_client_gate_decides_before_any_hash(unit in ".{1,40}", (num, den) in share()) {
        let set = set_with("f", "s", &format!(
            "rollout = {{ num = {num}, den = {den} }}\n[clients]\nminimum = {{ web = '2' }}"
        ));
        for version in [None, Some("1.9.9"), Some("junk")] {
            let mut context = Context::of_unit(&*unit);
            context.client.name = version.map(|_| "web".to_owned());
            context.client.version = version.map(str::to_owned);
            let got = evaluate(&set, "f", &context);
            prop_assert_eq!((got.is_on(), got.reason, got.hash), (false, Reason::Client, None));
        }
    }

    #[test]
    fn an_evaluation_with_a_hash_shows_what_decided(unit in ".{1,40}", (num, den) in share()) {
        let got = evaluate(&rollout("s", num, den), "f", &Context::of_unit(&*unit));
        let hash = got.hash.unwrap();
        prop_assert_eq!(hash, unit_hash(b"s\0", &unit));
        prop_assert_eq!(got.slot16, Some(slot16(hash)));
        let inside = (u64::from(hash) * u64::from(den)) >> 32 < u64::from(num);
        prop_assert_eq!(got.is_on(), inside);
    }
}

const UNITS: u64 = 100_000;

/// Sequential ids are what a hash finds hardest.
fn units() -> impl Iterator<Item = String> {
    (1..=UNITS).map(|id| id.to_string())
}

#[test]
fn a_share_of_many_units_is_within_three_sigma() {
    for (num, den) in [(1, 16), (1, 2), (1, 100), (15, 16), (3, 1000)] {
        let set = rollout("comments-tree", num, den);
        let inside = u64::try_from(units().filter(|unit| is_in(&set, unit)).count()).unwrap();
        let (num, den) = (u64::from(num), u64::from(den));
        let off = inside.abs_diff(UNITS * num / den);
        assert!(off <= three_sigma(UNITS, num, den), "{num}/{den}: {inside}");
    }
}

// cases/flags.md row 6: two flags at a tenth share a hundredth of the units, not the same tenth.
#[test]
fn cohorts_of_two_salts_are_independent() {
    let (a, b) = (
        rollout("comments-tree", 1, 10),
        rollout("reactions-v2", 1, 10),
    );
    let both = units()
        .filter(|unit| is_in(&a, unit) && is_in(&b, unit))
        .count();
    let off = u64::try_from(both).unwrap().abs_diff(UNITS / 100);
    assert!(off <= three_sigma(UNITS, 1, 100), "{both}");
}

// cases/flags.md row 3: variants inside a small gate have a hash of their own. Row 4: the gate is
// asked once, so a fifth stays a fifth.
#[test]
fn variants_split_evenly_inside_a_gate_and_the_gate_keeps_its_share() {
    let text = "key = 'f'\ndescription = 'A test.'\nowner = 'tests'\ncreated = 2026-01-01\n\
        expires = 2027-01-01\nkind = 'string'\nenabled = true\nsalt = 'comments-tree'\n\
        on = 'a'\noff = 'none'\nvariants = { a = 'x', b = 'y', none = '' }\n\
        rollout = { num = 1, den = 5, split = { a = 1, b = 1 } }";
    let set = FlagSet::from_definitions(vec![Flag::from_toml(text).unwrap()]).unwrap();
    let mut seen = BTreeMap::<String, u64>::new();
    for unit in units() {
        let got = evaluate(&set, "f", &Context::of_unit(unit));
        *seen.entry(got.variant.to_string()).or_default() += 1;
    }
    let inside = seen["a"] + seen["b"];
    assert!(
        inside.abs_diff(UNITS / 5) <= three_sigma(UNITS, 1, 5),
        "{seen:?}"
    );
    assert!(
        seen["a"].abs_diff(inside / 2) <= three_sigma(inside, 1, 2),
        "{seen:?}"
    );
}
