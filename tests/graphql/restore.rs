//! An export restored into empty stores: readers cannot tell it from where it came from.

use std::io::Cursor;
use std::sync::Arc;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use threadline::domain::discussion::Discussion;
use threadline::domain::ids::opaque::GlobalId;
use threadline::domain::text::TextLimits;
use threadline::export::{self, Counts};
use threadline::import::{ExportReader, Format, ImportOptions, Importer, Outcome, Report};
use threadline::service::pace::Unpaced;
use threadline::store::comments::ImportDiscussion;
use tokio_util::sync::CancellationToken;

use crate::support::{TestApp, Who};

/// Everything a reader can see of a discussion. A page of threads holds the first replies.
const PAGE: &str = "query($d: ID!, $mode: CommentsMode!, $order: CommentOrder!, $after: String) { \
    discussion(id: $d) { id title url entity { type id } state createdAt \
    counts { total published visible roots replies } \
    comments(mode: $mode, order: $order, first: 20, after: $after) { mode totalCount \
    pageInfo { hasNextPage endCursor } edges { cursor node { ...seen \
    counts { total published visible } \
    replies(first: 15) { totalCount pageInfo { hasNextPage endCursor } edges { node { ...seen } } } \
    } } } } } \
    fragment seen on Comment { id revision state depth createdAt editedAt body { text html } \
    author { id name } parent { id } root { id } }";

const REPLIES: &str = "query($c: ID!, $after: String) { comment(id: $c) { id \
    replies(first: 50, after: $after) { totalCount pageInfo { hasNextPage endCursor } \
    edges { node { id revision state body { text } author { id name } parent { id } } } } } }";

/// Imports into the stores of a gateway.
pub(crate) async fn import(
    app: &TestApp,
    reader: Box<dyn ExportReader>,
    source: &str,
    restore: bool,
) -> Report {
    let ports = app.app.service().ports();
    let importer = Importer {
        comments: Arc::clone(&ports.comments),
        users: Arc::clone(&ports.users),
        ids: Arc::clone(&ports.ids),
        clock: app.clock.clone(),
        tasks: ports.tasks.clone(),
    };
    let options = ImportOptions {
        source: source.to_owned(),
        dry_run: false,
        restore,
        limits: TextLimits::default(),
        comments_max: 1_000_000,
        depth_limit: 1,
        kept_parameters: Vec::new(),
    };
    let (stop, bar) = (CancellationToken::new(), ProgressBar::hidden());
    let report = importer.run(reader, &options, &stop, &bar).await;
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.table());
    report
}

/// A discussion that was imported, by its id there.
pub(crate) async fn imported(app: &TestApp, source: &str, source_id: &str) -> Arc<Discussion> {
    let asked = ImportDiscussion {
        source: source.to_owned(),
        source_id: source_id.to_owned(),
        created_ms: 0,
        title: String::new(),
        url: None,
        entity: None,
        closed: false,
        depth_limit: 1,
        kept: None,
    };
    let store = &app.app.service().ports().comments;
    let (found, is_new) = store.import_discussion(asked).await.unwrap();
    assert!(!is_new, "{source} {source_id} is not there");
    found
}

pub(crate) async fn export(app: &TestApp, discussions: &[Arc<Discussion>]) -> (Vec<u8>, Counts) {
    let stores = app.app.service().ports();
    let ports = export::Ports {
        comments: &*stores.comments,
        users: &*stores.users,
        clock: &stores.clock,
    };
    let (mut text, mut counts) = (Vec::new(), Counts::default());
    for discussion in discussions {
        counts += export::export_discussion(ports, discussion, &mut text, &mut Unpaced)
            .await
            .unwrap();
    }
    (text, counts)
}

/// Restores an export into empty stores and compares: all that anybody can ask, and the export.
pub(crate) async fn comes_back(
    app: &TestApp,
    discussions: &[Arc<Discussion>],
) -> (TestApp, Counts) {
    let (text, counts) = export(app, discussions).await;
    let other = TestApp::new().await;
    let reader = || Format::Jsonl.reader(Box::new(Cursor::new(text.clone())));
    let report = import(&other, reader(), "jsonl", true).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert_eq!(report.notes.len(), 0, "{}", report.table());
    assert_eq!(report.comments.imported, counts.comments);
    assert_eq!(report.discussions.imported, counts.discussions);
    let again = import(&other, reader(), "jsonl", true).await;
    let new = again.comments.imported + again.discussions.imported;
    assert_eq!(new, 0, "{}", again.table());

    let mut back = Vec::new();
    for discussion in discussions {
        let ids = [discussion.id];
        let found = other.app.service().ports().comments.discussions(&ids).await;
        back.push(found.unwrap().pop().unwrap());
    }
    let (exported, _) = export(&other, &back).await;
    for (line, wanted) in exported
        .split(|b| *b == b'\n')
        .zip(text.split(|b| *b == b'\n'))
    {
        let (line, wanted) = (
            str::from_utf8(line).unwrap(),
            str::from_utf8(wanted).unwrap(),
        );
        assert_eq!(line, wanted);
    }
    assert_eq!(exported.len(), text.len());
    for discussion in discussions {
        for who in [Who::anonymous(), Who::moderator(900)] {
            let wanted = all_answers(app, discussion, &who).await;
            assert_eq!(all_answers(&other, discussion, &who).await, wanted);
        }
    }
    (other, counts)
}

