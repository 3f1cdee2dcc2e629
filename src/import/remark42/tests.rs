//! The reader against real and broken backups.

use std::io::Cursor;

use super::*;

const META: &str = r#"{"version":1,"users":[{"id":"github_1","blocked":{"status":true,"until":"0001-01-01T00:00:00Z"},"verified":false}],"posts":[{"url":"https://blog.example/closed","read_only":true},{"url":"https://blog.example/quiet","read_only":true}]}"#;
const COMMENT: &str = r#"{"id":"c1","pid":"","text":"<p>one<br/>\ntwo</p>\n","orig":"one\ntwo","user":{"name":"Ann &lt;3","id":"github_1","picture":"https://p.example","ip":"f00","admin":false},"locator":{"site":"blog","url":"https://blog.example/hello"},"score":2,"votes":{"x":true},"vote":0,"time":"2024-03-31T02:30:00.123456789+02:00","edit":{"time":"2024-03-31T01:00:00Z","summary":"s"},"title":"Hello &amp; all","later":1}"#;

fn read(text: &str) -> Result<Vec<SourceItem>, ReadError> {
    let mut reader = Remark42Reader::new(Box::new(Cursor::new(text.as_bytes().to_vec())));
    std::iter::from_fn(|| reader.next_item().transpose()).collect()
}

fn backup(lines: &[&str]) -> Vec<SourceItem> {
    read(&format!("{META}\n{}\n", lines.join("\n"))).unwrap()
}

fn first_comment(line: &str) -> SourceComment {
    let comment = backup(&[line]).into_iter().find_map(|item| match item {
        SourceItem::Comment(comment) => Some(*comment),
        SourceItem::Discussion(_) | SourceItem::Rejected(_) => None,
    });
    comment.unwrap()
}

#[test]
fn a_comment_is_read_as_readers_saw_it_and_its_page_before_it() {
    let items = backup(&[
        COMMENT,
        &COMMENT
            .replace("c1", "c2")
            .replace("\"pid\":\"\"", "\"pid\":\"c1\""),
    ]);
    let [
        SourceItem::Discussion(page),
        SourceItem::Comment(first),
        SourceItem::Comment(second),
        rest @ ..,
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!(page.title, "Hello & all");
    assert_eq!(page.url.as_deref(), Some("https://blog.example/hello"));
    assert!(!page.closed);
    assert_eq!(first.discussion_source_id, page.source_id);
    assert_eq!(
        (first.body.as_str(), first.format),
        ("<p>one<br/>\ntwo</p>\n", BodyFormat::Html)
    );
    assert_eq!(first.created, Ok(1_711_845_000_123));
    assert_eq!(first.edited, Some(Ok(1_711_846_800_000)));
    assert_eq!(
        (first.author.key.as_str(), first.author.name.as_str()),
        ("user:github_1", "Ann <3")
    );
    assert_eq!((first.parent_source_id.as_ref(), first.line), (None, 2));
    assert_eq!(second.parent_source_id.as_deref(), Some("c1"));
    let closed = rest.iter().map(|item| match item {
        SourceItem::Discussion(page) => (page.source_id.as_str(), page.closed),
        other @ (SourceItem::Comment(_) | SourceItem::Rejected(_)) => panic!("{other:?}"),
    });
    let closed: Vec<_> = closed.collect();
    let blog = ["https://blog.example/closed", "https://blog.example/quiet"];
    assert_eq!(
        closed,
        blog.map(|url| (url, true)),
        "read only, though nobody wrote there"
    );
}

#[test]
fn a_read_only_page_stays_closed_and_is_given_once() {
    let items = backup(&[&COMMENT.replace("/hello", "/closed")]);
    let pages = items.iter().filter_map(|item| match item {
        SourceItem::Discussion(page) => Some((page.source_id.as_str(), page.closed)),
        SourceItem::Comment(_) | SourceItem::Rejected(_) => None,
    });
    let blog = ["https://blog.example/closed", "https://blog.example/quiet"];
    assert_eq!(pages.collect::<Vec<_>>(), blog.map(|url| (url, true)));
}

#[test]
fn deleted_comments_and_people_are_nobody() {
    let deleted = first_comment(&COMMENT.replace("\"later\"", "\"delete\":true,\"later\""));
    assert_eq!(deleted.state, SourceState::Deleted);
    let gone = first_comment(&COMMENT.replace("\"github_1\"", "\"deleted\""));
    assert_eq!(
        (gone.author.key.as_str(), gone.author.name.as_str()),
        (ANONYMOUS, "")
    );
    let source = first_comment(&COMMENT.replace(r"<p>one<br/>\ntwo</p>\n", ""));
    assert_eq!(
        (source.body.as_str(), source.format),
        ("one\ntwo", BodyFormat::Markdown)
    );
}

#[test]
fn a_comment_without_id_or_page_is_rejected_with_its_line() {
    for (from, to, reason) in [
        ("\"c1\"", "\"\"", Reason::NoId),
        ("https://blog.example/hello", "", Reason::NoDiscussion),
    ] {
        match &backup(&[&COMMENT.replace(from, to)])[..] {
            [SourceItem::Rejected(row), ..] => assert_eq!((row.reason, row.line), (reason, 2)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_no_backup_or_ends_early_is_an_error_with_its_line() {
    for (text, line, what) in [
        ("", 1, "empty"),
        ("<disqus/>", 1, "no remark42 backup"),
        (COMMENT, 1, "no remark42 backup"),
        (
            &META.replace("\"version\":1", "\"version\":2"),
            1,
            "version 2",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.line == line && error.what.contains(what), "{error}");
    }
    let whole = format!("{META}\n{COMMENT}");
    for cut in META.len() + 2..whole.len() {
        assert_eq!(read(whole.get(..cut).unwrap()).unwrap_err().line, 2);
    }
    assert_eq!(
        read(&format!("\u{feff}{META}\r\n\r\n{COMMENT}"))
            .unwrap()
            .len(),
        4
    );
}
