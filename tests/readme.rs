//! README's lines work as pasted: each `sh` block is run against a fresh gateway, and where a `json`
//! block follows, the answer is that.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

#[expect(dead_code, reason = "other tests use more of it")]
mod common;

use std::process::Command;

use common::Place;
use serde_json::Value;

/// The fenced blocks of a Markdown text: language and content.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("\n```") {
        let after = &rest[start + 4..];
        let (language, body) = after.split_once('\n').unwrap();
        let end = body
            .find("\n```")
            .unwrap_or_else(|| panic!("an open block: {language}"));
        found.push((language.trim().to_owned(), body[..end].to_owned()));
        rest = &body[end + 4..];
    }
    found
}

/// Runs a block as somebody who pastes it into a shell, in the gateway's folder where `data/` is.
fn paste(place: &Place, script: &str) -> std::process::Output {
    let mut bash = Command::new("bash");
    bash.args(["-euc", script]).current_dir(place.path());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("THREADLINE_") {
            bash.env_remove(name);
        }
    }
    bash.output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_works_as_pasted() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let (mut ran, mut compared) = (0, 0);
    let all = blocks(&readme);
    for (at, (language, script)) in all.iter().enumerate() {
        if language != "sh" {
            continue;
        }
        let script = script
            .replace("127.0.0.1:8080", server.address())
            .replace("target/quick/threadline", env!("CARGO_BIN_EXE_threadline"))
            .replace(
                "deploy/examples",
                concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/examples"),
            );
        let run = || paste(&place, &script);
        let output = run();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{errors}");
        ran += 1;
        if let Some((_, expected)) = all.get(at + 1).filter(|(language, _)| language == "json") {
            let expected: Value = serde_json::from_str(expected).unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
                panic!("{error}: {}", String::from_utf8_lossy(&output.stdout))
            });
            assert_eq!(answer, expected, "{script}");
            compared += 1;
            if expected.to_string().contains("\"replayed\":false") {
                let again: Value = serde_json::from_slice(&run().stdout).unwrap();
                let replayed = expected
                    .to_string()
                    .replace("\"replayed\":false", "\"replayed\":true");
                assert_eq!(again.to_string(), replayed);
            }
        }
    }
    println!("{ran} blocks ran, {compared} answers compared");
    assert!(ran >= 4 && compared >= 3);
    server.stop().await;
}
