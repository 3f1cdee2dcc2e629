//! Identical selections become one, and those that contradict each other are refused.
//!
//! GraphQL says that fields with the same response key run once. The executor runs each one, so a
//! mutation written twice would write twice. [`merge`] unites identical fields where they stand
//! next to each other; [`check`] refuses what cannot be united: the same response key with another
//! name or other arguments, at any depth and through fragments, and a mutation's root field that
//! fragments or directives select a second time. The schema is not known here, so two fragments
//! on different types are taken to be about different objects.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, FragmentDefinition, OperationType, Selection,
    SelectionSet,
};
use async_graphql::{Name, Positioned};

use crate::api::http::error::{Code, RequestError};

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// Unites identical fields and drops repeated spreads, in every selection set of the document.
/// The order of response keys stays that of first mention.
pub(super) fn merge(document: &mut ExecutableDocument) {
    use async_graphql::parser::types::DocumentOperations::{Multiple, Single};
    match &mut document.operations {
        Single(operation) => merge_set(&mut operation.node.selection_set.node),
        Multiple(operations) => {
            for operation in operations.values_mut() {
                merge_set(&mut operation.node.selection_set.node);
            }
        }
    }
    for fragment in document.fragments.values_mut() {
        merge_set(&mut fragment.node.selection_set.node);
    }
}

fn merge_set(set: &mut SelectionSet) {
    let mut kept: Vec<Positioned<Selection>> = Vec::with_capacity(set.items.len());
    let mut places: HashMap<Name, Vec<usize>> = HashMap::new();
    for item in std::mem::take(&mut set.items) {
        let key = match &item.node {
            Selection::Field(field) => field.node.response_key().node.clone(),
            Selection::FragmentSpread(spread) => spread.node.fragment_name.node.clone(),
            Selection::InlineFragment(_) => {
                kept.push(item);
                continue;
            }
        };
        let candidates = places.entry(key).or_default();
        let twin = candidates.iter().copied().find(|at| {
            kept.get(*at)
                .is_some_and(|earlier| identical(&earlier.node, &item.node))
        });
        if let Some(earlier) = twin.and_then(|at| kept.get_mut(at)) {
            unite(&mut earlier.node, item.node);
        } else {
            candidates.push(kept.len());
            kept.push(item);
        }
    }
    for item in &mut kept {
        match &mut item.node {
            Selection::Field(field) => merge_set(&mut field.node.selection_set.node),
            Selection::InlineFragment(inline) => merge_set(&mut inline.node.selection_set.node),
            Selection::FragmentSpread(_) => {}
        }
    }
    set.items = kept;
}

fn identical(earlier: &Selection, later: &Selection) -> bool {
    match (earlier, later) {
        (Selection::Field(a), Selection::Field(b)) => {
            // One with and one without sub-selections is an error that must stay visible.
            let same_kind = a.node.selection_set.node.items.is_empty()
                == b.node.selection_set.node.items.is_empty();
            same_kind
                && a.node.response_key().node == b.node.response_key().node
                && same_call(&a.node, &b.node)
                && same_directives(&a.node.directives, &b.node.directives)
        }
        (Selection::FragmentSpread(a), Selection::FragmentSpread(b)) => {
            a.node.fragment_name.node == b.node.fragment_name.node
                && same_directives(&a.node.directives, &b.node.directives)
        }
        _ => false,
    }
}

fn unite(earlier: &mut Selection, later: Selection) {
    if let (Selection::Field(earlier), Selection::Field(later)) = (earlier, later) {
        let later = later.node.selection_set.node.items;
        earlier.node.selection_set.node.items.extend(later);
    }
}

fn same_call(a: &Field, b: &Field) -> bool {
    a.name.node == b.name.node
        && a.arguments.len() == b.arguments.len()
        && a.arguments
            .iter()
            .all(|(name, value)| b.get_argument(&name.node) == Some(value))
}

fn same_directives(a: &[Positioned<Directive>], b: &[Positioned<Directive>]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.node.name == b.node.name && a.node.arguments == b.node.arguments)
}

/// Refuses selections that contradict each other. `budget` bounds the fields looked at.
pub(super) fn check(document: &ExecutableDocument, budget: usize) -> Result<(), RequestError> {
    let mut conflicts = Conflicts {
        fragments: &document.fragments,
        budget,
    };
    for (_, operation) in document.operations.iter() {
        let root = &operation.node.selection_set.node;
        conflicts.check(&[root])?;
        if operation.node.ty == OperationType::Mutation {
            check_roots_once(root, &document.fragments, &mut HashSet::new())?;
        }
    }
    Ok(())
}

