//! Case 19: what was taken away is found on no path by people who may not see it.

use serde_json::json;

use crate::support::{TestApp, Who};

/// Every path of the schema to a comment's text.
const EVERYWHERE: &str = "query($id: ID!, $child: ID!, $ids: [ID!]!, $d: ID!) { \
    node(id: $id) { ... on Comment { ...Deep } } nodes(ids: $ids) { ... on Comment { ...Deep } } \
    comment(id: $id) { ...Deep } child: comment(id: $child) { ...Deep parent { ...Deep } root { ...Deep } } \
    user(id: \"1\") { comments { edges { node { ...Deep } } } } \
    discussion(id: $d) { counts { total } comment(id: $id) { ...Deep } \
      linear: comments(mode: LINEAR, first: 100) { edges { node { ...Deep parent { ...Deep } root { ...Deep } } } } \
      threaded: comments(mode: THREADED, first: 100) { edges { node { ...Deep } \
        replies(first: 100) { edges { node { ...Deep parent { ...Deep } root { ...Deep } } } } } } \
      own: context(comment: $id) { focus { ...Deep } ancestors { edges { node { ...Deep } } } before { ...Deep } after { ...Deep } } \
      below: context(comment: $child) { focus { ...Deep } ancestors { edges { node { ...Deep } } } before { ...Deep } after { ...Deep } } } } \
    fragment Deep on Comment { id state body { text html source } author { id name } }";

async fn seen(app: &TestApp, who: &Who, id: &str, child: &str) -> String {
    let discussion = app.discussion_id("p").await;
    let variables = json!({"id": id, "child": child, "ids": [id, child], "d": discussion});
    let (_, answer) = app.answer(who, EVERYWHERE, variables).await;
    assert!(answer.get("errors").is_none(), "{answer:#}");
    answer.to_string()
}

#[tokio::test]
async fn case_19_a_deleted_text_is_gone_for_everybody() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let before = app.post(&Who::user(2), "p", None, "before").await;
    let id = app.post(&author, "p", Some(&before), "SECRET-1").await;
    let child = app.post(&Who::user(2), "p", Some(&id), "child").await;
    assert_eq!(
        app.edit(&author, &id, 1, "SECRET-1 again").await["comment"]["revision"],
        2
    );
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("SECRET-1")
    );
    let gone = app.delete(&author, &id, Some(2)).await;
    assert!(!gone.to_string().contains("SECRET"));
    for who in [
        Who::anonymous(),
        Who::user(3),
        author.clone(),
        Who::moderator(9),
    ] {
        let all = seen(&app, &who, &id, &child).await;
        assert!(!all.contains("SECRET"), "{who:?}: {all}");
        assert!(
            all.contains("\"DELETED\""),
            "a tombstone stays over the child"
        );
    }
    let stale = app.edit(&author, &id, 2, "x").await;
    assert!(!stale.to_string().contains("SECRET"));
}

#[tokio::test]
async fn case_19_a_hidden_text_is_its_authors_and_the_moderators() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let id = app.post(&author, "p", None, "SECRET-2").await;
    let child = app.post(&Who::user(2), "p", Some(&id), "CHILD-2").await;
    // A cached page of before the hide must not survive it.
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("SECRET-2")
    );
    app.moderate(&Who::moderator(9), "hideComment", &id).await;
    for who in [Who::anonymous(), Who::user(3)] {
        let all = seen(&app, &who, &id, &child).await;
        assert!(
            !all.contains("SECRET-2") && !all.contains("CHILD-2"),
            "{who:?}: {all}"
        );
    }
    // Policy: the author reads their own by id and under their name; moderators read everything by id.
    let own = seen(&app, &author, &id, &child).await;
    assert!(own.contains("SECRET-2") && !own.contains("CHILD-2"));
    let all = seen(&app, &Who::moderator(9), &id, &child).await;
    assert!(all.contains("SECRET-2") && all.contains("CHILD-2"));
    app.moderate(&Who::moderator(9), "restoreComment", &id)
        .await;
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("CHILD-2")
    );
}
