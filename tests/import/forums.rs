//! Posts of Discourse, comments of Reddit and foreign JSON lines, from file to store.

use std::io::{Cursor, Write as _};

use serde_json::{Value, json};
use threadline::domain::comment::CommentState;
use threadline::import::input::{self, Input};
use threadline::import::jsonl::map::{FieldMap, Mapping};
use threadline::import::jsonl::mapped::MappedReader;
use threadline::import::reddit::RedditOptions;
use threadline::import::report::{Note, Reason};
use threadline::import::{self, ExportReader, Format, Outcome, Report};

use super::world::{World, noted};

fn packed(bytes: Vec<u8>) -> Input {
    input::plain(Cursor::new(bytes)).unwrap()
}

fn post(topic: i64, number: i64, minute: i64) -> Value {
    json!({
        "id": topic * 1_000 + number, "topic_id": topic, "post_number": number, "post_type": 1,
        "topic_title": "Title", "topic_slug": "title", "username": "ann", "user_id": 7,
        "created_at": format!("2024-05-01T12:{minute:02}:00.000Z"),
        "raw": format!("text of {topic}/{number}"),
    })
}

fn with(mut row: Value, field: &str, value: impl Into<Value>) -> Value {
    let row_fields = row.as_object_mut().unwrap();
    row_fields.insert(field.to_owned(), value.into());
    row
}

fn reply(number: i64, parent: i64, minute: i64) -> Value {
    with(post(1, number, minute), "reply_to_post_number", parent)
}

async fn discourse(world: &World, posts: &[Value]) -> Report {
    let lines: Vec<String> = posts.iter().map(ToString::to_string).collect();
    let zstd = zstd::encode_all(lines.join("\n").as_bytes(), 1).unwrap();
    world.import(Format::Discourse.reader(packed(zstd))).await
}

async fn bodies(world: &World, discussion: &str) -> Vec<String> {
    let rows = world.comments(&*world.discussion(discussion).await).await;
    rows.into_iter().map(|row| row.body).collect()
}

#[tokio::test]
async fn of_two_versions_of_a_post_the_newer_wins_in_either_order() {
    let old = with(post(1, 1, 0), "updated_at", "2024-05-01T12:01:00Z");
    let new = with(old.clone(), "updated_at", "2024-05-01T12:02:00Z");
    let new = with(new, "raw", "newer");
    for order in [[&old, &new], [&new, &old]] {
        let world = World::empty("forum").await;
        let report = discourse(&world, &order.map(Clone::clone)).await;
        assert_eq!(report.comments.skipped.get(&Reason::Duplicate), Some(&1));
        assert_eq!(bodies(&world, "1").await, ["newer"]);
        world.close().await;
    }
}

#[tokio::test]
async fn replies_within_a_topic_find_their_parents_wherever_these_stand() {
    let world = World::empty("forum").await;
    let posts = [
        reply(3, 2, 3),
        reply(2, 1, 2),
        post(1, 1, 1),
        reply(4, 9, 4),
        reply(5, 5, 5),
        reply(6, 3, 0),
        with(post(2, 2, 6), "reply_to_post_number", 3),
    ];
    let report = discourse(&world, &posts).await;
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (2, 7)
    );
    assert_eq!(
        noted(&report, Note::OrphanMissingParent),
        2,
        "numbers are those of the topic"
    );
    assert_eq!(noted(&report, Note::CycleBroken), 1);
    assert_eq!(noted(&report, Note::ClockInversion), 1);
    let rows = world.comments(&*world.discussion("1").await).await;
    let at = |number: i64| {
        let body = format!("text of 1/{number}");
        rows.iter().find(|row| row.body == body).unwrap()
    };
    assert_eq!(at(3).parent_id, Some(at(2).id));
    assert_eq!(at(2).parent_id, Some(at(1).id));
    assert_eq!(at(6).parent_id, Some(at(3).id));
    assert_eq!((at(4).parent_id, at(5).parent_id), (None, None));
    world.close().await;
}

