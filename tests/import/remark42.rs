//! remark42 backups, and addresses that have moved.

use std::io::Cursor;

use serde_json::{Value, json};
use threadline::domain::comment::CommentState;
use threadline::domain::discussion::DiscussionState;
use threadline::import::report::{Note, Reason};
use threadline::import::rewrite::Rewritten;
use threadline::import::{ExportReader, Format, Outcome, input};

use super::packed::gzip;
use super::world::{World, noted};

fn comment(id: &str, parent: &str, page: &str) -> Value {
    json!({
        "id": id, "pid": parent, "text": format!("<p>text of {id}</p>\n"), "orig": id,
        "user": {"name": "Ann", "id": "github_ann", "picture": "", "admin": false},
        "locator": {"site": "blog", "url": format!("https://old.example/{page}")},
        "score": 0, "vote": 0, "time": "2020-05-01T12:00:00.5-05:00", "title": "A page",
    })
}

fn with(mut comment: Value, field: &str, value: impl Into<Value>) -> Value {
    comment[field] = value.into();
    comment
}

fn backup(comments: &[Value]) -> Vec<u8> {
    let meta = json!({"version": 1, "users": [], "posts":
        [{"url": "https://old.example/closed", "read_only": true}]});
    let lines = std::iter::once(&meta).chain(comments).map(Value::to_string);
    (lines.collect::<Vec<_>>().join("\n") + "\n").into_bytes()
}

fn reader(comments: &[Value]) -> Box<dyn ExportReader> {
    let packed = gzip(&backup(comments));
    Format::Remark42.reader(input::plain(Cursor::new(packed)).unwrap())
}

#[tokio::test]
async fn a_backup_is_on_its_pages_and_a_second_run_imports_nothing() {
    let world = World::empty("remark42").await;
    let lines = [
        comment("b", "a", "1"),
        comment("a", "", "1"),
        comment("c", "", "closed"),
    ];
    let report = world.import(reader(&lines)).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert!(report.notes.is_empty(), "{}", report.table());
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (2, 3)
    );
    let found = world.discussion_by_url("old.example/1").await.unwrap();
    assert_eq!(
        (found.title.as_str(), found.counts.all.visible),
        ("A page", 2)
    );
    let rows = world.comments(&found).await;
    assert_eq!(rows[0].body, "<p>text of a</p>\n");
    assert_eq!(
        rows[0].id.time_ms(),
        1_588_352_400_500,
        "moved by its offset once"
    );
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(rows[0].author_id, rows[1].author_id);
    let closed = world.discussion_by_url("old.example/closed").await.unwrap();
    assert_eq!(closed.state, DiscussionState::Closed);
    let again = world.import(reader(&lines)).await;
    assert_eq!(
        (again.discussions.imported, again.comments.imported),
        (0, 0)
    );
    assert_eq!(again.comments.already_there, 3);
    world.close().await;
}

#[tokio::test]
async fn a_deleted_comment_is_a_marker_only_above_replies() {
    let world = World::empty("remark42").await;
    let gone = |id: &str| with(with(comment(id, "", "1"), "delete", true), "text", "");
    let lines = [
        gone("a"),
        comment("b", "a", "1"),
        gone("c"),
        comment("d", "x", "1"),
    ];
    let report = world.import(reader(&lines)).await;
    assert_eq!(report.comments.skipped.get(&Reason::Deleted), Some(&1));
    assert_eq!(noted(&report, Note::Tombstone), 1);
    assert_eq!(noted(&report, Note::OrphanMissingParent), 1);
    let found = world.discussion_by_url("old.example/1").await.unwrap();
    let rows = world.comments(&found).await;
    assert_eq!(
        rows.iter()
            .filter(|row| row.state == CommentState::Buried)
            .count(),
        1
    );
    assert_eq!(rows.len(), 3);
    world.close().await;
}

#[tokio::test]
async fn pages_that_have_moved_are_found_where_they_are_now() {
    let world = World::empty("remark42").await;
    let lines = [comment("a", "", "1"), comment("b", "", "closed")];
    let rules = ["http://old.example/=https://new.example/blog"].map(|rule| rule.parse().unwrap());
    let report = world
        .import(Rewritten::wrap(reader(&lines), rules.to_vec()))
        .await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert!(world.discussion_by_url("old.example/1").await.is_none());
    let found = world.discussion_by_url("new.example/blog/1").await.unwrap();
    assert_eq!(found.counts.all.visible, 1);
    // Rows are known by what the file says, so the next backup needs no second thought.
    let again = world.import(reader(&lines)).await;
    assert_eq!(again.comments.already_there, 2);
    world.close().await;
}

#[tokio::test]
async fn a_rule_for_addresses_that_fits_nothing_writes_nothing_and_names_an_address() {
    let world = World::empty("remark42").await;
    let rules = vec!["https://odl.example=https://new.example".parse().unwrap()];
    let report = world
        .import(Rewritten::wrap(reader(&[comment("a", "", "1")]), rules))
        .await;
    let Outcome::InputBroken(why) = &report.outcome else {
        panic!("{report:?}");
    };
    assert!(why.contains("https://old.example/1"), "{why}");
    assert_eq!(report.exit_code(), 1);
    assert!(world.discussion_by_url("old.example/1").await.is_none());
    world.close().await;
}

#[tokio::test]
async fn a_backup_that_ends_early_or_holds_nothing_is_no_success() {
    let world = World::empty("remark42").await;
    let whole = backup(&[comment("a", "", "1")]);
    let packed = gzip(&whole);
    let empty = json!({"version": 1, "users": [], "posts": []}).to_string();
    for bytes in [
        whole[..whole.len() - 20].to_vec(),
        packed[..packed.len() - 9].to_vec(),
        empty.into_bytes(),
    ] {
        let reader = Format::Remark42.reader(input::plain(Cursor::new(bytes)).unwrap());
        assert_eq!(world.import(reader).await.exit_code(), 1);
    }
    assert!(world.discussion_by_url("old.example/1").await.is_none());
    world.close().await;
}
