//! Prerequisites of a whole set: they exist, have no cycle, and are not deep.
//!
//! A flag that breaks this falls back to its live definition; the others go on. A live flag whose
//! prerequisite was taken away stays, and serves its off value with the reason PREREQUISITE.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::definition::Flag;
use super::error::FlagError;
use super::key::FlagKey;

/// The longest chain of flags that require each other, counted with both ends. With at most 8
/// prerequisites a flag this bounds the work of one evaluation.
pub(super) const CHAIN_MAX: usize = 4;

pub(super) type Flags = BTreeMap<FlagKey, Arc<Flag>>;
pub(super) type Rejections = BTreeMap<FlagKey, FlagError>;

/// Replaces or removes candidates until no prerequisite is broken by a change. `live` must itself
/// have come from here, so that going back to it always mends the set.
pub(super) fn settle(mut flags: Flags, live: &Flags) -> (Flags, Rejections) {
    let mut rejected = Rejections::new();
    loop {
        let problems = problems(&flags);
        let mut moved = false;
        for (key, error) in &problems {
            let Some(candidate) = flags.get(key) else {
                continue;
            };
            match live.get(key) {
                // This flag's prerequisites are as they were: another one's change broke them.
                Some(last) if last.prerequisites == candidate.prerequisites => continue,
                Some(last) => flags.insert(key.clone(), Arc::clone(last)),
                None => flags.remove(key),
            };
            rejected.entry(key.clone()).or_insert_with(|| error.clone());
            moved = true;
        }
        if !moved {
            for (key, error) in problems {
                rejected.entry(key).or_insert(error);
            }
            return (flags, rejected);
        }
    }
}

fn problems(flags: &Flags) -> Rejections {
    let mut problems = Rejections::new();
    for (key, flag) in flags {
        for prerequisite in &flag.prerequisites {
            let error = match flags.get(&prerequisite.flag) {
                None => FlagError::PrerequisiteMissing(prerequisite.flag.clone()),
                Some(other) if !other.has_variant(&prerequisite.variant) => {
                    FlagError::PrerequisiteVariant {
                        flag: prerequisite.flag.clone(),
                        variant: prerequisite.variant.to_string(),
                    }
                }
                Some(_) => continue,
            };
            problems.entry(key.clone()).or_insert(error);
        }
    }
    let unresolved = too_deep(flags, &mut problems);
    cycles(flags, unresolved, &mut problems);
    problems
}

/// Finds chains that are too long, and returns the flags that are on a cycle or behind one.
fn too_deep<'a>(flags: &'a Flags, problems: &mut Rejections) -> BTreeSet<&'a FlagKey> {
    let mut open: BTreeSet<&FlagKey> = flags.keys().collect();
    let mut depth = 0;
    loop {
        depth += 1;
        let closed: Vec<&FlagKey> = open
            .iter()
            .filter(|key| !required(flags, key).any(|other| open.contains(other)))
            .copied()
            .collect();
        if closed.is_empty() {
            return open;
        }
        for key in closed {
            open.remove(key);
            if depth > CHAIN_MAX {
                blame(flags, key, problems);
            }
        }
    }
}

/// Marks a flag and all it requires: any of them may be the one whose change made the chain long.
fn blame(flags: &Flags, start: &FlagKey, problems: &mut Rejections) {
    let mut seen = BTreeSet::from([start]);
    let mut queue = vec![start];
    while let Some(key) = queue.pop() {
        problems
            .entry(key.clone())
            .or_insert(FlagError::PrerequisiteDepth(CHAIN_MAX));
        queue.extend(required(flags, key).filter(|other| seen.insert(other)));
    }
}

/// Marks the flags on a cycle; those that only wait for one are mended with it.
fn cycles<'a>(flags: &'a Flags, mut open: BTreeSet<&'a FlagKey>, problems: &mut Rejections) {
    loop {
        let waited_for: BTreeSet<&FlagKey> =
            open.iter().flat_map(|key| required(flags, key)).collect();
        let before = open.len();
        open.retain(|key| waited_for.contains(key));
        if open.len() == before {
            break;
        }
    }
    for key in &open {
        if let Some(through) = required(flags, key).find(|other| open.contains(other)) {
            let error = FlagError::PrerequisiteCycle(through.clone());
            problems.entry((*key).clone()).or_insert(error);
        }
    }
}

