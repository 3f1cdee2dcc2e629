//! `threadline import` from outside: files, standard input, reports and exit codes.

use std::fs::File;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::Place;
use super::isso::{ANN, Database, comment, thread};
use super::packed::{gzip, zstd};

const COMMENT: &str = "<wp:comment><wp:comment_id>1</wp:comment_id>\
     <wp:comment_date>2024-07-01 12:00:00</wp:comment_date>\
     <wp:comment_content>text</wp:comment_content></wp:comment>";

fn wxr(status: &str) -> Vec<u8> {
    format!(
        "<rss xmlns:wp=\"x\"><channel><item><link>https://old.example/1/</link>\
         <wp:post_id>1</wp:post_id><wp:status>{status}</wp:status>\
         <wp:post_type>post</wp:post_type>{COMMENT}</item></channel></rss>"
    )
    .into_bytes()
}

fn file(place: &Place, name: &str, bytes: &[u8]) -> PathBuf {
    let path = place.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Imports standard input; gives the exit code and the report.
fn piped(place: &Place, bytes: &[u8], arguments: &[&str]) -> (Option<i32>, Value) {
    let input = File::open(file(place, "input", bytes)).unwrap();
    let given = ["import"].iter().chain(arguments);
    let all: Vec<&str> = given.chain(&["--report", "report.json"]).copied().collect();
    let done = place.command(&all).stdin(input).output().unwrap();
    let report = std::fs::read(place.path().join("report.json")).unwrap();
    (done.status.code(), serde_json::from_slice(&report).unwrap())
}

#[tokio::test]
async fn packed_exports_come_through_a_pipe_and_are_on_the_pages_where_they_are_now() {
    let place = Place::new();
    let moved = "https://old.example=https://new.example/blog";
    let arguments = [
        "wxr",
        "-",
        "--zone",
        "Europe/Helsinki",
        "--rewrite-url",
        moved,
    ];
    let (code, report) = piped(&place, &gzip(&wxr("publish")), &arguments);
    assert_eq!(
        (code, &report["comments"]["imported"]),
        (Some(0), &json!(1)),
        "{report}"
    );
    assert_eq!(report["source"], "wordpress");
    let (code, report) = piped(&place, &zstd(&wxr("publish")), &arguments);
    assert_eq!(
        (code, &report["comments"]["already_there"]),
        (Some(0), &json!(1))
    );

    let database = Database::with(&(thread(1, "/isso/") + &comment(1, "NULL", "1", ANN))).await;
    let site = ["isso", "-", "--site", "https://new.example"];
    let (code, report) = piped(&place, &zstd(&database.bytes()), &site);
    assert_eq!(
        (code, &report["comments"]["imported"]),
        (Some(0), &json!(1)),
        "{report}"
    );
    let path = database.path.to_str().unwrap();
    let (code, report) = piped(
        &place,
        b"",
        &["isso", path, "--site", "https://new.example"],
    );
    assert_eq!(
        (code, &report["comments"]["already_there"]),
        (Some(0), &json!(1)),
        "{report}"
    );

    let server = place.serve(&[]).await;
    let query = "query ($url: URL!) { discussion(url: $url) { counts { visible } comments { edges { \
         node { createdAt body { text } } } } } }";
    let url = json!({ "url": "https://new.example/blog/1/" });
    let page = &server.graphql(None, query, url).await["discussion"];
    assert_eq!(page["counts"]["visible"], 1);
    let node = &page["comments"]["edges"][0]["node"];
    assert_eq!(node["body"]["text"], "text");
    assert!(
        node["createdAt"]
            .as_str()
            .unwrap()
            .starts_with("2024-07-01T09:00:00"),
        "{node}"
    );
    let url = json!({ "url": "https://new.example/isso/" });
    let page = &server.graphql(None, query, url).await["discussion"];
    assert_eq!(
        page["comments"]["edges"][0]["node"]["body"]["text"],
        "text 1\nmore"
    );
}

#[test]
fn nothing_imported_does_not_look_fine() {
    let place = Place::new();
    let (code, report) = piped(&place, &wxr("draft"), &["wxr", "-"]);
    assert_eq!(
        (code, &report["comments"]["skipped"]["not_public"]),
        (Some(3), &json!(1))
    );
    let (code, report) = piped(
        &place,
        &wxr("draft"),
        &["wxr", "-", "--unpublished", "--dry-run"],
    );
    assert_eq!(
        (code, &report["comments"]["imported"]),
        (Some(0), &json!(1))
    );
    let (code, report) = piped(&place, &wxr("publish"), &["remark42", "-"]);
    assert_eq!(
        (code, &report["outcome"]["how"]),
        (Some(1), &json!("input_broken"))
    );
    let (code, report) = piped(&place, b"", &["isso", "-", "--site", "https://new.example"]);
    assert_eq!(code, Some(1), "{report}");
}
