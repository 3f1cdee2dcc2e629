//! Our own format, and what is the same for every format.

use serde_json::{Value, json};
use threadline::domain::comment::CommentState;
use threadline::import::Outcome;
use threadline::import::report::{Note, Reason, What};

use super::world::{NOW_MS, World, noted};

fn comment(id: &str, parent: Option<&str>, minute: i64) -> Value {
    json!({
        "type": "comment", "id": id, "discussion": "d", "parent": parent,
        "author": {"id": "u", "name": "Ann"},
        "created_at": 1_700_000_000_000_i64 + minute * 60_000, "body": format!("text of {id}"),
    })
}

fn with(mut line: Value, field: &str, value: impl Into<Value>) -> Value {
    line.as_object_mut()
        .unwrap()
        .insert(field.to_owned(), value.into());
    line
}

#[tokio::test]
async fn a_file_of_comments_alone_opens_their_discussions_under_their_ids() {
    let world = World::empty("forum").await;
    let lines = [
        comment("1", None, 1),
        with(comment("2", None, 2), "discussion", "e"),
    ];
    let report = world.jsonl(&lines).await;
    assert_eq!(
        (report.discussions.read, report.discussions.imported),
        (2, 2)
    );
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert_eq!(world.comments(&*world.discussion("e").await).await.len(), 1);
    world.close().await;
}

#[tokio::test]
async fn every_field_arrives() {
    let world = World::empty("forum").await;
    let discussion = json!({
        "type": "discussion", "id": "d", "title": "On\ntitles", "url": "https://a.example/x#y",
        "entity": {"type": "article", "id": "7"}, "created_at": "2023-11-01T00:00:00Z",
    });
    let hidden = with(comment("2", Some("1"), 2), "state", "hidden");
    let edited = with(comment("1", None, 1), "edited_at", 1_700_000_500_000_i64);
    let report = world
        .jsonl(&[hidden, with(edited, "format", "markdown"), discussion])
        .await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    let found = world.discussion("d").await;
    assert_eq!(found.title, "On titles");
    assert_eq!(found.url.as_deref(), Some("a.example/x"));
    assert_eq!(found.entity, Some(("article".to_owned(), "7".to_owned())));
    assert_eq!(found.id.time_ms(), 1_698_796_800_000);
    let rows = world.comments(&found).await;
    assert_eq!(rows[0].edited_at_ms, Some(1_700_000_500_000));
    assert_eq!(rows[1].state, CommentState::Hidden);
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    world.close().await;
}

#[tokio::test]
async fn of_two_versions_the_newer_is_taken_and_the_other_counted() {
    let world = World::empty("forum").await;
    let old = comment("1", None, 1);
    let new = with(with(old.clone(), "body", "new"), "edited_at", NOW_MS - 5);
    let report = world.jsonl(&[new, old]).await;
    assert_eq!(report.comments.skipped.get(&Reason::Duplicate), Some(&1));
    let rows = world.comments(&*world.discussion("d").await).await;
    assert_eq!((rows.len(), rows[0].body.as_str()), (1, "new"));
    world.close().await;
}

#[tokio::test]
async fn circles_and_foreign_parents_become_roots_and_clocks_that_disagree_keep_the_link() {
    let world = World::empty("forum").await;
    let lines = [
        comment("p", Some("q"), 1),
        comment("q", Some("p"), 2),
        comment("self", Some("self"), 3),
        with(comment("far", Some("p"), 4), "discussion", "e"),
        comment("early", Some("q"), 0),
    ];
    let report = world.jsonl(&lines).await;
    assert_eq!(report.comments.imported, 5);
    assert_eq!(noted(&report, Note::CycleBroken), 2);
    assert_eq!(noted(&report, Note::OrphanForeignParent), 1);
    assert_eq!(noted(&report, Note::ClockInversion), 1);
    let rows = world.comments(&*world.discussion("d").await).await;
    let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
    assert_eq!(
        bodies,
        ["text of p", "text of q", "text of early", "text of self"]
    );
    assert_eq!(rows[2].parent_id, Some(rows[1].id));
    world.close().await;
}

