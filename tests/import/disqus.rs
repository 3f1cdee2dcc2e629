//! Disqus exports, a synthetic one for each trap.

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::CommentState;
use threadline::domain::discussion::DiscussionState;
use threadline::import::report::{Note, Reason};

use super::world::{NOW_MS, World, noted};

fn thread(id: u32, more: &str) -> String {
    format!(
        "<thread dsq:id=\"{id}\"><id/><link>http://blog.example/{id}?p={id}&amp;utm=1</link>\
         <title>Thread {id}</title><createdAt>2015-01-01T00:00:00Z</createdAt>{more}</thread>"
    )
}

fn post(id: u32, parent: u32, more: &str) -> String {
    let parent = if parent == 0 {
        String::new()
    } else {
        format!("<parent dsq:id=\"{parent}\"/>")
    };
    format!(
        "<post dsq:id=\"{id}\"><message><![CDATA[<p>post {id}</p>]]></message>\
         <createdAt>2015-02-01T00:{id:02}:00Z</createdAt><author><name>Ann</name>\
         <username>ann</username></author><thread dsq:id=\"1\"/>{parent}{more}</post>"
    )
}

#[tokio::test]
async fn a_thread_with_an_empty_id_is_imported_with_its_address() {
    let world = World::empty("disqus").await;
    let report = world
        .disqus(&(thread(1, "<isClosed>true</isClosed>") + &post(1, 0, "")))
        .await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    let found = world.discussion_by_url("blog.example/1?p=1").await.unwrap();
    assert_eq!(found.title, "Thread 1");
    assert_eq!(found.state, DiscussionState::Closed);
    assert_eq!(found.id, world.discussion("1").await.id);
    let rows = world.comments(&found).await;
    assert_eq!(rows[0].body, "<p>post 1</p>");
    assert_eq!(rows[0].format, BodyFormat::Html);
    assert_eq!(rows[0].id.time_ms(), 1_422_748_860_000);
    world.close().await;
}

#[tokio::test]
async fn an_author_without_mail_is_fine_and_one_author_twice_is_one_user() {
    let world = World::empty("disqus").await;
    let other = post(3, 0, "").replace("<username>ann</username>", "");
    let mail = "<email>bob@mail.example</email><name>bob@mail.example</name>";
    let masked = post(4, 0, "").replace("<name>Ann</name><username>ann</username>", mail);
    let nobody = post(5, 0, "").replace("<name>Ann</name><username>ann</username>", "");
    let rows = [
        thread(1, ""),
        post(1, 0, ""),
        post(2, 1, ""),
        other,
        masked,
        nobody,
    ];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.comments.imported, 5, "{}", report.table());
    let rows = world.comments(&*world.discussion("1").await).await;
    assert_eq!(rows[0].author_id, rows[1].author_id);
    assert_ne!(
        rows[0].author_id, rows[2].author_id,
        "a name alone is somebody else"
    );
    assert_eq!(world.name_of(&rows[0]).await, "Ann");
    assert_eq!(world.name_of(&rows[2]).await, "Ann");
    assert_eq!(
        world.name_of(&rows[3]).await,
        "",
        "an address of mail is not shown"
    );
    assert_eq!(noted(&report, Note::NameDropped), 1);
    assert_eq!(world.name_of(&rows[4]).await, "");
    world.close().await;
}

#[tokio::test]
async fn a_reply_before_its_parent_and_posts_before_their_thread_keep_their_tree() {
    let world = World::empty("disqus").await;
    let rows = [
        post(3, 2, ""),
        post(2, 1, ""),
        post(1, 0, ""),
        thread(1, ""),
    ];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    let rows = world.comments(&*world.discussion("1").await).await;
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(rows[2].ancestors, [rows[0].id, rows[1].id]);
    world.close().await;
}

#[tokio::test]
async fn spam_is_skipped_and_its_reply_becomes_a_root_that_is_reported() {
    let world = World::empty("disqus").await;
    let spam = post(1, 0, "<isSpam>true</isSpam>");
    let rows = [thread(1, ""), spam, post(2, 1, ""), post(3, 99, "")];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.comments.skipped.get(&Reason::Spam), Some(&1));
    assert_eq!(noted(&report, Note::OrphanParentSkipped), 1);
    assert_eq!(noted(&report, Note::OrphanMissingParent), 1);
    let named: Vec<&str> = report
        .oddities
        .iter()
        .map(|one| one.source_id.as_str())
        .collect();
    assert_eq!(named, ["1", "2", "3"]);
    let rows = world.comments(&*world.discussion("1").await).await;
    assert!(rows.len() == 2 && rows.iter().all(|row| row.parent_id.is_none()));
    world.close().await;
}

#[tokio::test]
async fn a_deleted_thread_is_skipped_with_its_posts_and_an_unknown_one_rejects_them() {
    let world = World::empty("disqus").await;
    let stray = post(2, 0, "").replace("<thread dsq:id=\"1\"/>", "<thread dsq:id=\"7\"/>");
    let rows = [
        post(1, 0, ""),
        thread(1, "<isDeleted>true</isDeleted>"),
        stray,
        thread(3, ""),
    ];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.discussions.skipped.get(&Reason::Deleted), Some(&1));
    assert_eq!(report.discussions.imported, 1, "the empty one");
    assert_eq!(
        report.comments.skipped.get(&Reason::DiscussionDeleted),
        Some(&1)
    );
    assert_eq!(
        report.comments.rejected.get(&Reason::DiscussionMissing),
        Some(&1)
    );
    assert_eq!(report.exit_code(), 3);
    assert!(
        world
            .discussion_by_url("blog.example/1?p=1")
            .await
            .is_none()
    );
    world.close().await;
}