fn required<'a>(flags: &'a Flags, key: &FlagKey) -> impl Iterator<Item = &'a FlagKey> {
    flags
        .get(key)
        .into_iter()
        .flat_map(|flag| flag.prerequisites.iter().map(|one| &one.flag))
}

#[cfg(test)]
mod tests {
    use super::super::properties::flag_with;
    use super::*;

    /// Each `(flag, what it requires)`.
    fn flags(edges: &[(&str, &[&str])]) -> Flags {
        let build = |(key, required): &(&str, &[&str])| {
            let one = |other: &&str| format!("{{ flag = {other:?}, variant = 'on' }}");
            let list = required.iter().map(one).collect::<Vec<_>>().join(", ");
            let flag = flag_with(key, key, &format!("prerequisites = [{list}]"));
            (flag.key().clone(), Arc::new(flag))
        };
        edges.iter().map(build).collect()
    }

    fn names<V>(map: &BTreeMap<FlagKey, V>) -> Vec<&str> {
        map.keys().map(FlagKey::as_str).collect()
    }

    #[test]
    fn a_new_flag_with_a_missing_prerequisite_is_left_out_with_those_that_require_it() {
        let new = flags(&[("a", &["b"]), ("b", &["gone"]), ("c", &[])]);
        let (kept, rejected) = settle(new, &Flags::new());
        assert_eq!(names(&kept), ["c"]);
        assert_eq!(names(&rejected), ["a", "b"]);
    }

    #[test]
    fn new_flags_on_a_cycle_are_left_out_and_the_others_go_on() {
        let new = flags(&[
            ("a", &["b"]),
            ("b", &["a"]),
            ("c", &["c"]),
            ("d", &["e"]),
            ("e", &[]),
        ]);
        let (kept, rejected) = settle(new, &Flags::new());
        assert_eq!(names(&kept), ["d", "e"]);
        assert!(matches!(rejected["a"], FlagError::PrerequisiteCycle(_)));
        assert!(matches!(rejected["c"], FlagError::PrerequisiteCycle(_)));
    }

    #[test]
    fn an_edit_that_closes_a_cycle_goes_back_and_the_rest_of_the_chain_stays() {
        let live = flags(&[("a", &["b"]), ("b", &[]), ("z", &["a"])]);
        let edited = flags(&[("a", &["b"]), ("b", &["a"]), ("z", &["a"])]);
        let (kept, rejected) = settle(edited, &live);
        assert_eq!(kept, live);
        assert_eq!(names(&rejected), ["b"]);
    }

    #[test]
    fn an_edit_that_makes_a_chain_too_long_goes_back() {
        let live = flags(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &[])]);
        let (kept, rejected) = settle(live.clone(), &Flags::new());
        assert_eq!((kept.len(), rejected.len()), (CHAIN_MAX, 0));
        let edited = flags(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["d"]),
            ("d", &["e"]),
            ("e", &[]),
        ]);
        let (kept, rejected) = settle(edited, &live);
        assert!(kept["d"].prerequisites().is_empty());
        assert!(matches!(
            rejected["d"],
            FlagError::PrerequisiteDepth(CHAIN_MAX)
        ));
        assert!(kept.contains_key("a") && kept.contains_key("b") && kept.contains_key("c"));
    }

    #[test]
    fn a_live_flag_whose_prerequisite_is_deleted_stays_and_is_reported() {
        let live = flags(&[("a", &["b"]), ("b", &[])]);
        let (kept, rejected) = settle(flags(&[("a", &["b"])]), &live);
        assert_eq!(names(&kept), ["a"]);
        assert_eq!(names(&rejected), ["a"]);
    }

    #[test]
    fn a_prerequisite_on_a_variant_that_does_not_exist_is_rejected() {
        let a = flag_with("a", "a", "[[prerequisites]]\nflag = 'b'\nvariant = 'blue'");
        let mut new = flags(&[("b", &[])]);
        new.insert(a.key().clone(), Arc::new(a));
        let (kept, rejected) = settle(new, &Flags::new());
        assert_eq!(names(&kept), ["b"]);
        assert!(rejected["a"].to_string().contains("blue"));
    }
}
