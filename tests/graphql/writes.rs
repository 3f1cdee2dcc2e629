//! Writing: retries, stale edits, deletions, moderation, and what everybody reads afterwards.

use std::time::Duration;

use serde_json::json;

use crate::support::{CREATE, TestApp, Who, answer_of};

#[tokio::test]
async fn case_23_a_key_gives_one_comment_from_two_instances_at_once() {
    let app = TestApp::new().await;
    app.post(&Who::user(1), "p", None, "first").await;
    let sibling = app.sibling().await;
    let input = json!({"input": {
        "entity": {"type": "post", "id": "p"}, "body": "hello", "key": "k-1"}});
    let who = Who::user(7);
    let (here, there) = (&app.app, &sibling);
    let posts = [here, there, here, there, here]
        .map(|instance| answer_of(instance, &who, CREATE, input.clone()));
    let written: Vec<_> = futures_util::future::join_all(posts)
        .await
        .into_iter()
        .map(|(_, answer)| answer["data"]["createComment"].clone())
        .collect();
    assert!(
        written
            .iter()
            .all(|one| one["comment"]["id"] == written[0]["comment"]["id"]),
        "{written:#?}"
    );
    assert_eq!(
        written
            .iter()
            .filter(|one| one["replayed"] == false)
            .count(),
        1
    );
    assert_eq!(app.counts("p").await[0], 2);
    // Another text under the key is an error, another person's key is their own.
    let other = app
        .try_post(&who, "p", None, "something else", Some("k-1"))
        .await;
    assert_eq!(other["reason"], "KEY_REUSED");
    let theirs = app
        .try_post(&Who::user(8), "p", None, "hello", Some("k-1"))
        .await;
    assert_eq!(theirs["replayed"], false);
    // After a day the key is free.
    app.advance(Duration::from_hours(25)).await;
    let later = app
        .try_post(&who, "p", None, "something else", Some("k-1"))
        .await;
    assert_eq!(later["replayed"], false);
    assert_eq!(app.counts("p").await[0], 4);
    sibling.shutdown().await;
}

#[tokio::test]
async fn a_second_instance_reads_what_the_first_one_wrote() {
    let app = TestApp::new().await;
    app.post(&Who::user(1), "p", None, "one").await;
    let sibling = app.sibling().await;
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(mode: LINEAR) { edges { node { body { text } } } } } }";
    let texts = |answer: &serde_json::Value| {
        answer["data"]["discussion"]["comments"]["edges"]
            .as_array()
            .unwrap()
            .len()
    };
    let (_, before) = answer_of(&sibling, &Who::anonymous(), query, json!({})).await;
    assert_eq!(texts(&before), 1);
    let written = app.try_post(&Who::user(1), "p", None, "two", None).await;
    let who = Who::anonymous().having_read(written["readAfter"].as_str().unwrap());
    let (_, after) = answer_of(&sibling, &who, query, json!({})).await;
    assert_eq!(texts(&after), 2, "the token makes the other instance look");
    sibling.shutdown().await;
}

#[tokio::test]
async fn case_21_nothing_brings_a_deleted_comment_back() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let id = app.post(&who, "p", None, "text").await;
    assert_eq!(
        app.edit(&who, &id, 1, "edited").await["comment"]["revision"],
        2
    );
    assert_eq!(
        app.edit(&who, &id, 1, "edited").await["comment"]["revision"],
        2,
        "the same edit again"
    );
    let stale = app.edit(&who, &id, 1, "other").await;
    assert_eq!(
        (&stale["reason"], &stale["comment"]["body"]["text"]),
        (&json!("STALE"), &json!("edited"))
    );
    let stale = app.delete(&who, &id, Some(1)).await;
    assert_eq!(
        (&stale["reason"], &stale["comment"]["revision"]),
        (&json!("STALE"), &json!(2))
    );
    app.delete(&who, &id, Some(2)).await;
    assert_eq!(
        app.edit(&who, &id, 2, "back").await["reason"],
        "COMMENT_NOT_FOUND",
        "nobody but moderators knows that it was there"
    );
    assert_eq!(
        app.moderate(&Who::moderator(9), "restoreComment", &id)
            .await["reason"],
        "ALREADY_DELETED"
    );
    assert_eq!(
        app.delete(&who, &id, Some(2)).await["reason"],
        "COMMENT_NOT_FOUND"
    );
}

