//! The rules of `graphql-transport-ws`, one case a rule.

use serde_json::{Value, json};

use crate::client::{As, NOBODY, Said, Socket};
use crate::common::{Place, Server};

fn closed(said: &Said) -> u16 {
    match said {
        Said::Closed(code, reason) => {
            assert!(!reason.is_empty() && reason.len() <= 123, "{reason:?}");
            *code
        }
        other => panic!("{other:?}"),
    }
}

async fn refused(server: &Server, first: Value) -> u16 {
    let mut socket = Socket::raw(server.address()).await;
    socket.send(first).await;
    closed(&socket.hear().await)
}

#[tokio::test]
async fn a_socket_is_refused_before_it_is_one_where_that_is_possible() {
    let place = Place::new();
    let settings = [(
        "THREADLINE_SERVER__CORS_ORIGINS",
        r#"["https://blog.example.org"]"#,
    )];
    let server = place.serve_with(&[], &settings).await;
    let address = server.address();
    let own = format!("http://{address}");
    let protocol = ("sec-websocket-protocol", "graphql-transport-ws");
    for (headers, want) in [
        (vec![], Some(400)),
        (vec![("sec-websocket-protocol", "graphql-ws")], Some(400)),
        (
            vec![protocol, ("origin", "https://evil.example")],
            Some(403),
        ),
        (vec![protocol, ("origin", "null")], Some(403)),
        (vec![protocol, ("origin", &own)], None),
        (vec![protocol, ("origin", "https://blog.example.org")], None),
    ] {
        let opened = Socket::open(address, &headers).await;
        assert_eq!(opened.err(), want, "{headers:?}");
    }
}

#[tokio::test]
async fn each_fault_of_a_client_has_its_closing_code() {
    let place = Place::new();
    let settings = [("THREADLINE_LIVE__INIT_TIMEOUT", "300ms")];
    let server = place.serve_with(&[], &settings).await;
    let init = json!({"type": "connection_init"});
    // Before the introduction.
    let operation = json!({"type": "subscribe", "id": "1", "payload": {"query": "{__typename}"}});
    assert_eq!(refused(&server, operation.clone()).await, 4401);
    assert_eq!(refused(&server, json!({"type": "start"})).await, 4400);
    let stranger = json!({"type": "connection_init", "payload": {"authorization": "Bearer x"}});
    assert_eq!(refused(&server, stranger).await, 4403);
    let shape = json!({"type": "connection_init", "payload": {"devUser": 7}});
    assert_eq!(refused(&server, shape).await, 4400);
    let mut silent = Socket::raw(server.address()).await;
    assert_eq!(closed(&silent.hear().await), 4408);
    // And after it.
    for (message, want) in [
        (init, 4429),
        (json!({"type": "next"}), 4400),
        (json!({"type": "subscribe", "id": "", "payload": {}}), 4400),
        (
            json!({"type": "subscribe", "id": "x".repeat(129), "payload": {}}),
            4400,
        ),
    ] {
        let mut socket = Socket::connect(&server, NOBODY).await;
        socket.send(message.clone()).await;
        assert_eq!(closed(&socket.hear().await), want, "{message}");
    }
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.send_text("{".to_owned()).await;
    assert_eq!(closed(&socket.hear().await), 4400);
    // A message beyond every limit ends the connection and costs no memory.
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.send_text("x".repeat(1 << 20)).await;
    assert_ne!(
        std::mem::discriminant(&socket.hear().await),
        std::mem::discriminant(&Said::Message(Value::Null))
    );
}

#[tokio::test]
async fn an_id_in_use_closes_and_a_free_one_may_be_used_again() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = crate::events::known(&server).await;
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.follows(&server, &discussion).await;
    socket.send(json!({"type": "complete", "id": "1"})).await;
    socket.follows(&server, &discussion).await;
    socket.follow(&discussion, None).await;
    assert_eq!(
        socket.hear().await,
        Said::Closed(4409, "Subscriber for 1 already exists".to_owned())
    );
}

