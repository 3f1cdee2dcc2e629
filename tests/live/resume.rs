//! Coming back: what was missed is told, once the client is told where it was.

use serde_json::{Value, json};

use crate::client::{EVENTS, NOBODY, Socket};
use crate::common::Place;
use crate::events::{cursor, known, post};

/// The texts of the next events, in order, without those that had come before.
async fn texts(socket: &mut Socket, wanted: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < wanted {
        let event = socket.event().await;
        texts.push(
            event["comment"]["body"]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    texts
}

#[tokio::test]
async fn what_happened_between_a_page_and_the_subscription_is_told() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let cursor = cursor(&server).await;
    post(&server, &discussion, None, "one").await;
    post(&server, &discussion, None, "two").await;
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.follow(&discussion, Some(&cursor)).await;
    assert_eq!(texts(&mut socket, 2).await, ["one", "two"]);
    post(&server, &discussion, None, "three").await;
    assert_eq!(texts(&mut socket, 1).await, ["three"]);
    assert!(socket.is_quiet().await);
}

#[tokio::test]
async fn after_an_event_everything_later_is_told_by_any_instance() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.follows(&server, &discussion).await;
    post(&server, &discussion, None, "one").await;
    let last = socket.event().await["id"].as_str().unwrap().to_owned();
    drop(socket);
    let hidden = post(&server, &discussion, None, "SECRET").await;
    post(&server, &discussion, None, "three").await;
    let other = place.serve(&[]).await;
    let hide = format!(
        "mutation {{ deleteComment(input: {{comment: \"{}\"}}) {{ __typename }} }}",
        crate::events::id_of(&hidden)
    );
    other.graphql(Some("7"), &hide, json!({})).await;
    let mut socket = Socket::connect(&other, NOBODY).await;
    socket.follow(&discussion, Some(&last)).await;
    // The text that was deleted meanwhile is not told; that it is gone is.
    let told = [socket.event().await, socket.event().await];
    assert_eq!(told[0]["comment"]["body"]["text"], "three");
    assert_eq!(told[1]["kind"], "STATE_CHANGED");
    assert_eq!(told[1]["commentId"], hidden["comment"]["id"]);
    assert_eq!(told[1]["comment"], Value::Null);
    assert!(socket.is_quiet().await);
}

#[tokio::test]
async fn an_event_of_another_discussion_or_none_at_all_is_an_error_by_name() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let cursor = cursor(&server).await;
    let input = json!({"url": "https://a.example/", "body": "b"});
    let query = "mutation($i: CreateCommentInput!) { createComment(input: $i) { \
        ... on CommentWritten { comment { discussion { id } } } } }";
    let data = server.graphql(Some("7"), query, json!({"i": input})).await;
    let other = &data["createComment"]["comment"]["discussion"]["id"];
    let mut socket = Socket::connect(&server, NOBODY).await;
    for (discussion, after, field) in [
        (other.as_str().unwrap(), cursor.as_str(), "after"),
        (other.as_str().unwrap(), "nonsense", "after"),
        ("nonsense", cursor.as_str(), "discussion"),
        ("RGlzY3Vzc2lvbjox", "", "discussion"),
    ] {
        let after = if after.is_empty() {
            json!(null)
        } else {
            json!(after)
        };
        let variables = json!({"d": discussion, "after": after});
        socket.subscribe("e", EVENTS, variables).await;
        let error = socket.message().await;
        assert_eq!(error["type"], "error", "{error}");
        let extensions = &error["payload"][0]["extensions"];
        assert_eq!(extensions["code"], "BAD_USER_INPUT", "{error}");
        assert_eq!(extensions["field"], field, "{error}");
    }
}

#[tokio::test]
async fn who_was_away_too_long_reads_anew_and_goes_on() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let cursor = cursor(&server).await;
    // The same place in the log, two hours ago.
    let plain = base64_decode(&cursor);
    let (head, event) = plain.rsplit_once(':').unwrap();
    let old = event.parse::<i64>().unwrap() - (7_200_000_i64 << 21);
    let old = base64_encode(&format!("{head}:{old}"));
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.follow(&discussion, Some(&old)).await;
    let event = socket.event().await;
    assert_eq!(event["kind"], "RESYNC");
    assert_eq!(
        (&event["commentId"], &event["comment"]),
        (&Value::Null, &Value::Null)
    );
    post(&server, &discussion, None, "and on").await;
    assert_eq!(texts(&mut socket, 1).await, ["and on"]);
}

fn base64_decode(text: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text);
    String::from_utf8(bytes.unwrap()).unwrap()
}

fn base64_encode(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}
