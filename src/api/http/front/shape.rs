//! How large a document is once its fragments are put in place of their spreads, without doing it.
//!
//! The executor's own walks put fragments in place again and again, so a kilobyte of fragments that
//! spread each other twice costs it 2^n steps. Here each fragment is measured once and its numbers
//! reused; work is linear in the document. Recursion is bounded by the level limit, and a cycle is
//! found before it is followed twice.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, FragmentDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Pos, Positioned};

use crate::api::http::error::{Code, RequestError};
use crate::api::http::settings::RequestLimits;

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// Checks every operation of the document against the limits.
pub(super) fn check(
    document: &ExecutableDocument,
    limits: &RequestLimits,
) -> Result<(), RequestError> {
    let mut measure = Measure {
        fragments: &document.fragments,
        known: HashMap::new(),
        limits,
    };
    for (_, operation) in document.operations.iter() {
        let size = measure.set(&operation.node.selection_set.node, 0, operation.pos)?;
        let position = operation.pos;
        over(size.aliases, limits.aliases_max, "aliases", position)?;
        let roots = measure.fields_here(&operation.node.selection_set.node, 0);
        over(roots, limits.root_fields_max, "root fields", position)?;
    }
    // Fragments that no operation reaches are walked by the executor's checks as well.
    for fragment in document.fragments.values() {
        measure.set(&fragment.node.selection_set.node, 0, fragment.pos)?;
    }
    Ok(())
}

/// Checks that a subscription has one root field, which no variable can switch off, and that it is
/// one of the schema's own; and takes it out of the fragments around it, where the executor does not
/// look. Recursion is bounded by [`check`], which comes first.
pub(super) fn one_root(
    document: &mut ExecutableDocument,
    operation: Option<&str>,
) -> Result<(), RequestError> {
    let (mut roots, mut passed) = (Vec::new(), HashSet::new());
    let chosen = document
        .operations
        .iter()
        .filter(|(name, _)| operation.is_none() || name.map(Name::as_str) == operation);
    for (_, chosen) in chosen {
        let set = &chosen.node.selection_set.node;
        roots_of(document, set, &mut roots, &mut passed);
    }
    let wrong = |message: &str, position| {
        Err(RequestError::refused(Code::ValidationFailed, message).at(position))
    };
    let root = match roots.as_slice() {
        [(field, _)] if field.node.name.node.starts_with("__") => {
            return wrong("a subscription cannot be about the schema", field.pos);
        }
        [(field, true)] => {
            return wrong("a subscription's root field cannot be skipped", field.pos);
        }
        [(field, false)] => (*field).clone(),
        [_, (field, _), ..] => return wrong("a subscription has one root field", field.pos),
        // An empty selection does not parse.
        [] => {
            let start = Pos { line: 1, column: 1 };
            return wrong("a subscription has one root field", start);
        }
    };
    let passed: HashSet<Name> = passed.into_iter().cloned().collect();
    let set = match &mut document.operations {
        DocumentOperations::Single(chosen) => Some(&mut chosen.node.selection_set),
        DocumentOperations::Multiple(all) => all
            .iter_mut()
            .find(|(name, _)| Some(name.as_str()) == operation)
            .map(|(_, chosen)| &mut chosen.node.selection_set),
    };
    if let Some(set) = set {
        let position = root.pos;
        set.node.items = vec![Positioned::new(Selection::Field(root), position)];
    }
    // Those around the root are empty now; one that is spread below it as well stays.
    let mut used = HashSet::new();
    for (_, operation) in document.operations.iter() {
        spread_in(document, &operation.node.selection_set.node, &mut used);
    }
    let used: HashSet<Name> = used.into_iter().cloned().collect();
    document
        .fragments
        .retain(|name, _| used.contains(name) || !passed.contains(name));
    Ok(())
}

/// Every fragment that a selection set spreads, directly or not.
fn spread_in<'a>(
    document: &'a ExecutableDocument,
    set: &'a SelectionSet,
    found: &mut HashSet<&'a Name>,
) {
    for item in &set.items {
        match &item.node {
            Selection::Field(field) => {
                spread_in(document, &field.node.selection_set.node, found);
            }
            Selection::InlineFragment(inline) => {
                spread_in(document, &inline.node.selection_set.node, found);
            }
            Selection::FragmentSpread(spread) => {
                let name = &spread.node.fragment_name.node;
                if found.insert(name)
                    && let Some(fragment) = document.fragments.get(name)
                {
                    spread_in(document, &fragment.node.selection_set.node, found);
                }
            }
        }
    }
}

