//! Pages: sizes, both directions, orders, and what stays out of them.

use serde_json::json;
use threadline::domain::body::BodyFormat;
use threadline::domain::comment::CommentState;
use threadline::domain::ids::UserId;
use threadline::store::comments::{ImportComment, ImportDiscussion};

use crate::support::{NOW_MS, Page, TestApp, Who};

async fn fill(
    app: &TestApp,
    name: &str,
    roots: usize,
    replies: usize,
) -> Vec<(String, Vec<String>)> {
    let who = Who::user(1);
    let mut all = Vec::new();
    for root in 0..roots {
        let id = app.post(&who, name, None, &format!("root {root}")).await;
        let mut below = Vec::new();
        for reply in 0..replies {
            below.push(
                app.post(&who, name, Some(&id), &format!("reply {root}.{reply}"))
                    .await,
            );
        }
        all.push((id, below));
    }
    all
}

/// Every page of a list from one end to the other.
async fn walk(
    app: &TestApp,
    name: &str,
    mode: &str,
    order: &str,
    size: usize,
    forward: bool,
) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    loop {
        let at = match (pages.last(), forward) {
            (None, _) => String::new(),
            (Some(page), true) => format!("after: \"{}\"", page.end.as_ref().unwrap()),
            (Some(page), false) => format!("before: \"{}\"", page.start.as_ref().unwrap()),
        };
        let end = if forward { "first" } else { "last" };
        let arguments = format!("mode: {mode}, order: {order}, {end}: {size} {at}");
        let page = app.page(&Who::anonymous(), name, &arguments).await;
        let goes_on = if forward {
            page.has_next
        } else {
            page.has_previous
        };
        pages.push(page);
        assert!(pages.len() < 1_000, "paging does not end");
        if !goes_on {
            return pages;
        }
    }
}

