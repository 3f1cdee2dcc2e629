//! What an attack on the running gateway found, as promises: ends of lists behind long stretches of
//! removed comments, ancestors that may not be seen, whose comment it is.

use std::io::Cursor;
use std::sync::Arc;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use threadline::domain::text::TextLimits;
use threadline::import::{Format, ImportOptions, Importer};
use tokio_util::sync::CancellationToken;

use crate::support::{PAGE, Page, TestApp, Who};

/// More than the two slices of a small page reach over.
const STRETCH: usize = 30;

async fn hide_all(app: &TestApp, ids: &[String]) {
    for id in ids {
        app.moderate(&Who::moderator(9), "hideComment", id).await;
    }
}

async fn posts(app: &TestApp, parent: Option<&str>, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for at in 0..count {
        let body = format!("c{at}");
        ids.push(app.post(&Who::user(1), "p", parent, &body).await);
    }
    ids
}

#[tokio::test]
async fn case_16_nothing_more_is_promised_before_a_long_hidden_stretch() {
    let app = TestApp::new().await;
    let kept = posts(&app, None, 4).await;
    let hidden = posts(&app, None, STRETCH).await;
    hide_all(&app, &hidden).await;
    for mode in ["LINEAR", "THREADED"] {
        for (arguments, want) in [
            ("first: 4", &kept[..]),
            ("order: NEWEST, last: 4", &kept[..]),
            ("order: NEWEST, first: 4", &kept[..]),
            ("last: 4", &kept[..]),
        ] {
            let arguments = format!("mode: {mode}, {arguments}");
            let page = app.page(&Who::anonymous(), "p", &arguments).await;
            let mut ids = page.ids.clone();
            ids.sort();
            assert_eq!(ids, want, "{arguments}");
            let more = (page.has_next, page.has_previous);
            assert_eq!(more, (false, false), "{arguments}");
        }
        // From within the run, too, where the sums alone cannot tell.
        let page = app
            .page(&Who::anonymous(), "p", &format!("mode: {mode}, first: 1"))
            .await;
        let mut after = page.end.unwrap();
        for at in 1..4 {
            let arguments = format!("mode: {mode}, first: 1, after: \"{after}\"");
            let page = app.page(&Who::anonymous(), "p", &arguments).await;
            assert_eq!(page.ids, kept[at..=at], "{arguments}");
            assert_eq!(page.has_next, at < 3, "{arguments}");
            assert!(page.has_previous, "{arguments}");
            after = page.end.unwrap();
        }
    }
}

#[tokio::test]
async fn case_16_replies_before_a_long_hidden_stretch_end_where_they_end() {
    let app = TestApp::new().await;
    let root = posts(&app, None, 1).await.remove(0);
    let kept = posts(&app, Some(&root), 2).await;
    let hidden = posts(&app, Some(&root), STRETCH).await;
    let last = posts(&app, Some(&root), 1).await;
    hide_all(&app, &hidden).await;
    let read = async |arguments: &str| {
        let query =
            format!("query($id: ID!) {{ comment(id: $id) {{ replies({arguments}) {PAGE} }} }}");
        let data = app
            .ask(&Who::anonymous(), &query, json!({"id": root}))
            .await;
        Page::read(&data["comment"]["replies"])
    };
    // Over the stretch in one page.
    let page = read("first: 3").await;
    assert_eq!(page.ids, [&kept[..], &last[..]].concat());
    assert_eq!((page.has_next, page.has_previous), (false, false));
    let page = read("first: 2").await;
    assert!(page.has_next, "one more lies behind the stretch");
    hide_all(&app, &last).await;
    let page = read("first: 2").await;
    assert_eq!(page.ids, kept);
    assert!(!page.has_next, "nothing more can be read");
    assert_eq!(page.total, 2);
}

#[tokio::test]
async fn nothing_precedes_a_page_when_all_before_it_was_hidden_since() {
    let app = TestApp::new().await;
    let before = posts(&app, None, STRETCH).await;
    let kept = posts(&app, None, 2).await;
    let page = app
        .page(&Who::anonymous(), "p", "mode: LINEAR, first: 30")
        .await;
    hide_all(&app, &before).await;
    let arguments = format!("mode: LINEAR, first: 2, after: \"{}\"", page.end.unwrap());
    let page = app.page(&Who::anonymous(), "p", &arguments).await;
    assert_eq!(page.ids, kept);
    assert_eq!((page.has_previous, page.has_next), (false, false));
}