#[tokio::test]
async fn case_21_of_fifty_edits_racing_a_delete_every_one_ends_deleted() {
    let app = TestApp::new().await;
    let who = Who::user(1);
    let mut ids = Vec::new();
    for at in 0..50 {
        ids.push(app.post(&who, "p", None, &format!("c{at}")).await);
    }
    let moderator = Who::moderator(9);
    for id in &ids {
        let (edited, deleted) = tokio::join!(
            app.edit(&who, id, 1, "edited"),
            app.delete(&moderator, id, None)
        );
        assert_eq!(deleted["__typename"], "CommentWritten");
        assert!(edited["comment"].is_object() || edited["reason"] == "COMMENT_NOT_FOUND");
    }
    assert_eq!(
        app.page(&Who::anonymous(), "p", "mode: LINEAR")
            .await
            .ids
            .len(),
        0
    );
    assert_eq!(app.counts("p").await, [50, 0, 0, 0, 0]);
}

#[tokio::test]
async fn case_12_repeating_a_delete_or_a_hide_moves_no_count() {
    let app = TestApp::new().await;
    let (who, moderator) = (Who::user(1), Who::moderator(9));
    let id = app.post(&who, "p", None, "one").await;
    for _ in 0..3 {
        app.moderate(&moderator, "hideComment", &id).await;
        assert_eq!(app.counts("p").await[1], 0);
    }
    for _ in 0..3 {
        app.moderate(&moderator, "restoreComment", &id).await;
        assert_eq!(app.counts("p").await[1], 1);
    }
    let deletes = (0..20).map(|_| app.delete(&moderator, &id, None));
    let done = futures_util::future::join_all(deletes).await;
    assert_eq!(
        done.iter()
            .filter(|one| one["__typename"] == "CommentWritten")
            .count(),
        1
    );
    assert_eq!(app.counts("p").await, [1, 0, 0, 0, 0]);
}

#[tokio::test]
async fn case_11_replies_under_a_hidden_root_are_published_but_not_visible() {
    let app = TestApp::new().await;
    let moderator = Who::moderator(9);
    let root = app.post(&Who::user(1), "p", None, "R").await;
    let middle = app.post(&Who::user(1), "p", Some(&root), "M").await;
    for at in 0..9 {
        app.post(&Who::user(2), "p", Some(&middle), &format!("{at}"))
            .await;
    }
    app.moderate(&moderator, "hideComment", &root).await;
    assert_eq!(app.counts("p").await, [11, 10, 0, 0, 0]);
    assert!(
        app.page(&Who::anonymous(), "p", "mode: LINEAR")
            .await
            .ids
            .is_empty()
    );
    app.moderate(&moderator, "hideComment", &middle).await;
    app.moderate(&moderator, "restoreComment", &middle).await;
    assert_eq!(
        app.counts("p").await,
        [11, 10, 0, 0, 0],
        "the root above is hidden still"
    );
    app.moderate(&moderator, "restoreComment", &root).await;
    assert_eq!(app.counts("p").await, [11, 11, 11, 1, 10]);
    app.moderate(&moderator, "hideComment", &root).await;
    assert_eq!(
        app.try_post(&Who::user(3), "p", Some(&middle), "late", None)
            .await["reason"],
        "PARENT_GONE"
    );
}

#[tokio::test]
async fn case_14_a_waiting_comment_is_its_authors_and_the_moderators_until_it_is_let_through() {
    let app = TestApp::new().await;
    let moderator = Who::moderator(9);
    let open = "mutation { openDiscussion(input: {entity: {type: \"post\", id: \"p\"}, title: \"T\", premoderated: true}) { id title } }";
    assert_eq!(
        app.ask(&moderator, open, json!({})).await["openDiscussion"]["title"],
        "T"
    );
    let written = app.try_post(&Who::user(1), "p", None, "waits", None).await;
    assert_eq!(written["comment"]["state"], "PENDING");
    let id = written["comment"]["id"].as_str().unwrap();
    assert_eq!(app.counts("p").await, [1, 0, 0, 0, 0]);
    let query = "query($id: ID!) { comment(id: $id) { state } }";
    let seen = |who: Who| {
        let app = &app;
        async move { app.ask(&who, query, json!({"id": id})).await["comment"].clone() }
    };
    assert_eq!(seen(Who::user(2)).await, json!(null));
    assert_eq!(seen(Who::user(1)).await["state"], "PENDING");
    let other = Who::moderator(10);
    let (first, second) = tokio::join!(
        app.moderate(&moderator, "approveComment", id),
        app.moderate(&other, "approveComment", id)
    );
    assert_eq!(
        (&first["comment"]["state"], &second["comment"]["state"]),
        (&json!("PUBLISHED"), &json!("PUBLISHED"))
    );
    assert_eq!(app.counts("p").await, [1, 1, 1, 1, 0]);
    // A new text waits again, with everything below it; what was not seen is not approved.
    app.try_post(&moderator, "p", Some(id), "answer", None)
        .await;
    let edited = app.edit(&Who::user(1), id, 2, "another text").await;
    assert_eq!(edited["comment"]["revision"], 3);
    assert_eq!(seen(Who::user(2)).await, json!(null));
    assert_eq!(app.counts("p").await, [2, 1, 0, 0, 0]);
    let approve = "mutation($i: ModerateCommentInput!) { approveComment(input: $i) { \
        ... on CommentWritten { comment { state } } ... on CommentRefused { reason } } }";
    let stale = json!({"i": {"comment": id, "expectedRevision": 2}});
    let done = app.ask(&moderator, approve, stale).await;
    assert_eq!(done["approveComment"]["reason"], "STALE");
    app.moderate(&moderator, "approveComment", id).await;
    assert_eq!(app.counts("p").await, [2, 2, 2, 1, 1]);
    // A moderator's own words do not wait.
    let own = app.try_post(&moderator, "p", None, "rules", None).await;
    assert_eq!(own["comment"]["state"], "PUBLISHED");
}

