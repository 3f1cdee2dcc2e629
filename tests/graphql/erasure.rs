//! A person's data: exported whole, and erased so that nothing of it is found anywhere.

use std::time::Duration;

use serde_json::{Value, json};
use threadline::domain::ids::UserId;
use threadline::export::export_person;
use threadline::worker::eraser::Eraser;

use crate::support::{TestApp, Who};

const ERASE: &str = "mutation($c: ID!) { eraseMyData(confirm: $c) { state askedAt doneAt } }";

/// Person 5 with something of every kind; every text of theirs holds `SECRET`.
async fn life(app: &TestApp) -> Value {
    let (person, other, moderator) = (Who::user(5), Who::user(2), Who::moderator(9));
    let users = &app.app.service().ports().users;
    users.set_name(UserId::new(5), "SECRET name").await.unwrap();
    let root = app.post(&other, "p", None, "a root").await;
    let mut own = Vec::new();
    for index in 0..40 {
        let text = format!("SECRET {index} ").repeat(1 + index % 5 * 200);
        own.push(app.post(&person, "p", Some(&root), &text).await);
    }
    let answered = app.post(&other, "p", Some(&own[0]), "an answer").await;
    app.edit(&person, &own[1], 1, "SECRET, edited").await;
    app.edit(&person, &own[1], 2, "SECRET, edited again").await;
    app.moderate(&moderator, "hideComment", &own[2]).await;
    let keyed = app
        .try_post(&person, "p", None, "SECRET keyed", Some("SECRET-key"))
        .await;
    assert_eq!(keyed["__typename"], "CommentWritten");
    let acts = "mutation($r: ID!, $d: ID!, $a: ID!) { blockUser(user: \"66\") { __typename } \
        markDiscussionSeen(discussion: $d, upTo: $r) { id } \
        markRepliesRead(upTo: $a) { unreadCount } \
        reportComment(input: {comment: $r, reason: SPAM, text: \"SECRET report\"}) { __typename } }";
    let discussion = app.discussion_id("p").await;
    let ids = json!({"r": root, "d": discussion, "a": answered});
    app.ask(&person, acts, ids.clone()).await;
    let block = "mutation { blockUser(user: \"5\") { __typename } }";
    app.ask(&other, block, json!({})).await;
    ids
}

async fn exported(app: &TestApp, user: i64) -> Vec<Value> {
    let mut out = Vec::new();
    let ports = app.app.service().ports();
    let lines = export_person(ports, UserId::new(user), &mut out)
        .await
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(u64::try_from(found.len()).unwrap(), lines);
    found
}

fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// Whether a text lies in any file of the stores.
fn is_in_files(app: &TestApp, text: &str) -> bool {
    let files = std::fs::read_dir(app.folder.path()).unwrap();
    files
        .map(Result::unwrap)
        .filter(|file| file.path().is_file())
        .any(|file| {
            let bytes = std::fs::read(file.path()).unwrap();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        })
}

