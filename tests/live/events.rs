//! What each kind of reader is told of each kind of change.

use serde_json::{Value, json};

use crate::client::{As, MODERATOR, NOBODY, Socket};
use crate::common::{Place, Server};
use crate::sharing::metric;

const KNOWN: &str = "{ discussion(url: \"https://blog.example.com/hello\") { id liveCursor } }";
pub(crate) const CREATE: &str = "mutation($i: CreateCommentInput!) { createComment(input: $i) { \
    ... on CommentWritten { eventId comment { id revision state } } } }";

/// The id of a discussion of the made-up community.
pub(crate) async fn known(server: &Server) -> String {
    let data = server.graphql(None, KNOWN, json!({})).await;
    data["discussion"]["id"].as_str().unwrap().to_owned()
}

/// Where a reader is who reads now.
pub(crate) async fn cursor(server: &Server) -> String {
    let query = "{ discussion(url: \"https://blog.example.com/hello\") { liveCursor } }";
    let data = server.graphql(None, query, json!({})).await;
    data["discussion"]["liveCursor"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Writes as user 7; returns the payload.
pub(crate) async fn post(
    server: &Server,
    discussion: &str,
    parent: Option<&str>,
    body: &str,
) -> Value {
    let input = json!({"discussion": discussion, "parent": parent, "body": body});
    let data = server.graphql(Some("7"), CREATE, json!({"i": input})).await;
    data["createComment"].clone()
}

pub(crate) fn id_of(written: &Value) -> &str {
    written["comment"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{written:#}"))
}

/// Acts as a moderator over HTTP.
async fn moderate(server: &Server, mutation: &str) -> Value {
    let url = format!("{}/graphql", server.base());
    let asked = server.client().post(url);
    let asked = asked
        .header("x-dev-user", "900")
        .header("x-dev-roles", "moderator")
        .json(&json!({"query": format!("mutation {{ {mutation} }}")}));
    let answer: Value = asked.send().await.unwrap().json().await.unwrap();
    assert!(answer.get("errors").is_none(), "{answer:#}");
    answer["data"].clone()
}

async fn act(server: &Server, act: &str, id: &str) {
    let mutation = format!("{act}(input: {{comment: \"{id}\"}}) {{ __typename }}");
    let data = moderate(server, &mutation).await;
    assert_eq!(data[act]["__typename"], "CommentWritten");
}

fn shown(event: &Value) -> (&str, &str) {
    let text = event["comment"]["body"]["text"].as_str();
    (event["kind"].as_str().unwrap(), text.unwrap_or("-"))
}

#[tokio::test]
async fn readers_are_told_what_they_may_know_and_moderators_the_rest() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let author = As {
        user: Some("7"),
        roles: None,
    };
    let mut anybody = Socket::connect(&server, NOBODY).await;
    let mut writer = Socket::connect(&server, author).await;
    let mut moderator = Socket::connect(&server, MODERATOR).await;
    for socket in [&mut anybody, &mut writer, &mut moderator] {
        socket.follows(&server, &discussion).await;
    }
    let root = post(&server, &discussion, None, "a root").await;
    let reply = post(&server, &discussion, Some(id_of(&root)), "a reply").await;
    for socket in [&mut anybody, &mut writer, &mut moderator] {
        let created = socket.event().await;
        assert_eq!(shown(&created), ("CREATED", "a root"));
        // The writer has applied it under the same id already.
        assert_eq!(created["id"], root["eventId"]);
        assert_eq!(created["commentId"], root["comment"]["id"]);
        // Many share it, so nothing in it is about one of them.
        assert_eq!(created["comment"]["viewerCan"], Value::Null);
        let answered = socket.event().await;
        assert_eq!(shown(&answered), ("CREATED", "a reply"));
        assert_eq!(answered["comment"]["parent"]["body"]["text"], "a root");
    }
    // An event shows things as they are when it is told, so each is heard before the next act.
    for (kind, to_anybody, to_moderators) in [
        ("EDITED", "a better reply", "a better reply"),
        ("hideComment", "-", "a root"),
        ("restoreComment", "a root", "a root"),
        ("deleteComment", "-", "-"),
    ] {
        let told = if kind == "EDITED" {
            let edit = json!({"comment": id_of(&reply), "expectedRevision": 1, "body": to_anybody});
            let query = "mutation($i: EditCommentInput!) { editComment(input: $i) { __typename } }";
            server.graphql(Some("7"), query, json!({"i": edit})).await;
            kind
        } else {
            act(&server, kind, id_of(&root)).await;
            "STATE_CHANGED"
        };
        for socket in [&mut anybody, &mut writer] {
            assert_eq!(shown(&socket.event().await), (told, to_anybody));
        }
        assert_eq!(shown(&moderator.event().await), (told, to_moderators));
    }
    for socket in [&mut anybody, &mut writer, &mut moderator] {
        assert!(socket.is_quiet().await);
    }
}

#[tokio::test]
async fn a_hidden_comment_is_told_as_gone_and_counts_come_along() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let mut reader = Socket::connect(&server, NOBODY).await;
    reader.follows(&server, &discussion).await;
    let written = post(&server, &discussion, None, "SECRET").await;
    let created = reader.event().await;
    let visible = |event: &Value| event["discussion"]["counts"]["visible"].as_i64().unwrap();
    act(&server, "hideComment", id_of(&written)).await;
    let hidden = reader.event().await;
    assert_eq!(hidden["commentId"], written["comment"]["id"]);
    assert_eq!(hidden["comment"], Value::Null);
    assert_eq!(visible(&hidden), visible(&created) - 1);
    act(&server, "deleteComment", id_of(&written)).await;
    let deleted = reader.event().await;
    assert_eq!(deleted["comment"], Value::Null, "a leaf leaves nothing");
}

#[tokio::test]
async fn who_blocks_an_author_gets_placeholders_and_everybody_else_the_shared_event() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    post(&server, &discussion, None, "user 7 was here").await;
    let block = "mutation { blockUser(user: \"7\") { __typename } }";
    let mut blocking = Vec::new();
    for user in ["21", "22"] {
        server.graphql(Some(user), block, json!({})).await;
        let who = As {
            user: Some(user),
            roles: None,
        };
        let mut socket = Socket::connect(&server, who).await;
        socket.follows(&server, &discussion).await;
        blocking.push(socket);
    }
    let mut anybody = Socket::connect(&server, NOBODY).await;
    anybody.follows(&server, &discussion).await;
    let executions = metric(&server, "threadline_live_executions_total ").await;
    let written = post(&server, &discussion, None, "SECRET").await;
    let reply = json!({"discussion": discussion, "parent": id_of(&written), "body": "a reply"});
    server.graphql(Some("8"), CREATE, json!({"i": reply})).await;
    let open = [anybody.event().await, anybody.event().await];
    assert_eq!(shown(&open[0]), ("CREATED", "SECRET"));
    assert_eq!(open[1]["comment"]["parent"]["body"]["text"], "SECRET");
    for socket in &mut blocking {
        let own = [socket.event().await, socket.event().await];
        assert!(!json!(own).to_string().contains("SECRET"), "{own:#?}");
        assert_eq!(own[0]["comment"]["state"], "BLOCKED");
        // Somebody else's reply to it is read as ever.
        assert_eq!(shown(&own[1]), ("CREATED", "a reply"));
        assert_eq!(own[1]["comment"]["parent"]["body"], Value::Null);
    }
    // Two events, each once for everybody and once for all who block the same person.
    let executed = metric(&server, "threadline_live_executions_total ").await - executions;
    assert_eq!(executed, 4);
    // What was missed is told to a blocker in the same way; a block that ended counts no more.
    let last = open[0]["id"].as_str();
    for socket in &mut blocking {
        socket.send(json!({"type": "complete", "id": "1"})).await;
        socket.follow(&discussion, last).await;
        let mut told = socket.event().await;
        while told["comment"]["body"]["text"] != "a reply" {
            assert_eq!(told["comment"]["state"], "BLOCKED");
            told = socket.event().await;
        }
        assert_eq!(told["comment"]["parent"]["body"], Value::Null);
    }
    let unblock = block.replace("blockUser", "unblockUser");
    server.graphql(Some("21"), &unblock, json!({})).await;
    post(&server, &discussion, None, "SECRET again").await;
    assert_eq!(shown(&blocking[0].event().await).1, "SECRET again");
    assert_eq!(blocking[1].event().await["comment"]["state"], "BLOCKED");
}

#[tokio::test]
async fn what_waits_for_a_moderator_is_told_to_moderators_until_it_is_approved() {
    let place = Place::new();
    let server = place.serve(&[]).await;
    let opened = moderate(
        &server,
        "openDiscussion(input: {url: \"https://a.example/\", premoderated: true}) { id }",
    )
    .await;
    let discussion = opened["openDiscussion"]["id"].as_str().unwrap();
    let mut reader = Socket::connect(&server, NOBODY).await;
    let mut moderator = Socket::connect(&server, MODERATOR).await;
    for socket in [&mut reader, &mut moderator] {
        socket.follows(&server, discussion).await;
    }
    let waiting = post(&server, discussion, None, "waits").await;
    assert_eq!(waiting["comment"]["state"], "PENDING");
    assert_eq!(shown(&moderator.event().await), ("CREATED", "waits"));
    assert!(reader.is_quiet().await);
    act(&server, "approveComment", id_of(&waiting)).await;
    for socket in [&mut reader, &mut moderator] {
        assert_eq!(shown(&socket.event().await), ("STATE_CHANGED", "waits"));
    }
}

/// Case 12: one event a real change, whoever asked for it how often.
#[tokio::test]
async fn the_same_delete_twenty_times_is_one_event() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let written = post(&server, &discussion, None, "deleted by many").await;
    let mut reader = Socket::connect(&server, NOBODY).await;
    reader.follows(&server, &discussion).await;
    let delete = format!(
        "mutation {{ deleteComment(input: {{comment: \"{}\"}}) {{ __typename }} }}",
        id_of(&written)
    );
    let all = (0..20).map(|_| server.graphql(Some("7"), &delete, json!({})));
    futures_util::future::join_all(all).await;
    post(&server, &discussion, None, "after it").await;
    let gone = reader.event().await;
    assert_eq!(shown(&gone), ("STATE_CHANGED", "-"));
    assert_eq!(gone["commentId"], written["comment"]["id"]);
    assert_eq!(shown(&reader.event().await), ("CREATED", "after it"));
}
