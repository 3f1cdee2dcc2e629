//! WordPress exports: what becomes of each trap on the pages that people read.

use std::io::Cursor;

use threadline::domain::body::plain_text;
use threadline::domain::comment::CommentState;
use threadline::domain::discussion::DiscussionState;
use threadline::import::report::{Note, Reason, Tally};
use threadline::import::wxr::{WxrOptions, zone};
use threadline::import::{self, Format, Outcome, Report, input};

use super::packed::{gzip, zstd};
use super::world::{World, noted};

fn file(items: &[String]) -> Vec<u8> {
    let items = items.concat();
    format!("<rss xmlns:wp=\"x\">\n<channel>\n{items}</channel></rss>").into_bytes()
}

fn post(id: u32, comments: &[String]) -> String {
    format!(
        "<item><title>Post {id} &amp;amp; more</title><link>https://blog.example/{id}/</link>\
         <wp:post_id>{id}</wp:post_id><wp:post_date>2015-01-01 02:00:00</wp:post_date>\
         <wp:post_date_gmt>2015-01-01 00:00:00</wp:post_date_gmt>\
         <wp:comment_status>open</wp:comment_status><wp:status>publish</wp:status>\
         <wp:post_type>post</wp:post_type><wp:post_password></wp:post_password>\n{}</item>\n",
        comments.concat()
    )
}

fn comment(id: u32, parent: u32) -> String {
    format!(
        "<wp:comment><wp:comment_id>{id}</wp:comment_id>\
         <wp:comment_author><![CDATA[Ann]]></wp:comment_author>\
         <wp:comment_author_email>ann@mail.example</wp:comment_author_email>\
         <wp:comment_date>2015-02-01 02:00:{id:02}</wp:comment_date>\
         <wp:comment_date_gmt>2015-02-01 00:00:{id:02}</wp:comment_date_gmt>\
         <wp:comment_content><![CDATA[text {id}\n\nmore]]></wp:comment_content>\
         <wp:comment_approved>1</wp:comment_approved><wp:comment_type></wp:comment_type>\
         <wp:comment_parent>{parent}</wp:comment_parent>\
         <wp:comment_user_id>0</wp:comment_user_id></wp:comment>\n"
    )
}

fn approved(comment: &str, approved: &str) -> String {
    comment.replace("approved>1<", &format!("approved>{approved}<"))
}

async fn import(world: &World, items: &[String]) -> Report {
    let input = Box::new(Cursor::new(file(items)));
    world.import(Format::Wxr.reader(input)).await
}

#[tokio::test]
async fn what_was_imported_is_visible_on_the_page_it_was_written_on() {
    let world = World::empty("wordpress").await;
    let items = [post(1, &[comment(1, 0), comment(2, 1)]), post(2, &[])];
    let report = import(&world, &items).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (2, 2)
    );
    let found = world.discussion_by_url("blog.example/1/").await.unwrap();
    assert_eq!(found.title, "Post 1 & more");
    assert_eq!(
        (found.counts.all.visible, found.counts.roots.visible),
        (2, 1)
    );
    let rows = world.comments(&found).await;
    assert!(rows.iter().all(|row| row.state == CommentState::Published));
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(plain_text(&rows[0].body, rows[0].format), "text 1\n\nmore");
    assert_eq!(
        rows[0].author_id, rows[1].author_id,
        "one author twice is one user"
    );
    assert_eq!(world.name_of(&rows[0]).await, "Ann");
    let again = import(&world, &items).await;
    assert_eq!(
        (again.comments.imported, again.comments.already_there),
        (0, 2)
    );
    world.close().await;
}

#[tokio::test]
async fn a_reply_before_its_parent_stays_below_it_and_one_to_spam_becomes_a_root() {
    let world = World::empty("wordpress").await;
    let ping = comment(7, 0).replace("_type></", "_type>pingback</");
    let comments = [
        comment(3, 2),
        comment(2, 0),
        approved(&comment(4, 0), "spam"),
        comment(5, 4),
        comment(6, 99),
        ping,
        comment(8, 7),
    ];
    let report = import(&world, &[post(1, &comments)]).await;
    assert_eq!(report.comments.skipped.get(&Reason::Spam), Some(&1));
    assert_eq!(report.comments.skipped.get(&Reason::Ping), Some(&1));
    assert_eq!(noted(&report, Note::OrphanParentSkipped), 1);
    assert_eq!(noted(&report, Note::OrphanMissingParent), 2);
    assert_eq!((report.exit_code(), report.comments.imported), (0, 5));
    let rows = world.comments(&*world.discussion("1").await).await;
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert!(rows[2..].iter().all(|row| row.parent_id.is_none()));
    world.close().await;
}

#[tokio::test]
async fn the_trash_leaves_markers_above_replies_and_what_waits_goes_on_waiting() {
    let world = World::empty("wordpress").await;
    let comments = [
        approved(&comment(1, 0), "trash"),
        comment(2, 1),
        approved(&comment(3, 0), "trash"),
        approved(&comment(4, 0), "0"),
    ];
    let report = import(&world, &[post(1, &comments)]).await;
    assert_eq!(report.comments.skipped.get(&Reason::Deleted), Some(&1));
    assert_eq!(noted(&report, Note::Tombstone), 1);
    let rows = world.comments(&*world.discussion("1").await).await;
    let states: Vec<CommentState> = rows.iter().map(|row| row.state).collect();
    let wanted = [
        CommentState::Buried,
        CommentState::Published,
        CommentState::Pending,
    ];
    assert_eq!(states, wanted);
    world.close().await;
}

