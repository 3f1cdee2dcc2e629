//! Broken input writes nothing, and says where it is broken.

use std::io::{Cursor, Write as _};

use threadline::import::{Format, Outcome, Report, input};

use super::world::World;

const WHOLE: &str = "<disqus xmlns:dsq=\"x\">\n<thread dsq:id=\"1\"><link>http://a.example/1</link>\
<createdAt>2015-01-01T00:00:00Z</createdAt></thread>\n<post dsq:id=\"2\"><message>text</message>\
<createdAt>2015-01-01T00:00:00Z</createdAt><thread dsq:id=\"1\"/></post>\n</disqus>\n";

fn why(report: &Report) -> &str {
    match &report.outcome {
        Outcome::InputBroken(why) => why,
        other @ (Outcome::Complete | Outcome::StoreFailed(_) | Outcome::Interrupted) => {
            panic!("{other:?}")
        }
    }
}

async fn import(world: &World, bytes: Vec<u8>) -> Report {
    let input = input::plain(Cursor::new(bytes)).unwrap();
    world.import(Format::Disqus.reader(input)).await
}

#[tokio::test]
async fn a_cut_file_writes_nothing_and_says_where_it_ends() {
    let world = World::empty("disqus").await;
    let report = import(&world, WHOLE.as_bytes()[..WHOLE.len() - 12].to_vec()).await;
    assert!(why(&report).contains("line 3"), "{report:?}");
    assert_eq!(report.exit_code(), 1);
    assert_eq!(
        (report.discussions.not_written, report.comments.imported),
        (1, 0)
    );
    assert!(world.discussion_by_url("a.example/1").await.is_none());
    let whole = import(&world, WHOLE.as_bytes().to_vec()).await;
    assert_eq!((whole.exit_code(), whole.comments.imported), (0, 1));
    world.close().await;
}

#[tokio::test]
async fn a_cut_gzip_file_writes_nothing() {
    let world = World::empty("disqus").await;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(WHOLE.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let report = import(&world, packed[..packed.len() - 9].to_vec()).await;
    assert_eq!((report.exit_code(), report.discussions.imported), (1, 0));
    assert_eq!(import(&world, packed).await.exit_code(), 0);
    world.close().await;
}

#[tokio::test]
async fn wrong_bytes_and_defined_entities_write_nothing() {
    let world = World::empty("disqus").await;
    let latin = WHOLE.replace("text", "t%xt").into_bytes();
    let latin = latin
        .iter()
        .map(|byte| if *byte == b'%' { 0xe4 } else { *byte });
    let report = import(&world, latin.collect()).await;
    assert!(why(&report).starts_with("line 3, byte "), "{report:?}");
    let bomb = format!("<!DOCTYPE disqus [<!ENTITY a \"aaaaaaaa\">]>\n{WHOLE}");
    let report = import(&world, bomb.into_bytes()).await;
    assert!(why(&report).contains("line 1") && why(&report).contains("entities"));
    assert!(world.discussion_by_url("a.example/1").await.is_none());
    world.close().await;
}

#[tokio::test]
async fn what_is_no_export_at_all_has_a_report_too() {
    let world = World::empty("disqus").await;
    for text in [
        "",
        "a,b\n",
        "<rss/>",
        "<?xml version=\"1.0\" encoding=\"klingon\"?><disqus/>",
    ] {
        let report = import(&world, text.as_bytes().to_vec()).await;
        assert!(!why(&report).is_empty());
        assert_eq!(report.exit_code(), 1);
    }
    world.close().await;
}

#[tokio::test]
async fn an_export_with_nothing_in_it_is_no_success() {
    let world = World::empty("disqus").await;
    let report = import(&world, b"<disqus></disqus>".to_vec()).await;
    assert_eq!(report.exit_code(), 1);
    assert!(why(&report).contains("no discussions"));
    world.close().await;
}

#[tokio::test]
async fn a_misspelt_field_stops_the_file_before_anything_is_written() {
    let world = World::empty("forum").await;
    let text = "{\"type\":\"discussion\",\"id\":\"d\",\"url\":\"https://a.example/1\"}\n\
                {\"type\":\"comment\",\"id\":\"1\",\"discussion\":\"d\",\"body\":\"a\",\"parnt\":\"0\"}\n";
    let input = input::plain(Cursor::new(text.as_bytes())).unwrap();
    let report = world.import(Format::Jsonl.reader(input)).await;
    assert!(why(&report).contains("line 2") && why(&report).contains("parnt"));
    assert!(world.discussion_by_url("a.example/1").await.is_none());
    world.close().await;
}
