//! The list of discussions.

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

async fn page(app: &TestApp, arguments: &str) -> (Vec<String>, Value) {
    let query = format!(
        "{{ discussions{arguments} {{ pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} \
         edges {{ cursor node {{ entity {{ id }} counts {{ visible }} }} }} }} }}"
    );
    let data = app.ask(&Who::anonymous(), &query, json!({})).await;
    let list = &data["discussions"];
    let names = list["edges"].as_array().unwrap();
    let name = |edge: &Value| edge["node"]["entity"]["id"].as_str().unwrap().to_owned();
    (names.iter().map(name).collect(), list["pageInfo"].clone())
}

#[tokio::test]
async fn the_newest_discussion_comes_first_and_pages_go_both_ways() {
    let app = TestApp::new().await;
    assert!(page(&app, "").await.0.is_empty());
    for name in ["a", "b", "c", "d", "e"] {
        app.post(&Who::user(1), name, None, "text").await;
    }
    let (names, info) = page(&app, "(first: 2)").await;
    assert_eq!(names, ["e", "d"]);
    assert_eq!(
        (&info["hasNextPage"], &info["hasPreviousPage"]),
        (&json!(true), &json!(false))
    );
    let after = info["endCursor"].as_str().unwrap();
    let (names, info) = page(&app, &format!("(first: 9, after: \"{after}\")")).await;
    assert_eq!(names, ["c", "b", "a"]);
    assert_eq!(
        (&info["hasNextPage"], &info["hasPreviousPage"]),
        (&json!(false), &json!(true))
    );
    let before = info["startCursor"].as_str().unwrap();
    let (names, _) = page(&app, &format!("(last: 1, before: \"{before}\")")).await;
    assert_eq!(names, ["d"]);
    let (names, _) = page(&app, "(last: 2)").await;
    assert_eq!(names, ["b", "a"]);
}

#[tokio::test]
async fn a_cursor_of_another_list_or_a_size_past_the_limit_is_an_error() {
    let app = TestApp::new().await;
    app.post(&Who::user(1), "a", None, "text").await;
    let comments = app.page(&Who::anonymous(), "a", "first: 1").await;
    let foreign = comments.end.unwrap();
    for (arguments, field) in [
        (format!("after: \"{foreign}\""), "after"),
        ("first: 101".to_owned(), "first"),
    ] {
        let query = format!("{{ discussions({arguments}) {{ edges {{ cursor }} }} }}");
        let (_, answer) = app.answer(&Who::anonymous(), &query, json!({})).await;
        let extensions = &answer["errors"][0]["extensions"];
        assert_eq!(extensions["code"], "BAD_USER_INPUT", "{answer:#}");
        assert_eq!(extensions["field"], field);
    }
}