#[tokio::test]
async fn what_was_not_public_is_found_by_nobody() {
    let world = World::empty("wordpress").await;
    let private = post(1, &[comment(1, 0)]).replace(">publish<", ">private<");
    let secret = post(2, &[comment(2, 0)]).replace("_password><", "_password>pw<");
    let trashed = post(3, &[comment(3, 0)]).replace(">publish<", ">trash<");
    let picture = post(4, &[]).replace(">post<", ">attachment<");
    let closed = post(5, &[comment(5, 0)]).replace(">open<", ">closed<");
    let report = import(&world, &[private, secret, trashed, picture, closed]).await;
    let skipped = |reason| {
        let of = |tally: &Tally| tally.skipped.get(&reason).copied().unwrap_or(0);
        (of(&report.discussions), of(&report.comments))
    };
    assert_eq!(skipped(Reason::NotPublic), (2, 2));
    assert_eq!(
        (skipped(Reason::Deleted), skipped(Reason::DiscussionDeleted)),
        ((1, 0), (0, 1))
    );
    assert_eq!(skipped(Reason::NotDiscussed), (1, 0));
    assert_eq!((report.discussions.imported, report.exit_code()), (1, 0));
    for id in 1..5 {
        let url = format!("blog.example/{id}/");
        assert!(world.discussion_by_url(&url).await.is_none(), "{url}");
    }
    assert_eq!(world.discussion("5").await.state, DiscussionState::Closed);
    world.close().await;
}

#[tokio::test]
async fn a_post_that_occurs_twice_is_one_discussion_with_the_comments_of_both() {
    let world = World::empty("wordpress").await;
    let items = [
        post(1, &[comment(1, 0), comment(2, 1)]),
        post(1, &[comment(2, 1), comment(3, 2)]).replace("Post 1", "Renamed"),
    ];
    let report = import(&world, &items).await;
    assert_eq!(report.discussions.skipped.get(&Reason::Duplicate), Some(&1));
    assert_eq!(report.comments.skipped.get(&Reason::Duplicate), Some(&1));
    let found = world.discussion("1").await;
    assert_eq!(found.title, "Renamed & more");
    let rows = world.comments(&found).await;
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2].ancestors, [rows[0].id, rows[1].id]);
    world.close().await;
}

#[tokio::test]
async fn times_are_never_an_hour_off_nor_1970() {
    let world = World::empty("wordpress").await;
    let zero = "0000-00-00 00:00:00";
    let dated = |id: u32, local: &str, gmt: &str| {
        comment(id, 0)
            .replace(&format!("2015-02-01 02:00:{id:02}"), local)
            .replace(&format!("2015-02-01 00:00:{id:02}"), gmt)
    };
    let comments = [
        dated(1, "2024-03-31 02:30:00", "2024-03-31 00:30:00"),
        dated(2, "2024-03-31 02:30:00", zero),
        dated(3, "2024-03-31 03:30:00", zero),
        dated(4, "2024-10-27 03:30:00", zero),
        dated(5, zero, zero),
    ];
    let options = WxrOptions {
        zone: Some(zone("Europe/Helsinki").unwrap()),
        ..WxrOptions::default()
    };
    let bytes = file(&[post(1, &comments)]);
    let reader = import::wxr(Box::new(Cursor::new(bytes)), options);
    let report = world.import(reader).await;
    for (note, count) in [
        (Note::TimeGap, 1),
        (Note::TimeFold, 1),
        (Note::DateClamped, 1),
    ] {
        assert_eq!(noted(&report, note), count, "{}", report.table());
    }
    let rows = world.comments(&*world.discussion("1").await).await;
    let seconds: Vec<i64> = rows.iter().map(|row| row.id.time_ms() / 1_000).collect();
    let (began, spring, autumn) = (1_420_070_400, 1_711_845_000, 1_729_989_000);
    assert_eq!(seconds, [began, spring, spring, spring + 3_600, autumn]);
    world.close().await;
}

#[tokio::test]
async fn packed_files_are_read_and_cut_ones_write_nothing() {
    let world = World::empty("wordpress").await;
    let whole = file(&[post(1, &[comment(1, 0)])]);
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 9].to_vec();
    let open = |bytes| Format::Wxr.reader(input::plain(Cursor::new(bytes)).unwrap());
    for bytes in [cut(whole.clone()), cut(gzip(&whole)), cut(zstd(&whole))] {
        let report = world.import(open(bytes)).await;
        assert!(
            matches!(report.outcome, Outcome::InputBroken(_)),
            "{report:?}"
        );
        assert_eq!(report.exit_code(), 1);
    }
    assert!(world.discussion_by_url("blog.example/1/").await.is_none());
    let first = world.import(open(gzip(&whole))).await;
    assert_eq!((first.exit_code(), first.comments.imported), (0, 1));
    let second = world.import(open(zstd(&whole))).await;
    assert_eq!((second.exit_code(), second.comments.already_there), (0, 1));
    world.close().await;
}
