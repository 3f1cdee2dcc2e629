//! What stands around `/graphql`: probes, other origins, compression, the query page, shutdown.

use std::io::Read;

use axum::body::Body;
use axum::http::{Method, Request};
use flate2::read::GzDecoder;
use serde_json::json;

use super::{CheckState, HttpSettings, TestEdge, uri};
use crate::api::http::serve;

#[tokio::test]
async fn the_platform_learns_how_the_process_is() {
    let edge = TestEdge::with(HttpSettings::default(), CheckState::Degraded);
    assert_eq!(edge.get("/healthz", &[]).await.status, 200);
    let answer = edge.get("/readyz", &[]).await;
    assert_eq!(answer.status, 200);
    let flags = json!({"name": "flags", "state": "degraded"});
    let comments = json!({"name": "comments", "state": "ready"});
    assert_eq!(
        answer.json(),
        json!({"status": "degraded", "checks": [comments, flags]})
    );
    let metrics = edge.get("/metrics", &[]).await;
    assert_eq!(metrics.body, b"requests_total 3\n");
    let failed = TestEdge::with(HttpSettings::default(), CheckState::Failed);
    assert_eq!(failed.get("/readyz", &[]).await.status, 503);
    assert_eq!(failed.get("/healthz", &[]).await.status, 200);
    assert_eq!(failed.get("/nowhere", &[]).await.status, 404);
}

#[tokio::test]
async fn only_configured_origins_may_call() {
    let mut settings = HttpSettings::default();
    settings.cors.origins = vec!["https://app.example".to_owned()];
    let edge = TestEdge::with(settings, CheckState::Ready);
    let preflight = |origin: &str| {
        Request::builder()
            .method(Method::OPTIONS)
            .uri("/graphql")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "content-type,x-client-name",
            )
            .body(Body::empty())
            .unwrap()
    };
    let ours = edge.send(preflight("https://app.example")).await;
    assert_eq!(
        ours.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert!(
        ours.header("access-control-allow-headers")
            .unwrap()
            .contains("x-client-name")
    );
    let other = edge.send(preflight("https://evil.example")).await;
    assert_eq!(other.header("access-control-allow-origin"), None);
    let path = uri(&[("query", "{hello}")]);
    let answer = edge.get(&path, &[("origin", "https://app.example")]).await;
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert_eq!(exposed, "x-request-id,retry-after,etag");
    let closed = TestEdge::new().send(preflight("https://app.example")).await;
    assert_eq!(
        (
            closed.status.as_u16(),
            closed.header("access-control-allow-origin")
        ),
        (405, None)
    );
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_can() {
    let edge = TestEdge::new();
    let large = uri(&[("query", "{long(length:5000)}")]);
    let small = uri(&[("query", "{long(length:500)}")]);
    let gzip = [("accept-encoding", "gzip")];
    let answer = edge.get(&large, &gzip).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(answer.body.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("xxxx") && answer.body.len() < 500);
    assert_eq!(
        edge.get(&small, &gzip).await.header("content-encoding"),
        None
    );
    assert_eq!(edge.get(&large, &[]).await.header("content-encoding"), None);
}

#[tokio::test]
async fn the_query_page_is_for_browsers_where_it_is_on() {
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let settings = HttpSettings {
        console: true,
        ..HttpSettings::default()
    };
    let edge = TestEdge::with(settings, CheckState::Ready);
    let page = edge.get("/graphql", &browser).await;
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'sha256-"));
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert!(text.contains("fetch(location.pathname") && !text.contains("/*script*/"));
    for foreign in ["http://", "https://", "//cdn"] {
        assert!(
            !text.contains(foreign),
            "the page loads nothing from elsewhere"
        );
    }
    let query = edge.get(&uri(&[("query", "{hello}")]), &browser).await;
    assert_eq!(query.data(), json!({"hello": "hi"}));
    assert_eq!(edge.get("/graphql", &[]).await.status, 400);
    assert_eq!(TestEdge::new().get("/graphql", &browser).await.status, 400);
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_server_ends() {
    let edge = TestEdge::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/graphql", listener.local_addr().unwrap());
    let (router, tasks) = (edge.router.clone(), edge.tasks.clone());
    let server = edge
        .tasks
        .spawn(async move { serve(listener, router, &tasks).await });
    super::tokens::install_tls();
    let client = reqwest::Client::new();
    let sent = client.post(&url).json(&json!({"query": "{stuck}"})).send();
    let sent = edge.tasks.spawn(sent);
    edge.probe.started.notified().await;
    edge.tasks.stopping().cancel();
    edge.probe.go_on.notify_one();
    let answer = sent.await.unwrap().unwrap();
    assert_eq!(answer.text().await.unwrap(), "{\"data\":{\"stuck\":1}}");
    server.await.unwrap().unwrap();
    assert!(client.get(&url).send().await.is_err());
}