#[tokio::test]
async fn a_foreign_parent_is_told_from_a_missing_one_however_often_the_file_is_read() {
    let mut world = World::empty("forum").await;
    let lines = [
        comment("far", Some("p"), 1),
        comment("lost", Some("nowhere"), 2),
        with(comment("p", None, 3), "discussion", "e"),
    ];
    world.options.dry_run = true;
    let dry = world.jsonl(&lines).await;
    world.options.dry_run = false;
    let first = world.jsonl(&lines).await;
    for report in [&dry, &first] {
        assert_eq!(noted(report, Note::OrphanForeignParent), 1);
        assert_eq!(noted(report, Note::OrphanMissingParent), 1);
        let odd: Vec<(&str, What, &str)> = report
            .oddities
            .iter()
            .map(|odd| (odd.source_id.as_str(), odd.what, odd.detail.as_str()))
            .collect();
        let (foreign, missing) = (Note::OrphanForeignParent, Note::OrphanMissingParent);
        assert_eq!(
            odd,
            [
                ("far", What::Changed(foreign), "parent p"),
                ("lost", What::Changed(missing), "parent nowhere")
            ]
        );
    }
    // What is written already is no news, but that the file links across discussions stays true.
    let second = world.jsonl(&lines).await;
    assert_eq!(second.comments.already_there, 3);
    assert_eq!(noted(&second, Note::OrphanForeignParent), 1);
    assert_eq!(noted(&second, Note::OrphanMissingParent), 0);
    assert_eq!(second.oddities.len(), 1);
    world.close().await;
}

#[tokio::test]
async fn a_discussion_without_a_time_begins_with_its_first_comment() {
    let world = World::empty("forum").await;
    let bare = |id: &str| json!({"type": "discussion", "id": id, "created_at": "never"});
    let lines = [
        bare("d"),
        bare("empty"),
        comment("1", None, 7),
        comment("2", None, 4),
    ];
    let report = world.jsonl(&lines).await;
    assert_eq!(noted(&report, Note::DateClamped), 2);
    let first_ms = 1_700_000_000_000 + 4 * 60_000;
    assert_eq!(world.discussion("d").await.id.time_ms(), first_ms);
    let empty = world.discussion("empty").await;
    assert_eq!(empty.id.time_ms(), first_ms, "the file's first");
    world.close().await;
}

#[tokio::test]
async fn many_discussions_at_once_are_reported_in_the_order_of_the_file() {
    let world = World::empty("forum").await;
    let lines: Vec<Value> = (0..900)
        .map(|n| {
            let line = comment(&n.to_string(), Some("gone"), n);
            with(line, "discussion", format!("d{}", n % 300))
        })
        .collect();
    let report = world.jsonl(&lines).await;
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (300, 900)
    );
    assert_eq!(noted(&report, Note::OrphanMissingParent), 900);
    let order = report.oddities.iter().map(|odd| odd.line);
    let by_discussion = (0..300).flat_map(|d| (0..3).map(move |n| n * 300 + d + 1));
    assert!(order.eq(by_discussion));
    world.close().await;
}

#[tokio::test]
async fn a_later_file_answers_comments_of_an_earlier_one() {
    let world = World::empty("forum").await;
    world.jsonl(&[comment("1", None, 1)]).await;
    let report = world
        .jsonl(&[comment("2", Some("1"), 2), comment("3", Some("0"), 3)])
        .await;
    assert_eq!(report.comments.imported, 2);
    assert_eq!(noted(&report, Note::OrphanMissingParent), 1);
    let rows = world.comments(&*world.discussion("d").await).await;
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(rows[2].parent_id, None);
    world.close().await;
}

#[tokio::test]
async fn a_full_discussion_rejects_what_it_cannot_hold() {
    let mut world = World::empty("forum").await;
    world.options.comments_max = 2;
    let lines = [
        comment("1", None, 1),
        comment("2", Some("1"), 2),
        comment("3", Some("2"), 3),
    ];
    let report = world.jsonl(&lines).await;
    assert_eq!(
        report.comments.rejected.get(&Reason::DiscussionFull),
        Some(&1)
    );
    assert_eq!(report.exit_code(), 3);
    world.close().await;
}

#[tokio::test]
async fn a_dry_run_reports_the_same_and_writes_nothing() {
    let mut world = World::empty("forum").await;
    world.options.dry_run = true;
    let lines = [
        comment("1", Some("0"), 1),
        with(comment("2", None, 2), "body", "\u{2060}"),
    ];
    let dry = world.jsonl(&lines).await;
    assert_eq!(noted(&dry, Note::OrphanMissingParent), 1);
    assert!(dry.table().contains("would be imported"), "{}", dry.table());
    world.options.dry_run = false;
    let real = world.jsonl(&lines).await;
    assert_eq!(real.discussions.imported, 1, "the dry run wrote nothing");
    assert_eq!((&real.comments, &real.notes), (&dry.comments, &dry.notes));
    assert_eq!(real.oddities.len(), dry.oddities.len());
    world.close().await;
}