/// Every page of a discussion in both modes and both orders, and every branch, as they are sent.
async fn all_answers(app: &TestApp, discussion: &Discussion, who: &Who) -> Vec<String> {
    let id = GlobalId::Discussion(discussion.id).encode();
    let mut answers = Vec::new();
    for (mode, order) in [
        ("LINEAR", "OLDEST"),
        ("LINEAR", "NEWEST"),
        ("THREADED", "OLDEST"),
        ("THREADED", "NEWEST"),
    ] {
        let mut after = Some(Value::Null);
        while let Some(cursor) = after {
            let variables = json!({"d": id, "mode": mode, "order": order, "after": cursor});
            let data = app.ask(who, PAGE, variables).await;
            let list = &data["discussion"]["comments"];
            assert_eq!(list["mode"], mode);
            after = next(list);
            if mode == "THREADED" && order == "OLDEST" {
                for edge in list["edges"].as_array().unwrap() {
                    answers.extend(branch(app, who, &edge["node"]).await);
                }
            }
            answers.push(data.to_string());
        }
    }
    answers
}

/// What of a branch did not fit onto the page of its root.
async fn branch(app: &TestApp, who: &Who, root: &Value) -> Vec<String> {
    let mut answers = Vec::new();
    let mut after = next(&root["replies"]);
    while let Some(cursor) = after {
        let variables = json!({"c": root["id"], "after": cursor});
        let data = app.ask(who, REPLIES, variables).await;
        after = next(&data["comment"]["replies"]);
        answers.push(data.to_string());
    }
    answers
}

fn next(list: &Value) -> Option<Value> {
    let info = list.get("pageInfo")?;
    (info["hasNextPage"] == true).then(|| info["endCursor"].clone())
}

const AUTHORS: u32 = 12;

/// Comments of other systems in every state and format, with branches in all directions.
fn foreign_lines() -> Vec<Value> {
    let mut lines = Vec::new();
    for place in 0..4 {
        lines.push(json!({
            "type": "discussion", "id": format!("d{place}"), "title": format!("On {place}"),
            "url": format!("https://restore.example/{place}"), "closed": place == 2,
            "entity": {"type": "restored", "id": place.to_string()},
            "created_at": "2023-11-01T00:00:00Z",
        }));
    }
    for number in 0..240_u32 {
        let mixed = number.wrapping_mul(2_654_435_761) >> 7;
        let parent = (number >= 4 && !mixed.is_multiple_of(5)).then(|| {
            let back = (mixed % (number / 4)).min(9) + 1;
            format!("c{}", number - back.min(number / 4) * 4)
        });
        let state = match mixed % 23 {
            0 | 1 => "hidden",
            2 => "pending",
            3 | 4 => "deleted",
            _ => "published",
        };
        let edited = mixed.is_multiple_of(11).then_some(1_700_000_900_000_i64);
        lines.push(json!({
            "type": "comment", "id": format!("c{number}"),
            "discussion": format!("d{}", number % 4), "parent": parent,
            "author": {"id": format!("u{}", mixed % AUTHORS), "name": format!("Ann {}", mixed % AUTHORS)},
            "created_at": 1_700_000_000_000_i64 + i64::from(number / 3), "edited_at": edited,
            "format": (["plain", "markdown", "html"][usize::try_from(mixed % 3).unwrap()]),
            "state": state, "body": format!("text **{number}** <b>&amp;</b> \u{1f600}"),
        }));
    }
    lines
}

fn reader_of(lines: &[Value]) -> Box<dyn ExportReader> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    Format::Jsonl.reader(Box::new(Cursor::new(text.join("\n").into_bytes())))
}

