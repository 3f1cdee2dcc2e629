//! Foreign lines under a map.

use std::io::Cursor;

use super::map::{FieldMap, Mapping};
use super::mapped::MappedReader;
use super::*;
use crate::import::names::ANONYMOUS;

fn read(map: &str, text: &str) -> Result<Vec<SourceItem>, ReadError> {
    let mappings: Vec<Mapping> = map.split(',').map(|one| one.parse().unwrap()).collect();
    let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut reader = MappedReader::new(input, FieldMap::new(mappings).unwrap());
    std::iter::from_fn(|| reader.next_item().transpose()).collect()
}

fn comments(map: &str, text: &str) -> Vec<SourceComment> {
    let items = read(map, text).unwrap().into_iter();
    items
        .filter_map(|item| match item {
            SourceItem::Comment(comment) => Some(*comment),
            SourceItem::Discussion(_) => None,
            SourceItem::Rejected(row) => panic!("{row:?}"),
        })
        .collect()
}

const NEEDED: &str = "id=id,discussion=thread,created_at=ts,body=text";

#[test]
fn fields_are_taken_by_their_foreign_names_and_others_passed() {
    let map = format!(
        "{NEEDED},parent=re,author=from.id,name=from.name,title=subject,edited_at=changed,format:=markdown"
    );
    let text = concat!(
        "\u{feff}{\"id\":1,\"thread\":\"t\",\"ts\":\"2024-05-01T12:00:00+02:00\",\"text\":\"a\",\"subject\":\"\",\"re\":null,\"from\":{\"id\":5,\"name\":\"Ann\"},\"x\":[1]}\r\n",
        "\n",
        "{\"id\":\"2\",\"thread\":\"t\",\"ts\":1714564800,\"text\":\"b\",\"subject\":\"S\",\"re\":1,\"from\":null,\"changed\":1714564900000}\n",
        "{\"id\":\"3\",\"thread\":\"t\",\"ts\":\"1714564801.5\",\"text\":\"c\",\"subject\":\"Re: S\"}",
    );
    let items = read(&map, text).unwrap();
    let [
        SourceItem::Comment(first),
        SourceItem::Discussion(thread),
        SourceItem::Comment(second),
        SourceItem::Comment(third),
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!(
        (first.source_id.as_str(), first.created.as_ref()),
        ("1", Ok(&1_714_557_600_000))
    );
    assert_eq!(
        (first.author.key.as_str(), first.author.name.as_str()),
        ("user:5", "Ann")
    );
    assert_eq!(
        (first.edited.as_ref(), first.format),
        (None, BodyFormat::Markdown)
    );
    assert_eq!(thread.title, "S", "the first row that names it");
    assert_eq!(second.parent_source_id.as_deref(), Some("1"));
    assert_eq!(
        second.created,
        Ok(1_714_564_800_000),
        "a number below 10^11 is seconds"
    );
    assert_eq!(
        second.edited,
        Some(Ok(1_714_564_900_000)),
        "a larger one is ms"
    );
    assert_eq!(second.author.key, ANONYMOUS);
    assert_eq!(third.created, Ok(1_714_564_801_500));
    assert_eq!((first.line, second.line, third.line), (1, 3, 4));
}

#[test]
fn a_field_that_no_row_has_is_an_error_at_the_end() {
    let row = r#"{"id":1,"thread":"t","ts":1,"text":"a","re":null}"#;
    let error = read(&format!("{NEEDED},parent=parnt"), row).unwrap_err();
    assert!(
        error.what.contains("`parnt`") && error.what.contains("`parent`"),
        "{error}"
    );
    assert!(
        read(&format!("{NEEDED},parent=re"), row).is_ok(),
        "nothing is no typing mistake"
    );
    let error = read("id=id,discussion=thread,created_at=ts,body=bodi", row).unwrap_err();
    assert!(error.what.contains("`bodi`"), "{error}");
    assert!(read(NEEDED, "").unwrap().is_empty());
}

#[test]
fn states_are_names_or_whatever_says_yes() {
    let map = format!("{NEEDED},state=s,deleted=gone_at,hidden=h");
    let row = |more: &str| {
        let row = r#"{"id":1,"thread":"t","ts":1,"text":"a","s":"","gone_at":0,"h":false}"#;
        let gone = format!(
            "{}\n{}",
            row,
            row.replace(r#""s":"","gone_at":0,"h":false"#, more)
        );
        comments(&map, &gone).pop().unwrap().state
    };
    assert_eq!(row(r#""s":"pending""#), SourceState::Pending);
    assert_eq!(row(r#""gone_at":"2024-05-01""#), SourceState::Deleted);
    assert_eq!(row(r#""gone_at":null,"h":"false""#), SourceState::Published);
    assert_eq!(row(r#""h":1"#), SourceState::Hidden);
    let odd = r#"{"id":1,"thread":"t","ts":1,"text":"a","s":"approved"}"#;
    let error = read(&format!("{NEEDED},state=s"), odd).unwrap_err();
    assert!(
        error.what.contains("approved") && error.what.contains("pending"),
        "{error}"
    );
}

#[test]
fn addresses_of_mail_are_hashed_and_an_entity_may_be_named() {
    let map = "id=id,discussion:=all,created_at=ts,body=text,author=from,entity_type:=list,entity_id=list";
    let row = r#"{"id":1,"ts":1,"text":"a","from":"Ann@Example.com","list":7}"#;
    let items = read(map, row).unwrap();
    let [SourceItem::Discussion(list), SourceItem::Comment(comment)] = &items[..] else {
        panic!("{items:?}");
    };
    assert_eq!(list.source_id, "all");
    assert_eq!(list.entity, Some(("list".to_owned(), "7".to_owned())));
    assert!(comment.author.key.starts_with("mail:"));
    assert!(!comment.author.key.to_lowercase().contains("ann"));
}

#[test]
fn rows_without_id_or_discussion_are_left_out_and_odd_values_stop_with_their_place() {
    let rows = "{\"thread\":\"t\",\"ts\":1,\"text\":\"a\"}\n{\"id\":2,\"thread\":null,\"ts\":1,\"text\":\"a\"}";
    let reasons: Vec<Reason> = (read(NEEDED, rows).unwrap().into_iter())
        .map(|item| match item {
            SourceItem::Rejected(row) => row.reason,
            other @ (SourceItem::Discussion(_) | SourceItem::Comment(_)) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(reasons, [Reason::NoId, Reason::NoDiscussion]);
    let error = read(
        NEEDED,
        "\n{\"id\":1,\"thread\":\"t\",\"ts\":1,\"text\":[\"a\"]}",
    )
    .unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.what.contains("`text` holds a list"), "{error}");
    assert_eq!(read(NEEDED, "[1]").unwrap_err().line, 1);
    let error = read(NEEDED, "{\"id\":1}\n{\"id\":2,\"thre").unwrap_err();
    assert_eq!((error.line, error.byte), (2, 21));
}

#[test]
fn a_time_that_is_none_stays_its_text() {
    for time in [
        "\"2024-05-01 12:00:00\"",
        "\"soon\"",
        "null",
        "1714564800000000",
    ] {
        let row = format!(r#"{{"id":1,"thread":"t","ts":{time},"text":"a"}}"#);
        let read = comments(NEEDED, &row);
        assert!(read[0].created.is_err(), "{time}: {read:?}");
    }
}