#[tokio::test]
async fn operations_on_one_socket_are_limited_and_the_others_go_on() {
    let place = Place::new();
    let settings = [("THREADLINE_LIVE__OPERATIONS_PER_SOCKET_MAX", "2")];
    let server = place.serve_with(&["--seed"], &settings).await;
    let discussion = crate::events::known(&server).await;
    let mut socket = Socket::connect(&server, NOBODY).await;
    for id in ["1", "2", "3"] {
        let variables = json!({"d": discussion, "after": null});
        socket.subscribe(id, crate::client::EVENTS, variables).await;
    }
    let error = socket.message().await;
    assert_eq!(
        (&error["type"], &error["id"]),
        (&json!("error"), &json!("3"))
    );
    let code = &error["payload"][0]["extensions"]["code"];
    assert_eq!(code, "QUERY_TOO_COMPLEX");
    crate::events::post(&server, &discussion, None, "heard twice").await;
    let told = [socket.message().await, socket.message().await];
    let mut ids = told.map(|message| message["id"].as_str().unwrap().to_owned());
    ids.sort();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn connections_are_limited_over_both_transports() {
    let place = Place::new();
    let settings = [("THREADLINE_LIVE__CONNECTIONS_MAX", "1")];
    let server = place.serve_with(&["--seed"], &settings).await;
    let first = Socket::connect(&server, NOBODY).await;
    let protocol = [("sec-websocket-protocol", "graphql-transport-ws")];
    let second = Socket::open(server.address(), &protocol).await;
    assert_eq!(second.err(), Some(503));
    let asked = server.client().post(format!("{}/graphql", server.base()));
    let asked = asked.header("accept", "text/event-stream");
    let asked = asked.json(&json!({"query": "{__typename}"})).send();
    assert_eq!(asked.await.unwrap().status(), 503);
    // Other requests are no connections that stay.
    server.graphql(None, "{__typename}", json!({})).await;
    drop(first);
    let mut again = Socket::open(server.address(), &protocol).await;
    while again.is_err() {
        again = Socket::open(server.address(), &protocol).await;
    }
}

#[tokio::test]
async fn queries_and_mutations_run_over_a_socket_too() {
    let place = Place::new();
    let server = place.serve(&[]).await;
    let who = As {
        user: Some("7"),
        roles: None,
    };
    let mut socket = Socket::connect(&server, who).await;
    socket
        .subscribe("q", "{ viewer { role user { id } } }", json!({}))
        .await;
    let next = socket.message().await;
    assert_eq!(next["type"], "next");
    assert_eq!(next["payload"]["data"]["viewer"]["role"], "MEMBER");
    assert_eq!(
        socket.message().await,
        json!({"id": "q", "type": "complete"})
    );
    let write = "mutation { createComment(input: {url: \"https://a.example/\", body: \"b\"}) \
        { __typename } }";
    socket.subscribe("m", write, json!({})).await;
    let data = socket.message().await["payload"]["data"].clone();
    assert_eq!(data["createComment"]["__typename"], "CommentWritten");
    socket.message().await;
    // What is wrong with an operation is one `error`, and the connection goes on.
    for (query, code) in [
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{", "GRAPHQL_PARSE_FAILED"),
        (
            "subscription { a: commentEvents(discussion: \"x\") { id } \
             b: commentEvents(discussion: \"y\") { id } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        ("subscription { __typename }", "GRAPHQL_VALIDATION_FAILED"),
        (
            "subscription { commentEvents(discussion: \"x\") @skip(if: true) { id } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "subscription { commentEvents(discussion: \"x\") { id } }",
            "BAD_USER_INPUT",
        ),
        (
            "subscription { commentEvents(discussion: \"x\") { none } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
    ] {
        socket.subscribe("e", query, json!({})).await;
        let error = socket.message().await;
        assert_eq!(error["type"], "error", "{query}: {error}");
        assert_eq!(
            error["payload"][0]["extensions"]["code"], code,
            "{query}: {error}"
        );
    }
    socket
        .send(json!({"type": "subscribe", "id": "p", "payload": {"variables": 7}}))
        .await;
    assert_eq!(socket.message().await["type"], "error");
    // A root field in a fragment is a root field.
    let fragment = "fragment F on Subscription { commentEvents(discussion: \"x\") { id } }";
    let query = format!("subscription {{ ... on Subscription {{ ...F }} }} {fragment}");
    socket.subscribe("f", &query, json!({})).await;
    let error = socket.message().await;
    let field = &error["payload"][0]["extensions"]["field"];
    assert_eq!(field, "discussion", "{error}");
    // A ping's payload comes back.
    socket
        .send(json!({"type": "ping", "payload": {"a": [1]}}))
        .await;
    assert_eq!(
        socket.message().await,
        json!({"type": "pong", "payload": {"a": [1]}})
    );
}

#[tokio::test]
async fn a_stopping_server_says_so_and_does_not_wait_for_its_subscribers() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = crate::events::known(&server).await;
    let mut idle = Socket::connect(&server, NOBODY).await;
    let mut following = Socket::connect(&server, NOBODY).await;
    following.follows(&server, &discussion).await;
    server.signal("TERM");
    assert_eq!(closed(&idle.hear().await), 1001);
    let mut said = following.hear().await;
    while let Said::Message(message) = said {
        assert_ne!(message["type"], "next");
        said = following.hear().await;
    }
    assert_eq!(closed(&said), 1001);
    assert_eq!(server.ended().await.0.code(), Some(0));
}
