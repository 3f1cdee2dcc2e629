//! The rules about who may name whom.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::{Finding, Named, Source, Tree};

/// A driver crate and the engines whose files may name it.
const DRIVERS: [(&str, &[&str]); 4] = [
    ("sqlx", &["sqlite", "mysql"]),
    ("scylla", &["cassandra"]),
    ("redis", &["redis"]),
    ("etcd_client", &["etcd"]),
];

/// Every engine: the name of its files, and how the names of its types start.
const ENGINES: [(&str, &str); 7] = [
    ("sqlite", "Sqlite"),
    ("mysql", "Mysql"),
    ("cassandra", "Cassandra"),
    ("redis", "Redis"),
    ("etcd", "Etcd"),
    ("memory", "Memory"),
    ("folder", "Folder"),
];

const TRANSPORT: [&str; 2] = ["async_graphql", "axum"];

/// What reads or starts something that the whole process shares, and the one place for it.
const ONE_PLACE: [(&[&str], &str); 14] = [
    (&["SystemTime", "now"], "src/domain/clock.rs"),
    (&["Instant", "now"], "src/domain/clock.rs"),
    (&["Timestamp", "now"], "src/domain/clock.rs"),
    (&["Zoned", "now"], "src/domain/clock.rs"),
    (&["Utc", "now"], "src/domain/clock.rs"),
    (&["tokio", "spawn"], "src/tasks.rs"),
    (&["task", "spawn"], "src/tasks.rs"),
    (&["task", "spawn_blocking"], "src/tasks.rs"),
    (&["task", "spawn_local"], "src/tasks.rs"),
    (&["thread", "spawn"], "src/tasks.rs"),
    (&["env", "var"], "src/config/"),
    (&["env", "var_os"], "src/config/"),
    (&["env", "vars"], "src/config/"),
    (&["env", "vars_os"], "src/config/"),
];

/// Findings over every path of every Rust file.
fn paths(tree: &Tree, broken: impl Fn(&Source, &Named) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.rust() {
        for named in source.paths() {
            findings.extend(broken(source, &named).map(|what| source.finding(named.line, what)));
        }
    }
    findings
}

/// The order of the layers: modules on one line of the list stand side by side.
#[derive(Debug)]
pub(crate) struct Layers(BTreeMap<String, usize>);

impl Layers {
    /// Reads the list in the header of `src/lib.rs`, and sees that it is whole.
    pub(crate) fn read(tree: &Tree) -> Result<Self, String> {
        let lib = tree
            .sources
            .iter()
            .find(|source| source.file == "src/lib.rs");
        let lib = lib.ok_or("src/lib.rs is missing")?;
        let mut ranks = BTreeMap::new();
        let items = lib
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("//! - "));
        for (rank, item) in items.enumerate() {
            // "[`a`], [`b`] what they are": only the links that an item starts with.
            let mut rest = item;
            while let Some((name, after)) = rest
                .strip_prefix("[`")
                .and_then(|link| link.split_once("`]"))
            {
                ranks.insert(name.to_owned(), rank);
                rest = after.trim_start_matches([',', ' ']);
            }
        }
        let mut declared = Vec::new();
        modules(lib.tokens(), &mut declared);
        let missing = declared.iter().find(|name| !ranks.contains_key(*name));
        match missing {
            Some(name) => Err(format!("src/lib.rs: the list of layers lacks [`{name}`]")),
            None if ranks.is_empty() => Err("src/lib.rs: no list of layers".into()),
            None => Ok(Self(ranks)),
        }
    }

    pub(crate) fn check(&self, tree: &Tree) -> Vec<Finding> {
        paths(tree, |source, named| {
            let module = source.module();
            let (here, there) = (module.first()?, named.in_crate()?.first()?);
            let is_above = self.0.get(there)? < self.0.get(here)?;
            is_above.then(|| format!("{here} uses {there}, which is a layer above it"))
        })
    }
}

pub(crate) fn domain_is_pure(tree: &Tree) -> Vec<Finding> {
    let mut findings = paths(tree, |source, named| {
        if !source.file.starts_with("src/domain/") {
            return None;
        }
        let root = named.in_crate().and_then(<[String]>::first);
        if let Some(root) = root.filter(|root| *root != "domain") {
            return Some(format!("names crate::{root}"));
        }
        let first = named.path.first().map(String::as_str)?;
        let is_io = ["tokio", "reqwest", "metrics", "tracing"].contains(&first)
            || ["fs", "net", "process"]
                .iter()
                .any(|io| named.contains(&["std", io]));
        (named.path.len() > 1 && is_io).then(|| format!("names {}", named.path.join("::")))
    });
    findings.extend(paths(tree, |source, named| {
        let is_async = named.path == ["async"] && source.file.starts_with("src/domain/");
        is_async.then(|| "is async".into())
    }));
    findings
}

