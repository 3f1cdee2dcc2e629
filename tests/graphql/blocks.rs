//! Blocks between people: a blocked author's comment is a placeholder for the blocker on every path,
//! and nothing else changes for anybody.

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

const BLOCK: &str = "mutation($u: ID!) { blockUser(user: $u) { __typename \
    ... on UserChanged { user { id viewerBlocks } } ... on UserRefused { reason limit message } } }";
const UNBLOCK: &str = "mutation($u: ID!) { unblockUser(user: $u) { __typename \
    ... on UserChanged { user { viewerBlocks } } } }";

/// What may be read of a comment.
const DEEP: &str = "fragment Deep on Comment \
    { id state editedAt body { text html source } author { id name } }";

/// Every path of the schema to a comment, by a name that a failure tells. `$id` is a root of the
/// blocked author, `$reply` their reply below another root, `$child` an answer to `$id` by somebody
/// else and `$below` one to `$reply`. `Viewer.replies` lists nothing of blocked people: see
/// `replies`.
const PATHS: [(&str, &str); 14] = [
    ("Query.comment", "comment(id: $id) { ...Deep }"),
    ("Query.node", "node(id: $id) { ... on Comment { ...Deep } }"),
    (
        "Query.nodes",
        "nodes(ids: [$id, $reply]) { ... on Comment { ...Deep } }",
    ),
    (
        "Comment.parent",
        "comment(id: $child) { id parent { ...Deep } }",
    ),
    (
        "Comment.root",
        "comment(id: $child) { id root { ...Deep } }",
    ),
    (
        "Comment.replies",
        "comment(id: $top) { id replies(first: 50) { edges { node { ...Deep } } } }",
    ),
    (
        "Discussion.comment",
        "discussion(id: $d) { comment(id: $reply) { ...Deep } }",
    ),
    (
        "Discussion.comments, linear",
        "discussion(id: $d) { comments(mode: LINEAR, first: 50) { edges { node { ...Deep } } } }",
    ),
    (
        "Discussion.comments, threaded",
        "discussion(id: $d) { comments(mode: THREADED, first: 50) { edges { node { ...Deep } \
         replies(first: 50) { edges { node { ...Deep parent { ...Deep } } } } } } }",
    ),
    (
        "CommentContext.focus",
        "discussion(id: $d) { context(comment: $id) { focus { ...Deep } } }",
    ),
    (
        "CommentContext.ancestors",
        "discussion(id: $d) { context(comment: $below) { ancestors { edges { node { ...Deep } } } } }",
    ),
    (
        "CommentContext.before and after",
        "discussion(id: $d) { context(comment: $top, siblings: 5) \
         { before { ...Deep } after { ...Deep } } }",
    ),
    (
        "Discussion.pinned",
        "discussion(id: $d) { pinned { ...Deep } }",
    ),
    (
        "User.comments",
        "user(id: \"66\") { comments(first: 50) { edges { node { ...Deep } } } }",
    ),
];

/// A discussion in which 66 wrote a root and a reply, and others answered both.
struct Scene {
    app: TestApp,
    ids: Value,
}

impl Scene {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let (ann, bad) = (Who::user(1), Who::user(66));
        let id = app.post(&bad, "p", None, "SECRET root").await;
        let child = app.post(&ann, "p", Some(&id), "an answer").await;
        let top = app.post(&ann, "p", None, "a root").await;
        let reply = app.post(&bad, "p", Some(&top), "SECRET reply").await;
        let below = app.post(&ann, "p", Some(&reply), "another answer").await;
        app.edit(&bad, &reply, 1, "SECRET reply, edited").await;
        let discussion = app.discussion_id("p").await;
        let pin = "mutation($i: PinCommentsInput!) { pinComments(input: $i) { __typename } }";
        let pins = json!({"i": {"discussion": discussion, "comments": [id, top]}});
        app.ask(&Who::moderator(9), pin, pins).await;
        let ids = json!({"id": id, "child": child, "top": top, "reply": reply, "below": below,
            "d": discussion});
        Self { app, ids }
    }

    async fn seen(&self, who: &Who, path: &str) -> Value {
        let variables = ["id", "child", "top", "reply", "below", "d"];
        // A document may not declare what it does not use.
        let mut declared = Vec::new();
        for name in variables {
            if path.contains(&format!("${name})"))
                || path.contains(&format!("${name},"))
                || path.contains(&format!("${name}]"))
            {
                declared.push(format!("${name}: ID!"));
            }
        }
        let head = if declared.is_empty() {
            String::new()
        } else {
            format!("({})", declared.join(", "))
        };
        let query = format!("query{head} {{ {path} }} {DEEP}");
        self.app.ask(who, &query, self.ids.clone()).await
    }

    async fn block(&self, who: &Who, user: i64) -> Value {
        let variables = json!({"u": user.to_string()});
        self.app.ask(who, BLOCK, variables).await["blockUser"].clone()
    }
}

