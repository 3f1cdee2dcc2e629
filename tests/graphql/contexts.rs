//! Deep links: one request, the way up and around, a bounded number of reads.

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

const CONTEXT: &str = "query($d: ID!, $c: ID!, $s: Int) { discussion(id: $d) { \
    context(comment: $c, siblings: $s) { mode modeReason \
    focus { id state body { text } parent { id } root { id } } \
    ancestors(last: 100) { totalCount edges { node { id } } } \
    parents: ancestors(last: 1) { pageInfo { hasPreviousPage } edges { node { id } } } \
    before { id } after { id } gapBefore { count atLeast cursor } gapAfter { count atLeast cursor } } } }";

async fn context(app: &TestApp, name: &str, comment: &str, siblings: i64) -> Value {
    let discussion = app.discussion_id(name).await;
    let variables = json!({"d": discussion, "c": comment, "s": siblings});
    app.ask(&Who::anonymous(), CONTEXT, variables).await["discussion"]["context"].clone()
}

fn ids(list: &Value) -> Vec<String> {
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    list.as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            if entry.get("node").is_some() {
                id(&entry["node"])
            } else {
                id(entry)
            }
        })
        .collect()
}

#[tokio::test]
async fn case_9_a_permalink_focuses_its_comment_and_names_its_parent() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let a = app.post(&who, "p", None, "a").await;
    let b = app.post(&who, "p", Some(&a), "b").await;
    let c = app.post(&who, "p", Some(&b), "c").await;
    let b2 = app.post(&who, "p", Some(&a), "b2").await;
    let found = context(&app, "p", &c, 2).await;
    assert_eq!(found["mode"], "THREADED");
    assert_eq!(found["focus"]["id"], c);
    assert_eq!(
        (
            &found["focus"]["parent"]["id"],
            &found["focus"]["root"]["id"]
        ),
        (&json!(b), &json!(a))
    );
    assert_eq!(ids(&found["ancestors"]["edges"]), [a, b.clone()]);
    assert_eq!(ids(&found["parents"]["edges"]), std::slice::from_ref(&b));
    assert_eq!(found["parents"]["pageInfo"]["hasPreviousPage"], true);
    assert_eq!(
        (ids(&found["before"]), ids(&found["after"])),
        (vec![b], vec![b2])
    );
}

#[tokio::test]
async fn case_8_a_link_far_into_a_discussion_costs_one_request_of_bounded_reads() {
    let app = TestApp::new().await;
    let mut ids_of = Vec::new();
    for at in 0..3_000 {
        ids_of.push(
            app.post(&Who::user(1), "p", None, &format!("root {at}"))
                .await,
        );
    }
    let discussion = app.discussion_id("p").await;
    let before = app.app.statements();
    let variables = json!({"d": discussion, "c": ids_of[2_874], "s": 2});
    let data = app.ask(&Who::anonymous(), CONTEXT, variables).await;
    let statements = app.app.statements() - before;
    assert!(statements <= 12, "{statements} statements");
    let found = &data["discussion"]["context"];
    assert_eq!(found["focus"]["body"]["text"], "root 2874");
    assert_eq!(ids(&found["before"]), ids_of[2_872..2_874]);
    assert_eq!(ids(&found["after"]), ids_of[2_875..2_877]);
    assert_eq!(
        (&found["gapAfter"]["count"], &found["gapAfter"]["atLeast"]),
        (&json!(123), &json!(false))
    );
    assert!(found["gapBefore"]["count"].as_i64().unwrap() >= 1_000);
    assert_eq!(found["gapBefore"]["atLeast"], true);
    // Both gaps' cursors lead on from where the neighbours end.
    let on = format!(
        "mode: THREADED, first: 1, after: {}",
        found["gapAfter"]["cursor"]
    );
    assert_eq!(
        app.page(&Who::anonymous(), "p", &on).await.texts,
        ["root 2877"]
    );
    let back = format!(
        "mode: THREADED, last: 1, before: {}",
        found["gapBefore"]["cursor"]
    );
    assert_eq!(
        app.page(&Who::anonymous(), "p", &back).await.texts,
        ["root 2871"]
    );
}

#[tokio::test]
async fn case_8_deleted_hidden_and_foreign_comments() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let root = app.post(&who, "p", None, "root").await;
    let middle = app.post(&who, "p", Some(&root), "middle").await;
    let leaf = app.post(&who, "p", Some(&middle), "leaf").await;
    let elsewhere = app.post(&who, "q", None, "elsewhere").await;
    app.delete(&who, &middle, Some(1)).await;
    let found = context(&app, "p", &middle, 2).await;
    assert_eq!(
        (&found["focus"]["state"], &found["focus"]["body"]),
        (&json!("DELETED"), &json!(null))
    );
    assert_eq!(ids(&found["after"]), std::slice::from_ref(&leaf));
    assert_eq!(context(&app, "p", &elsewhere, 2).await, json!(null));
    app.moderate(&Who::moderator(9), "hideComment", &leaf).await;
    assert_eq!(context(&app, "p", &leaf, 2).await, json!(null));
    assert_eq!(
        context(&app, "p", &middle, 2).await,
        json!(null),
        "nothing readable hangs below"
    );
}

#[tokio::test]
async fn case_24_a_chain_of_300_reads_and_pages_and_ends_at_the_limit() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let mut chain = vec![app.post(&who, "p", None, "0").await];
    for level in 1..=512 {
        let parent = chain.last().unwrap().clone();
        chain.push(app.post(&who, "p", Some(&parent), &level.to_string()).await);
    }
    let refused = app
        .try_post(&who, "p", chain.last().map(String::as_str), "513", None)
        .await;
    assert_eq!(
        (&refused["reason"], &refused["limit"]),
        (&json!("TOO_DEEP"), &json!(512))
    );
    let page = app.page(&Who::anonymous(), "p", "mode: THREADED").await;
    assert_eq!(page.ids.len(), 1);
    let query = "query($c: ID!) { comment(id: $c) { replies(first: 10) { totalCount \
        pageInfo { hasNextPage endCursor } edges { node { depth } } } } }";
    let data = app
        .ask(&Who::anonymous(), query, json!({"c": chain[0]}))
        .await;
    let list = &data["comment"]["replies"];
    assert_eq!(
        (&list["totalCount"], &list["pageInfo"]["hasNextPage"]),
        (&json!(512), &json!(true))
    );
    assert_eq!(list["edges"][9]["node"]["depth"], 10);
    // The way up from level 299, a page at a time.
    let query = "query($d: ID!, $c: ID!, $after: String) { discussion(id: $d) { \
        context(comment: $c) { ancestors(first: 80, after: $after) { totalCount \
        pageInfo { hasNextPage endCursor } edges { node { id } } } } } }";
    let discussion = app.discussion_id("p").await;
    let (mut up, mut after) = (Vec::new(), json!(null));
    loop {
        let variables = json!({"d": discussion, "c": chain[299], "after": after});
        let data = app.ask(&Who::anonymous(), query, variables).await;
        let list = &data["discussion"]["context"]["ancestors"];
        assert_eq!(list["totalCount"], 299);
        up.extend(ids(&list["edges"]));
        after = list["pageInfo"]["endCursor"].clone();
        if list["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(up, chain[..299]);
}