/// Each root field of a mutation is a write, so each may stand there once only.
fn check_roots_once<'a>(
    set: &'a SelectionSet,
    fragments: &'a Fragments,
    seen: &mut HashSet<&'a str>,
) -> Result<(), RequestError> {
    for item in &set.items {
        match &item.node {
            Selection::Field(field) => {
                let key = field.node.response_key();
                let writes = field.node.name.node != "__typename";
                if writes && !seen.insert(key.node.as_str()) {
                    let message = format!(
                        "\"{}\" is selected more than once at the root of a mutation, through \
                         fragments or with different directives; select it once",
                        key.node
                    );
                    return Err(invalid(message).at(key.pos));
                }
            }
            Selection::InlineFragment(inline) => {
                check_roots_once(&inline.node.selection_set.node, fragments, seen)?;
            }
            Selection::FragmentSpread(spread) => {
                let name = spread.node.fragment_name.node.as_str();
                if let Some(fragment) = fragments.get(name) {
                    check_roots_once(&fragment.node.selection_set.node, fragments, seen)?;
                }
            }
        }
    }
    Ok(())
}

fn invalid(message: String) -> RequestError {
    RequestError::refused(Code::ValidationFailed, message)
}

/// A field and the innermost type condition around it; `None` is the enclosing field's own type.
#[derive(Clone, Copy)]
struct Found<'a> {
    field: &'a Positioned<Field>,
    on: Option<&'a str>,
}

type Groups<'a> = BTreeMap<&'a str, Vec<Found<'a>>>;

struct Conflicts<'a> {
    fragments: &'a Fragments,
    budget: usize,
}

