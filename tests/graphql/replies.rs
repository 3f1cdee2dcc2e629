//! Replies to the viewer with their marks, and what is new in a discussion since they were there.

use serde_json::{Value, json};
use threadline::domain::ids::UserId;
use threadline::domain::ids::opaque::decode_comment;

use crate::support::{CREATE, TestApp, Who, answer_of};

async fn replies(app: &TestApp, who: &Who, arguments: &str) -> Value {
    let query = format!(
        "{{ viewer {{ replies({arguments}) {{ unreadCount edges {{ cursor node {{ isUnread \
        comment {{ id body {{ text }} parent {{ id }} }} }} }} \
        pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
    );
    app.ask(who, &query, json!({})).await["viewer"]["replies"].clone()
}

fn texts(replies: &Value) -> Vec<&str> {
    let edges = replies["edges"].as_array().unwrap().iter();
    edges
        .map(|edge| edge["node"]["comment"]["body"]["text"].as_str().unwrap())
        .collect()
}

async fn mark_read(app: &TestApp, who: &Who, up_to: &str) -> i64 {
    let query = "mutation($c: ID!) { markRepliesRead(upTo: $c) { unreadCount } }";
    let done = app.ask(who, query, json!({"c": up_to})).await;
    done["markRepliesRead"]["unreadCount"].as_i64().unwrap()
}