#[tokio::test]
async fn an_interrupted_import_is_gone_on_with() {
    let mut world = World::empty("forum").await;
    let half: Vec<Value> = (0..700).map(|n| comment(&n.to_string(), None, n)).collect();
    world.jsonl(half.split_at(300).0).await;
    world.stop.cancel();
    let stopped = world.jsonl(&half).await;
    assert_eq!(stopped.outcome, Outcome::Interrupted);
    assert_eq!(stopped.exit_code(), 130);
    assert_eq!(stopped.comments.read, stopped.comments.not_written);
    world.stop = tokio_util::sync::CancellationToken::new();
    let whole = world.jsonl(&half).await;
    assert_eq!(
        (whole.comments.already_there, whole.comments.imported),
        (300, 400)
    );
    world.close().await;
}

#[tokio::test]
async fn without_a_lease_for_ids_the_import_stops_and_says_so() {
    let world = World::empty("forum").await;
    world.importer.ids.set_lease(None);
    let report = world.jsonl(&[comment("1", None, 1)]).await;
    assert!(matches!(&report.outcome, Outcome::StoreFailed(why) if why.contains("lease")));
    assert_eq!((report.exit_code(), report.comments.not_written), (1, 1));
    world.close().await;
}

#[tokio::test]
async fn the_report_is_json_with_a_reason_a_row() {
    let world = World::empty("forum").await;
    let report = world
        .jsonl(&[
            with(comment("1", None, 1), "state", "spam"),
            comment("2", Some("1"), 2),
        ])
        .await;
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["comments"]["skipped"]["spam"], 1);
    assert_eq!(json["notes"]["orphan_parent_skipped"], 1);
    assert_eq!(json["outcome"]["how"], "complete");
    assert_eq!(
        json["oddities"][1],
        json!({"kind": "comment", "source_id": "2", "line": 2,
               "changed": "orphan_parent_skipped", "detail": "parent 1"})
    );
    assert_eq!(report.oddities[0].what, What::LeftOut(Reason::Spam));
    world.close().await;
}

#[tokio::test]
async fn what_a_row_keeps_is_looked_at_only_when_restoring() {
    let mut world = World::empty("forum").await;
    let id = 1_600_000_000_000_i64 << 21 | 5;
    let keeping = |id: &str| {
        let kept =
            json!({"id": id, "author": "7", "revision": 4, "source": "old", "source_id": "x"});
        with(comment("1", None, 1), "threadline", kept)
    };
    let ordinary = world.jsonl(&[keeping("no number")]).await;
    assert_eq!(ordinary.comments.imported, 1, "{}", ordinary.table());
    world.options.restore = true;
    let broken = world.jsonl(&[keeping("no number")]).await;
    assert!(
        matches!(&broken.outcome, Outcome::InputBroken(why) if why.contains("line 1") && why.contains("no number")),
        "{broken:?}"
    );
    let ahead = (NOW_MS + 60_000) << 21;
    let ahead = world.jsonl(&[keeping(&ahead.to_string())]).await;
    assert!(
        matches!(&ahead.outcome, Outcome::InputBroken(why) if why.contains("future")),
        "{ahead:?}"
    );
    let restored = world
        .jsonl(&[with(keeping(&id.to_string()), "discussion", "e")])
        .await;
    assert_eq!(restored.comments.imported, 1, "{}", restored.table());
    let rows = world.comments(&*world.discussion("e").await).await;
    assert_eq!(
        (rows[0].id.get(), rows[0].revision, rows[0].author_id.get()),
        (id, 4, 7)
    );
    assert_eq!(world.name_of(&rows[0]).await, "Ann");
    world.close().await;
}

#[tokio::test]
async fn a_restored_discussion_whose_id_is_taken_is_reported_and_found_again() {
    let mut world = World::empty("forum").await;
    let line = |id: &str, url: &str| {
        json!({"type": "discussion", "id": id, "url": url, "created_at": 1_600_000_000_000_i64,
               "threadline": {"id": (1_600_000_000_000_i64 << 21 | 9).to_string()}})
    };
    world.options.restore = true;
    world.jsonl(&[line("a", "https://a.example/1")]).await;
    let other = [
        line("b", "https://b.example/1"),
        with(comment("1", None, 1), "discussion", "b"),
    ];
    let first = world.jsonl(&other).await;
    assert_eq!(noted(&first, Note::IdTaken), 1, "{}", first.table());
    assert_eq!(
        (first.discussions.imported, first.comments.imported),
        (1, 1)
    );
    let found = world.discussion("b").await;
    assert_eq!(found.url.as_deref(), Some("b.example/1"));
    let second = world.jsonl(&other).await;
    assert_eq!(
        (
            second.discussions.already_there,
            second.comments.already_there
        ),
        (1, 1)
    );
    world.close().await;
}
