//! Holds the contracts and the cases together: every promise has a case, every case a promise.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{comments, states, users, wake, walks, workers};

/// The promises a contract lists, as `- **C1** …` lines of its module documentation.
fn promises(contract: &str) -> Vec<String> {
    contract
        .lines()
        .filter_map(|line| line.strip_prefix("//! - **"))
        .filter_map(|rest| rest.split_once("**"))
        .map(|(code, _)| code.to_ascii_lowercase())
        .collect()
}

/// Fails with every promise that no case holds an engine to, and every case without a promise.
pub(crate) fn check() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let mut problems = Vec::new();
    for entry in std::fs::read_dir(&store).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(contract) = std::fs::read_to_string(folder.join("mod.rs")) else {
            continue;
        };
        let port = folder.file_name().unwrap().to_string_lossy().into_owned();
        let promises = promises(&contract);
        let unique: BTreeSet<&String> = promises.iter().collect();
        if unique.len() != promises.len() {
            problems.push(format!("{port}: a promise is listed twice: {promises:?}"));
        }
        let names = names(&port);
        for promise in &unique {
            let prefix = format!("{promise}_");
            if !names.iter().any(|name| name.starts_with(&prefix)) {
                problems.push(format!("{port}: promise {promise} has no case"));
            }
        }
        for name in &names {
            let code = name.split('_').next().unwrap_or_default();
            if !promises.iter().any(|promise| promise == code) {
                problems.push(format!("{port}: {name} names no promise"));
            }
        }
        let different: BTreeSet<&&str> = names.iter().collect();
        if different.len() != names.len() {
            problems.push(format!("{port}: two cases have one name"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

fn names(port: &str) -> Vec<&'static str> {
    match port {
        "comments" => comments::cases().map(|case| case.name).collect(),
        "states" => states::all_cases().map(|case| case.name).collect(),
        "users" => users::CASES.iter().map(|case| case.name).collect(),
        "wake" => wake::CASES.iter().map(|case| case.name).collect(),
        "walks" => walks::CASES.iter().map(|case| case.name).collect(),
        "workers" => workers::CASES.iter().map(|case| case.name).collect(),
        _ => Vec::new(),
    }
}