/// What people did here: posts, replies, edits, deletions, moderation.
async fn live(app: &TestApp) -> Vec<String> {
    let (ann, bob, judge) = (Who::user(1), Who::user(2), Who::moderator(3));
    let mut ids: Vec<String> = Vec::new();
    for number in 0..24 {
        let parent = (number % 3 != 0).then(|| ids[number - number % 3].clone());
        let who = if number % 2 == 0 { &ann } else { &bob };
        ids.push(
            app.post(who, "live", parent.as_deref(), &format!("live {number}"))
                .await,
        );
    }
    for (number, texts) in [(0, 3), (4, 1), (9, 2), (20, 4)] {
        let who = if number % 2 == 0 { &ann } else { &bob };
        for text in 1..=texts {
            let edited = app
                .edit(who, &ids[number], text, &format!("edit {text}"))
                .await;
            assert_eq!(edited["__typename"], "CommentWritten", "{edited:#}");
        }
    }
    for number in [3, 9, 16, 23] {
        let who = if number % 2 == 0 { &ann } else { &bob };
        let deleted = app.delete(who, &ids[number], None).await;
        assert_eq!(deleted["__typename"], "CommentWritten", "{deleted:#}");
    }
    for (act, number) in [
        ("hideComment", 6),
        ("hideComment", 11),
        ("hideComment", 20),
        ("restoreComment", 11),
    ] {
        let done = app.moderate(&judge, act, &ids[number]).await;
        assert_eq!(done["__typename"], "CommentWritten", "{done:#}");
    }
    ids
}

#[tokio::test]
async fn a_restored_world_answers_and_exports_as_the_first_one_did() {
    let app = TestApp::new().await;
    let lines = foreign_lines();
    let first = import(&app, reader_of(&lines), "forum", false).await;
    let here = live(&app).await;
    let judge = Who::moderator(3);
    let mut discussions = Vec::new();
    for place in 0..4 {
        discussions.push(imported(&app, "forum", &format!("d{place}")).await);
    }
    // People answer, hide and edit what was imported, too.
    let judged =
        "query($d: ID!) { discussion(id: $d) { comments(first: 9) { edges { node { id } } } } }";
    let id = GlobalId::Discussion(discussions[0].id).encode();
    let data = app.ask(&judge, judged, json!({"d": id})).await;
    let edges = data["discussion"]["comments"]["edges"].as_array().unwrap();
    for edge in edges.iter().take(3) {
        let id = edge["node"]["id"].as_str().unwrap();
        app.moderate(&judge, "hideComment", id).await;
    }
    let live = app.discussion_id("live").await;
    let GlobalId::Discussion(live) = GlobalId::decode(&live).unwrap() else {
        panic!("{live} is no discussion");
    };
    let store = &app.app.service().ports().comments;
    let ids: Vec<_> = discussions.iter().map(|row| row.id).chain([live]).collect();
    let mut discussions = store.discussions(&ids).await.unwrap();
    discussions.sort_by_key(|discussion| discussion.id);

    let (other, counts) = comes_back(&app, &discussions).await;
    assert_eq!(counts.discussions, 5);
    let live_rows = u64::try_from(here.len()).unwrap();
    assert_eq!(counts.comments, first.comments.imported + live_rows);
    assert_eq!(counts.revisions, 3 + 1 + 4, "a deleted comment has none");
    // The system that all began with imports nothing twice.
    let again = import(&other, reader_of(&lines), "forum", false).await;
    let new = again.comments.imported + again.discussions.imported;
    assert_eq!(new, 0, "{}", again.table());
    assert_eq!(again.comments.already_there, first.comments.imported);
    other.advance(std::time::Duration::from_secs(10)).await;
    // Life goes on: the next comment comes after all that came back.
    let next = other
        .post(&Who::user(5), "live", Some(&here[1]), "new here")
        .await;
    let page = other
        .page(&Who::user(5), "live", "mode: LINEAR, last: 1")
        .await;
    assert_eq!(page.ids, [next]);
}

#[tokio::test]
async fn an_export_is_an_import_like_any_other_without_restoring() {
    let app = TestApp::new().await;
    import(&app, reader_of(&foreign_lines()), "forum", false).await;
    let mut discussions = Vec::new();
    for place in 0..4 {
        discussions.push(imported(&app, "forum", &format!("d{place}")).await);
    }
    let (text, counts) = export(&app, &discussions).await;
    let other = TestApp::new().await;
    let reader = Format::Jsonl.reader(Box::new(Cursor::new(text)));
    let report = import(&other, reader, "jsonl", false).await;
    // A deleted comment without replies is no longer worth a row.
    let gone = report.comments.skipped_total();
    assert_eq!(report.comments.imported + gone, counts.comments);
    for discussion in &discussions {
        let name = discussion.id.to_string();
        let found = imported(&other, "jsonl", &name).await;
        assert_eq!(found.url, discussion.url);
        assert_eq!(found.counts.all.visible, discussion.counts.all.visible);
        assert_eq!(found.counts.all.shown, discussion.counts.all.shown);
    }
}
