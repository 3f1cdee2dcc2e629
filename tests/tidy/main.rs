//! Holds `src/` to the rules of its architecture: one test a rule, each naming file and line.
//!
//! The rules read tokens, not text, so comments and string literals cannot trip them. `self_test`
//! shows for every rule a piece of source that it must find, so that none can pass by being blind.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken rule, or a fault of its own, fails by panicking"
)]

mod rules;
mod self_test;
mod source;
mod text;

use crate::rules::Layers;
use crate::source::{Finding, Tree};

/// Fails with every finding, one a line, in the form that editors jump to.
fn none(rule: &str, findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{rule}:\n{}\n", lines.join("\n"));
}

fn src() -> Tree {
    Tree::read("src")
}

#[test]
fn a_layer_uses_only_those_below_it() {
    let tree = src();
    let layers = Layers::read(&tree).unwrap_or_else(|problem| panic!("{problem}"));
    none(
        "the layers are listed in src/lib.rs, outermost first; each may use those below it",
        &layers.check(&tree),
    );
}

#[test]
fn the_domain_uses_nothing_of_the_crate_but_itself() {
    none(
        "domain/ is pure: no other module, no async, no I/O",
        &rules::domain_is_pure(&src()),
    );
}

#[test]
fn a_driver_is_named_only_in_files_called_after_its_engine() {
    none(
        "a driver crate belongs in a file or folder named after its engine, or in store/driver/",
        &rules::drivers_stay_home(&src()),
    );
}

#[test]
fn graphql_and_http_servers_are_named_only_under_api() {
    none(
        "async_graphql and axum belong under src/api/",
        &rules::transport_stays_in_api(&src()),
    );
}

#[test]
fn a_port_never_uses_another_port() {
    none(
        "a port may use store/driver/ and the files of store/, never another port or store/open",
        &rules::ports_are_apart(&src()),
    );
}

#[test]
fn the_rules_never_name_an_implementation() {
    none(
        "service/ works with ports; only store/open chooses an engine",
        &rules::service_knows_no_engine(&src()),
    );
}

#[test]
fn time_tasks_and_the_environment_come_from_one_place_each() {
    none(
        "time: domain/clock.rs, tasks: tasks.rs, environment: config/",
        &rules::one_place_each(&src()),
    );
}

#[test]
fn every_file_is_part_of_the_crate() {
    none(
        "no `mod` leads to this file",
        &rules::every_file_is_reached(&src()),
    );
}

#[test]
fn every_module_says_what_it_holds() {
    none(
        "a file starts with a `//!` header",
        &text::has_header(&src()),
    );
}

#[test]
fn files_stay_small() {
    none(
        "a file has at most 500 lines: split it by topic",
        &text::is_short(&src()),
    );
}

#[test]
fn nothing_is_left_for_later() {
    for folder in ["src", "tests", "benches", "deploy", "flags"] {
        none(
            "finish it or file an issue",
            &text::is_finished(&Tree::read(folder)),
        );
    }
}
