//! Every way through the schema to a comment, found in the schema itself.
//!
//! A new field without required arguments is walked at once. One that needs arguments fails the
//! test until it is decided here what it is asked with; so does a new mutation or subscription.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

/// What fields are asked with; several texts are several walks. `$own` and `$child` are comments,
/// `$place` their discussion, `$author` who wrote `$own`.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("Query.node", &["id: $own", "id: $child", "id: $place"]),
    ("Query.nodes", &["ids: [$own, $child, $place]"]),
    ("Query.discussion", &["id: $place"]),
    ("Query.comment", &["id: $own", "id: $child"]),
    ("Query.user", &["id: $author"]),
    (
        "Discussion.comments",
        &[
            "mode: LINEAR, first: 30",
            "mode: THREADED, first: 30",
            "mode: LINEAR, order: NEWEST, last: 30",
        ],
    ),
    (
        "Discussion.context",
        &["comment: $own, siblings: 5", "comment: $child, siblings: 5"],
    ),
    ("Discussion.comment", &["id: $own", "id: $child"]),
];

/// One type of the schema.
#[derive(Debug)]
struct Type {
    kind: String,
    fields: Vec<Field>,
    possible: Vec<String>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    returns: String,
    must_have_arguments: bool,
}

/// One step on a way: from which type, over which field with which arguments, to which object.
type Step = (String, Field, String, String);

/// The schema, as it says of itself.
#[derive(Debug)]
pub(crate) struct Schema(BTreeMap<String, Type>);

const INTROSPECTION: &str = "{ __schema { types { kind name possibleTypes { name } fields { name \
    args { defaultValue type { kind } } type { ...Named } } } } } \
    fragment Named on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

fn named(mut reference: &Value) -> String {
    while !reference["ofType"].is_null() {
        reference = &reference["ofType"];
    }
    reference["name"].as_str().unwrap().to_owned()
}

impl Schema {
    pub(crate) async fn read(app: &TestApp) -> Self {
        let data = app.ask(&Who::anonymous(), INTROSPECTION, json!({})).await;
        let types = data["__schema"]["types"].as_array().unwrap();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let read = |given: &Value| {
            let field = |field: &Value| Field {
                name: field["name"].as_str().unwrap().to_owned(),
                returns: named(&field["type"]),
                must_have_arguments: list(&field["args"])
                    .iter()
                    .any(|arg| arg["type"]["kind"] == "NON_NULL" && arg["defaultValue"].is_null()),
            };
            let read = Type {
                kind: given["kind"].as_str().unwrap().to_owned(),
                fields: list(&given["fields"]).iter().map(field).collect(),
                possible: list(&given["possibleTypes"]).iter().map(named).collect(),
            };
            (named(given), read)
        };
        Self(types.iter().map(read).collect())
    }

    /// The fields of a root, to be compared with a list of decisions.
    pub(crate) fn fields(&self, of: &str) -> BTreeSet<&str> {
        let fields = self.0[of].fields.iter();
        fields.map(|field| field.name.as_str()).collect()
    }

    /// The objects that a field of this type may give.
    fn objects(&self, name: &str) -> Vec<String> {
        match self.0[name].kind.as_str() {
            "OBJECT" => vec![name.to_owned()],
            "INTERFACE" | "UNION" => self.0[name].possible.clone(),
            _ => Vec::new(),
        }
    }

    /// Types from which a comment can be reached, that one included.
    fn leads_to_comments(&self) -> BTreeSet<String> {
        let mut leading = BTreeSet::from(["Comment".to_owned()]);
        loop {
            let before = leading.len();
            for (name, given) in &self.0 {
                let leads = |field: &Field| {
                    let objects = self.objects(&field.returns);
                    objects.iter().any(|object| leading.contains(object))
                };
                if given.fields.iter().any(leads) {
                    leading.insert(name.clone());
                }
            }
            if leading.len() == before {
                return leading;
            }
        }
    }

    /// Every text of an object that can be asked for without passing another comment.
    fn everything(&self, of: &str, deep: usize) -> String {
        let mut selected = String::from("__typename");
        for field in &self.0[of].fields {
            let objects = self.objects(&field.returns);
            if field.must_have_arguments || (objects.is_empty() && field.returns.starts_with("__"))
            {
                continue;
            }
            if objects.is_empty() {
                selected.push(' ');
                selected.push_str(&field.name);
            } else if deep > 0 && !objects.iter().any(|object| object == "Comment") {
                let parts = objects.iter().map(|object| {
                    format!(
                        "... on {object} {{ {} }}",
                        self.everything(object, deep - 1)
                    )
                });
                let parts: Vec<String> = parts.collect();
                for part in [" ", &field.name, " { ", &parts.join(" "), " }"] {
                    selected.push_str(part);
                }
            }
        }
        selected
    }

