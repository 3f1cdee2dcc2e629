//! What Isso's words mean; the database itself is met in the tests of the whole importer.

use super::*;
use crate::domain::body::plain_text;

fn address(uri: &str) -> String {
    let reader = IssoReader {
        pages: mpsc::sync_channel(1).1,
        page: Vec::new().into_iter(),
        site: Url::parse("https://blog.example").unwrap(),
        _copy: None,
    };
    reader.address(uri.to_owned())
}

#[test]
fn a_path_becomes_an_address_of_the_site_and_another_name_stays() {
    assert_eq!(
        address("/2024/a b/?p=1"),
        "https://blog.example/2024/a%20b/?p=1"
    );
    assert_eq!(address("mt_1949"), "mt_1949");
    assert_eq!(address("//other.example/x"), "//other.example/x");
    assert_eq!(
        address("https://other.example/x"),
        "https://other.example/x"
    );
}

#[test]
fn every_line_end_is_a_line_break_except_in_code() {
    let read = |text: &str| plain_text(&with_line_breaks(text), BodyFormat::Markdown);
    assert_eq!(read("a\nb\r\nc\n\nd"), "a\nb\nc\n\nd");
    let has_breaks = "a\n\nb\\\nc  \nd\n";
    assert_eq!(with_line_breaks(has_breaks), has_breaks);
    let code = "```\nx\ny\n```\nz\n    c\nd";
    assert_eq!(with_line_breaks(code), code.replace("z\n", "z  \n"));
}

#[test]
fn a_reader_whose_source_is_gone_does_not_look_finished() {
    let (sender, pages) = mpsc::sync_channel(1);
    drop(sender);
    let mut reader = IssoReader {
        pages,
        page: Vec::new().into_iter(),
        site: Url::parse("https://blog.example").unwrap(),
        _copy: None,
    };
    assert!(reader.next_item().is_err());
}