/// Root fields with whether a directive may skip them, fragments expanded; and the fragments that
/// were passed on the way.
fn roots_of<'a>(
    document: &'a ExecutableDocument,
    set: &'a SelectionSet,
    found: &mut Vec<(&'a Positioned<Field>, bool)>,
    passed: &mut HashSet<&'a Name>,
) {
    for item in &set.items {
        let before = found.len();
        match &item.node {
            Selection::Field(field) => found.push((field, false)),
            Selection::InlineFragment(inline) => {
                roots_of(document, &inline.node.selection_set.node, found, passed);
            }
            Selection::FragmentSpread(spread) => {
                let name = &spread.node.fragment_name.node;
                passed.insert(name);
                if let Some(fragment) = document.fragments.get(name) {
                    let set = &fragment.node.selection_set.node;
                    roots_of(document, set, found, passed);
                }
            }
        }
        let is_skippable = item
            .node
            .directives()
            .iter()
            .any(|directive| matches!(directive.node.name.node.as_str(), "skip" | "include"));
        for (_, skippable) in found.iter_mut().skip(before) {
            *skippable |= is_skippable;
        }
    }
}

/// Checks the number of directives; runs before anything compares them.
pub(super) fn check_directives(
    document: &ExecutableDocument,
    limits: &RequestLimits,
) -> Result<(), RequestError> {
    let mut total = 0;
    for (_, operation) in document.operations.iter() {
        let variables = &operation.node.variable_definitions;
        total += operation.node.directives.len();
        total += variables
            .iter()
            .map(|variable| variable.node.directives.len())
            .sum::<usize>();
        total += directives_of(&operation.node.selection_set.node);
    }
    for fragment in document.fragments.values() {
        total += fragment.node.directives.len();
        total += directives_of(&fragment.node.selection_set.node);
    }
    over(
        total,
        limits.directives_max,
        "directives",
        Pos { line: 1, column: 1 },
    )
}

fn directives_of(set: &SelectionSet) -> usize {
    let each = set.items.iter().map(|item| {
        item.node.directives().len()
            + match &item.node {
                Selection::Field(field) => directives_of(&field.node.selection_set.node),
                Selection::InlineFragment(inline) => directives_of(&inline.node.selection_set.node),
                Selection::FragmentSpread(_) => 0,
            }
    });
    each.sum()
}

fn over(count: usize, limit: usize, what: &str, position: Pos) -> Result<(), RequestError> {
    if count <= limit {
        return Ok(());
    }
    let message = format!("the operation has more than {limit} {what}");
    Err(RequestError::refused(Code::QueryTooComplex, message).at(position))
}

/// The expanded size of a selection set.
#[derive(Clone, Copy, Default)]
struct Size {
    selections: usize,
    levels: usize,
    aliases: usize,
}

enum Known {
    /// Being measured further up: meeting it again is a cycle.
    Open,
    Done(Size),
}

struct Measure<'a> {
    fragments: &'a Fragments,
    known: HashMap<&'a str, Known>,
    limits: &'a RequestLimits,
}

