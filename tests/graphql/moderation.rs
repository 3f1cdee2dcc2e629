//! Reports, the queue, pins, premoderation, the audit log and edit history, as clients use them.

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

const QUEUE: &str = "query($d: ID, $kind: QueueKind, $reason: ReportReason, $first: Int, $after: String, $last: Int, $before: String) { \
    moderationQueue(discussion: $d, kind: $kind, reason: $reason, first: $first, after: $after, last: $last, before: $before) { totalCount \
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } \
    edges { cursor node { kinds since reportCount reasons comment { id state body { text } author { id } } \
      reports(first: 2) { id reason text createdAt reporter { name } } } } } }";

async fn queue(app: &TestApp, variables: Value) -> Value {
    let data = app.ask(&Who::moderator(9), QUEUE, variables).await;
    data["moderationQueue"].clone()
}

async fn queued(app: &TestApp) -> Vec<String> {
    let queue = queue(app, json!({})).await;
    let edges = queue["edges"].as_array().unwrap();
    assert_eq!(queue["totalCount"], edges.len());
    let text = |edge: &Value| {
        edge["node"]["comment"]["body"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    edges.iter().map(text).collect()
}

async fn report(app: &TestApp, who: &Who, id: &str, reason: &str, text: &str) -> Value {
    let query = "mutation($i: ReportCommentInput!) { reportComment(input: $i) { __typename \
        ... on CommentReported { repeated report { id reason text } comment { id } } \
        ... on CommentRefused { reason code limit actual } } }";
    let input = json!({"comment": id, "reason": reason, "text": text});
    app.ask(who, query, json!({"i": input})).await["reportComment"].clone()
}

async fn premoderated(app: &TestApp, name: &str, on: bool) -> Value {
    let query = "mutation($d: ID!, $on: Boolean!) { setPremoderation(discussion: $d, premoderated: $on) { premoderated } }";
    let variables = json!({"d": app.discussion_id(name).await, "on": on});
    app.ask(&Who::moderator(9), query, variables).await["setPremoderation"].clone()
}

async fn pin(app: &TestApp, who: &Who, name: &str, ids: &[&str]) -> Value {
    let query = "mutation($i: PinCommentsInput!) { pinComments(input: $i) { __typename \
        ... on DiscussionWritten { readAfter discussion { pinned { id } } } ... on CommentRefused { reason } } }";
    let input = json!({"discussion": app.discussion_id(name).await, "comments": ids});
    app.ask(who, query, json!({"i": input})).await["pinComments"].clone()
}

async fn pinned(app: &TestApp, who: &Who, name: &str) -> Vec<String> {
    let query = "query($d: ID!) { discussion(id: $d) { pinned { id author { name } } } }";
    let data = app
        .ask(who, query, json!({"d": app.discussion_id(name).await}))
        .await;
    let pinned = data["discussion"]["pinned"].as_array().unwrap();
    pinned
        .iter()
        .map(|node| node["id"].as_str().unwrap().to_owned())
        .collect()
}

async fn code(app: &TestApp, who: &Who, query: &str, variables: Value) -> String {
    let (_, answer) = app.answer(who, query, variables).await;
    answer["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer:#}"))
        .to_owned()
}

#[tokio::test]
async fn case_14_the_queue_counts_one_none_one_none() {
    let app = TestApp::new().await;
    let (author, moderator) = (Who::user(1), Who::moderator(9));
    app.post(&author, "p", None, "first").await;
    assert_eq!(premoderated(&app, "p", true).await["premoderated"], true);
    let id = app.post(&author, "p", None, "waits").await;
    assert_eq!(queued(&app).await, ["waits"]);
    let other = Who::moderator(8);
    let (one, two) = tokio::join!(
        app.moderate(&moderator, "approveComment", &id),
        app.moderate(&other, "approveComment", &id)
    );
    for done in [one, two] {
        assert_eq!(done["comment"]["state"], "PUBLISHED", "{done:#}");
    }
    assert!(queued(&app).await.is_empty());
    let edited = app.edit(&author, &id, 2, "waits again").await;
    assert_eq!(edited["__typename"], "CommentWritten");
    assert_eq!(queued(&app).await, ["waits again"]);
    app.moderate(&moderator, "hideComment", &id).await;
    assert!(queued(&app).await.is_empty());
    assert_eq!(app.counts("p").await, [2, 1, 1, 1, 0]);
}

#[tokio::test]
async fn reports_are_made_once_and_answered_by_moderators() {
    let app = TestApp::new().await;
    let id = app.post(&Who::user(1), "p", None, "rude").await;
    let made = report(&app, &Who::user(2), &id, "ABUSE", "he insults me").await;
    assert_eq!(
        (&made["__typename"], &made["repeated"]),
        (&json!("CommentReported"), &json!(false))
    );
    let again = report(&app, &Who::user(2), &id, "SPAM", "other words").await;
    assert_eq!(
        (&again["repeated"], &again["report"]),
        (&json!(true), &made["report"])
    );
    for who in 3..6 {
        report(&app, &Who::user(who), &id, "SPAM", "").await;
    }
    let item = &queue(&app, json!({})).await["edges"][0]["node"];
    assert_eq!(item["kinds"], json!(["REPORTED"]));
    assert_eq!(item["reasons"], json!(["SPAM", "ABUSE"]));
    assert_eq!(
        (
            &item["reportCount"],
            item["reports"].as_array().unwrap().len()
        ),
        (&json!(4), 2)
    );
    assert_eq!(item["reports"][0]["text"], "he insults me");
    let query = "mutation($i: DismissReportsInput!) { dismissReports(input: $i) { ... on ReportsDismissed { dismissed comment { state } } } }";
    for dismissed in [4, 0] {
        let done = app
            .ask(
                &Who::moderator(9),
                query,
                json!({"i": {"comment": id, "reason": "it is not"}}),
            )
            .await;
        assert_eq!(
            done["dismissReports"],
            json!({"dismissed": dismissed, "comment": {"state": "PUBLISHED"}})
        );
    }
    assert!(queued(&app).await.is_empty());
    assert_eq!(
        report(&app, &Who::user(2), &id, "SPAM", "").await["repeated"],
        true
    );
    assert!(queued(&app).await.is_empty());
}

#[tokio::test]
async fn a_report_that_cannot_be_made_says_why_and_gives_nothing_away() {
    let app = TestApp::new().await;
    let id = app.post(&Who::user(1), "p", None, "text").await;
    let below = app.post(&Who::user(1), "p", Some(&id), "below").await;
    assert_eq!(
        report(&app, &Who::user(1), &id, "SPAM", "").await["reason"],
        "OWN_COMMENT"
    );
    let long = report(&app, &Who::user(2), &id, "SPAM", &"x".repeat(1_001)).await;
    assert_eq!(
        (&long["code"], &long["limit"], &long["actual"]),
        (&json!("REPORT_TOO_LONG"), &json!(1_000), &json!(1_001))
    );
    assert_eq!(
        report(&app, &Who::user(2), &id, "SPAM", "\u{200B}").await["code"],
        "REPORT_EMPTY"
    );
    app.moderate(&Who::moderator(9), "hideComment", &id).await;
    for id in [&id, &below] {
        assert_eq!(
            report(&app, &Who::user(2), id, "SPAM", "").await["reason"],
            "COMMENT_NOT_FOUND"
        );
        assert_eq!(
            report(&app, &Who::moderator(9), id, "SPAM", "").await["reason"],
            "NOT_PUBLIC"
        );
    }
    app.moderate(&Who::moderator(9), "restoreComment", &id)
        .await;
    app.delete(&Who::user(1), &id, None).await;
    assert_eq!(
        report(&app, &Who::user(2), &id, "SPAM", "").await["reason"],
        "ALREADY_DELETED"
    );
    app.delete(&Who::user(1), &below, None).await;
    assert_eq!(
        report(&app, &Who::user(2), &id, "SPAM", "").await["reason"],
        "COMMENT_NOT_FOUND"
    );
    let query = "mutation($i: ReportCommentInput!) { reportComment(input: $i) { __typename } }";
    let variables = json!({"i": {"comment": id, "reason": "SPAM"}});
    assert_eq!(
        code(&app, &Who::anonymous(), query, variables).await,
        "UNAUTHENTICATED"
    );
}

/// The texts of a page of the queue.
fn texts(page: &Value) -> Vec<String> {
    let text = |edge: &Value| {
        let text = &edge["node"]["comment"]["body"]["text"];
        text.as_str().unwrap().to_owned()
    };
    page["edges"].as_array().unwrap().iter().map(text).collect()
}

#[tokio::test]
async fn the_queue_is_paged_both_ways_and_filtered() {
    let app = TestApp::new().await;
    for name in ["a", "b"] {
        for at in 0..3 {
            let id = app
                .post(&Who::user(1), name, None, &format!("{name}{at}"))
                .await;
            report(&app, &Who::user(2), &id, ["SPAM", "ABUSE", "OTHER"][at], "").await;
        }
    }
    let first = queue(&app, json!({"first": 4})).await;
    assert_eq!(texts(&first), ["a0", "a1", "a2", "b0"]);
    assert_eq!(
        (&first["totalCount"], &first["pageInfo"]["hasNextPage"]),
        (&json!(6), &json!(true))
    );
    let next = queue(
        &app,
        json!({"first": 4, "after": first["pageInfo"]["endCursor"]}),
    )
    .await;
    assert_eq!(texts(&next), ["b1", "b2"]);
    assert_eq!(next["pageInfo"]["hasPreviousPage"], true);
    let back = queue(
        &app,
        json!({"last": 2, "before": next["pageInfo"]["startCursor"]}),
    )
    .await;
    assert_eq!(texts(&back), ["a2", "b0"]);
    let b = app.discussion_id("b").await;
    assert_eq!(
        texts(&queue(&app, json!({"d": b})).await),
        ["b0", "b1", "b2"]
    );
    assert_eq!(
        texts(&queue(&app, json!({"reason": "ABUSE"})).await),
        ["a1", "b1"]
    );
    assert_eq!(
        queue(&app, json!({"kind": "PENDING"})).await["totalCount"],
        0
    );
    // A cursor of one filter is none of another, and what left the queue leaves no false page.
    let foreign = json!({"d": b, "after": first["pageInfo"]["endCursor"]});
    assert_eq!(
        code(&app, &Who::moderator(9), QUEUE, foreign).await,
        "BAD_USER_INPUT"
    );
    for edge in first["edges"].as_array().unwrap() {
        app.moderate(
            &Who::moderator(9),
            "hideComment",
            edge["node"]["comment"]["id"].as_str().unwrap(),
        )
        .await;
    }
    let next = queue(
        &app,
        json!({"first": 4, "after": first["pageInfo"]["endCursor"]}),
    )
    .await;
    assert_eq!(
        (texts(&next), &next["pageInfo"]["hasPreviousPage"]),
        (vec!["b1".to_owned(), "b2".to_owned()], &json!(false))
    );
}

#[tokio::test]
async fn what_moderators_use_is_refused_to_everybody_else() {
    let app = TestApp::new().await;
    let id = app.post(&Who::user(1), "p", None, "text").await;
    let d = app.discussion_id("p").await;
    for query in [
        "query($c: ID, $d: ID) { moderationQueue { totalCount } a: comment(id: $c) { id } b: discussion(id: $d) { id } }".to_owned(),
        "query($c: ID, $d: ID) { auditLog(discussion: $d) { edges { cursor } } a: comment(id: $c) { id } }".to_owned(),
        "mutation($c: ID!, $d: ID!) { dismissReports(input: {comment: $c}) { __typename } setDiscussionState(discussion: $d, state: OPEN) { id } }".to_owned(),
        "mutation($c: ID!, $d: ID!) { pinComments(input: {discussion: $d, comments: [$c]}) { __typename } }".to_owned(),
        "mutation($c: ID, $d: ID!) { setPremoderation(discussion: $d, premoderated: true) { premoderated } pinComments(input: {discussion: $d, comments: [$c]}) { __typename } }".to_owned(),
    ] {
        let query = query.replace("$c: ID,", "$c: ID!,").replace("$d: ID)", "$d: ID!)");
        let variables = json!({"c": id, "d": d});
        assert_eq!(code(&app, &Who::user(1), &query, variables.clone()).await, "FORBIDDEN", "{query}");
        assert_eq!(code(&app, &Who::anonymous(), &query, variables).await, "UNAUTHENTICATED", "{query}");
    }
    assert!(pinned(&app, &Who::anonymous(), "p").await.is_empty());
}

#[tokio::test]
async fn pins_are_shown_in_their_order_while_everybody_can_read_them() {
    let app = TestApp::new().await;
    let moderator = Who::moderator(9);
    let mut ids = Vec::new();
    for at in 0..11 {
        ids.push(app.post(&Who::user(1), "p", None, &format!("c{at}")).await);
    }
    let before = app
        .page(&Who::anonymous(), "p", "mode: LINEAR, first: 50")
        .await;
    let done = pin(&app, &moderator, "p", &[&ids[2], &ids[0]]).await;
    assert_eq!(
        done["discussion"]["pinned"],
        json!([{"id": ids[2]}, {"id": ids[0]}])
    );
    let token = done["readAfter"].as_str().unwrap();
    let reader = Who::anonymous().having_read(token);
    assert_eq!(
        pinned(&app, &reader, "p").await,
        [ids[2].clone(), ids[0].clone()]
    );
    let after = app
        .page(&Who::anonymous(), "p", "mode: LINEAR, first: 50")
        .await;
    assert_eq!(after.raw, before.raw, "pages do not know of pins");
    app.moderate(&moderator, "hideComment", &ids[2]).await;
    for who in [Who::anonymous(), Who::user(1), moderator.clone()] {
        assert_eq!(pinned(&app, &who, "p").await, [ids[0].clone()], "{who:?}");
    }
    assert_eq!(
        pin(&app, &moderator, "p", &[&ids[2]]).await["reason"],
        "NOT_PUBLIC"
    );
    app.delete(&Who::user(1), &ids[0], None).await;
    assert!(pinned(&app, &Who::anonymous(), "p").await.is_empty());
    app.moderate(&moderator, "restoreComment", &ids[2]).await;
    assert_eq!(pinned(&app, &Who::anonymous(), "p").await, [ids[2].clone()]);
    pin(&app, &moderator, "p", &[]).await;
    assert!(pinned(&app, &Who::anonymous(), "p").await.is_empty());
    let query = "mutation($i: PinCommentsInput!) { pinComments(input: $i) { __typename } }";
    let d = app.discussion_id("p").await;
    for comments in [json!(ids), json!([ids[1], ids[1]])] {
        let (_, answer) = app
            .answer(
                &moderator,
                query,
                json!({"i": {"discussion": d, "comments": comments}}),
            )
            .await;
        let extensions = &answer["errors"][0]["extensions"];
        assert_eq!(
            (&extensions["code"], &extensions["field"]),
            (&json!("BAD_USER_INPUT"), &json!("comments"))
        );
    }
}

#[tokio::test]
async fn a_discussion_says_what_the_viewer_may_do_in_it() {
    let app = TestApp::new().await;
    app.post(&Who::user(1), "p", None, "text").await;
    let d = app.discussion_id("p").await;
    let query =
        "query($d: ID!) { discussion(id: $d) { premoderated viewerCan { comment moderate } } }";
    let can = async |who: Who| {
        let can = app.ask(&who, query, json!({"d": d})).await["discussion"]["viewerCan"].clone();
        (
            can["comment"].as_bool().unwrap(),
            can["moderate"].as_bool().unwrap(),
        )
    };
    assert_eq!(can(Who::anonymous()).await, (false, false));
    assert_eq!(can(Who::user(1)).await, (true, false));
    assert_eq!(can(Who::moderator(9)).await, (true, true));
    let close = "mutation($d: ID!) { setDiscussionState(discussion: $d, state: CLOSED) { state } }";
    app.ask(&Who::moderator(9), close, json!({"d": d})).await;
    assert_eq!(can(Who::user(1)).await, (false, false));
    assert_eq!(can(Who::moderator(9)).await, (false, true));
}

#[tokio::test]
async fn every_act_is_in_the_audit_log_with_its_reason() {
    let app = TestApp::new().await;
    let moderator = Who::moderator(9);
    let id = app.post(&Who::user(1), "p", None, "SECRET text").await;
    let hide = "mutation($i: ModerateCommentInput!) { hideComment(input: $i) { __typename } }";
    app.ask(
        &moderator,
        hide,
        json!({"i": {"comment": id, "reason": "off the rails"}}),
    )
    .await;
    app.moderate(&Who::moderator(8), "restoreComment", &id)
        .await;
    pin(&app, &moderator, "p", &[&id]).await;
    premoderated(&app, "p", true).await;
    app.delete(&moderator, &id, None).await;
    let own = app.post(&Who::user(1), "q", None, "own").await;
    app.delete(&Who::user(1), &own, None).await;
    let query = "query($d: ID, $a: ID, $first: Int, $after: String) { auditLog(discussion: $d, actor: $a, first: $first, after: $after) { \
        pageInfo { hasNextPage endCursor } edges { node { id at act detail actor { id } user { id } discussion { id } comment { state body { text } } } } } }";
    let data = app.ask(&moderator, query, json!({})).await;
    let edges = data["auditLog"]["edges"].as_array().unwrap();
    let acts: Vec<&str> = edges
        .iter()
        .map(|edge| edge["node"]["act"].as_str().unwrap())
        .collect();
    assert_eq!(acts, ["DELETE", "PREMODERATE", "PIN", "RESTORE", "HIDE"]);
    assert_eq!(edges[4]["node"]["detail"], "off the rails");
    assert_eq!(
        edges[0]["node"]["comment"],
        json!({"state": "DELETED", "body": null})
    );
    assert!(!data.to_string().contains("SECRET"));
    let data = app.ask(&moderator, query, json!({"a": "8"})).await;
    assert_eq!(data["auditLog"]["edges"].as_array().unwrap().len(), 1);
    let page = app
        .ask(
            &moderator,
            query,
            json!({"d": app.discussion_id("p").await, "first": 2}),
        )
        .await;
    assert_eq!(page["auditLog"]["pageInfo"]["hasNextPage"], true);
    let after = &page["auditLog"]["pageInfo"]["endCursor"];
    let page = app
        .ask(
            &moderator,
            query,
            json!({"d": app.discussion_id("p").await, "first": 9, "after": after}),
        )
        .await;
    assert_eq!(page["auditLog"]["edges"].as_array().unwrap().len(), 3);
    let long = json!({"i": {"comment": own, "reason": "x".repeat(301)}});
    let hide = "mutation($i: ModerateCommentInput!) { hideComment(input: $i) { ... on CommentRefused { code limit } } }";
    let refused = app.ask(&moderator, hide, long).await;
    assert_eq!(
        refused["hideComment"],
        json!({"code": "REASON_TOO_LONG", "limit": 300})
    );
}

#[tokio::test]
async fn earlier_texts_are_the_authors_and_the_moderators() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let id = app.post(&author, "p", None, "one").await;
    for (seen, body) in [(1, "two"), (2, "three"), (3, "four")] {
        app.edit(&author, &id, seen, body).await;
    }
    let never = app.post(&author, "p", None, "never edited").await;
    let query = "query($id: ID!, $other: ID!) { comment(id: $id) { all: revisions { revision format body { text source html } } two: revisions(last: 2) { revision } } \
        other: comment(id: $other) { revisions { revision } } }";
    let variables = json!({"id": id, "other": never});
    for who in [&author, &Who::moderator(9)] {
        let data = app.ask(who, query, variables.clone()).await;
        let texts = |list: &Value| -> Vec<String> {
            let list = list.as_array().unwrap();
            list.iter()
                .map(|text| text["body"]["source"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(texts(&data["comment"]["all"]), ["one", "two", "three"]);
        assert_eq!(
            data["comment"]["two"],
            json!([{"revision": 2}, {"revision": 3}])
        );
        assert_eq!(data["other"]["revisions"], json!([]));
    }
    for who in [Who::anonymous(), Who::user(2)] {
        let data = app.ask(&who, query, variables.clone()).await;
        assert!(data["comment"]["all"].is_null() && data["other"]["revisions"].is_null());
    }
    assert_eq!(
        code(
            &app,
            &author,
            "query($id: ID!) { comment(id: $id) { revisions(last: 101) { revision } } }",
            json!({"id": id})
        )
        .await,
        "BAD_USER_INPUT"
    );
    app.delete(&author, &id, None).await;
    let data = app.ask(&Who::moderator(9), query, variables).await;
    assert!(data["comment"]["all"].is_null());
}

#[tokio::test]
async fn a_page_of_the_queue_costs_the_same_for_one_item_and_for_many() {
    let app = TestApp::with(&[("COMMENTS__PAGE_CACHE_BYTES", "0")]).await;
    app.ask(&Who::moderator(9), "{ viewer { role } }", json!({}))
        .await;
    for at in 0..30 {
        let id = app.post(&Who::user(1), "p", None, &format!("c{at}")).await;
        report(&app, &Who::user(2), &id, "SPAM", "text").await;
    }
    let cost = async |first: i64| {
        let before = app.app.statements();
        let page = queue(&app, json!({"first": first})).await;
        assert_eq!(
            i64::try_from(page["edges"].as_array().unwrap().len()).unwrap(),
            first
        );
        app.app.statements() - before
    };
    let (one, many) = (cost(1).await, cost(30).await);
    assert_eq!(one, many);
    assert!(many <= 10, "{many} statements");
}