#[tokio::test]
async fn every_post_of_a_forum_is_accounted_for() {
    let world = World::empty("forum").await;
    let posts = [
        with(post(1, 1, 0), "user_deleted", true),
        reply(2, 1, 1),
        with(reply(3, 2, 2), "deleted_at", "2024-05-02T00:00:00Z"),
        with(post(1, 4, 3), "hidden", true),
        with(post(1, 5, 4), "post_type", 3),
        with(post(1, 6, 5), "raw", "\u{200b}"),
        with(post(1, 7, 6), "raw", "a\u{0}b"),
        with(post(1, 8, 7), "raw", "x".repeat(10_001)),
        with(post(1, 9, 8), "created_at", "soon"),
    ];
    let report = discourse(&world, &posts).await;
    assert_eq!((report.comments.read, report.comments.imported), (9, 4));
    for (reason, rows) in [
        (Reason::Deleted, 1),
        (Reason::NotAComment, 1),
        (Reason::Empty, 1),
    ] {
        assert_eq!(
            report.comments.skipped.get(&reason),
            Some(&rows),
            "{reason:?}"
        );
    }
    for reason in [Reason::TextRefused, Reason::TooLong] {
        assert_eq!(
            report.comments.rejected.get(&reason),
            Some(&1),
            "{reason:?}"
        );
    }
    assert_eq!(noted(&report, Note::Tombstone), 1);
    assert_eq!(noted(&report, Note::DateClamped), 1);
    assert_eq!(report.exit_code(), 3);
    let found = world.discussion("1").await;
    assert!(found.id.time_ms() > 1_714_000_000_000, "not 1970");
    let states: Vec<CommentState> = (world.comments(&found).await.iter())
        .map(|row| row.state)
        .collect();
    assert_eq!(
        states
            .iter()
            .filter(|state| **state == CommentState::Hidden)
            .count(),
        1
    );
    assert_eq!(
        states
            .iter()
            .filter(|state| **state == CommentState::Buried)
            .count(),
        1
    );
    let second = discourse(&world, &posts).await;
    assert_eq!(
        (second.comments.imported, second.comments.already_there),
        (0, 4)
    );
    world.close().await;
}

fn reddit(comments: &str, posts: Option<&str>) -> Box<dyn ExportReader> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(comments.as_bytes()).unwrap();
    let posts = posts.map(|posts| packed(posts.as_bytes().to_vec()));
    import::reddit(
        packed(gzip.finish().unwrap()),
        posts,
        RedditOptions::default(),
    )
}

#[tokio::test]
async fn comments_of_reddit_keep_their_places_when_texts_and_people_are_gone() {
    let comments = "id,post_id,parent_id,author,body,created_utc\n\
        c3,p1,c2,[deleted],\"kept\n\"\"still\"\"\",1500000030\n\
        c2,p1,c1,ann,[removed],1500000020\n\
        c1,p1,p1,[deleted],&gt; quoted &amp;amp;,1500000010\n\
        c4,p1,c3,[deleted],[deleted],1500000040\n\
        c5,p1,c9,ann,orphan,1500000050\n\
        c6,p2,c1,ann,elsewhere,1500000060\n";
    let posts = "title,id,created_utc,permalink\nTitle,p1,1500000000.0,/r/x/comments/p1/t/\n";
    let world = World::empty("reddit").await;
    let report = world.import(reddit(comments, Some(posts))).await;
    assert_eq!((report.discussions.read, report.comments.imported), (2, 5));
    assert_eq!(report.comments.skipped.get(&Reason::Deleted), Some(&1));
    assert_eq!(noted(&report, Note::Tombstone), 1);
    assert_eq!(noted(&report, Note::OrphanMissingParent), 1);
    assert_eq!(noted(&report, Note::OrphanForeignParent), 1);
    let url = "www.reddit.com/r/x/comments/p1/t/";
    let found = world.discussion_by_url(url).await.unwrap();
    assert_eq!(
        (found.title.as_str(), found.id.time_ms()),
        ("Title", 1_500_000_000_000)
    );
    let rows = world.comments(&found).await;
    let texts: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
    assert_eq!(texts, ["> quoted &amp;", "", "kept\n\"still\"", "orphan"]);
    assert_eq!(rows[1].state, CommentState::Buried);
    assert_eq!(rows[2].parent_id, Some(rows[1].id));
    assert_eq!(world.name_of(&rows[2]).await, "");
    let second = world.import(reddit(comments, Some(posts))).await;
    assert_eq!(
        (second.discussions.imported, second.comments.imported),
        (0, 0)
    );
    world.close().await;
}