#[tokio::test]
async fn replies_are_listed_newest_first_with_what_is_unread() {
    let app = TestApp::new().await;
    let (ann, bob) = (Who::user(1), Who::user(2));
    let root = app.post(&ann, "p", None, "root").await;
    let other = app.post(&ann, "q", None, "root").await;
    let mut ids = Vec::new();
    for (index, place) in ["p", "q", "p", "q", "p"].iter().enumerate() {
        let parent = if *place == "p" { &root } else { &other };
        let text = format!("answer {index}");
        ids.push(app.post(&bob, place, Some(parent), &text).await);
    }
    app.post(&ann, "p", Some(&root), "my own").await;
    let all = replies(&app, &ann, "first: 10").await;
    let newest = ["answer 4", "answer 3", "answer 2", "answer 1", "answer 0"];
    assert_eq!(texts(&all), newest);
    assert_eq!(all["unreadCount"], 5);
    assert_eq!(all["edges"][0]["node"]["comment"]["parent"]["id"], root);
    assert_eq!(mark_read(&app, &ann, &ids[2]).await, 2);
    let after = replies(&app, &ann, "first: 10").await;
    let unread: Vec<bool> = after["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge["node"]["isUnread"].as_bool().unwrap())
        .collect();
    assert_eq!(unread, [true, true, false, false, false]);
    assert_eq!(mark_read(&app, &ann, &ids[0]).await, 2, "only forward");
    assert_eq!(mark_read(&app, &ann, &ids[4]).await, 0);
    // Theirs only, and nobody's who is not signed in.
    assert_eq!(replies(&app, &bob, "first: 10").await["edges"], json!([]));
    let data = app
        .ask(&Who::anonymous(), "{ viewer { role } }", json!({}))
        .await;
    assert_eq!(data["viewer"], Value::Null);
}

#[tokio::test]
async fn replies_page_both_ways_over_those_that_are_not_shown() {
    let app = TestApp::new().await;
    let (ann, bob) = (Who::user(1), Who::user(2));
    let root = app.post(&ann, "p", None, "root").await;
    for index in 0..12 {
        let id = app.post(&bob, "p", Some(&root), &index.to_string()).await;
        if index % 3 == 1 {
            app.moderate(&Who::moderator(9), "hideComment", &id).await;
        }
    }
    let want = ["11", "9", "8", "6", "5", "3", "2", "0"];
    let whole = replies(&app, &ann, "first: 50").await;
    assert_eq!(texts(&whole), want);
    assert_eq!(whole["unreadCount"], 8);
    let (mut forward, mut arguments) = (Vec::new(), "first: 3".to_owned());
    loop {
        let page = replies(&app, &ann, &arguments).await;
        forward.extend(texts(&page).into_iter().map(str::to_owned));
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        arguments = format!("first: 3, after: {}", page["pageInfo"]["endCursor"]);
    }
    assert_eq!(forward, want);
    let (mut backward, mut arguments) = (Vec::new(), "last: 3".to_owned());
    loop {
        let page = replies(&app, &ann, &arguments).await;
        let mut part: Vec<String> = texts(&page).into_iter().map(str::to_owned).collect();
        part.append(&mut backward);
        backward = part;
        if page["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
        arguments = format!("last: 3, before: {}", page["pageInfo"]["startCursor"]);
    }
    assert_eq!(backward, want);
}

#[tokio::test]
async fn only_what_the_viewer_may_see_now_is_listed_and_counted() {
    let app = TestApp::new().await;
    let (ann, bob, moderator) = (Who::user(1), Who::user(2), Who::moderator(9));
    let root = app.post(&ann, "p", None, "root").await;
    let hidden = app.post(&bob, "p", Some(&root), "hidden").await;
    let deleted = app.post(&bob, "p", Some(&root), "deleted").await;
    app.post(&Who::user(66), "p", Some(&root), "of a blocked one")
        .await;
    app.post(&bob, "p", Some(&root), "stays").await;
    assert_eq!(replies(&app, &ann, "first: 9").await["unreadCount"], 4);
    app.moderate(&moderator, "hideComment", &hidden).await;
    app.delete(&bob, &deleted, None).await;
    let block = "mutation { blockUser(user: \"66\") { __typename } }";
    app.ask(&ann, block, json!({})).await;
    let left = replies(&app, &ann, "first: 9").await;
    assert_eq!(texts(&left), ["stays"]);
    assert_eq!(left["unreadCount"], 1);
    // Whoever moderates wants no answers of people they block either, nor of hidden ones.
    let as_moderator = replies(&app, &Who::moderator(1), "first: 9").await;
    assert_eq!(texts(&as_moderator), ["stays"]);
    assert_eq!(as_moderator["unreadCount"], 1);
    app.moderate(&moderator, "restoreComment", &hidden).await;
    let back = replies(&app, &ann, "first: 9").await;
    assert_eq!(texts(&back), ["stays", "hidden"]);
    // What lies below something hidden is out of sight as well, however it is counted.
    app.moderate(&moderator, "hideComment", &root).await;
    let none = replies(&app, &ann, "first: 9").await;
    assert_eq!((texts(&none).len(), &none["unreadCount"]), (0, &json!(0)));
}

#[tokio::test]
async fn a_waiting_reply_is_told_when_it_is_approved() {
    let app = TestApp::new().await;
    let (ann, bob, moderator) = (Who::user(1), Who::user(2), Who::moderator(9));
    let open = "mutation { openDiscussion(input: {entity: {type: \"post\", id: \"p\"}, \
        premoderated: true}) { id } }";
    app.ask(&moderator, open, json!({})).await;
    let root = app.post(&ann, "p", None, "root").await;
    app.moderate(&moderator, "approveComment", &root).await;
    let waits = app.post(&bob, "p", Some(&root), "waits").await;
    let quick = app.post(&moderator, "p", Some(&root), "quick").await;
    assert_eq!(mark_read(&app, &ann, &quick).await, 0);
    app.moderate(&moderator, "approveComment", &waits).await;
    let told = replies(&app, &ann, "first: 5").await;
    assert_eq!(texts(&told), ["waits", "quick"]);
    assert_eq!(told["unreadCount"], 1, "it is older and not read yet");
    assert_eq!(mark_read(&app, &ann, &waits).await, 0);
}

#[tokio::test]
async fn case_23_a_retried_post_gives_one_reply_on_two_instances() {
    let app = TestApp::new().await;
    let sibling = app.sibling().await;
    let (ann, bob) = (Who::user(1), Who::user(2));
    let root = app.post(&ann, "p", None, "root").await;
    let input = json!({"input": {"entity": {"type": "post", "id": "p"}, "parent": root,
        "body": "once", "key": "k-1"}});
    let posts = (0..5).map(|index| {
        let gateway = if index % 2 == 0 { &app.app } else { &sibling };
        answer_of(gateway, &bob, CREATE, input.clone())
    });
    let answers = futures_util::future::join_all(posts).await;
    let ids: std::collections::HashSet<String> = answers
        .iter()
        .map(|(_, answer)| answer["data"]["createComment"]["comment"]["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 1, "{answers:?}");
    let told = replies(&app, &ann, "first: 5").await;
    assert_eq!(texts(&told), ["once"]);
    assert_eq!(told["unreadCount"], 1);
}

async fn seen(app: &TestApp, who: &Who, name: &str) -> Value {
    let query = "query($id: String!) { discussion(entity: {type: \"post\", id: $id}) \
        { viewerSeenAt newComments { count atLeast } } }";
    app.ask(who, query, json!({"id": name})).await["discussion"].clone()
}

async fn mark_seen(app: &TestApp, who: &Who, name: &str, up_to: &str) -> Value {
    let query = "mutation($d: ID!, $c: ID!) { markDiscussionSeen(discussion: $d, upTo: $c) \
        { viewerSeenAt newComments { count atLeast } } }";
    let discussion = app.discussion_id(name).await;
    let variables = json!({"d": discussion, "c": up_to});
    app.ask(who, query, variables).await["markDiscussionSeen"].clone()
}

#[tokio::test]
async fn what_is_new_in_a_discussion_is_what_others_wrote_and_the_viewer_may_see() {
    let app = TestApp::new().await;
    let (ann, bob, moderator) = (Who::user(1), Who::user(2), Who::moderator(9));
    let first = app.post(&bob, "p", None, "first").await;
    let never = json!({"viewerSeenAt": null, "newComments": null});
    assert_eq!(seen(&app, &ann, "p").await, never);
    assert_eq!(seen(&app, &Who::anonymous(), "p").await, never);
    let marked = mark_seen(&app, &ann, "p", &first).await;
    assert_eq!(marked["newComments"], json!({"count": 0, "atLeast": false}));
    assert!(marked["viewerSeenAt"].is_string());
    let second = app.post(&bob, "p", None, "second").await;
    app.post(&ann, "p", None, "my own").await;
    app.post(&Who::user(66), "p", None, "of a blocked one")
        .await;
    let hidden = app.post(&bob, "p", None, "hidden").await;
    let deleted = app.post(&bob, "p", None, "deleted").await;
    let below = app.post(&bob, "p", Some(&hidden), "below").await;
    assert_eq!(seen(&app, &ann, "p").await["newComments"]["count"], 5);
    app.moderate(&moderator, "hideComment", &hidden).await;
    app.delete(&bob, &deleted, None).await;
    let block = "mutation { blockUser(user: \"66\") { __typename } }";
    app.ask(&ann, block, json!({})).await;
    assert_eq!(seen(&app, &ann, "p").await["newComments"]["count"], 1);
    mark_seen(&app, &ann, "p", &second).await;
    assert_eq!(seen(&app, &ann, "p").await["newComments"]["count"], 0);
    // Backwards is nowhere.
    let back = mark_seen(&app, &ann, "p", &first).await;
    assert_eq!(back["newComments"]["count"], 0);
    app.moderate(&moderator, "restoreComment", &hidden).await;
    assert_eq!(seen(&app, &ann, "p").await["newComments"]["count"], 2);
    mark_seen(&app, &ann, "p", &below).await;
    assert_eq!(seen(&app, &ann, "p").await["newComments"]["count"], 0);
    // A comment of another discussion marks nothing.
    let elsewhere = app.post(&bob, "q", None, "elsewhere").await;
    let query =
        "mutation($d: ID!, $c: ID!) { markDiscussionSeen(discussion: $d, upTo: $c) { id } }";
    let variables = json!({"d": app.discussion_id("p").await, "c": elsewhere});
    let (_, answer) = app.answer(&ann, query, variables).await;
    assert_eq!(answer["errors"][0]["extensions"]["field"], "upTo");
}

#[tokio::test]
async fn counts_are_exact_to_a_thousand_and_cost_a_bounded_number_of_statements() {
    let app = TestApp::new().await;
    let (ann, bob) = (Who::user(1), Who::user(2));
    let root = app.post(&ann, "p", None, "root").await;
    mark_seen(&app, &ann, "p", &root).await;
    let (discussion, parent) = decode_comment(&root).unwrap();
    let ports = app.app.service().ports();
    let post = |count: usize| {
        let creates = (0..count).map(|_| {
            let new = threadline::store::comments::NewComment {
                id: threadline::domain::ids::CommentId::new(
                    ports.ids.mint_reply(parent.get()).unwrap(),
                ),
                discussion_id: discussion,
                author_id: UserId::new(2),
                body: "x".to_owned(),
                format: threadline::domain::body::BodyFormat::Plain,
                parent_id: Some(parent),
                state: threadline::domain::comment::CommentState::Published,
                index: true,
                claim: None,
                comments_max: 1_000_000,
            };
            ports.comments.create(new)
        });
        futures_util::future::join_all(creates)
    };
    app.post(&bob, "p", Some(&root), "x").await;
    post(998).await;
    let before = app.app.statements();
    let new = seen(&app, &ann, "p").await["newComments"].clone();
    assert_eq!(new, json!({"count": 999, "atLeast": false}));
    let unread = replies(&app, &ann, "first: 1").await["unreadCount"].clone();
    assert_eq!(unread, 999);
    post(1).await;
    let new = seen(&app, &ann, "p").await["newComments"].clone();
    assert_eq!(new, json!({"count": 1_000, "atLeast": false}));
    post(1).await;
    let new = seen(&app, &ann, "p").await["newComments"].clone();
    assert_eq!(new, json!({"count": 1_000, "atLeast": true}));
    assert_eq!(replies(&app, &ann, "first: 1").await["unreadCount"], 1_000);
    let spent = app.app.statements() - before;
    assert!(spent <= 60, "{spent} statements");
}