impl<'a> Conflicts<'a> {
    /// Checks the selection sets as the one set that execution makes of them.
    fn check(&mut self, sets: &[&'a SelectionSet]) -> Result<(), RequestError> {
        let mut groups = Groups::new();
        let mut visited = HashSet::new();
        for set in sets {
            self.collect(set, None, &mut visited, &mut groups)?;
        }
        for group in groups.values() {
            self.check_group(group)?;
        }
        Ok(())
    }

    fn collect(
        &mut self,
        set: &'a SelectionSet,
        on: Option<&'a str>,
        visited: &mut HashSet<&'a str>,
        groups: &mut Groups<'a>,
    ) -> Result<(), RequestError> {
        for item in &set.items {
            self.budget = self.budget.checked_sub(1).ok_or_else(|| {
                let message = "the document selects the same fields in too many ways";
                RequestError::refused(Code::QueryTooComplex, message).at(item.pos)
            })?;
            match &item.node {
                Selection::Field(field) => {
                    let key = field.node.response_key().node.as_str();
                    groups.entry(key).or_default().push(Found { field, on });
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref();
                    let on = condition
                        .map(|condition| condition.node.on.node.as_str())
                        .or(on);
                    self.collect(&inline.node.selection_set.node, on, visited, groups)?;
                }
                Selection::FragmentSpread(spread) => {
                    let name = spread.node.fragment_name.node.as_str();
                    let fragment = self.fragments.get(name).filter(|_| visited.insert(name));
                    if let Some(fragment) = fragment {
                        let on = Some(fragment.node.type_condition.node.on.node.as_str());
                        self.collect(&fragment.node.selection_set.node, on, visited, groups)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks the fields of one response key.
    fn check_group(&mut self, group: &[Found<'a>]) -> Result<(), RequestError> {
        // The first field of each type stands for the rest of it.
        let mut first_of: BTreeMap<Option<&str>, &Positioned<Field>> = BTreeMap::new();
        for found in group {
            let first = *first_of.entry(found.on).or_insert(found.field);
            check_pair(first, found.field)?;
        }
        let own = first_of.remove(&None);
        if let Some(own) = own {
            for other in first_of.values() {
                check_pair(own, other)?;
            }
        }
        let below = |on: Option<&str>| -> Vec<&'a SelectionSet> {
            let members = group
                .iter()
                .filter(|found| found.on.is_none() || found.on == on);
            let sets = members.map(|found| &found.field.node.selection_set.node);
            sets.filter(|set| !set.items.is_empty()).collect()
        };
        if first_of.is_empty() {
            return self.check_below(&below(None));
        }
        for on in first_of.into_keys() {
            self.check_below(&below(on))?;
        }
        Ok(())
    }

    fn check_below(&mut self, sets: &[&'a SelectionSet]) -> Result<(), RequestError> {
        if sets.is_empty() {
            Ok(())
        } else {
            self.check(sets)
        }
    }
}

fn check_pair(a: &Positioned<Field>, b: &Positioned<Field>) -> Result<(), RequestError> {
    if same_call(&a.node, &b.node) {
        return Ok(());
    }
    let key = &a.node.response_key().node;
    let difference = if a.node.name.node == b.node.name.node {
        "with different arguments".to_owned()
    } else {
        format!(
            "as \"{}\" and as \"{}\"",
            a.node.name.node, b.node.name.node
        )
    };
    let message = format!("\"{key}\" is selected {difference}; use aliases to fetch both");
    Err(invalid(message).at(a.pos).at(b.pos))
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    /// The document's only operation, printed: only what the tests look at.
    fn print(set: &SelectionSet) -> String {
        let each = set.items.iter().map(|item| match &item.node {
            Selection::Field(field) => {
                let below = print(&field.node.selection_set.node);
                let below = if below.is_empty() {
                    below
                } else {
                    format!("{{{below}}}")
                };
                format!("{}{below}", field.node.response_key().node)
            }
            Selection::FragmentSpread(spread) => format!("...{}", spread.node.fragment_name.node),
            Selection::InlineFragment(inline) => {
                format!("...{{{}}}", print(&inline.node.selection_set.node))
            }
        });
        each.collect::<Vec<_>>().join(" ")
    }

    fn merged(text: &str) -> Result<String, String> {
        let mut document = parse_query(text).unwrap();
        merge(&mut document);
        check(&document, 10_000).map_err(|error| error.message)?;
        let (_, operation) = document.operations.iter().next().unwrap();
        Ok(print(&operation.node.selection_set.node))
    }

    #[test]
    fn identical_fields_run_once_and_unite_what_is_below() {
        for (text, want) in [
            ("{a a a}", "a"),
            ("{a b a c}", "a b c"),
            ("{a{x} b a{y x}}", "a{x y} b"),
            ("{a{b{x}} a{b{y}}}", "a{b{x y}}"),
            ("{a(x:1,y:[2]) a(y:[2] x:1)}", "a"),
            (
                "mutation{inc{value} inc{__typename}}",
                "inc{value __typename}",
            ),
            ("{...f ...f} fragment f on Q {a}", "...f"),
            ("{a @include(if:true) a @include(if:true)}", "a"),
            ("{a @include(if:true) a}", "a a"),
            ("{a a{x}}", "a a{x}"),
            ("{a ...{b b}}", "a ...{b}"),
        ] {
            assert_eq!(merged(text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn contradictions_are_refused_at_any_depth() {
        for text in [
            "{a a(x:1)}",
            "{a(x:1) a(x:2)}",
            "{a(x:$v) a(x:$w)}",
            "{x:a x:b}",
            "{u{a:id} u{a:name}}",
            "{u{f(n:1){id}} v u{f(n:2){id}}}",
            "{u{f(n:1){id}} ...g} fragment g on Q {u{f(n:2){id}}}",
            "{u{...g} ...h} fragment g on U {k:a} fragment h on Q {u{k:b}}",
            "{u{k:a ...on B{k:b}}}",
            "{...on A{k:a} ...on A{k:b}}",
            "{...{k:a} k:b}",
            "query{a} mutation M{x:a x:b}",
        ] {
            let text = text.replace("query{a} mutation", "query N{a} mutation");
            assert!(merged(&text).unwrap_err().contains("is selected"), "{text}");
        }
    }

    #[test]
    fn different_types_may_use_a_key_differently() {
        for text in [
            "{...on A{k:a} ...on B{k:b}}",
            "{u{...f ...g}} fragment f on A {k{x:a}} fragment g on B {k{x:b}}",
            "{a{k:x} b{k:y}}",
        ] {
            assert!(merged(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_write_may_stand_once_at_the_root() {
        for text in [
            "mutation{inc{v} ...f} fragment f on M {inc{v}}",
            "mutation{inc ...on M{inc}}",
            "mutation{inc @include(if:$a) inc @include(if:$b)}",
            "mutation{...f @include(if:$a) ...f @skip(if:$a)} fragment f on M {inc}",
        ] {
            assert!(
                merged(text).unwrap_err().contains("more than once"),
                "{text}"
            );
        }
        assert!(merged("mutation{inc a:inc __typename ...on M{__typename}}").is_ok());
        assert!(merged("{inc ...on Q{inc}}").is_ok());
    }

    #[test]
    fn work_is_bounded() {
        let fan = |level: usize| {
            let each = (0..8).map(|n| format!("...on T{n}{{k{{...l{}}}}} ", level + 1));
            format!(
                "fragment l{level} on X {{k{{...l{}}} {}}} ",
                level + 1,
                each.collect::<String>()
            )
        };
        let levels: String = (0..12).map(fan).collect();
        let text = format!("{{...l0}} {levels} fragment l12 on X {{k}}");
        let document = parse_query(text).unwrap();
        assert_eq!(
            check(&document, 5_000).unwrap_err().code,
            Code::QueryTooComplex
        );
    }
}
