//! Wrong arguments are answered with the field and the limit; texts are kept or refused, never cut.

use serde_json::{Value, json};

use crate::support::{CREATE, TestApp, Who};

/// `code: message` of the first error.
async fn first_error(app: &TestApp, query: &str, variables: Value) -> String {
    let (_, answer) = app.answer(&Who::user(1), query, variables).await;
    let error = &answer["errors"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "{}: {}",
        text(&error["extensions"]["code"]),
        text(&error["message"])
    )
}

#[tokio::test]
async fn sizes_cursors_and_ids_are_named() {
    let app = TestApp::new().await;
    let id = app.post(&Who::user(1), "p", None, "one").await;
    let other = app.post(&Who::user(1), "q", None, "two").await;
    let page = |arguments: &str| {
        format!(
            "{{ discussion(entity: {{type: \"post\", id: \"p\"}}) {{ comments({arguments}) {{ mode }} }} }}"
        )
    };
    let cursor_of = |page: crate::support::Page| page.end.unwrap();
    let linear = cursor_of(app.page(&Who::user(1), "p", "mode: LINEAR").await);
    let newest = cursor_of(
        app.page(&Who::user(1), "p", "mode: LINEAR, order: NEWEST")
            .await,
    );
    let foreign = cursor_of(app.page(&Who::user(1), "q", "mode: LINEAR").await);
    for (query, want) in [
        (
            page("first: -1"),
            "BAD_USER_INPUT: first: `first` is -1, it must be between 0 and 100",
        ),
        (
            page("last: 1000000000"),
            "BAD_USER_INPUT: last: `last` is 1000000000, it must be between 0 and 100",
        ),
        (
            page("after: \"zzz\""),
            "BAD_USER_INPUT: after: is not a cursor of this service",
        ),
        (
            page(&format!("mode: LINEAR, after: \"{foreign}\"")),
            "BAD_USER_INPUT: after: belongs to another list",
        ),
        (
            page(&format!("mode: LINEAR, before: \"{newest}\"")),
            "BAD_USER_INPUT: before: was made under another order",
        ),
        (
            page(&format!("mode: THREADED, after: \"{linear}\"")),
            "BAD_USER_INPUT: mode: the cursor was made in the other mode than the one named",
        ),
        (
            "{ comment(id: \"nonsense\") { id } }".to_owned(),
            "BAD_USER_INPUT: id: not a valid Comment id",
        ),
        (
            "{ node(id: \"1\") { id } }".to_owned(),
            "BAD_USER_INPUT: id: not a valid Node id",
        ),
        (
            "{ user(id: \"-1\") { id } }".to_owned(),
            "BAD_USER_INPUT: id: not a valid User id",
        ),
        (
            "{ discussion { id } }".to_owned(),
            "BAD_USER_INPUT: discussion: name it by exactly one of id, url and entity",
        ),
        (
            "{ discussion(url: \"javascript:alert(1)\") { id } }".to_owned(),
            "BAD_USER_INPUT: url: the URL's scheme is neither http nor https",
        ),
        (
            "{ discussion(url: \"/relative\") { id } }".to_owned(),
            "BAD_USER_INPUT: url: the URL is relative; it must start with http:// or https://",
        ),
    ] {
        assert_eq!(first_error(&app, &query, json!({})).await, want, "{query}");
    }
    let context = "query($c: ID!) { discussion(entity: {type: \"post\", id: \"p\"}) { context(comment: $c, siblings: 21) { mode } } }";
    assert_eq!(
        first_error(&app, context, json!({"c": id})).await,
        "BAD_USER_INPUT: siblings: 21 is more than 20"
    );
    let many: Vec<&String> = std::iter::repeat_n(&id, 101).collect();
    let nodes = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }";
    assert_eq!(
        first_error(&app, nodes, json!({"ids": many})).await,
        "BAD_USER_INPUT: ids: 101 ids are more than 100"
    );
    let foreign = app
        .try_post(&Who::user(1), "p", Some(&other), "reply", None)
        .await;
    assert_eq!(foreign["reason"], "PARENT_NOT_FOUND");
}

#[tokio::test]
async fn a_wrong_argument_of_replies_fails_that_field_only() {
    let app = TestApp::new().await;
    app.post(&Who::user(1), "p", None, "root").await;
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(mode: THREADED) { \
        edges { good: replies(first: 1) { totalCount } bad: replies(first: -3) { totalCount } node { id } } } } }";
    let (_, answer) = app.answer(&Who::user(1), query, json!({})).await;
    let edge = &answer["data"]["discussion"]["comments"]["edges"][0];
    assert_eq!(
        (&edge["good"]["totalCount"], &edge["bad"]),
        (&json!(0), &json!(null))
    );
    assert!(edge["node"]["id"].is_string());
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(
        answer["errors"][0]["path"],
        json!(["discussion", "comments", "edges", 0, "bad"])
    );
}

#[tokio::test]
async fn case_25_every_character_comes_back_as_it_was_sent() {
    let app = TestApp::new().await;
    for body in [
        "a😶b",
        "👩‍👩‍👧‍👦",
        "👍🏽",
        "ex𝌆tic",
        "שלום hello שלום",
        "abc\u{202e}def",
        "می‌خواهم",
        "a\r\nb",
        "  padded  ",
    ] {
        let id = app.post(&Who::user(1), "p", None, body).await;
        let data = app
            .ask(
                &Who::anonymous(),
                "query($id: ID!) { comment(id: $id) { body { source } } }",
                json!({"id": id}),
            )
            .await;
        assert_eq!(data["comment"]["body"]["source"], body);
    }
}

#[tokio::test]
async fn case_26_invisible_and_over_long_texts_are_refused_with_limit_and_size() {
    let app = TestApp::new().await;
    let long = "x".repeat(10_001);
    let wide = "😶".repeat(10_001);
    let marks = format!("a{}", "\u{301}".repeat(2_000));
    for (body, code, limit, actual) in [
        ("", "BODY_EMPTY", None, None),
        ("\u{200b}\u{2060}\u{feff}", "BODY_EMPTY", None, None),
        ("\u{3000}", "BODY_EMPTY", None, None),
        ("\n\n\n", "BODY_EMPTY", None, None),
        (long.as_str(), "BODY_TOO_LONG", Some(10_000), Some(10_001)),
        (wide.as_str(), "BODY_TOO_LONG", Some(10_000), Some(10_001)),
        (marks.as_str(), "BODY_TOO_MANY_MARKS", Some(8), Some(2_000)),
    ] {
        let refused = app.try_post(&Who::user(1), "p", None, body, None).await;
        assert_eq!(
            (&refused["reason"], &refused["code"]),
            (&json!("TEXT"), &json!(code)),
            "{refused}"
        );
        assert_eq!(
            (&refused["limit"], &refused["actual"]),
            (&json!(limit), &json!(actual))
        );
    }
    let (status, answer) = app
        .answer(
            &Who::anonymous(),
            CREATE,
            json!({"input": {"entity": {"type": "post", "id": "p"}, "body": "x"}}),
        )
        .await;
    assert_eq!(
        (status.as_u16(), &answer["errors"][0]["extensions"]["code"]),
        (200, &json!("UNAUTHENTICATED"))
    );
}
