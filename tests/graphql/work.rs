//! The work of a page does not grow with its discussion: statements are counted, not times.

use serde_json::json;
use threadline::domain::body::BodyFormat;
use threadline::domain::comment::CommentState;
use threadline::domain::ids::UserId;
use threadline::store::comments::{ImportComment, ImportDiscussion};

use crate::support::{NOW_MS, TestApp, Who};

/// A discussion of `size` comments, one root in ten, its index built.
async fn discussion_of(app: &TestApp, name: &str, size: usize) {
    // The first request of a viewer looks up their profile, and the first that reads comments whom
    // they block; both are kept, and no part of a page.
    let first = "{ viewer { role user { comments(first: 1) { edges { cursor } } } } }";
    app.ask(&Who::user(1), first, json!({})).await;
    let ports = app.app.service().ports();
    let new = ImportDiscussion {
        source: "test".to_owned(),
        source_id: name.to_owned(),
        created_ms: NOW_MS - 10_000_000,
        title: name.to_owned(),
        url: None,
        entity: Some(("post".to_owned(), name.to_owned())),
        closed: false,
        depth_limit: 1,
        kept: None,
    };
    let (row, _) = ports.comments.import_discussion(new).await.unwrap();
    let rows: Vec<ImportComment> = (0..size)
        .map(|at| ImportComment {
            source_id: at.to_string(),
            created_ms: NOW_MS - 9_000_000 + i64::try_from(at).unwrap(),
            parent_source_id: (at % 10 != 0).then(|| (at - at % 10).to_string()),
            author_id: UserId::new(i64::try_from(at % 50 + 1).unwrap()),
            body: format!("comment {at}"),
            format: BodyFormat::Plain,
            edited_at_ms: None,
            state: CommentState::Published,
            parent_id: None,
            kept: None,
        })
        .collect();
    for batch in rows.chunks(500) {
        let marker = ports.ids.mint().unwrap();
        ports
            .comments
            .import_comments(row.id, "test", batch.to_vec(), marker, 1_000_000)
            .await
            .unwrap();
    }
    app.clock.advance(std::time::Duration::from_secs(5));
    app.app.service().build(row.id, row.layout).await.unwrap();
}

/// Statements of one request on a cold cache.
async fn statements(app: &TestApp, name: &str, arguments: &str) -> u64 {
    let query = format!(
        "{{ discussion(entity: {{type: \"post\", id: \"{name}\"}}) {{ counts {{ visible }} \
        comments({arguments}) {{ mode pageInfo {{ hasNextPage hasPreviousPage }} \
        edges {{ node {{ id body {{ html }} author {{ name }} counts {{ visible }} parent {{ id }} root {{ id }} }} \
        replies(first: 3) {{ edges {{ node {{ id author {{ name }} parent {{ body {{ text }} }} }} }} }} }} }} }} }}"
    );
    let before = app.app.statements();
    let data = app.ask(&Who::user(1), &query, json!({})).await;
    assert_eq!(
        data["discussion"]["comments"]["edges"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    app.app.statements() - before
}

#[tokio::test]
async fn a_page_costs_the_same_statements_in_10_and_in_10_000_comments() {
    let app = TestApp::with(&[("COMMENTS__PAGE_CACHE_BYTES", "0")]).await;
    for (name, size) in [("small", 10), ("large", 10_000)] {
        discussion_of(&app, name, size).await;
    }
    let mut seen = Vec::new();
    for arguments in [
        "mode: LINEAR, first: 1",
        "mode: THREADED, first: 1",
        "mode: THREADED, last: 1, order: NEWEST",
    ] {
        let small = statements(&app, "small", arguments).await;
        let large = statements(&app, "large", arguments).await;
        assert_eq!(small, large, "{arguments}");
        assert!(large <= 12, "{arguments}: {large} statements");
        seen.push(large);
    }
    println!("statements a page (linear, threaded, threaded from the end): {seen:?}");
}

#[tokio::test]
async fn a_full_page_costs_as_many_statements_as_a_page_of_one() {
    let app = TestApp::with(&[("COMMENTS__PAGE_CACHE_BYTES", "0")]).await;
    discussion_of(&app, "large", 10_000).await;
    let cost = |first: usize| {
        let app = &app;
        async move {
            let query = format!(
                "{{ discussion(entity: {{type: \"post\", id: \"large\"}}) {{ comments(mode: THREADED, first: {first}) \
                {{ edges {{ node {{ author {{ name }} counts {{ visible }} }} \
                replies(first: 5) {{ edges {{ node {{ author {{ name }} }} }} }} }} }} }} }}"
            );
            let before = app.app.statements();
            let data = app.ask(&Who::user(1), &query, json!({})).await;
            let edges = data["discussion"]["comments"]["edges"].as_array().unwrap();
            assert_eq!(edges.len(), first);
            assert_eq!(
                edges[first - 1]["replies"]["edges"]
                    .as_array()
                    .unwrap()
                    .len(),
                5
            );
            app.app.statements() - before
        }
    };
    let (one, hundred) = (cost(1).await, cost(100).await);
    assert_eq!(one, hundred);
}

#[tokio::test]
async fn a_hot_page_costs_almost_nothing_and_a_write_makes_it_cold() {
    let app = TestApp::new().await;
    discussion_of(&app, "p", 100).await;
    let arguments = "mode: THREADED, first: 1";
    let cold = statements(&app, "p", arguments).await;
    let hot = statements(&app, "p", arguments).await;
    assert!(hot < cold, "{hot} of {cold} statements");
    app.post(&Who::user(1), "p", None, "news").await;
    let page = app
        .page(&Who::anonymous(), "p", "mode: THREADED, last: 1")
        .await;
    assert_eq!(page.texts, ["news"]);
}