#[tokio::test]
async fn an_export_holds_everything_of_the_person_and_nothing_of_others() {
    let app = TestApp::new().await;
    life(&app).await;
    let ban = "mutation { banUser(input: {user: \"5\", reason: \"enough\"}) { __typename } }";
    app.ask(&Who::moderator(9), ban, json!({})).await;
    let lines = exported(&app, 5).await;
    assert_eq!(of(&lines, "profile")[0]["name"], "SECRET name");
    let comments = of(&lines, "comment");
    assert_eq!(comments.len(), 41);
    assert!(comments.iter().any(|line| line["state"] == "hidden"));
    let edited = comments.iter().find(|line| line["revision"] == 3).unwrap();
    assert_eq!(edited["revisions"].as_array().unwrap().len(), 2);
    assert_eq!(edited["body"], "SECRET, edited again");
    assert_eq!(of(&lines, "report")[0]["text"], "SECRET report");
    assert_eq!(of(&lines, "block")[0]["user"], "66");
    assert_eq!(of(&lines, "ban")[0]["reason"], "enough");
    assert_eq!(of(&lines, "seen").len(), 1);
    assert_eq!(of(&lines, "replies_read").len(), 1);
    let text = lines.iter().map(Value::to_string).collect::<String>();
    assert!(!text.contains("a root") && !text.contains("an answer"));
    assert_eq!(exported(&app, 4_711).await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_erased_person_is_found_nowhere_not_even_in_the_files() {
    let app = TestApp::new().await;
    let ids = life(&app).await;
    let person = Who::user(5);
    assert!(is_in_files(&app, "SECRET"));
    let foreign = app.answer(&person, ERASE, json!({"c": "6"})).await.1;
    assert_eq!(foreign["errors"][0]["extensions"]["field"], "confirm");
    let erased = app.ask(&person, ERASE, json!({"c": "5"})).await["eraseMyData"].clone();
    assert_eq!(erased["state"], "EMPTIED", "{erased}");
    // Nothing can be read any more, and what others wrote below stays in its place.
    let whole = "query($d: ID!) { user(id: \"5\") { name comments { edges { cursor } } } \
        discussion(id: $d) { comments(mode: LINEAR, first: 100) \
        { edges { node { state body { text } author { name } } } } } \
        moderationQueue(first: 50) { edges { node { reports { text reporter { id } } } } } }";
    let seen = app
        .ask(&Who::moderator(9), whole, json!({"d": ids["d"]}))
        .await;
    let text = seen.to_string();
    assert!(!text.contains("SECRET"), "{text}");
    assert!(text.contains("an answer") && text.contains("DELETED"));
    let lines = exported(&app, 5).await;
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["profile", "erasure"]);
    assert_eq!(lines[0]["name"], "");
    // The files are rewritten when an interval is over, for everybody who was erased within it.
    let service = app.app.service();
    let day = Duration::from_hours(24);
    assert_eq!(service.go_on_erasing(day).await.unwrap(), 0);
    app.advance(day).await;
    assert_eq!(service.go_on_erasing(day).await.unwrap(), 1);
    assert!(!is_in_files(&app, "SECRET"));
    assert!(is_in_files(&app, "an answer"));
    let query = "{ viewer { erasure { state doneAt } } }";
    let state = app.ask(&person, query, json!({})).await;
    assert_eq!(state["viewer"]["erasure"]["state"], "DONE");
    // Who comes back may write again, under the same number and without a past.
    app.post(&person, "p", None, "a new beginning").await;
    let again = app.ask(&person, ERASE, json!({"c": "5"})).await;
    assert_eq!(again["eraseMyData"]["state"], "EMPTIED");
}

#[tokio::test]
async fn an_erasure_that_nobody_finished_is_taken_up_by_another_instance() {
    let app = TestApp::new().await;
    life(&app).await;
    // Asked for and noted, and then the process ended.
    let users = &app.app.service().ports().users;
    users.ask_erasure(UserId::new(5)).await.unwrap();
    let sibling = app.sibling().await;
    let tasks = threadline::tasks::Tasks::new();
    Eraser::new(sibling.service().clone(), Duration::ZERO).start(&tasks);
    let query = "{ viewer { erasure { state } } }";
    for _ in 0..600 {
        let state = app.ask(&Who::user(5), query, json!({})).await;
        if state["viewer"]["erasure"]["state"] == "DONE" {
            assert!(!is_in_files(&app, "SECRET"));
            assert!(tasks.shutdown(Duration::from_mins(1)).await);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody took the erasure up");
}

#[tokio::test]
async fn erasing_twice_and_at_once_does_no_harm() {
    let app = TestApp::new().await;
    life(&app).await;
    let service = app.app.service();
    let both = futures_util::future::join(
        service.erase_person(UserId::new(5)),
        service.erase_person(UserId::new(5)),
    );
    let (one, two) = both.await;
    assert_eq!(one.unwrap() + two.unwrap(), 41);
    assert_eq!(service.erase_person(UserId::new(5)).await.unwrap(), 0);
    assert!(!is_in_files(&app, "SECRET"));
    let place = app.discussion_id("p").await;
    let place = threadline::domain::ids::opaque::decode_discussion(&place).unwrap();
    let check = service.ports().comments.check_counts(place).await.unwrap();
    assert!(check.is_right(), "{check:?}");
}
