//! Media types, and the headers every answer has.

use super::TestEdge;

const BODY: &str = "{\"query\":\"{hello}\"}";

#[tokio::test]
async fn answers_come_in_the_accepted_type() {
    let edge = TestEdge::new();
    let json = "application/json; charset=utf-8";
    let graphql = "application/graphql-response+json; charset=utf-8";
    for (accept, want) in [
        ("application/json", json),
        ("*/*", json),
        ("application/graphql-response+json", graphql),
        (
            "application/graphql-response+json,application/json;q=0.9",
            graphql,
        ),
    ] {
        for body in [BODY, "{\"query\":\"{nope}\"}"] {
            let answer = edge.post_with(body, &[("accept", accept)]).await;
            assert_eq!(answer.header("content-type"), Some(want), "{accept} {body}");
        }
    }
    let answer = edge.post_with(BODY, &[]).await;
    assert_eq!(answer.header("content-type"), Some(json));
}

#[tokio::test]
async fn nothing_acceptable_is_406_as_json() {
    let edge = TestEdge::new();
    for accept in [
        "text/html",
        "application/json;q=0",
        "multipart/mixed",
        "garbage",
    ] {
        let answer = edge.post_with(BODY, &[("accept", accept)]).await;
        assert_eq!(answer.refusal().0, 406, "{accept}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json; charset=utf-8")
        );
    }
}

#[tokio::test]
async fn bodies_a_foreign_page_can_send_are_415() {
    let edge = TestEdge::new();
    let mutation = "{\"query\":\"mutation{inc{value}}\"}";
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "application/json; charset=latin1",
        "application/json, text/plain",
        "",
    ] {
        let answer = edge.post_with(mutation, &[("content-type", kind)]).await;
        assert_eq!(answer.refusal().0, 415, "{kind}");
    }
    let answer = edge
        .post_with(mutation, &[("content-encoding", "gzip")])
        .await;
    assert_eq!(answer.refusal().0, 415);
    assert_eq!(edge.count(), 0);
    let utf8 = [("content-type", "application/json; charset=utf-8")];
    assert_eq!(edge.post_with(mutation, &utf8).await.status, 200);
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_not_cached() {
    let edge = TestEdge::new();
    for path in ["/graphql", "/healthz", "/nowhere"] {
        let answer = edge.get(path, &[("x-request-id", "from-client.1")]).await;
        assert_eq!(answer.header("x-request-id"), Some("from-client.1"));
        assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        let answer = edge.get(path, &[("x-request-id", "not sane")]).await;
        assert_ne!(answer.header("x-request-id"), Some("not sane"));
        assert!(answer.header("x-request-id").is_some());
    }
    let answer = edge.post_with(BODY, &[]).await;
    assert_eq!(
        answer.header("vary"),
        Some("Accept, Authorization, Accept-Encoding")
    );
}