#[tokio::test]
async fn case_2_pages_of_roots_with_replies_asked_are_all_different() {
    let app = TestApp::new().await;
    fill(&app, "p", 35, 1).await;
    let query = "query($after: String) { discussion(entity: {type: \"post\", id: \"p\"}) { \
        comments(mode: THREADED, first: 5, after: $after) { pageInfo { hasNextPage endCursor } \
        edges { node { id replies(first: 2) { edges { node { id } } } } } } } }";
    let (mut seen, mut ends, mut after) = (Vec::new(), Vec::new(), json!(null));
    loop {
        let data = app
            .ask(&Who::anonymous(), query, json!({"after": after}))
            .await;
        let page = &data["discussion"]["comments"];
        for edge in page["edges"].as_array().unwrap() {
            seen.push(edge["node"]["id"].as_str().unwrap().to_owned());
        }
        after = page["pageInfo"]["endCursor"].clone();
        ends.push(after.as_str().unwrap().to_owned());
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!((ends.len(), seen.len()), (7, 35));
    let distinct = |all: &[String]| all.iter().collect::<std::collections::HashSet<_>>().len();
    assert_eq!((distinct(&ends), distinct(&seen)), (7, 35));
}

#[tokio::test]
async fn case_3_limits_hold_at_both_levels_and_have_documented_defaults() {
    let app = TestApp::new().await;
    fill(&app, "p", 3, 5).await;
    let query = |roots: &str, replies: &str| {
        format!(
            "{{ discussion(entity: {{type: \"post\", id: \"p\"}}) {{ comments(mode: THREADED{roots}) \
            {{ pageInfo {{ hasNextPage }} edges {{ node {{ counts {{ visible }} }} \
            replies{replies} {{ totalCount pageInfo {{ hasNextPage }} edges {{ cursor }} }} }} }} }} }}"
        )
    };
    let data = app
        .ask(
            &Who::anonymous(),
            &query(", first: 1", "(first: 2)"),
            json!({}),
        )
        .await;
    let page = &data["discussion"]["comments"];
    assert_eq!(page["edges"].as_array().unwrap().len(), 1);
    assert_eq!(page["pageInfo"]["hasNextPage"], true);
    let replies = &page["edges"][0]["replies"];
    assert_eq!(replies["edges"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&replies["pageInfo"]["hasNextPage"], &replies["totalCount"]),
        (&json!(true), &json!(5))
    );
    assert_eq!(page["edges"][0]["node"]["counts"]["visible"], 5);
    // Without sizes: the default of 20.
    let data = app.ask(&Who::anonymous(), &query("", ""), json!({})).await;
    let page = &data["discussion"]["comments"];
    assert_eq!(page["edges"].as_array().unwrap().len(), 3);
    assert_eq!(
        page["edges"][2]["replies"]["edges"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[tokio::test]
async fn case_6_many_comments_of_one_moment_page_in_both_directions() {
    let app = TestApp::new().await;
    // The clock stands still: all of them carry the same millisecond.
    for at in 0..25 {
        app.post(&Who::user(1), "p", None, &format!("c{at}")).await;
    }
    for (mode, order) in [
        ("LINEAR", "OLDEST"),
        ("LINEAR", "NEWEST"),
        ("THREADED", "OLDEST"),
        ("THREADED", "NEWEST"),
    ] {
        let forward = walk(&app, "p", mode, order, 10, true).await;
        let sizes: Vec<usize> = forward.iter().map(|page| page.ids.len()).collect();
        assert_eq!(sizes, [10, 10, 5], "{mode} {order}");
        let backward = walk(&app, "p", mode, order, 10, false).await;
        let there: Vec<String> = forward.into_iter().flat_map(|page| page.ids).collect();
        let mut back: Vec<String> = backward
            .into_iter()
            .flat_map(|page| page.ids.into_iter().rev())
            .collect();
        back.reverse();
        assert_eq!(there, back, "{mode} {order}");
        assert_eq!(there.len(), 25);
    }
}

#[tokio::test]
async fn case_14_and_15_sizes_at_their_edges() {
    let app = TestApp::new().await;
    let made = fill(&app, "p", 5, 0).await;
    let ids: Vec<&String> = made.iter().map(|(id, _)| id).collect();
    let whole = app.page(&Who::anonymous(), "p", "mode: LINEAR").await;
    assert_eq!(
        (whole.has_next, whole.has_previous, whole.total),
        (false, false, 5)
    );
    let cursor = |at: usize| {
        whole.raw["edges"][at]["cursor"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let page = |arguments: String| {
        let app = &app;
        async move {
            app.page(
                &Who::anonymous(),
                "p",
                &format!("mode: LINEAR, {arguments}"),
            )
            .await
        }
    };
    let rest = page(format!("first: 3, after: \"{}\"", cursor(1))).await;
    assert_eq!(
        (rest.ids.len(), rest.has_next, rest.has_previous),
        (3, false, true)
    );
    let none = page("first: 0".to_owned()).await;
    assert_eq!((none.ids.len(), none.has_next), (0, true));
    assert_eq!((none.start, none.end), (None, None));
    let beyond = page(format!("first: 0, after: \"{}\"", cursor(4))).await;
    assert!(!beyond.has_next);
    let both = page("first: 4, last: 2".to_owned()).await;
    assert_eq!(both.ids.iter().collect::<Vec<_>>(), [ids[2], ids[3]]);
    assert_eq!((both.has_next, both.has_previous), (true, true));
    let between = page(format!(
        "first: 10, after: \"{}\", before: \"{}\"",
        cursor(0),
        cursor(4)
    ))
    .await;
    assert_eq!(
        between.ids.iter().collect::<Vec<_>>(),
        [ids[1], ids[2], ids[3]]
    );
    let last = page(format!("last: 2, before: \"{}\"", cursor(4))).await;
    assert_eq!(last.ids.iter().collect::<Vec<_>>(), [ids[2], ids[3]]);
    assert_eq!((last.has_next, last.has_previous), (true, true));
}

#[tokio::test]
async fn case_16_more_leads_somewhere_and_hidden_rows_do_not_count_as_more() {
    let app = TestApp::new().await;
    let made = fill(&app, "p", 1, 6).await;
    let (_, replies) = &made[0];
    for hidden in [&replies[1], &replies[4]] {
        let done = app
            .moderate(&Who::moderator(9), "hideComment", hidden)
            .await;
        assert_eq!(done["__typename"], "CommentWritten");
    }
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(mode: THREADED) { \
        edges { replies(first: 4) { totalCount pageInfo { hasNextPage } edges { node { id } } } } } } }";
    let data = app.ask(&Who::anonymous(), query, json!({})).await;
    let list = &data["discussion"]["comments"]["edges"][0]["replies"];
    let ids: Vec<&str> = list["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["node"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [&replies[0], &replies[2], &replies[3], &replies[5]]);
    assert_eq!(
        (&list["pageInfo"]["hasNextPage"], &list["totalCount"]),
        (&json!(false), &json!(4))
    );
}

#[tokio::test]
async fn case_17_a_deleted_middle_keeps_its_place_while_something_hangs_below() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let root = app.post(&who, "p", None, "R").await;
    let middle = app.post(&who, "p", Some(&root), "D").await;
    let x = app.post(&Who::user(2), "p", Some(&middle), "x").await;
    let y = app.post(&Who::user(2), "p", Some(&middle), "y").await;
    let gone = app.delete(&who, &middle, Some(1)).await;
    assert_eq!(gone["comment"]["state"], "DELETED");
    let page = app.page(&Who::anonymous(), "p", "mode: LINEAR").await;
    assert_eq!(page.texts, ["R", "(gone)", "x", "y"]);
    for at in [2, 3] {
        let node = &page.raw["edges"][at]["node"];
        assert_eq!(
            (&node["depth"], &node["parent"]["id"]),
            (&json!(2), &json!(middle))
        );
    }
    // total, published, visible, roots, replies: the tombstone is a row, not a comment people read.
    assert_eq!(app.counts("p").await, [4, 3, 3, 1, 2]);
    app.delete(&Who::user(2), &x, Some(1)).await;
    assert_eq!(
        app.page(&Who::anonymous(), "p", "mode: LINEAR").await.texts,
        ["R", "(gone)", "y"]
    );
    app.delete(&Who::user(2), &y, Some(1)).await;
    for mode in ["LINEAR", "THREADED"] {
        assert_eq!(
            app.page(&Who::anonymous(), "p", &format!("mode: {mode}"))
                .await
                .texts,
            ["R"]
        );
    }
}

#[tokio::test]
async fn case_28_both_modes_list_the_same_comments() {
    let app = TestApp::new().await;
    let made = fill(&app, "p", 8, 3).await;
    app.post(&Who::user(3), "p", Some(&made[0].1[0]), "deep")
        .await;
    app.moderate(&Who::moderator(9), "hideComment", &made[2].0)
        .await;
    app.delete(&Who::user(1), &made[4].0, Some(1)).await;
    let linear: Vec<String> = walk(&app, "p", "LINEAR", "OLDEST", 7, true)
        .await
        .into_iter()
        .flat_map(|p| p.ids)
        .collect();
    let query = "query($after: String) { discussion(entity: {type: \"post\", id: \"p\"}) { \
        comments(mode: THREADED, first: 3, after: $after) { pageInfo { hasNextPage endCursor } \
        edges { node { id } replies(first: 100) { edges { node { id } } } } } } }";
    let (mut threaded, mut after) = (Vec::new(), json!(null));
    loop {
        let data = app
            .ask(&Who::anonymous(), query, json!({"after": after}))
            .await;
        let page = &data["discussion"]["comments"];
        for edge in page["edges"].as_array().unwrap() {
            threaded.push(edge["node"]["id"].as_str().unwrap().to_owned());
            for reply in edge["replies"]["edges"].as_array().unwrap() {
                threaded.push(reply["node"]["id"].as_str().unwrap().to_owned());
            }
        }
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(threaded.len(), 29, "33 rows less a hidden branch of 4");
    assert_eq!(sorted(linear), sorted(threaded));
}

#[tokio::test]
async fn a_long_stretch_of_removed_comments_neither_ends_a_list_nor_empties_a_page() {
    let app = TestApp::new().await;
    let made = fill(&app, "p", 60, 0).await;
    for (id, _) in &made[5..55] {
        app.delete(&Who::user(1), id, None).await;
    }
    let pages = walk(&app, "p", "LINEAR", "OLDEST", 4, true).await;
    let texts: Vec<String> = pages.iter().flat_map(|page| page.texts.clone()).collect();
    let wanted: Vec<String> = (0..5)
        .chain(55..60)
        .map(|at| format!("root {at}"))
        .collect();
    assert_eq!(texts, wanted);
    let last = pages.last().unwrap();
    assert!(!last.has_next);
    let backward = walk(&app, "p", "LINEAR", "NEWEST", 4, false).await;
    assert_eq!(
        backward.iter().map(|page| page.ids.len()).sum::<usize>(),
        10
    );
}

#[tokio::test]
async fn case_5_imported_replies_come_by_their_own_time_not_by_their_sources_ids() {
    let app = TestApp::new().await;
    let ports = app.app.service().ports();
    let discussion = ImportDiscussion {
        source: "test".to_owned(),
        source_id: "d".to_owned(),
        created_ms: NOW_MS - 10_000,
        title: String::new(),
        url: None,
        entity: Some(("post".to_owned(), "p".to_owned())),
        closed: false,
        depth_limit: 1,
        kept: None,
    };
    let (row, _) = ports.comments.import_discussion(discussion).await.unwrap();
    let comment = |source_id: &str, created_ms, parent: Option<&str>| ImportComment {
        source_id: source_id.to_owned(),
        created_ms,
        parent_source_id: parent.map(str::to_owned),
        author_id: UserId::new(1),
        body: source_id.to_owned(),
        format: BodyFormat::Plain,
        edited_at_ms: None,
        state: CommentState::Published,
        parent_id: None,
        kept: None,
    };
    let mut batch = vec![comment("root", NOW_MS - 9_000, None)];
    // r1 … r6: the higher the source's id, the earlier it was written.
    batch.extend((1..=6).map(|at| comment(&format!("r{at}"), NOW_MS - 1_000 * at, Some("root"))));
    let marker = ports.ids.mint().unwrap();
    ports
        .comments
        .import_comments(row.id, "test", batch, marker, 100)
        .await
        .unwrap();
    let root = app.page(&Who::anonymous(), "p", "mode: THREADED").await.ids[0].clone();
    let query = "query($c: ID!, $after: String) { comment(id: $c) { replies(first: 2, after: $after) { \
        pageInfo { hasNextPage endCursor } edges { node { body { text } } } } } }";
    let (mut pages, mut after) = (Vec::new(), json!(null));
    loop {
        let data = app
            .ask(&Who::anonymous(), query, json!({"c": root, "after": after}))
            .await;
        let list = &data["comment"]["replies"];
        let texts = list["edges"].as_array().unwrap().iter();
        pages.push(
            texts
                .map(|edge| edge["node"]["body"]["text"].clone())
                .collect::<Vec<_>>(),
        );
        after = list["pageInfo"]["endCursor"].clone();
        if list["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(pages, [["r6", "r5"], ["r4", "r3"], ["r2", "r1"]]);
}
