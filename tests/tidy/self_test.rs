//! Every rule on source made up to break it, and on source that only looks as if it did.

use crate::rules::{self, Layers};
use crate::source::{Finding, Tree};
use crate::text;

/// The findings of a rule over one file, as `line: what`.
fn found(rule: fn(&Tree) -> Vec<Finding>, file: &str, text: &str) -> Vec<String> {
    let findings = rule(&Tree::of(&[(file, text)]));
    findings
        .iter()
        .map(|finding| format!("{}: {}", finding.line, finding.what))
        .collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn finds_a_layer_that_looks_up() {
    let lib = "//! - [`api`] [`other`] transport, see [`store`](store)\n//! - [`store`] data\n\
               //! - [`config`], [`tasks`] process\npub mod api;\npub mod store;\npub mod config;\n\
               pub mod tasks;\npub mod other;";
    let tree = Tree::of(&[
        ("src/lib.rs", lib),
        ("src/api/mod.rs", "use crate::{store::{a, b}, tasks};"),
        ("src/config/mod.rs", "use crate::tasks::Tasks;"),
        ("src/store/a.rs", "\nfn f() { super::super::api::call(); }"),
        ("src/store/b/mod.rs", "use crate::{config, api::{self}};"),
        (
            "src/store/c.rs",
            "// crate::api\nconst A: &str = \"crate::api\";",
        ),
    ]);
    let layers = Layers::read(&tree);
    // [`store`] in the words about api does not move it.
    let findings = layers
        .unwrap_or_else(|problem| panic!("{problem}"))
        .check(&tree);
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "  src/store/a.rs:2: store uses api, which is a layer above it",
            "  src/store/b/mod.rs:1: store uses api, which is a layer above it",
        ]
    );
}

#[test]
fn finds_a_module_that_is_in_no_layer() {
    let tree = Tree::of(&[(
        "src/lib.rs",
        "//! - [`api`] transport\npub mod api;\npub mod lost;",
    )]);
    assert!(Layers::read(&tree).unwrap_err().contains("lost"));
    let tree = Tree::of(&[("src/lib.rs", "//! nothing")]);
    assert!(Layers::read(&tree).is_err());
}

#[test]
fn finds_what_makes_the_domain_impure() {
    let rule = rules::domain_is_pure;
    let at = |text: &str| found(rule, "src/domain/x.rs", text);
    assert_eq!(
        at("use crate::{domain::a, config::B};"),
        ["1: names crate::config"]
    );
    assert_eq!(at("use super::super::store::X;"), ["1: names crate::store"]);
    assert_eq!(
        at("fn f() { std::fs::read(\"x\"); }"),
        ["1: names std::fs::read"]
    );
    assert_eq!(
        at("use tokio::sync::Mutex;"),
        ["1: names tokio::sync::Mutex"]
    );
    assert_eq!(at("\nasync fn f() {}"), ["2: is async"]);
    assert_eq!(
        at("use crate::domain::a; use super::b; use std::fmt; let net = 1;"),
        NOTHING
    );
    assert_eq!(
        at("mod tests { use super::super::a; use super::*; }"),
        NOTHING
    );
    assert_eq!(found(rule, "src/store/x.rs", "use crate::config;"), NOTHING);
}

#[test]
fn finds_a_driver_away_from_home() {
    let rule = rules::drivers_stay_home;
    assert_eq!(
        found(rule, "src/store/comments/mod.rs", "use sqlx::Row;"),
        ["1: names sqlx"]
    );
    assert_eq!(
        found(rule, "src/store/open.rs", "fn f(e: ::sqlx::Error) {}"),
        ["1: names sqlx"]
    );
    assert_eq!(
        found(rule, "src/store/sqlite.rs", "use scylla::X;"),
        ["1: names scylla"]
    );
    assert_eq!(
        found(rule, "src/a.rs", "use {etcd_client::A};"),
        ["1: names etcd_client"]
    );
    assert_eq!(
        found(rule, "src/a.rs", "x!(redis::cmd(1))"),
        ["1: names redis"]
    );
    for home in [
        "src/store/comments/sqlite.rs",
        "src/store/users/mysql/rows.rs",
    ] {
        assert_eq!(found(rule, home, "use sqlx::Row;"), NOTHING);
    }
    assert_eq!(
        found(rule, "src/store/driver/pool.rs", "use sqlx::Row;"),
        NOTHING
    );
    assert_eq!(
        found(rule, "src/store/x.rs", "mod redis; use self::redis::X;"),
        NOTHING
    );
}

#[test]
fn finds_transport_outside_of_api() {
    let rule = rules::transport_stays_in_api;
    assert_eq!(
        found(rule, "src/app.rs", "\n\nuse axum::Router;"),
        ["3: names axum"]
    );
    assert_eq!(
        found(
            rule,
            "src/domain/x.rs",
            "#[derive(async_graphql::Enum)] enum A {}"
        ),
        ["1: names async_graphql"]
    );
    assert_eq!(found(rule, "src/api/x.rs", "use axum::Router;"), NOTHING);
    assert_eq!(
        found(
            rule,
            "src/app.rs",
            "// axum::Router\nuse crate::api::axum::A;"
        ),
        NOTHING
    );
}

