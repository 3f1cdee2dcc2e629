//! Bans: who is banned writes nothing, and may do everything else.

use std::time::Duration;

use serde_json::{Value, json};
use threadline::store::users::BanFilter;

use crate::support::{NOW_MS, TestApp, Who};

const BAN: &str = "mutation($i: BanUserInput!) { banUser(input: $i) { __typename \
    ... on UserChanged { user { ban { until reason } } } ... on UserRefused { reason } } }";
const UNBAN: &str = "mutation($i: UnbanUserInput!) { unbanUser(input: $i) { __typename \
    ... on UserChanged { user { ban { reason } } } ... on UserRefused { reason } } }";

async fn ban_seen(app: &TestApp, who: &Who, user: i64) -> Value {
    let query = format!("{{ user(id: \"{user}\") {{ ban {{ until reason }} }} }}");
    app.ask(who, &query, json!({})).await["user"]["ban"].clone()
}

fn instant(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map(|at| format!("{at:.3}"))
        .unwrap()
}

#[tokio::test]
async fn a_banned_person_writes_nothing_and_does_everything_else() {
    let app = TestApp::new().await;
    let (member, moderator) = (Who::user(1), Who::moderator(9));
    let id = app.post(&member, "p", None, "before").await;
    let theirs = app.post(&Who::user(2), "p", None, "theirs").await;
    let ban = json!({"i": {"user": "1", "reason": "spam"}});
    let done = app.ask(&moderator, BAN, ban).await;
    let seen = &done["banUser"]["user"]["ban"];
    assert_eq!(seen, &json!({"until": null, "reason": "spam"}));
    for refused in [
        app.try_post(&member, "p", None, "after", None).await,
        app.try_post(&member, "p", Some(&id), "after", Some("k"))
            .await,
        app.edit(&member, &id, 1, "changed").await,
    ] {
        assert_eq!(refused["reason"], "BANNED");
        assert_eq!(refused["message"], "you are banned");
    }
    let report = "mutation($i: ReportCommentInput!) { reportComment(input: $i) \
        { ... on CommentRefused { reason } } }";
    let input = json!({"i": {"comment": theirs, "reason": "SPAM"}});
    let refused = app.ask(&member, report, input).await;
    assert_eq!(refused["reportComment"]["reason"], "BANNED");
    assert_eq!(app.page(&member, "p", "first: 1").await.texts, ["before"]);
    let block = "mutation { blockUser(user: \"2\") { __typename } }";
    let blocked = app.ask(&member, block, json!({})).await;
    assert_eq!(blocked["blockUser"]["__typename"], "UserChanged");
    let deleted = app.delete(&member, &id, None).await;
    assert_eq!(deleted["comment"]["state"], "DELETED");
    // Only the person and moderators know.
    assert_eq!(ban_seen(&app, &member, 1).await["reason"], "spam");
    assert_eq!(ban_seen(&app, &moderator, 1).await["reason"], "spam");
    for who in [Who::anonymous(), Who::user(2)] {
        assert_eq!(ban_seen(&app, &who, 1).await, Value::Null);
    }
    let lift = json!({"i": {"user": "1"}});
    let lifted = app.ask(&moderator, UNBAN, lift.clone()).await;
    assert_eq!(lifted["unbanUser"]["user"]["ban"], Value::Null);
    app.post(&member, "p", None, "after").await;
    // Lifting what does not hold is no entry.
    app.ask(&moderator, UNBAN, lift).await;
    let users = &app.app.service().ports().users;
    let all = threadline::domain::page::Slice {
        above: None,
        below: None,
        ascending: true,
        limit: 10,
    };
    assert_eq!(
        users.bans(BanFilter::default(), all).await.unwrap().len(),
        2
    );
}

#[tokio::test]
async fn a_ban_with_an_end_says_so_and_ends_by_the_clock() {
    let app = TestApp::new().await;
    let (member, moderator) = (Who::user(1), Who::moderator(9));
    app.post(&member, "p", None, "before").await;
    let until = instant(NOW_MS + 60_000);
    let ban = json!({"i": {"user": "1", "until": until}});
    app.ask(&moderator, BAN, ban).await;
    let refused = app.try_post(&member, "p", None, "x", None).await;
    assert_eq!(refused["message"], format!("you are banned until {until}"));
    assert_eq!(ban_seen(&app, &member, 1).await["until"], until);
    app.advance(Duration::from_mins(1)).await;
    app.post(&member, "p", None, "after").await;
    assert_eq!(ban_seen(&app, &member, 1).await, Value::Null);
}

