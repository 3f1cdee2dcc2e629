//! Case 19 for events: whoever follows a discussion is told nothing of what is out of sight, and
//! nothing that is about one reader.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::HeaderValue;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::leaks::{SECRETS, Scene};
use crate::support::{CREATE, TestApp, Who, request_of};
use crate::walk::Schema;

/// Longer than anything may take that is not a hang.
const DEADLINE: Duration = Duration::from_mins(1);

/// Everything that a subscription tells up to an event, which must come.
async fn told(app: &TestApp, who: &Who, query: &str, variables: &Value, last: &str) -> String {
    let mut request = request_of(who, query, variables);
    let events = HeaderValue::from_static("text/event-stream");
    request.headers_mut().insert("accept", events);
    let answer = app.app.router().oneshot(request).await.unwrap();
    let mut told = String::new();
    let mut chunks = answer.into_body().into_data_stream();
    let end = format!("id: {last}\n");
    while !(told.contains(&end) && told.ends_with("\n\n")) {
        let chunk = tokio::time::timeout(DEADLINE, chunks.next()).await.unwrap();
        let chunk = chunk.unwrap_or_else(|| panic!("{query}: {told}")).unwrap();
        told.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    told
}

/// Posts what ends the story; its event.
async fn end(app: &TestApp) -> String {
    let input = json!({"entity": {"type": "post", "id": "p"}, "body": "the end"});
    let query = CREATE.replace("readAfter", "eventId");
    let data = app
        .ask(&Who::moderator(9), &query, json!({"input": input}))
        .await;
    let event = data["createComment"]["eventId"].as_str();
    event.unwrap_or_else(|| panic!("{data:#}")).to_owned()
}

async fn variables(scene: &Scene) -> Value {
    let app = &scene.app;
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { liveCursor } }";
    let data = app.ask(&Who::anonymous(), query, json!({})).await;
    let mut variables = scene.variables(&scene.hidden).await;
    variables["after"] = data["discussion"]["liveCursor"].clone();
    variables
}

#[tokio::test]
async fn case_19_no_event_leads_to_what_is_out_of_sight() {
    let scene = Scene::set().await;
    // The whole story lies within the last minute, so a subscription begins with all of it.
    let (variables, last) = (variables(&scene).await, end(&scene.app).await);
    let walks = Schema::read(&scene.app).await.event_walks();
    assert!(walks.len() > 5, "{}", walks.len());
    let mut found_by_moderators = BTreeSet::new();
    for walk in walks {
        // An author shares their events with everybody else of their role.
        for who in [Who::anonymous(), Who::user(1), Who::user(3)] {
            let told = told(&scene.app, &who, &walk, &variables, &last).await;
            let leaked = SECRETS.into_iter().find(|secret| told.contains(secret));
            assert_eq!(leaked, None, "{who:?} {walk}: {told}");
        }
        let told = told(&scene.app, &Who::moderator(9), &walk, &variables, &last).await;
        found_by_moderators.extend(SECRETS.into_iter().filter(|secret| told.contains(secret)));
    }
    // That moderators are told shows that the walk gets there.
    for secret in ["SECRET-HIDDEN", "SECRET-BELOW", "SECRET-PENDING"] {
        assert!(
            found_by_moderators.contains(secret),
            "{found_by_moderators:?}"
        );
    }
    assert!(!found_by_moderators.contains("SECRET-DELETED"));
}

#[tokio::test]
async fn what_is_about_one_reader_is_null_in_events_that_many_share() {
    let scene = Scene::set().await;
    let (variables, last) = (variables(&scene).await, end(&scene.app).await);
    let query = "subscription($place: ID!, $after: ID) { \
        commentEvents(discussion: $place, after: $after) { \
        comment { viewerCan { edit } author { viewerBlocks } } \
        discussion { viewerCan { comment } viewerSeenAt newComments { count } } } }";
    for who in [Who::user(1), Who::moderator(9)] {
        let told = told(&scene.app, &who, query, &variables, &last).await;
        for field in ["viewerCan", "viewerSeenAt", "newComments", "viewerBlocks"] {
            assert!(
                told.contains(&format!("\"{field}\":null")),
                "{field}: {told}"
            );
            let set = told.replace(&format!("\"{field}\":null"), "");
            assert!(!set.contains(field), "{who:?} {field}: {told}");
        }
    }
}