#[test]
fn finds_a_port_that_uses_another() {
    let with = |text: &str| {
        let tree = Tree::of(&[
            ("src/store/users/mod.rs", ""),
            ("src/store/error.rs", ""),
            ("src/store/comments/sqlite.rs", text),
        ]);
        let findings = rules::ports_are_apart(&tree);
        findings
            .iter()
            .map(|finding| finding.what.clone())
            .collect::<Vec<_>>()
    };
    let expected = ["the port comments uses crate::store::users"];
    assert_eq!(with("use crate::store::users::User;"), expected);
    assert_eq!(with("use crate::store::{error, users};"), expected);
    assert_eq!(with("fn f(u: super::super::users::User) {}"), expected);
    assert_eq!(
        with("use crate::store::open;"),
        ["the port comments uses crate::store::open"]
    );
    assert_eq!(
        with("use crate::store::{error::E, driver::x, comments::y, StoreError};"),
        NOTHING
    );
}

#[test]
fn finds_an_engine_in_the_rules() {
    let at = |text: &str| found(rules::service_knows_no_engine, "src/service/x.rs", text);
    assert_eq!(
        at("use crate::store::comments::sqlite::open;"),
        ["1: names sqlite"]
    );
    assert_eq!(
        at("fn f(s: &SqliteComments) {}"),
        ["1: names SqliteComments"]
    );
    assert_eq!(
        at("use crate::store::flags::FolderFlags;"),
        ["1: names FolderFlags"]
    );
    assert_eq!(
        at("#[cfg(test)] use a::b; use x::RedisCounts;"),
        ["1: names RedisCounts"]
    );
    assert_eq!(
        at("#[cfg(test)] mod tests { use x::SqliteComments; }"),
        NOTHING
    );
    assert_eq!(
        at("#[cfg(test)] mod t {} fn f() { x::SqliteA::new() }"),
        ["1: names SqliteA"]
    );
    assert_eq!(
        at("let memory = 1; let folder = Memoryless::new();"),
        NOTHING
    );
    let tests = "src/service/comments/tests.rs";
    assert_eq!(
        found(
            rules::service_knows_no_engine,
            tests,
            "use x::SqliteComments;"
        ),
        NOTHING
    );
}

#[test]
fn finds_time_tasks_and_variables_out_of_place() {
    let at = |file: &str, text: &str| found(rules::one_place_each, file, text);
    let time = ["1: SystemTime::now belongs in src/domain/clock.rs"];
    assert_eq!(
        at("src/a.rs", "fn f() { std::time::SystemTime::now() }"),
        time
    );
    assert_eq!(at("src/a.rs", "let f = SystemTime::now;"), time);
    assert_eq!(at("src/domain/clock.rs", "SystemTime::now()"), NOTHING);
    assert_eq!(
        at("src/a.rs", "tokio::spawn(x)"),
        ["1: tokio::spawn belongs in src/tasks.rs"]
    );
    let imported = ["1: task::spawn_blocking belongs in src/tasks.rs"];
    assert_eq!(
        at("src/a.rs", "use tokio::{sync, task::{spawn_blocking}};"),
        imported
    );
    assert_eq!(at("src/tasks.rs", "tokio::spawn(x)"), NOTHING);
    assert_eq!(
        at("src/a.rs", "std::env::var(\"A\")"),
        ["1: env::var belongs in src/config/"]
    );
    assert_eq!(at("src/config/a.rs", "std::env::vars_os()"), NOTHING);
    assert_eq!(
        at("src/a.rs", "clock.now(); env!(\"A\"); tasks.spawn(x)"),
        NOTHING
    );
}

#[test]
fn finds_a_file_that_is_never_compiled() {
    let tree = Tree::of(&[
        ("src/lib.rs", "mod a; #[cfg(test)] mod tests; // mod lost;"),
        ("src/a/mod.rs", "pub mod b;"),
        ("src/a/b.rs", ""),
        ("src/tests.rs", ""),
        ("src/lost.rs", ""),
        ("src/a/lost.rs", ""),
        ("src/a/notes.txt", ""),
    ]);
    let lost: Vec<String> = rules::every_file_is_reached(&tree)
        .into_iter()
        .map(|finding| finding.file)
        .collect();
    assert_eq!(lost, ["src/lost.rs", "src/a/lost.rs"]);
}

#[test]
fn finds_a_missing_header() {
    let at = |text: &str| found(text::has_header, "src/a.rs", text);
    for bare in [
        "",
        "use a;\n//! late header, too late",
        "//!",
        "//! short",
        "// no header, this",
    ] {
        assert_eq!(at(bare), ["1: has no header"], "{bare:?}");
    }
    assert_eq!(at("//! What this holds and why."), NOTHING);
}

#[test]
fn finds_a_long_file() {
    assert_eq!(
        found(text::is_short, "a.rs", &"x\n".repeat(501)),
        ["501: has 501 lines"]
    );
    assert_eq!(found(text::is_short, "a.rs", &"x\n".repeat(500)), NOTHING);
}

#[test]
fn finds_what_is_left_for_later() {
    let at = |text: &str| found(text::is_finished, "deploy/dev", text);
    let later = concat!("TO", "DO");
    assert_eq!(
        at(&format!("a\n# {later}: b")),
        [format!("2: says {later:?}")]
    );
    assert_eq!(at(&format!("MAS{later}N")), NOTHING);
    let call = concat!("to", "do!(");
    assert_eq!(
        at(&format!("fn f() {{ {call}\"x\") }}")),
        [format!("1: says {call:?}")]
    );
    assert_eq!(at("method(\"x\")"), NOTHING);
}
