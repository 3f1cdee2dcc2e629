//! The reader against the traps of real exports and of hostile ones.

use std::io::Cursor;

use super::*;

fn read_bytes(bytes: Vec<u8>) -> Result<Vec<SourceItem>, ReadError> {
    let mut reader = DisqusReader::new(Box::new(Cursor::new(bytes)))?;
    std::iter::from_fn(|| reader.next_item().transpose()).collect()
}

fn read(rows: &str) -> Result<Vec<SourceItem>, ReadError> {
    let root = r#"<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/internals">"#;
    let head = r#"<?xml version="1.0" encoding="utf-8"?>"#;
    read_bytes(format!("{head}\n{root}\n{rows}\n</disqus>").into_bytes())
}

fn comment(rows: &str) -> SourceComment {
    match read(rows).unwrap().pop() {
        Some(SourceItem::Comment(comment)) => *comment,
        other => panic!("{other:?}"),
    }
}

const POST: &str = r#"<post dsq:id="2"><id/><message><![CDATA[<p>a &amp; b</p>]]></message>
<createdAt>2010-11-01T16:48:13Z</createdAt><isDeleted>false</isDeleted><isSpam>false</isSpam>
<author><email>Ann@example.com</email><name>Ann</name><isAnonymous>false</isAnonymous>
<username>ann1</username></author><thread dsq:id="1" /><parent dsq:id="9"/></post>"#;

#[test]
fn a_post_is_read_with_all_it_says() {
    let post = comment(POST);
    assert_eq!(post.source_id, "2");
    assert_eq!(post.discussion_source_id, "1");
    assert_eq!(post.parent_source_id.as_deref(), Some("9"));
    assert_eq!(post.body, "<p>a &amp; b</p>");
    assert_eq!(post.created, Ok(1_288_630_093_000));
    assert_eq!(
        (post.author.key.as_str(), post.author.name.as_str()),
        ("user:ann1", "Ann")
    );
    assert_eq!(post.state, SourceState::Published);
    assert_eq!(post.line, 3);
}

#[test]
fn a_thread_with_an_empty_identifier_is_known_by_its_number() {
    let items = read(
        r#"<thread dsq:id="1"><id/><link>http://a.example/1</link><title>T &lt;1&gt;</title>
        <createdAt>2010-11-01T16:48:13</createdAt><isClosed>true</isClosed></thread>"#,
    );
    let items = items.unwrap();
    let [SourceItem::Discussion(thread)] = &items[..] else {
        panic!("{items:?}");
    };
    assert_eq!(thread.source_id, "1");
    assert_eq!(thread.title, "T <1>");
    assert_eq!(
        thread.created,
        Ok(1_288_630_093_000),
        "Disqus times are UTC"
    );
    assert!(thread.closed && !thread.deleted);
}

#[test]
fn an_author_is_known_by_user_name_else_mail_else_name_and_mail_is_only_a_hash() {
    let by_mail = comment(&POST.replace("<username>ann1</username>", ""));
    assert!(by_mail.author.key.starts_with("mail:"));
    assert!(!by_mail.author.key.contains("example"));
    let other_case = POST
        .replace("<username>ann1</username>", "")
        .replace("Ann@", "ann@");
    assert_eq!(comment(&other_case).author.key, by_mail.author.key);
    let named = POST
        .replace("<username>ann1</username>", "")
        .replace("<email>Ann@example.com</email>", "");
    assert_eq!(comment(&named).author.key, "name:Ann");
    let nobody = named.replace("<name>Ann</name>", "");
    assert_eq!(comment(&nobody).author.key, "anonymous");
}

