//! `threadline serve` from outside: starting, stopping, starting again.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

use std::net::TcpStream as BlockingStream;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use common::{Place, Server};

const KNOWN_URL: &str = "https://blog.example.com/hello";
const CREATE: &str = "mutation ($url: URL!, $body: String!) { createComment(input: { url: $url, \
     body: $body }) { ... on CommentWritten { comment { id body { text } } } } }";
const TEXTS: &str = "query ($url: URL!) { discussion(url: $url) { comments(mode: LINEAR) { edges { \
     node { body { text } author { name } } } } } }";
const COUNTS: &str = "query ($url: URL!) { discussion(url: $url) { title counts { total } } }";

async fn write(server: &Server, url: &str, body: &str) -> Value {
    let variables = json!({ "url": url, "body": body });
    let data = server.graphql(Some("7"), CREATE, variables).await;
    assert_eq!(data["createComment"]["comment"]["body"]["text"], body);
    data["createComment"]["comment"]["id"].clone()
}

async fn texts(server: &Server, url: &str) -> Vec<String> {
    let data = server.graphql(None, TEXTS, json!({ "url": url })).await;
    let edges = data["discussion"]["comments"]["edges"].as_array().unwrap();
    let texts = edges.iter().map(|edge| &edge["node"]["body"]["text"]);
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn it_answers_and_sigterm_and_sigint_end_it_well() {
    let place = Place::new();
    for signal in ["TERM", "INT"] {
        let server = place.serve(&[]).await;
        assert_eq!(server.get("/healthz").await, (200, "ok".to_owned()));
        assert_eq!(server.get("/metrics").await.0, 200);
        let data = server.graphql(None, "{ __typename }", json!({})).await;
        assert_eq!(data, json!({ "__typename": "Query" }));
        server.signal(signal);
        assert_eq!(server.ended().await.0.code(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn a_request_under_way_is_answered_before_the_end() {
    let place = Place::new();
    let server = place.serve(&[]).await;
    let address = server.address().to_owned();
    let body = json!({ "query": "{ __typename }" }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body once a handler waits for it: now the request is under way.
    let mut asked = [0; 12];
    stream.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100");
    server.signal("TERM");
    while BlockingStream::connect(&address).is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("200 OK"), "{answer}");
    assert!(answer.contains(r#"{"__typename":"Query"}"#), "{answer}");
    assert_eq!(server.ended().await.0.code(), Some(0));
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_and_told_by_the_exit_code() {
    let place = Place::new();
    let limit = [("THREADLINE_SERVER__SHUTDOWN_TIMEOUT", "50ms")];
    let server = place.serve_with(&[], &limit).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                expect: 100-continue\r\ncontent-length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();
    server.signal("TERM");
    assert_eq!(server.ended().await.0.code(), Some(1));
}

#[tokio::test]
async fn a_taken_port_is_told_with_the_setting_and_a_way_out() {
    let (place, other) = (Place::new(), Place::new());
    let server = place.serve(&[]).await;
    let mut command = other.command(&["serve"]);
    command.env("THREADLINE_SERVER__LISTEN", server.address());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    for word in [
        "server.listen",
        server.address(),
        "taken",
        "THREADLINE_SERVER__LISTEN=",
    ] {
        assert!(text.contains(word), "{text}");
    }
    assert!(!other.path().join("data").exists());
    server.stop().await;
}

#[tokio::test]
async fn wrong_settings_are_told_all_at_once() {
    let place = Place::new();
    let mut command = place.command(&["serve"]);
    command.env("THREADLINE_STORES__FLAGS", "folder");
    command.env("THREADLINE_COMMENTS__PAGE_SIZE_MAX", "0");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("stores.flags") && text.contains("page_size_max"),
        "{text}"
    );
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart() {
    let place = Place::new();
    let url = "https://example.org/article";
    let server = place.serve(&[]).await;
    let first = write(&server, url, "before").await;
    server.stop().await;
    let server = place.serve(&[]).await;
    let second = write(&server, url, "after").await;
    assert_ne!(first, second);
    assert_eq!(texts(&server, url).await, ["before", "after"]);
    server.stop().await;
}

#[tokio::test]
async fn after_a_kill_the_next_server_has_what_was_acknowledged_and_writes_at_once() {
    let place = Place::new();
    let url = "https://example.org/article";
    let server = place.serve(&[]).await;
    write(&server, url, "acknowledged").await;
    server.kill();
    // The lease of the killed one has not run out: the next server takes another.
    let server = place.serve(&[]).await;
    write(&server, url, "and on").await;
    assert_eq!(texts(&server, url).await, ["acknowledged", "and on"]);
    server.stop().await;
}

#[tokio::test]
async fn seeding_twice_adds_nothing_and_undoes_nothing() {
    let place = Place::new();
    let url = json!({ "url": KNOWN_URL });
    let server = place.serve(&["--seed"]).await;
    let seeded = server.graphql(None, COUNTS, url.clone()).await;
    let total = seeded["discussion"]["counts"]["total"].as_i64().unwrap();
    assert!(total > 50, "{seeded}");
    write(&server, KNOWN_URL, "mine").await;
    server.stop().await;
    let server = place.serve(&["--seed"]).await;
    let again = server.graphql(None, COUNTS, url).await;
    assert_eq!(again["discussion"]["counts"]["total"], total + 1);
    let printed = server.stop().await;
    assert!(printed.contains("was there already"), "{printed}");
}

#[tokio::test]
async fn the_first_question_that_is_printed_shows_threads() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    // What is printed with the address is the same in each run, so it is asked of the next one.
    let printed = place.serve(&["--seed"]).await.stop().await;
    let body = printed.split("-d '").nth(1).unwrap();
    let body: Value = serde_json::from_str(body.trim_end().trim_end_matches('\'')).unwrap();
    let query = body["query"].as_str().unwrap();
    let data = server.graphql(None, query, json!({})).await;
    let comments = &data["discussion"]["comments"];
    assert_eq!(comments["mode"], "THREADED", "{data:#}");
    let replies = comments["edges"][0]["replies"]["edges"].as_array().unwrap();
    assert_eq!(replies.len(), 1, "{data:#}");
    server.stop().await;
}

#[tokio::test]
async fn a_broken_flag_does_not_stop_the_server_and_is_named() {
    let place = Place::new();
    std::fs::write(place.path().join("flags/broken.toml"), "key = [").unwrap();
    let server = place.serve(&[]).await;
    let (status, report) = server.get("/readyz").await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((status, &report["status"]), (200, &json!("degraded")));
    assert!(report.to_string().contains("broken.toml"), "{report}");
    server.stop().await;
}