/// Every placeholder in an answer, checked to be one.
fn placeholders(answer: &Value) -> usize {
    match answer {
        Value::Object(fields) => {
            let own = usize::from(fields.get("state") == Some(&json!("BLOCKED")));
            if own == 1 {
                for field in ["body", "author", "editedAt"] {
                    assert_eq!(fields[field], Value::Null, "{field}: {answer:#}");
                }
            }
            own + fields.values().map(placeholders).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(placeholders).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[tokio::test]
async fn every_path_shows_a_placeholder_to_the_blocker_and_the_text_to_others() {
    let scene = Scene::new().await;
    let (blocker, other) = (Who::user(7), Who::user(8));
    // Kept pages and sets of before the block must not survive it.
    for (name, path) in PATHS {
        let before = scene.seen(&blocker, path).await.to_string();
        assert!(before.contains("SECRET"), "{name}: {before}");
    }
    assert_eq!(
        scene.block(&blocker, 66).await["user"]["viewerBlocks"],
        true
    );
    for (name, path) in PATHS {
        let seen = scene.seen(&blocker, path).await;
        let text = seen.to_string();
        assert!(!text.contains("SECRET"), "{name}: {text}");
        if name == "User.comments" {
            assert_eq!(seen["user"]["comments"]["edges"], json!([]));
        } else {
            assert!(placeholders(&seen) > 0, "{name}: {text}");
        }
        for who in [other.clone(), Who::anonymous(), Who::user(66)] {
            let whole = scene.seen(&who, path).await;
            assert!(whole.to_string().contains("SECRET"), "{name} for {who:?}");
            assert_eq!(placeholders(&whole), 0, "{name} for {who:?}");
        }
    }
    scene.app.ask(&blocker, UNBLOCK, json!({"u": "66"})).await;
    for (name, path) in PATHS {
        let after = scene.seen(&blocker, path).await.to_string();
        assert!(after.contains("SECRET"), "{name}: {after}");
    }
}

#[tokio::test]
async fn replies_stay_and_counts_and_pages_are_everybodys() {
    let scene = Scene::new().await;
    let blocker = Who::user(7);
    let arguments = "mode: LINEAR, first: 3";
    let before = scene.app.page(&blocker, "p", arguments).await;
    let counts = scene.app.counts("p").await;
    scene.block(&blocker, 66).await;
    let after = scene.app.page(&blocker, "p", arguments).await;
    assert_eq!(after.ids, before.ids);
    assert_eq!((after.total, after.end), (before.total, before.end));
    assert_eq!(after.texts, ["(gone)", "an answer", "a root"]);
    assert_eq!(scene.app.counts("p").await, counts);
}

#[tokio::test]
async fn a_moderator_sees_through_their_own_blocks() {
    let scene = Scene::new().await;
    let moderator = Who::moderator(9);
    scene.block(&moderator, 66).await;
    for (name, path) in PATHS {
        let seen = scene.seen(&moderator, path).await;
        assert!(seen.to_string().contains("SECRET"), "{name}: {seen:#}");
    }
    // The same person without the role is a blocker like any other.
    let seen = scene.seen(&Who::user(9), PATHS[0].1).await;
    assert_eq!(placeholders(&seen), 1);
}

#[tokio::test]
async fn a_refusal_does_not_show_what_the_blocker_does_not_see() {
    let scene = Scene::new().await;
    let blocker = Who::user(7);
    scene.block(&blocker, 66).await;
    let id = scene.ids["id"].as_str().unwrap();
    for refused in [
        scene.app.edit(&blocker, id, 1, "mine now").await,
        scene.app.delete(&blocker, id, None).await,
    ] {
        assert_eq!(refused["reason"], "NOT_YOURS");
        assert!(!refused.to_string().contains("SECRET"), "{refused:#}");
    }
    // A block later in the same request is seen by what follows it.
    let query = "mutation($p: ID!, $d: ID!) { unblockUser(user: \"66\") { __typename } \
        one: createComment(input: {discussion: $d, parent: $p, body: \"x\"}) \
        { ... on CommentWritten { comment { parent { state body { text } } } } } \
        blockUser(user: \"66\") { __typename } \
        two: createComment(input: {discussion: $d, parent: $p, body: \"y\"}) \
        { ... on CommentWritten { comment { parent { state body { text } } } } } }";
    let variables = json!({"p": id, "d": scene.ids["d"]});
    let done = scene.app.ask(&blocker, query, variables).await;
    assert_eq!(done["one"]["comment"]["parent"]["state"], "PUBLISHED");
    assert_eq!(done["two"]["comment"]["parent"]["state"], "BLOCKED");
    assert_eq!(done["two"]["comment"]["parent"]["body"], Value::Null);
}

#[tokio::test]
async fn nobody_blocks_themselves_and_a_thousand_is_the_limit() {
    let app = TestApp::new().await;
    let who = Who::user(7);
    let block = |user: String| app.ask(&who, BLOCK, json!({"u": user}));
    let own = block("7".to_owned()).await;
    assert_eq!(own["blockUser"]["reason"], "YOURSELF");
    for user in 1_000..2_000 {
        app.app
            .service()
            .ports()
            .states
            .set(threadline::store::states::SetState {
                key: threadline::domain::states::StateKey::block(
                    threadline::domain::ids::UserId::new(7),
                    threadline::domain::ids::UserId::new(user),
                ),
                state: threadline::domain::states::BLOCKED,
                amount: 0,
                expected: threadline::store::states::Expected::Anything,
                entities_max: None,
            })
            .await
            .unwrap();
    }
    let full = block("5".to_owned()).await;
    assert_eq!(full["blockUser"]["reason"], "TOO_MANY_BLOCKED");
    assert_eq!(full["blockUser"]["limit"], 1_000);
    assert!(full.to_string().contains("1000"), "{full}");
    // Blocking somebody again is not one more.
    let again = block("1500".to_owned()).await;
    assert_eq!(again["blockUser"]["user"]["viewerBlocks"], true);
    let (_, answer) = app
        .answer(&Who::anonymous(), BLOCK, json!({"u": "5"}))
        .await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

#[tokio::test]
async fn the_list_of_blocked_people_pages_both_ways() {
    let app = TestApp::new().await;
    let who = Who::user(7);
    for user in 1..=5 {
        app.ask(&who, BLOCK, json!({"u": user.to_string()})).await;
        // Two of them at the same moment.
        if user != 3 {
            app.clock.advance(std::time::Duration::from_millis(5));
        }
    }
    // Theirs only: somebody else's block is not in it.
    app.ask(&Who::user(8), BLOCK, json!({"u": "9"})).await;
    let page = |arguments: String| {
        let (app, who) = (&app, &who);
        async move {
            let query = format!(
                "{{ viewer {{ blocked({arguments}) {{ edges {{ cursor node {{ id }} }} \
                pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
            );
            app.ask(who, &query, json!({})).await["viewer"]["blocked"].clone()
        }
    };
    let ids = |page: &Value| -> Vec<String> {
        let edges = page["edges"].as_array().unwrap().iter();
        edges
            .map(|edge| edge["node"]["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let whole = page("first: 10".to_owned()).await;
    assert_eq!(ids(&whole).len(), 5);
    let mut forward = Vec::new();
    let mut arguments = "first: 2".to_owned();
    loop {
        let found = page(arguments).await;
        forward.extend(ids(&found));
        if found["pageInfo"]["hasNextPage"] == false {
            break;
        }
        arguments = format!("first: 2, after: {}", found["pageInfo"]["endCursor"]);
    }
    assert_eq!(forward, ids(&whole));
    let mut backward = Vec::new();
    let mut arguments = "last: 2".to_owned();
    loop {
        let found = page(arguments).await;
        let mut part = ids(&found);
        part.extend(backward);
        backward = part;
        if found["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
        arguments = format!("last: 2, before: {}", found["pageInfo"]["startCursor"]);
    }
    assert_eq!(backward, ids(&whole));
    // A cursor is its owner's.
    let cursor = &whole["edges"][0]["cursor"];
    let query = format!("{{ viewer {{ blocked(after: {cursor}) {{ edges {{ cursor }} }} }} }}");
    let (_, answer) = app.answer(&Who::user(8), &query, json!({})).await;
    assert_eq!(answer["errors"][0]["extensions"]["field"], "after");
}

#[tokio::test]
async fn the_blocked_are_read_once_for_those_who_are_signed_in_and_read_comments() {
    let app = TestApp::with(&[("COMMENTS__PAGE_CACHE_BYTES", "0")]).await;
    app.post(&Who::user(1), "p", None, "one").await;
    let page = "{ discussion(entity: {type: \"post\", id: \"p\"}) { \
        a: comments(first: 5) { edges { node { id } } } \
        b: comments(first: 5, order: NEWEST) { edges { node { id parent { id } } } } } }";
    let cost = |who: Who, query: &'static str| {
        let app = &app;
        async move {
            let before = app.app.statements();
            app.ask(&who, query, json!({})).await;
            app.app.statements() - before
        }
    };
    // The first request of a viewer looks up their profile.
    cost(Who::user(7), "{ viewer { role } }").await;
    let anonymous = cost(Who::anonymous(), page).await;
    assert_eq!(cost(Who::user(7), page).await, anonymous + 1);
    // What is known of a viewer's blocks is kept for a while.
    assert_eq!(cost(Who::user(7), page).await, anonymous);
    let without_comments = "{ discussion(entity: {type: \"post\", id: \"p\"}) { id } }";
    let anonymous = cost(Who::anonymous(), without_comments).await;
    assert_eq!(cost(Who::user(1), without_comments).await, anonymous);
}
