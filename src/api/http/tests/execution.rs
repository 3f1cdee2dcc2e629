//! What happens while an operation runs: failures, panics, time, clients that go.

use axum::http::StatusCode;
use serde_json::json;

use super::{CheckState, HttpSettings, TestEdge, post};

fn edge_with_ms(operation_ms: u64) -> TestEdge {
    let mut settings = HttpSettings::default();
    settings.limits.operation_ms = operation_ms;
    TestEdge::with(settings, CheckState::Ready)
}

#[tokio::test]
async fn a_failed_field_is_null_with_an_error_and_its_siblings_stay() {
    let edge = TestEdge::new();
    let answer = edge.query("{hello failsNullable refuses}").await;
    assert_eq!(
        answer.data(),
        json!({"hello": "hi", "failsNullable": null, "refuses": null})
    );
    let body = answer.json();
    let mut errors = body["errors"].as_array().unwrap().clone();
    errors.sort_by_key(|error| error["path"][0].as_str().unwrap().to_owned());
    assert_eq!(errors[0]["message"], "internal error");
    assert_eq!(errors[0]["path"], json!(["failsNullable"]));
    assert_eq!(errors[0]["extensions"]["code"], "INTERNAL_SERVER_ERROR");
    assert_eq!(errors[1]["message"], "not yours");
    assert_eq!(errors[1]["extensions"]["code"], "FORBIDDEN");
}

#[tokio::test]
async fn a_failed_field_that_may_not_be_null_makes_data_null_with_200() {
    let edge = TestEdge::new();
    let answer = edge.query("{hello fails}").await;
    assert_eq!(answer.status, StatusCode::OK);
    let body = answer.json();
    assert_eq!(body.get("data"), Some(&json!(null)));
    assert_eq!(body["errors"].as_array().unwrap().len(), 1);
    assert_eq!(body["errors"][0]["path"], json!(["fails"]));
    assert!(!body.to_string().contains("hunter2"));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_process_goes_on() {
    let edge = TestEdge::new();
    for query in ["{hello panics}", "mutation{panics}"] {
        let answer = edge.query(query).await;
        assert_eq!(answer.refusal(), (500, "INTERNAL_SERVER_ERROR".to_owned()));
        assert!(!String::from_utf8_lossy(&answer.body).contains("on purpose"));
    }
    assert_eq!(edge.query("{hello}").await.status, 200);
}

#[tokio::test]
async fn a_query_that_takes_too_long_is_dropped() {
    let edge = edge_with_ms(20);
    let answer = edge.query("{hello stuck}").await;
    assert_eq!(answer.refusal(), (504, "TIMEOUT".to_owned()));
}

#[tokio::test]
async fn a_mutation_that_takes_too_long_still_ends() {
    let edge = edge_with_ms(20);
    let answer = edge.query("mutation{slowInc}").await;
    assert_eq!(answer.refusal(), (504, "TIMEOUT".to_owned()));
    assert_eq!(edge.count(), 0);
    edge.probe.go_on.notify_one();
    assert!(
        edge.tasks
            .shutdown(std::time::Duration::from_secs(30))
            .await
    );
    assert_eq!(edge.count(), 1);
}

#[tokio::test]
async fn a_mutation_whose_client_goes_still_ends() {
    let edge = TestEdge::new();
    let body = json!({"query": "mutation{slowInc}"}).to_string();
    let waiting = edge.send(post(body, &[]));
    tokio::select! {
        _ = waiting => panic!("the mutation cannot have ended"),
        () = edge.probe.started.notified() => {}
    }
    edge.probe.go_on.notify_one();
    assert!(
        edge.tasks
            .shutdown(std::time::Duration::from_secs(30))
            .await
    );
    assert_eq!(edge.count(), 1);
}