impl<'a> Measure<'a> {
    fn set(
        &mut self,
        set: &'a SelectionSet,
        above: usize,
        position: Pos,
    ) -> Result<Size, RequestError> {
        let above = above + 1;
        self.check_levels(above, position)?;
        let mut size = Size::default();
        for item in &set.items {
            let below = match &item.node {
                Selection::Field(field) => {
                    let aliased = usize::from(field.node.alias.is_some());
                    size.aliases = size.aliases.saturating_add(aliased);
                    self.child(&field.node.selection_set.node, above, item.pos)?
                }
                Selection::InlineFragment(inline) => {
                    self.child(&inline.node.selection_set.node, above, item.pos)?
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name, above)?
                }
            };
            size.selections = size
                .selections
                .saturating_add(1)
                .saturating_add(below.selections);
            size.levels = size.levels.max(below.levels);
            size.aliases = size.aliases.saturating_add(below.aliases);
        }
        size.levels += 1;
        self.check_levels(above - 1 + size.levels, position)?;
        let limit = self.limits.expanded_selections_max;
        over(
            size.selections,
            limit,
            "selections with its fragments expanded",
            position,
        )?;
        Ok(size)
    }

    fn child(
        &mut self,
        set: &'a SelectionSet,
        above: usize,
        position: Pos,
    ) -> Result<Size, RequestError> {
        if set.items.is_empty() {
            Ok(Size::default())
        } else {
            self.set(set, above, position)
        }
    }

    fn fragment(&mut self, name: &'a Positioned<Name>, above: usize) -> Result<Size, RequestError> {
        match self.known.get(name.node.as_str()) {
            Some(Known::Done(size)) => {
                let size = *size;
                self.check_levels(above + size.levels, name.pos)?;
                return Ok(size);
            }
            Some(Known::Open) => {
                let message = format!("fragment \"{}\" spreads itself", name.node);
                return Err(RequestError::refused(Code::ValidationFailed, message).at(name.pos));
            }
            None => {}
        }
        let Some(fragment) = self.fragments.get(name.node.as_str()) else {
            let message = format!("unknown fragment \"{}\"", name.node);
            return Err(RequestError::refused(Code::ValidationFailed, message).at(name.pos));
        };
        self.known.insert(name.node.as_str(), Known::Open);
        let size = self.set(&fragment.node.selection_set.node, above, name.pos)?;
        self.known.insert(name.node.as_str(), Known::Done(size));
        Ok(size)
    }

    fn check_levels(&self, levels: usize, position: Pos) -> Result<(), RequestError> {
        over(
            levels,
            self.limits.selection_levels_max,
            "levels of selections",
            position,
        )
    }

    /// Fields that land on the level of this set. Runs after [`Measure::set`] bounded the walk.
    fn fields_here(&self, set: &SelectionSet, above: usize) -> usize {
        if above > self.limits.selection_levels_max {
            return usize::MAX;
        }
        let each = set.items.iter().map(|item| match &item.node {
            Selection::Field(_) => 1,
            Selection::InlineFragment(inline) => {
                self.fields_here(&inline.node.selection_set.node, above + 1)
            }
            Selection::FragmentSpread(spread) => self
                .fragments
                .get(spread.node.fragment_name.node.as_str())
                .map_or(0, |fragment| {
                    self.fields_here(&fragment.node.selection_set.node, above + 1)
                }),
        });
        each.fold(0, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn refusal(text: &str) -> Option<String> {
        let document = parse_query(text).unwrap();
        let limits = RequestLimits::default();
        let checked = check_directives(&document, &limits).and_then(|()| check(&document, &limits));
        checked.err().map(|error| error.message)
    }

    fn repeat(count: usize, each: impl Fn(usize) -> String) -> String {
        (0..count).map(each).collect::<Vec<_>>().join(" ")
    }

    fn doubling(levels: usize) -> String {
        let each = repeat(levels, |level| {
            let next = level + 1;
            format!("fragment f{level} on Q {{...f{next} x:a ...f{next}}}")
        });
        format!("{{q{{...f0}}}} {each} fragment f{levels} on Q {{a}}")
    }

    #[test]
    fn fragments_that_double_are_measured_without_expanding_them() {
        assert_eq!(refusal(&doubling(4)), None);
        let message = refusal(&doubling(24)).unwrap();
        assert!(message.contains("2000 selections"), "{message}");
    }

    #[test]
    fn cycles_are_refused_however_long() {
        for text in [
            "{...a} fragment a on Q {...a}",
            "{...a} fragment a on Q {b{...b}} fragment b on Q {...{...a}}",
            "{x} fragment a on Q {...b} fragment b on Q {...a}",
        ] {
            assert!(refusal(text).unwrap().contains("spreads itself"), "{text}");
        }
    }

    #[test]
    fn levels_count_through_fragments_known_before() {
        let chain = |count: usize| {
            let each = (0..count).map(|n| format!("fragment f{n} on Q {{...f{}}} ", n + 1));
            format!("{}fragment f{count} on Q {{a}}", each.collect::<String>())
        };
        assert_eq!(refusal(&format!("{{...f0}} {}", chain(28))), None);
        assert!(
            refusal(&format!("{{...f0}} {}", chain(200)))
                .unwrap()
                .contains("30 levels")
        );
        // f1 is measured on the short way first; the long way must still be refused.
        let late = format!("{{...f20 b{{b{{b{{...f0}}}}}}}} {}", chain(28));
        assert!(refusal(&late).unwrap().contains("30 levels"));
    }

    #[test]
    fn aliases_roots_and_directives_are_counted() {
        let aliases = |count: usize| -> String {
            let each = repeat(count, |n| format!("a{n}:b"));
            format!("{{c{{{each}}}}}")
        };
        assert_eq!(refusal(&aliases(50)), None);
        assert!(refusal(&aliases(51)).unwrap().contains("50 aliases"));
        let roots = repeat(11, |n| format!("a{n}"));
        let text = format!("{{...f ...f}} fragment f on Q {{{roots}}}");
        assert!(refusal(&text).unwrap().contains("20 root fields"));
        assert!(
            refusal(&format!("{{a {}}}", "@b ".repeat(51)))
                .unwrap()
                .contains("directives")
        );
    }

    #[test]
    fn an_unknown_fragment_is_named() {
        assert_eq!(refusal("{...nope}").unwrap(), "unknown fragment \"nope\"");
    }
}