pub(crate) fn drivers_stay_home(tree: &Tree) -> Vec<Finding> {
    paths(tree, |source, named| {
        let first = named.path.first().filter(|_| named.path.len() > 1)?;
        let (driver, engines) = DRIVERS.iter().find(|(driver, _)| driver == first)?;
        let module = source.module();
        let is_home = module.iter().any(|name| engines.contains(&name.as_str()))
            || source.file.starts_with("src/store/driver/");
        (!is_home).then(|| format!("names {driver}"))
    })
}

pub(crate) fn transport_stays_in_api(tree: &Tree) -> Vec<Finding> {
    paths(tree, |source, named| {
        let first = named.path.first().filter(|_| named.path.len() > 1)?;
        let is_elsewhere = !source.file.starts_with("src/api/");
        (is_elsewhere && TRANSPORT.contains(&first.as_str())).then(|| format!("names {first}"))
    })
}

/// The port that a file belongs to: a folder of `src/store/` other than `driver`.
fn port_of(source: &Source) -> Option<String> {
    let inner = source.file.strip_prefix("src/store/")?;
    inner
        .split_once('/')
        .map(|(port, _)| port.to_owned())
        .filter(|port| port != "driver")
}

pub(crate) fn ports_are_apart(tree: &Tree) -> Vec<Finding> {
    let ports: BTreeSet<String> = tree.rust().filter_map(port_of).collect();
    paths(tree, |source, named| {
        let own = port_of(source)?;
        let ["store", used, ..] = named
            .in_crate()?
            .first_chunk::<2>()?
            .each_ref()
            .map(String::as_str)
        else {
            return None;
        };
        let is_other = used == "open" || (used != own && ports.contains(used));
        is_other.then(|| format!("the port {own} uses crate::store::{used}"))
    })
}

/// Test code may open an embedded store: that is its test double.
pub(crate) fn service_knows_no_engine(tree: &Tree) -> Vec<Finding> {
    paths(tree, |source, named| {
        if !source.file.starts_with("src/service/") || named.is_test {
            return None;
        }
        let is_store = named
            .in_crate()
            .is_some_and(|names| names.first().is_some_and(|n| n == "store"));
        let by_module = named
            .path
            .iter()
            .find(|name| is_store && ENGINES.iter().any(|(module, _)| module == name));
        let by_type = named
            .path
            .iter()
            .find(|name| ENGINES.iter().any(|(_, start)| is_type_of(name, start)));
        by_module.or(by_type).map(|name| format!("names {name}"))
    })
}

/// `SqliteComments` is a type of `Sqlite`; `Memoryless` is a word of its own.
fn is_type_of(name: &str, start: &str) -> bool {
    name.strip_prefix(start).is_some_and(|rest| {
        rest.chars()
            .next()
            .is_some_and(|next| next.is_uppercase() || next.is_ascii_digit())
    })
}

pub(crate) fn one_place_each(tree: &Tree) -> Vec<Finding> {
    paths(tree, |source, named| {
        let (names, place) = ONE_PLACE.iter().find(|(names, _)| named.contains(names))?;
        let is_there = source.file.starts_with(place);
        (!is_there).then(|| format!("{} belongs in {place}", names.join("::")))
    })
}

pub(crate) fn every_file_is_reached(tree: &Tree) -> Vec<Finding> {
    let mut reached = BTreeSet::new();
    for root in ["src/lib.rs", "src/main.rs"] {
        follow(tree, root, &mut reached);
    }
    let lost = tree.rust().filter(|source| !reached.contains(&source.file));
    lost.map(|source| source.finding(1, "is never compiled"))
        .collect()
}

fn follow(tree: &Tree, file: &str, reached: &mut BTreeSet<String>) {
    let Some(source) = tree.sources.iter().find(|source| source.file == file) else {
        return;
    };
    if !reached.insert(file.to_owned()) {
        return;
    }
    let mut declared = Vec::new();
    modules(source.tokens(), &mut declared);
    let mut folder = String::from("src/");
    for name in source.module() {
        folder.push_str(&name);
        folder.push('/');
    }
    for name in declared {
        for candidate in [
            format!("{folder}{name}.rs"),
            format!("{folder}{name}/mod.rs"),
        ] {
            if tree.has(&candidate) {
                follow(tree, &candidate, reached);
            }
        }
    }
}

/// The names of `mod name;` outside of other modules' braces.
fn modules(tokens: TokenStream, found: &mut Vec<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for window in trees.windows(3) {
        if let [
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            TokenTree::Punct(end),
        ] = window
            && word == "mod"
            && end.as_char() == ';'
        {
            found.push(name.to_string());
        }
    }
    // A macro such as `cfg_if!` may hold declarations as well.
    for tree in trees {
        if let TokenTree::Group(group) = tree
            && group.delimiter() == Delimiter::Brace
        {
            modules(group.stream(), found);
        }
    }
}
