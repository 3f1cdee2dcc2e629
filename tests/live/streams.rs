//! Server-sent events, and tokens that run out.
#![expect(
    clippy::disallowed_methods,
    reason = "a token counts by the clock of the machine"
)]

use serde_json::{Value, json};

use crate::client::{DEADLINE, EVENTS, NOBODY, Said, Socket};
use crate::common::{Place, Server};
use crate::events::{known, post};

/// A stream of server-sent events.
struct Events {
    answer: reqwest::Response,
    text: String,
}

/// One event: its name, id and data.
type Event = (String, String, Value);

async fn open(
    server: &Server,
    query: &str,
    variables: Value,
    headers: &[(&str, &str)],
) -> Result<Events, (u16, Value)> {
    let url = format!("{}/graphql", server.base());
    let mut asked = server
        .client()
        .post(url)
        .header("accept", "text/event-stream")
        .json(&json!({"query": query, "variables": variables}));
    for (name, value) in headers {
        asked = asked.header(*name, *value);
    }
    let answer = asked.send().await.unwrap();
    let status = answer.status().as_u16();
    if status != 200 {
        return Err((status, answer.json().await.unwrap()));
    }
    let kind = answer.headers()["content-type"].to_str().unwrap();
    assert_eq!(kind, "text/event-stream; charset=utf-8");
    Ok(Events {
        answer,
        text: String::new(),
    })
}

impl Events {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let field = |name: &str| {
                    let mut lines = event.lines();
                    let value = lines.find_map(|line| line.strip_prefix(name));
                    value.unwrap_or_default().trim().to_owned()
                };
                let (name, id, data) = (field("event:"), field("id:"), field("data:"));
                if !name.is_empty() {
                    return Some((name, id, serde_json::from_str(&data).unwrap_or(Value::Null)));
                }
                continue;
            }
            let chunk = tokio::time::timeout(DEADLINE, self.answer.chunk()).await;
            let chunk = chunk.unwrap().unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

#[tokio::test]
async fn events_come_with_their_ids_and_the_last_one_says_where_to_go_on() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let variables = json!({"d": discussion, "after": null});
    let mut events = open(&server, EVENTS, variables.clone(), &[])
        .await
        .ok()
        .unwrap();
    let first = post(&server, &discussion, None, "first").await;
    let (name, id, data) = events.next().await.unwrap();
    assert_eq!(
        (name.as_str(), id.as_str()),
        ("next", first["eventId"].as_str().unwrap())
    );
    assert_eq!(
        data["data"]["commentEvents"]["comment"]["body"]["text"],
        "first"
    );
    drop(events);
    post(&server, &discussion, None, "second").await;
    let headers = [("last-event-id", id.as_str())];
    let mut events = open(&server, EVENTS, variables, &headers)
        .await
        .ok()
        .unwrap();
    let (_, _, data) = events.next().await.unwrap();
    assert_eq!(
        data["data"]["commentEvents"]["comment"]["body"]["text"],
        "second"
    );
    // A stopping server ends the stream.
    server.signal("TERM");
    while events.next().await.is_some() {}
    assert_eq!(server.ended().await.0.code(), Some(0));
}

#[tokio::test]
async fn a_query_is_one_event_and_what_does_not_run_is_an_answer_like_any_other() {
    let place = Place::new();
    let server = place.serve(&[]).await;
    let mut events = open(&server, "{ __typename }", json!({}), &[])
        .await
        .ok()
        .unwrap();
    let (name, id, data) = events.next().await.unwrap();
    assert_eq!((name.as_str(), id.as_str()), ("next", ""));
    assert_eq!(data, json!({"data": {"__typename": "Query"}}));
    assert_eq!(events.next().await.unwrap().0, "complete");
    assert!(events.next().await.is_none());
    for query in [
        "{",
        "subscription { commentEvents(discussion: \"x\") { id } a: __typename }",
    ] {
        let (status, answer) = open(&server, query, json!({}), &[]).await.err().unwrap();
        assert_eq!(status, 400, "{query}");
        assert!(answer["errors"][0]["extensions"]["code"].is_string());
        assert!(answer.get("data").is_none());
    }
    // A GET streams, but writes nothing.
    let write =
        "mutation{createComment(input:{url:\"https://a.example/\",body:\"b\"}){__typename}}";
    let url = format!("{}/graphql", server.base());
    let url = url::Url::parse_with_params(&url, [("query", write)]).unwrap();
    let asked = server.client().get(url).header("x-dev-user", "7");
    let asked = asked.header("accept", "text/event-stream");
    assert_eq!(asked.send().await.unwrap().status(), 405);
}

/// A token of user 7 that counts for so many seconds from now.
fn token(secret: &str, seconds: i64) -> String {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    let exp = i64::try_from(now.as_secs()).unwrap() + seconds;
    let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes());
    let header = jsonwebtoken::Header::default();
    jsonwebtoken::encode(&header, &json!({"sub": "7", "exp": exp}), &key).unwrap()
}

#[tokio::test]
async fn a_token_that_runs_out_ends_what_it_opened() {
    let place = Place::new();
    let secret = "a secret of thirty-two bytes, at least";
    let settings = [
        ("THREADLINE_AUTH__DEVELOPMENT", "false"),
        ("THREADLINE_AUTH__HS256_SECRET", secret),
        ("THREADLINE_AUTH__CLOCK_LEEWAY", "0s"),
    ];
    let server = place.serve_with(&["--seed"], &settings).await;
    let discussion = known(&server).await;
    let token = format!("Bearer {}", token(secret, 3));
    let mut socket = Socket::raw(server.address()).await;
    let payload = json!({"Authorization": token});
    socket
        .send(json!({"type": "connection_init", "payload": payload}))
        .await;
    socket.message().await;
    socket.follows(&server, &discussion).await;
    let variables = json!({"d": discussion, "after": null});
    let headers = [("authorization", token.as_str())];
    let mut events = open(&server, EVENTS, variables, &headers)
        .await
        .ok()
        .unwrap();
    let reason = "the token has expired".to_owned();
    assert_eq!(socket.hear().await, Said::Closed(4403, reason));
    while events.next().await.is_some() {}
    // An anonymous reader has nothing that could run out.
    let mut anybody = Socket::connect(&server, NOBODY).await;
    anybody.follows(&server, &discussion).await;
}