#[tokio::test]
async fn who_may_do_what_is_told_clearly() {
    let app = TestApp::new().await;
    let id = app.post(&Who::user(1), "p", None, "mine").await;
    assert_eq!(
        app.edit(&Who::user(2), &id, 1, "theirs").await["reason"],
        "NOT_YOURS"
    );
    assert_eq!(
        app.delete(&Who::user(2), &id, Some(1)).await["reason"],
        "NOT_YOURS"
    );
    let hide = "mutation($i: ModerateCommentInput!) { hideComment(input: $i) { __typename } }";
    let code = |who: Who| {
        let (app, id) = (&app, &id);
        async move {
            let (_, answer) = app.answer(&who, hide, json!({"i": {"comment": id}})).await;
            answer["errors"][0]["extensions"]["code"].clone()
        }
    };
    assert_eq!(code(Who::anonymous()).await, "UNAUTHENTICATED");
    assert_eq!(code(Who::user(1)).await, "FORBIDDEN");
    let close = "mutation($d: ID!) { setDiscussionState(discussion: $d, state: CLOSED) { state } }";
    let discussion = app.discussion_id("p").await;
    let data = app
        .ask(&Who::moderator(9), close, json!({"d": discussion}))
        .await;
    assert_eq!(data["setDiscussionState"]["state"], "CLOSED");
    assert_eq!(
        app.try_post(&Who::user(1), "p", None, "late", None).await["reason"],
        "DISCUSSION_CLOSED"
    );
}

#[tokio::test]
async fn a_full_discussion_says_so() {
    let app = TestApp::with(&[("COMMENTS__COMMENTS_PER_DISCUSSION_MAX", "2")]).await;
    app.post(&Who::user(1), "p", None, "1").await;
    app.post(&Who::user(1), "p", None, "2").await;
    let refused = app.try_post(&Who::user(1), "p", None, "3", None).await;
    assert_eq!(
        (&refused["reason"], &refused["limit"]),
        (&json!("DISCUSSION_FULL"), &json!(2))
    );
}

#[tokio::test]
async fn my_comments_come_newest_first_across_discussions() {
    let app = TestApp::new().await;
    let who = Who::user(42);
    for at in 0..5 {
        app.advance(Duration::from_millis(5)).await;
        app.post(&who, &format!("p{}", at % 2), None, &format!("c{at}"))
            .await;
        app.post(&Who::user(1), "p0", None, "noise").await;
    }
    let query = "query($after: String) { user(id: \"42\") { comments(first: 2, after: $after) { \
        pageInfo { hasNextPage endCursor } edges { node { body { text } discussion { entity { id } } } } } } }";
    let (mut texts, mut after) = (Vec::new(), json!(null));
    loop {
        let data = app
            .ask(&Who::anonymous(), query, json!({"after": after}))
            .await;
        let list = &data["user"]["comments"];
        for edge in list["edges"].as_array().unwrap() {
            texts.push(edge["node"]["body"]["text"].as_str().unwrap().to_owned());
        }
        after = list["pageInfo"]["endCursor"].clone();
        if list["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(texts, ["c4", "c3", "c2", "c1", "c0"]);
}

#[tokio::test]
async fn a_written_comments_discussion_counts_it() {
    let app = TestApp::new().await;
    let query = CREATE.replace(
        "readAfter",
        "readAfter comment { discussion { counts { total } } }",
    );
    for total in 1..=3 {
        let input = json!({"entity": {"type": "post", "id": "p"}, "body": format!("text {total}")});
        let data = app
            .ask(&Who::user(1), &query, json!({"input": input}))
            .await;
        let counts = &data["createComment"]["comment"]["discussion"]["counts"];
        assert_eq!(counts["total"], total, "{data:#}");
    }
}