#[test]
fn posts_without_id_or_thread_are_rejected_with_their_line() {
    for (from, to, reason) in [
        (r#" dsq:id="2""#, "", Reason::NoId),
        (r#"<thread dsq:id="1" />"#, "", Reason::NoDiscussion),
    ] {
        match &read(&POST.replace(from, to)).unwrap()[..] {
            [SourceItem::Rejected(row)] => assert_eq!((row.reason, row.line), (reason, 3)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn spam_beats_deleted_and_a_bad_date_keeps_its_text() {
    let spam = POST
        .replace(">false</isSpam>", "> true </isSpam>")
        .replace("<isDeleted>false", "<isDeleted>true");
    assert_eq!(comment(&spam).state, SourceState::Spam);
    let dated = POST.replace("2010-11-01T16:48:13Z", "0000-00-00");
    assert_eq!(comment(&dated).created, Err("0000-00-00".to_owned()));
}

#[test]
fn a_cut_file_is_an_error_that_names_the_line_wherever_it_is_cut() {
    let whole = format!("<disqus xmlns:dsq=\"x\">\n\n{POST}\n</disqus>");
    for cut in 1..whole.len() - 1 {
        let error = read_bytes(whole.as_bytes()[..cut].to_vec()).expect_err("cut");
        assert!(error.line <= 7, "{error}");
        assert!(error.byte <= u64::try_from(cut).unwrap(), "{error}");
    }
    assert!(read_bytes(whole.into_bytes()).is_ok());
}

#[test]
fn a_declared_encoding_is_obeyed_and_a_wrong_one_is_refused_with_its_place() {
    let xml = |encoding: &str, name: &[u8]| {
        let head =
            format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n<disqus xmlns:dsq=\"x\">\n");
        let post = POST.replace("ann1", "@").replace("<name>Ann", "<name>%");
        let (before, after) = post.split_once('%').unwrap();
        [
            head.as_bytes(),
            before.as_bytes(),
            name,
            after.as_bytes(),
            b"</disqus>",
        ]
        .concat()
    };
    let name = |items: Vec<SourceItem>| match items.first() {
        Some(SourceItem::Comment(comment)) => comment.author.name.clone(),
        other => panic!("{other:?}"),
    };
    let latin = read_bytes(xml("ISO-8859-1", b"Z\xfcrn")).unwrap();
    assert_eq!(name(latin), "Zürn");
    assert_eq!(
        name(read_bytes(xml("utf-8", "Zürn".as_bytes())).unwrap()),
        "Zürn"
    );
    let error = read_bytes(xml("utf-8", b"Z\xfcrn")).unwrap_err();
    assert_eq!(error.line, 5);
    assert!(error.what.contains("UTF-8"), "{error}");
    assert!(
        read_bytes(xml("utf-16", b"Z"))
            .unwrap_err()
            .what
            .contains("utf-16")
    );
    assert!(
        read_bytes(xml("klingon", b"Z"))
            .unwrap_err()
            .what
            .contains("klingon")
    );
}

#[test]
fn utf_16_is_read_by_its_mark() {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-16\"?><disqus xmlns:dsq=\"x\">{POST}</disqus>"
    );
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_bytes(bytes).unwrap().len(), 1);
}

#[test]
fn a_file_that_defines_entities_is_refused_with_its_line() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE disqus [\n<!ENTITY a \"aaaa\">\n<!ENTITY b \"&a;&a;\">\n]>\n<disqus>&b;</disqus>";
    let error = read_bytes(bomb.as_bytes().to_vec()).unwrap_err();
    assert!(error.what.contains("entities"), "{error}");
    assert_eq!(error.line, 5);
    let external = POST.replace("<name>Ann", "<name>&x;Ann&#x41;");
    assert_eq!(
        comment(&external).author.name,
        "&x;AnnA",
        "nothing is looked up"
    );
}

#[test]
fn deep_nesting_large_texts_and_other_formats_are_refused() {
    let deep = format!("<message>{}", "<b>".repeat(100));
    let error = read(&POST.replace("<message>", &deep)).unwrap_err();
    assert!(error.what.contains("deep"), "{error}");
    let large = format!("<message>{}", "x".repeat(5 << 20));
    let error = read(&POST.replace("<message>", &large)).unwrap_err();
    assert!(error.what.contains("larger"), "{error}");
    let pieces = format!("<message>{}", "xxxxxxxxxx<!-- -->".repeat(500_000));
    let error = read(&POST.replace("<message>", &pieces)).unwrap_err();
    assert!(error.what.contains("more than"), "{error}");
    let error = read_bytes(b"<rss><channel/></rss>".to_vec()).unwrap_err();
    assert!(error.what.contains("<rss>"), "{error}");
    for none in ["", "  \n", "a,b,c\n1,2,3"] {
        assert!(read_bytes(none.as_bytes().to_vec()).is_err(), "{none:?}");
    }
}

#[test]
fn markup_that_was_not_escaped_keeps_its_words() {
    let bare = POST.replace("<![CDATA[<p>a &amp; b</p>]]>", "<p>a <b>b</b></p>");
    assert_eq!(comment(&bare).body, "a b");
}