    /// A document for each way from a root to a comment, and from there to another one.
    pub(crate) fn walks(&self) -> Vec<String> {
        let leading = self.leads_to_comments();
        let mut walks = Vec::new();
        let mut path = Vec::new();
        self.follow("Query", &leading, &mut path, &mut |path, end| {
            walks.push(wrap(&self.nested(path, end)));
        });
        // On from a comment: to whatever hangs on it.
        for from in ["$own", "$child"] {
            let mut path = Vec::new();
            self.follow("Comment", &leading, &mut path, &mut |path, end| {
                let inner = self.nested(path, end);
                walks.push(wrap(&format!("comment(id: {from}) {{ {inner} }}")));
            });
        }
        walks
    }

    /// A subscription for each way from an event to a comment.
    pub(crate) fn event_walks(&self) -> Vec<String> {
        let leading = self.leads_to_comments();
        let (mut walks, mut path) = (Vec::new(), Vec::new());
        self.follow("CommentEvent", &leading, &mut path, &mut |path, end| {
            let inner = self.nested(path, end);
            let all = self.everything("CommentEvent", 3);
            let root = "commentEvents(discussion: $place, after: $after)";
            let selection = format!("{root} {{ {all} {inner} }}");
            walks.push(with_variables("subscription", &selection));
        });
        walks
    }

    /// Follows every field that leads to a comment, none twice on a way; ends at comments.
    fn follow(
        &self,
        from: &str,
        leading: &BTreeSet<String>,
        path: &mut Vec<Step>,
        found: &mut dyn FnMut(&[Step], &str),
    ) {
        if path.len() > 7 {
            return;
        }
        for step in self.steps(from, leading) {
            let is_same = |other: &Step| other.0 == from && other.1.name == step.1.name;
            if path.iter().any(is_same) {
                continue;
            }
            let object = step.3.clone();
            path.push(step);
            if object == "Comment" {
                found(path, &object);
            } else {
                self.follow(&object, leading, path, found);
            }
            path.pop();
        }
    }

    /// The steps from a type that lead on to comments.
    fn steps(&self, from: &str, leading: &BTreeSet<String>) -> Vec<Step> {
        let mut steps = Vec::new();
        for field in &self.0[from].fields {
            let mut objects = self.objects(&field.returns);
            objects.retain(|object| leading.contains(object));
            for object in objects {
                for arguments in arguments_of(from, field) {
                    steps.push((from.to_owned(), field.clone(), arguments, object.clone()));
                }
            }
        }
        steps
    }

    fn nested(&self, path: &[Step], end: &str) -> String {
        let mut inner = self.everything(end, 3);
        for (at, (owner, field, arguments, object)) in path.iter().enumerate().rev() {
            // What stands beside the way is asked too: reports beside a queue's comment, reasons
            // beside an act's.
            let beside = if at == 0 {
                String::new()
            } else {
                self.everything(owner, 2)
            };
            let name = &field.name;
            inner =
                format!("{beside} walked: {name}{arguments} {{ ... on {object} {{ {inner} }} }}");
        }
        inner
    }
}

/// What a field is asked with: once for each text.
fn arguments_of(owner: &str, field: &Field) -> Vec<String> {
    let key = format!("{owner}.{}", field.name);
    match ARGUMENTS.iter().find(|(of, _)| *of == key) {
        Some((_, texts)) => texts.iter().map(|text| format!("({text})")).collect(),
        None if field.must_have_arguments => {
            panic!("{key} needs arguments: decide in ARGUMENTS what it is asked with")
        }
        None => vec![String::new()],
    }
}

fn wrap(selection: &str) -> String {
    with_variables("query", selection)
}

/// An operation that defines the variables it uses.
fn with_variables(kind: &str, selection: &str) -> String {
    let variables: Vec<String> = ["own", "child", "place", "author", "after"]
        .into_iter()
        .filter(|name| selection.contains(&format!("${name}")))
        .map(|name| format!("${name}: ID!"))
        .collect();
    if variables.is_empty() {
        format!("{kind} {{ {selection} }}")
    } else {
        format!("{kind}({}) {{ {selection} }}", variables.join(", "))
    }
}