#[tokio::test]
async fn a_post_without_id_is_rejected_and_the_rest_goes_on() {
    let world = World::empty("disqus").await;
    let unnamed = post(1, 0, "").replace(" dsq:id=\"1\"><message>", "><message>");
    let report = world
        .disqus(&[thread(1, ""), unnamed, post(2, 0, "")].concat())
        .await;
    assert_eq!(report.comments.rejected.get(&Reason::NoId), Some(&1));
    assert_eq!(report.comments.imported, 1);
    assert_eq!(report.exit_code(), 3);
    world.close().await;
}

#[tokio::test]
async fn a_bad_date_takes_its_parents_or_the_threads_time_and_is_never_1970() {
    let world = World::empty("disqus").await;
    let dated = |id: u32, parent: u32, date: &str| {
        post(id, parent, "").replace(&format!("2015-02-01T00:{id:02}:00Z"), date)
    };
    let rows = [
        thread(1, ""),
        dated(1, 0, "0000-00-00 00:00:00"),
        dated(2, 0, "1970-01-01T00:00:00Z"),
        post(3, 0, ""),
        dated(4, 3, ""),
        dated(5, 0, "2126-01-01T00:00:00Z"),
    ];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(noted(&report, Note::DateClamped), 4);
    let rows = world.comments(&*world.discussion("1").await).await;
    let times: Vec<i64> = rows.iter().map(|row| row.id.time_ms()).collect();
    let (began_ms, third_ms) = (1_420_070_400_000, 1_422_748_980_000);
    assert_eq!(times[..3], [began_ms, began_ms, third_ms]);
    assert!(
        (third_ms..third_ms + 5).contains(&times[3]),
        "just behind its parent"
    );
    assert_eq!(times[4], NOW_MS);
    world.close().await;
}

#[tokio::test]
async fn deleted_and_invisible_posts_stay_only_as_tombstones_above_replies() {
    let world = World::empty("disqus").await;
    let blank = post(3, 0, "").replace("<p>post 3</p>", "<p>\u{200b}<br></p>");
    let rows = [
        thread(1, ""),
        post(1, 0, "<isDeleted>true</isDeleted>"),
        post(2, 1, ""),
        blank.clone(),
        post(4, 3, ""),
        blank.replace("\"3\"", "\"5\""),
        post(6, 2, "<isDeleted>true</isDeleted>"),
    ];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.comments.imported, 4, "{}", report.table());
    assert_eq!(noted(&report, Note::Tombstone), 2);
    assert_eq!(report.comments.skipped_total(), 2);
    let rows = world.comments(&*world.discussion("1").await).await;
    let buried = rows.iter().filter(|row| row.state == CommentState::Buried);
    for row in buried.clone() {
        assert!(row.body.is_empty() && row.author_id.get() == 0 && row.live_below);
    }
    assert_eq!(buried.count(), 2);
    world.close().await;
}

#[tokio::test]
async fn an_over_long_post_is_rejected_with_its_length_or_a_tombstone_above_replies() {
    let world = World::empty("disqus").await;
    let long =
        |id: u32| post(id, 0, "").replace(&format!("post {id}<"), &("x".repeat(10_001) + "<"));
    let rows = [thread(1, ""), long(1), long(2), post(3, 2, "")];
    let report = world.disqus(&rows.concat()).await;
    assert_eq!(report.comments.rejected.get(&Reason::TooLong), Some(&1));
    assert_eq!(noted(&report, Note::TextLost), 1);
    assert_eq!(report.exit_code(), 3);
    let details = report.oddities.iter().map(|one| &one.detail);
    assert!(
        details.clone().all(|detail| detail.contains("limit 10000")),
        "{report:?}"
    );
    assert_eq!(world.comments(&*world.discussion("1").await).await.len(), 2);
    world.close().await;
}

#[tokio::test]
async fn two_threads_of_one_address_stay_two_discussions_and_are_reported() {
    let world = World::empty("disqus").await;
    let twin = thread(2, "").replace("/2?p=2", "/1?p=1");
    let report = world
        .disqus(&[thread(1, ""), twin, post(1, 0, "")].concat())
        .await;
    assert_eq!(report.discussions.imported, 2);
    assert_eq!(noted(&report, Note::UrlTaken), 1);
    assert_eq!(world.discussion("2").await.url, None);
    let holder = world.discussion_by_url("blog.example/1?p=1").await.unwrap();
    assert_eq!(holder.id, world.discussion("1").await.id);
    world.close().await;
}

#[tokio::test]
async fn of_two_threads_with_one_number_the_later_is_taken_and_the_other_counted() {
    let world = World::empty("disqus").await;
    let later = thread(1, "").replace("Thread 1", "Renamed");
    let report = world
        .disqus(&[thread(1, ""), post(1, 0, ""), later].concat())
        .await;
    assert_eq!(report.discussions.skipped.get(&Reason::Duplicate), Some(&1));
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (1, 1)
    );
    assert_eq!(world.discussion("1").await.title, "Renamed");
    world.close().await;
}

#[tokio::test]
async fn a_chain_of_three_hundred_keeps_every_level() {
    let world = World::empty("disqus").await;
    let chain: String = (1..=300).rev().map(|id| post(id, id - 1, "")).collect();
    let chain = chain.replace("00:300:00Z", "00:00:00Z");
    let report = world.disqus(&(chain + &thread(1, ""))).await;
    assert_eq!(report.comments.imported, 300, "{}", report.table());
    let rows = world.comments(&*world.discussion("1").await).await;
    assert_eq!(
        rows.iter()
            .map(threadline::domain::comment::Comment::depth)
            .max(),
        Some(299)
    );
    world.close().await;
}
