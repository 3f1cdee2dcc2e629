//! Topics and posts as the API gives them, and what is odd about them.

use serde_json::{Value, json};

use super::*;
use crate::domain::body::BodyFormat;
use crate::import::names::ANONYMOUS;
use crate::import::record::{SourceComment, SourceState};

fn read(text: &str, site: &str) -> Result<Vec<SourceItem>, ReadError> {
    let input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let options = DiscourseOptions {
        site: Url::parse(site).ok(),
    };
    let mut reader = DiscourseReader::new(input, options);
    std::iter::from_fn(|| reader.next_item().transpose()).collect()
}

fn post(topic: i64, number: i64) -> Value {
    json!({
        "id": topic * 100 + number, "topic_id": topic, "post_number": number, "post_type": 1,
        "topic_title": "A <title>", "topic_slug": "a-title", "username": "ann", "user_id": 7,
        "created_at": "2024-05-01T12:00:00.000Z", "updated_at": "2024-05-01T12:00:00.000Z",
        "raw": "*text*", "cooked": "<p><em>text</em></p>", "reads": 3, "reactions": [],
    })
}

fn with(mut post: Value, field: &str, value: impl Into<Value>) -> Value {
    post.as_object_mut()
        .unwrap()
        .insert(field.to_owned(), value.into());
    post
}

fn one(post: &Value) -> SourceComment {
    match read(&post.to_string(), "").unwrap().pop() {
        Some(SourceItem::Comment(comment)) => *comment,
        other => panic!("{other:?}"),
    }
}