#[tokio::test]
async fn neighbours_are_found_beyond_a_long_hidden_stretch() {
    let app = TestApp::new().await;
    let first = posts(&app, None, 2).await;
    let hidden = posts(&app, None, STRETCH).await;
    let last = posts(&app, None, 1).await;
    hide_all(&app, &hidden).await;
    let query = "query($c: ID!) { discussion(entity: {type: \"post\", id: \"p\"}) { \
        context(comment: $c, siblings: 1) { before { id } after { id } \
        gapBefore { count } gapAfter { count } } } }";
    let data = app
        .ask(&Who::anonymous(), query, json!({"c": last[0]}))
        .await;
    let context = &data["discussion"]["context"];
    assert_eq!(context["before"], json!([{"id": first[1]}]));
    assert_eq!(context["gapBefore"], json!({"count": 1}));
    assert_eq!(context["after"], json!([]));
    assert_eq!(context["gapAfter"], Value::Null);
}

#[tokio::test]
async fn ancestors_that_may_not_be_seen_do_not_stop_the_paging() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let root = app.post(&Who::user(2), "p", None, "root").await;
    let own = app.post(&author, "p", Some(&root), "own").await;
    let focus = app.post(&author, "p", Some(&own), "focus").await;
    app.moderate(&Who::moderator(9), "hideComment", &root).await;
    let read = async |arguments: &str| {
        let query = format!(
            "query($c: ID!) {{ discussion(entity: {{type: \"post\", id: \"p\"}}) {{ \
            context(comment: $c) {{ ancestors({arguments}) {PAGE} }} }} }}"
        );
        let data = app.ask(&author, &query, json!({"c": focus})).await;
        Page::read(&data["discussion"]["context"]["ancestors"])
    };
    let page = read("first: 1").await;
    assert_eq!((page.ids.len(), page.has_next), (0, true));
    let next = read(&format!("first: 1, after: \"{}\"", page.end.unwrap())).await;
    assert_eq!((next.ids, next.has_next), (vec![own], false));
    let none = read("first: 0").await;
    assert_eq!((none.has_previous, none.has_next), (false, true));
    let none = read("last: 0").await;
    assert_eq!((none.has_previous, none.has_next), (true, false));
}

#[tokio::test]
async fn first_and_last_together_say_what_precedes_in_an_authors_list() {
    let app = TestApp::new().await;
    let ids = posts(&app, None, 6).await;
    let query = "{ user(id: \"1\") { comments(order: OLDEST, first: 4, last: 2) { \
        edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } } }";
    let data = app.ask(&Who::anonymous(), query, json!({})).await;
    let page = &data["user"]["comments"];
    let edges = json!([{"node": {"id": ids[2]}}, {"node": {"id": ids[3]}}]);
    assert_eq!(page["edges"], edges);
    let more = json!({"hasNextPage": true, "hasPreviousPage": true});
    assert_eq!(page["pageInfo"], more);
}

#[tokio::test]
async fn whose_a_comment_is_says_nothing_to_those_who_may_not_see_it() {
    let app = TestApp::new().await;
    let other = Who::user(2);
    let id = app.post(&Who::user(1), "p", None, "SECRET").await;
    assert_eq!(app.edit(&other, &id, 1, "x").await["reason"], "NOT_YOURS");
    app.moderate(&Who::moderator(9), "hideComment", &id).await;
    let refused = app.edit(&other, &id, 2, "x").await;
    assert_eq!(refused["reason"], "COMMENT_NOT_FOUND");
    let refused = app.delete(&other, &id, Some(2)).await;
    assert_eq!(refused["reason"], "COMMENT_NOT_FOUND");
    // A moderator sees it, and may still not change its text.
    let refused = app.edit(&Who::moderator(9), &id, 2, "x").await;
    assert_eq!(refused["reason"], "NOT_YOURS");
}