fn mapped(map: &str, rows: &str) -> Box<dyn ExportReader> {
    let mappings: Vec<Mapping> = map.split(',').map(|one| one.parse().unwrap()).collect();
    let input = packed(rows.as_bytes().to_vec());
    Box::new(MappedReader::new(input, FieldMap::new(mappings).unwrap()))
}

#[tokio::test]
async fn foreign_lines_are_discussions_under_their_entity_and_title() {
    let map = "id=n,discussion=t,created_at=ts,body=b,parent=re,author=by,title=s,\
               entity_type:=list,entity_id=t";
    let rows = "{\"n\":2,\"t\":\"m1\",\"re\":1,\"ts\":1500000020,\"b\":\"two\",\"by\":\"Ann\",\"s\":\"S\"}\r\n\
                {\"n\":1,\"t\":\"m1\",\"re\":null,\"ts\":1500000010,\"b\":\"one\",\"by\":\"Ann\",\"s\":\"S\"}";
    let world = World::empty("list").await;
    let report = world.import(mapped(map, rows)).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert!(report.notes.is_empty(), "{}", report.table());
    let found = world.discussion("m1").await;
    assert_eq!(found.title, "S");
    assert_eq!(found.entity, Some(("list".to_owned(), "m1".to_owned())));
    let rows = world.comments(&found).await;
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(world.name_of(&rows[0]).await, "Ann");
    world.close().await;
}

#[tokio::test]
async fn whatever_is_wrong_with_a_file_writes_nothing() {
    let map = "id=n,discussion=t,created_at=ts,body=b";
    let row = "{\"n\":1,\"t\":\"d\",\"ts\":1500000010,\"b\":\"one\"}\n";
    let header = "id,post_id,parent_id,author,body,created_utc\n1,d,d,a,b,1500000010\n";
    let post = format!("{}\n", post(1, 1, 0));
    let of_posts = |text: String| Format::Discourse.reader(packed(text.into_bytes()));
    let wrong: [(Box<dyn ExportReader>, &str); 7] = [
        (mapped(map, &format!("{row}{{\"n\":2,\"t")), "line 2"),
        (mapped("id=n,discussion=t,created_at=ts,body=c", row), "`c`"),
        (mapped(map, ""), "no discussions"),
        (reddit(&format!("{header}2,d,d,a,\"cut"), None), "line 3"),
        (reddit(&header.replace("body", "text"), None), "`body`"),
        (of_posts(format!("{post}{{\"topic_id\":1,")), "line 2"),
        (
            of_posts(format!("{post}{{\"type\":\"comment\"}}")),
            "no post",
        ),
    ];
    let world = World::empty("x").await;
    for (reader, part) in wrong {
        let report = world.import(reader).await;
        match &report.outcome {
            Outcome::InputBroken(why) => assert!(why.contains(part), "{part}: {why}"),
            other @ (Outcome::Complete | Outcome::StoreFailed(_) | Outcome::Interrupted) => {
                panic!("{part}: {other:?}")
            }
        }
        assert_eq!((report.exit_code(), report.comments.imported), (1, 0));
    }
    world.close().await;
}