fn refused(post: &Value) -> (Reason, String) {
    match &read(&post.to_string(), "").unwrap()[..] {
        [SourceItem::Rejected(row)] => (row.reason, row.source_id.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_topic_is_named_once_before_its_first_post_and_its_opening_post_is_a_root() {
    let reply = with(post(3, 2), "reply_to_post_number", 1);
    let renamed = with(reply, "topic_title", "Another title");
    let lines = format!("\u{feff}{}\r\n\n{renamed}\n{}", post(3, 1), post(4, 1));
    let items = read(&lines, "https://forum.example/sub/").unwrap();
    let [
        SourceItem::Discussion(topic),
        SourceItem::Comment(opening),
        SourceItem::Comment(reply),
        SourceItem::Discussion(other),
        SourceItem::Comment(_),
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!(
        (topic.source_id.as_str(), topic.title.as_str()),
        ("3", "A <title>")
    );
    let address = "https://forum.example/sub/t/a-title/3";
    assert_eq!(topic.url.as_deref(), Some(address));
    assert_eq!((opening.source_id.as_str(), opening.line), ("3/1", 1));
    assert_eq!(opening.parent_source_id, None);
    assert_eq!(opening.edited, None, "nothing was changed since");
    assert_eq!(reply.parent_source_id.as_deref(), Some("3/1"));
    assert_eq!(reply.line, 3);
    assert_eq!(other.source_id, "4");
}

#[test]
fn the_source_text_is_taken_and_the_html_only_where_there_is_none() {
    let comment = one(&post(1, 1));
    assert_eq!(
        (comment.body.as_str(), comment.format),
        ("*text*", BodyFormat::Markdown)
    );
    for raw in [Value::Null, json!(" ")] {
        let comment = one(&with(post(1, 1), "raw", raw));
        assert_eq!(comment.format, BodyFormat::Html);
        assert_eq!(comment.body, "<p><em>text</em></p>");
    }
    let empty = with(with(post(1, 1), "raw", ""), "cooked", Value::Null);
    assert_eq!(one(&empty).body, "");
}

#[test]
fn what_nobody_should_read_is_hidden_or_deleted() {
    let state = |field: &str, value: Value| one(&with(post(1, 1), field, value)).state;
    assert_eq!(state("hidden", json!(true)), SourceState::Hidden);
    assert_eq!(
        state("post_type", json!(4)),
        SourceState::Hidden,
        "a whisper"
    );
    assert_eq!(state("user_deleted", json!(true)), SourceState::Deleted);
    let deleted = state("deleted_at", json!("2024-05-02T00:00:00Z"));
    assert_eq!(deleted, SourceState::Deleted);
    assert_eq!(state("deleted_at", Value::Null), SourceState::Published);
    assert_eq!(state("post_type", json!(2)), SourceState::Published);
}

#[test]
fn notices_and_posts_without_a_place_are_left_out_for_a_reason() {
    let notice = with(post(1, 2), "post_type", 3);
    assert_eq!(refused(&notice), (Reason::NotAComment, "1/2".to_owned()));
    let lost = with(post(1, 2), "topic_id", Value::Null);
    assert_eq!(refused(&lost).0, Reason::NoDiscussion);
    let nameless = with(post(1, 2), "post_number", Value::Null);
    assert_eq!(refused(&nameless).0, Reason::NoId);
}

#[test]
fn a_change_is_what_moved_the_time_of_the_post() {
    let corrected = with(post(1, 1), "updated_at", "2024-05-01T12:01:00.000Z");
    assert_eq!(one(&corrected).edited, Some(Ok(1_714_564_860_000)));
    let unreadable = with(post(1, 1), "created_at", "soon");
    let comment = one(&unreadable);
    assert_eq!(comment.created, Err("soon".to_owned()));
    assert_eq!(comment.edited, Some(Ok(1_714_564_800_000)));
    let nothing = with(post(1, 1), "created_at", Value::Null);
    assert_eq!(one(&nothing).created, Err(String::new()), "never 1970");
}

#[test]
fn an_author_is_a_number_and_is_shown_by_full_name_else_by_user_name() {
    assert_eq!(one(&post(1, 1)).author.key, "id:7");
    assert_eq!(one(&post(1, 1)).author.name, "ann");
    let named = with(post(1, 1), "name", "Ann B.");
    assert_eq!(one(&named).author.name, "Ann B.");
    let numberless = with(post(1, 1), "user_id", Value::Null);
    assert_eq!(one(&numberless).author.key, "user:ann");
    let gone = with(numberless, "username", Value::Null);
    assert_eq!(one(&gone).author.key, ANONYMOUS);
    assert_eq!(one(&gone).author.name, "");
}

#[test]
fn documents_of_topics_and_lists_of_posts_hold_posts_too() {
    let topic = json!({
        "id": 9, "title": "Closed", "slug": "closed", "closed": true,
        "created_at": "2024-05-01T11:00:00Z",
        "post_stream": {"posts": [post(9, 1), post(9, 2)], "stream": [901, 902]},
    });
    let list = json!({"latest_posts": [post(5, 8)]});
    // As `curl` leaves them: one behind the other on one line.
    let items = read(&format!("{topic}{list}"), "https://forum.example").unwrap();
    let [
        SourceItem::Discussion(closed),
        SourceItem::Comment(_),
        SourceItem::Comment(second),
        SourceItem::Discussion(five),
        SourceItem::Comment(eighth),
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert!(closed.closed && !five.closed);
    assert_eq!((closed.title.as_str(), closed.line), ("Closed", 1));
    assert_eq!(closed.created, Ok(1_714_561_200_000));
    let address = "https://forum.example/t/closed/9";
    assert_eq!(closed.url.as_deref(), Some(address));
    assert_eq!(second.source_id, "9/2");
    assert_eq!(eighth.source_id, "5/8");
}

#[test]
fn what_is_no_post_stops_with_its_place() {
    let error = read(r#"{"type":"comment","id":"1","body":"a"}"#, "").unwrap_err();
    assert!(error.what.contains("post_number"), "{error}");
    let cut = format!("{}\n{}", post(1, 1), r#"{"id":1,"topic_id":2,"po"#);
    let error = read(&cut, "").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.what.contains("EOF"), "{error}");
    let error = read(r#"{"topic_id":1,"post_number":[1]}"#, "").unwrap_err();
    assert_eq!((error.line, error.byte), (1, 28));
    assert!(error.what.contains("text or a number"), "{error}");
}