#[tokio::test]
async fn an_authors_list_is_paged_backwards_over_a_long_hidden_stretch() {
    let app = TestApp::new().await;
    let kept = posts(&app, None, 1).await;
    let hidden = posts(&app, None, STRETCH).await;
    let last = posts(&app, None, 1).await;
    hide_all(&app, &hidden).await;
    let query = "query($before: String) { user(id: \"1\") { \
        comments(order: OLDEST, last: 1, before: $before) { \
        edges { node { id } } pageInfo { hasPreviousPage startCursor } } } }";
    let (mut seen, mut before) = (Vec::new(), Value::Null);
    for _ in 0..STRETCH {
        let data = app
            .ask(&Who::anonymous(), query, json!({"before": before}))
            .await;
        let page = &data["user"]["comments"];
        for edge in page["edges"].as_array().unwrap() {
            seen.push(edge["node"]["id"].as_str().unwrap().to_owned());
        }
        if page["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
        let start = page["pageInfo"]["startCursor"].clone();
        assert!(
            start.is_string() && start != before,
            "paging stands still at {start}"
        );
        before = start;
    }
    assert_eq!(seen, [&last[..], &kept[..]].concat());
}

#[tokio::test]
async fn lists_within_lists_within_lists_are_refused_before_they_fill_the_memory() {
    let app = TestApp::new().await;
    posts(&app, None, 60).await;
    let within = |field: &str| {
        format!(
            "{{ discussion(entity: {{type: \"post\", id: \"p\"}}) {{ comments(first: 60) {{ edges {{ node {{ \
            {field} {{ comments(first: 60) {{ edges {{ node {{ \
            {field} {{ comments(first: 60) {{ edges {{ node {{ id }} }} }} }} }} }} }} }} }} }} }} }} }}"
        )
    };
    for field in ["discussion", "author"] {
        let (_, answer) = app
            .answer(&Who::anonymous(), &within(field), json!({}))
            .await;
        let errors = answer["errors"].as_array().unwrap();
        assert!(errors.len() <= 10, "{}", errors.len());
        for error in errors {
            assert_eq!(error["extensions"]["code"], "QUERY_TOO_COMPLEX", "{error}");
        }
        let ids = answer.to_string().matches("\"id\":").count();
        assert!(ids <= 20_000, "{ids} comments in one answer");
    }
    // The largest page of threads that limits allow is none of it.
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(mode: THREADED, first: 60) { \
        edges { node { id parent { id } } replies(first: 100) { edges { node { id } } } } } } }";
    app.ask(&Who::anonymous(), query, json!({})).await;
}

#[tokio::test]
async fn imported_comments_of_two_discussions_with_one_id_are_both_found() {
    let app = TestApp::new().await;
    // Same moment, and source ids whose hashes fall on the same place.
    let mut lines = Vec::new();
    for place in ["a", "b"] {
        let url = format!("https://blog.example.com/{place}");
        lines.push(
            json!({"type": "discussion", "id": place, "title": place, "url": url,
            "created_at": "2020-01-01T00:00:00Z"}),
        );
    }
    for (place, id) in [("b", "b175"), ("a", "a880")] {
        lines.push(
            json!({"type": "comment", "id": id, "discussion": place, "body": id,
            "author": {"id": "ann", "name": "Ann"}, "created_at": "2020-01-01T00:00:01Z"}),
        );
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let ports = app.app.service().ports();
    let importer = Importer {
        comments: Arc::clone(&ports.comments),
        users: Arc::clone(&ports.users),
        ids: Arc::clone(&ports.ids),
        clock: ports.clock.clone(),
        tasks: ports.tasks.clone(),
    };
    let options = ImportOptions {
        source: "jsonl".to_owned(),
        dry_run: false,
        restore: false,
        limits: TextLimits::default(),
        comments_max: 100,
        depth_limit: 1,
        kept_parameters: Vec::new(),
    };
    let reader = Format::Jsonl.reader(Box::new(Cursor::new(text.join("\n").into_bytes())));
    let (stop, bar) = (CancellationToken::new(), ProgressBar::hidden());
    importer.run(reader, &options, &stop, &bar).await;

    let query = "{ a: discussion(url: \"https://blog.example.com/a\") { comments { edges { node { id author { id } } } } } \
        b: discussion(url: \"https://blog.example.com/b\") { comments { edges { node { id author { id } } } } } }";
    let data = app.ask(&Who::anonymous(), query, json!({})).await;
    let node = |place: &str| data[place]["comments"]["edges"][0]["node"].clone();
    let ids = [node("a")["id"].clone(), node("b")["id"].clone()];
    let query = "query($ids: [ID!]!, $who: ID!) { nodes(ids: $ids) { ... on Comment { body { text } } } \
        user(id: $who) { comments { edges { node { body { text } } } } } }";
    let variables = json!({"ids": ids, "who": node("a")["author"]["id"]});
    let data = app.ask(&Who::anonymous(), query, variables).await;
    let wanted = json!([{"body": {"text": "a880"}}, {"body": {"text": "b175"}}]);
    assert_eq!(data["nodes"], wanted);
    let written = data["user"]["comments"]["edges"].as_array().unwrap();
    assert_eq!(written.len(), 2, "{written:?}");
}