#[tokio::test]
async fn only_moderators_ban_and_nobody_themselves() {
    let app = TestApp::new().await;
    let ban = |who: Who, input: Value| {
        let app = &app;
        async move { app.answer(&who, BAN, json!({"i": input})).await.1 }
    };
    let code = |answer: &Value| answer["errors"][0]["extensions"]["code"].clone();
    let answer = ban(Who::user(1), json!({"user": "2"})).await;
    assert_eq!(code(&answer), "FORBIDDEN");
    let answer = ban(Who::anonymous(), json!({"user": "2"})).await;
    assert_eq!(code(&answer), "UNAUTHENTICATED");
    let own = ban(Who::moderator(9), json!({"user": "9"})).await;
    assert_eq!(own["data"]["banUser"]["reason"], "YOURSELF");
    // A banned moderator does not lift their own ban.
    ban(Who::moderator(8), json!({"user": "9"})).await;
    let input = json!({"i": {"user": "9"}});
    let lift = app.ask(&Who::moderator(9), UNBAN, input).await;
    assert_eq!(lift["unbanUser"]["reason"], "YOURSELF");
    let past = json!({"user": "2", "until": instant(NOW_MS)});
    let answer = ban(Who::moderator(9), past).await;
    assert_eq!(answer["errors"][0]["extensions"]["field"], "until");
    let long = json!({"user": "2", "reason": "x".repeat(301)});
    let answer = ban(Who::moderator(9), long).await;
    assert_eq!(answer["errors"][0]["extensions"]["field"], "reason");
    let message = answer["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("300"), "{message}");
}

#[tokio::test]
async fn another_instance_knows_of_a_ban() {
    let app = TestApp::new().await;
    let sibling = app.sibling().await;
    let member = Who::user(1);
    app.post(&member, "p", None, "before").await;
    let query = "{ user(id: \"1\") { ban { reason } } }";
    let seen = crate::support::answer_of(&sibling, &member, query, json!({})).await;
    assert_eq!(seen.1["data"]["user"]["ban"], Value::Null);
    let ban = json!({"i": {"user": "1", "reason": "spam"}});
    app.ask(&Who::moderator(9), BAN, ban).await;
    // Within its watch period the sibling notices that somebody else wrote.
    for _ in 0..200 {
        let seen = crate::support::answer_of(&sibling, &member, query, json!({})).await;
        if seen.1["data"]["user"]["ban"]["reason"] == "spam" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the sibling never noticed the ban");
}

#[tokio::test]
async fn the_audit_log_tells_bans_between_the_other_acts_and_pages_over_both() {
    let app = TestApp::new().await;
    let moderator = Who::moderator(9);
    let id = app.post(&Who::user(1), "p", None, "text").await;
    app.moderate(&moderator, "hideComment", &id).await;
    let ban = json!({"i": {"user": "1", "reason": "spam"}});
    app.ask(&moderator, BAN, ban).await;
    app.moderate(&moderator, "restoreComment", &id).await;
    app.ask(&Who::moderator(8), UNBAN, json!({"i": {"user": "1"}}))
        .await;
    let query = "query($d: ID, $a: ID, $n: Int, $after: String) { auditLog(discussion: $d, \
        actor: $a, first: $n, after: $after) { pageInfo { hasNextPage endCursor } \
        edges { node { act detail user { id } discussion { id } } } } }";
    let acts = async |variables: Value| {
        let data = app.ask(&moderator, query, variables).await;
        let edges = data["auditLog"]["edges"].as_array().unwrap().clone();
        let acts = edges.iter().map(|edge| edge["node"]["act"].clone());
        let acts: Vec<Value> = acts.collect();
        (acts, data["auditLog"].clone())
    };
    let (all, log) = acts(json!({})).await;
    assert_eq!(all, ["UNBAN", "RESTORE", "BAN", "HIDE"]);
    let banned = &log["edges"][2]["node"];
    assert_eq!(
        (&banned["detail"], &banned["discussion"]),
        (&json!("spam"), &Value::Null)
    );
    assert_eq!(banned["user"], log["edges"][3]["node"]["user"]);
    let (first, page) = acts(json!({"n": 3})).await;
    assert_eq!(first, all[..3]);
    assert_eq!(page["pageInfo"]["hasNextPage"], true);
    let after = page["pageInfo"]["endCursor"].clone();
    assert_eq!(acts(json!({"n": 3, "after": after})).await.0, all[3..]);
    assert_eq!(acts(json!({"a": "8"})).await.0, ["UNBAN"]);
    let discussion = app.discussion_id("p").await;
    assert_eq!(acts(json!({"d": discussion})).await.0, ["RESTORE", "HIDE"]);
}
