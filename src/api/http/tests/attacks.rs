//! Requests made to hurt: each is refused, small in answer, and the process goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::json;

use super::{Answer, TestEdge};

async fn attack(edge: &TestEdge, query: &str) -> Answer {
    let answer = edge.query(query).await;
    assert!(answer.body.len() < 4_096, "{} bytes", answer.body.len());
    answer
}

fn doubling_fragments(levels: usize) -> String {
    let each = (0..levels).map(|n| {
        let next = n + 1;
        format!(" fragment f{n} on Query{{...f{next} x:nested{{...f{next}}} ...f{next}}}")
    });
    let each: String = each.collect();
    format!("{{...f0}}{each} fragment f{levels} on Query{{hello}}")
}

fn repeat(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

#[tokio::test]
async fn large_and_deep_documents_are_refused_with_a_small_answer() {
    let edge = TestEdge::new();
    let nested = |open: &str, close: &str, count: usize| {
        format!(
            "{{list(values:{}1{})}}",
            open.repeat(count),
            close.repeat(count)
        )
    };
    let chain = repeat(200, |n| {
        format!("fragment f{n} on Query{{nested{{...f{}}}}} ", n + 1)
    });
    for query in [
        nested("[", "]", 2_000),
        nested("{a:", "}", 3_000),
        nested("[{a:", "}]", 1_000),
        format!("{}hello{}", "{nested".repeat(200), "}".repeat(200)),
        doubling_fragments(24),
        format!("{{...f0}} {chain} fragment f200 on Query{{hello}}"),
        format!("{{{}}}", repeat(5_000, |n| format!("a{n}:hello "))),
        format!("{{{}}}", repeat(100, |n| format!("a{n}:hello "))),
        format!("{{hello {}}}", "@a ".repeat(10_000)),
        format!("{{hello {}}}", "@a".repeat(500)),
        format!("{{{}}}", repeat(20_000, |n| format!("u{n} "))),
        format!("{{hello{}}}", " ".repeat(40_000)),
    ] {
        let answer = attack(&edge, &query).await;
        let (status, code) = answer.refusal();
        let too_large = status == 413 && code == "BAD_REQUEST";
        let too_complex = status == 400 && code == "QUERY_TOO_COMPLEX";
        assert!(
            too_large || too_complex,
            "{status} {code}: {}",
            query.chars().take(60).collect::<String>()
        );
    }
    assert_eq!(edge.query("{hello}").await.status, 200);
}

#[tokio::test]
async fn many_faults_make_few_errors() {
    let edge = TestEdge::new();
    let nested = repeat(300, |n| format!("u{n} "));
    let answer = attack(&edge, &format!("{{nested{{{nested}}}}}")).await;
    assert_eq!(
        answer.refusal(),
        (400, "GRAPHQL_VALIDATION_FAILED".to_owned())
    );
    assert_eq!(answer.json()["errors"].as_array().unwrap().len(), 10);
    let answer = attack(&edge, "{manyFailures{value}}").await;
    assert_eq!(answer.json()["errors"].as_array().unwrap().len(), 10);
    assert_eq!(answer.data()["manyFailures"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let edge = TestEdge::new();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let chunks = stream::iter(0..60_000).map(move |_| {
        counter.fetch_add(1_000, Ordering::SeqCst);
        Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 1_000]))
    });
    let answer = edge.post_with(Body::from_stream(chunks), &[]).await;
    assert_eq!(answer.refusal().0, 413);
    assert!(sent.load(Ordering::SeqCst) <= 70_000);
    let announced = [("content-length", "60000000")];
    assert_eq!(
        edge.post_with(Body::empty(), &announced).await.refusal().0,
        413
    );
}

#[tokio::test]
async fn deep_variables_and_batches_are_refused() {
    let edge = TestEdge::new();
    let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
    let body = format!("{{\"query\":\"{{hello}}\",\"variables\":{{\"x\":{deep}}}}}");
    assert_eq!(
        edge.post_with(body, &[]).await.refusal(),
        (400, "BAD_REQUEST".to_owned())
    );
    let batch = json!(vec![json!({"query": "mutation{inc{value}}"}); 500]);
    assert_eq!(
        edge.post(batch).await.refusal(),
        (400, "BAD_REQUEST".to_owned())
    );
    assert_eq!(edge.count(), 0);
}
