//! The reader against what WordPress, its plug-ins and other systems write.

use std::io::Cursor;

use super::*;
use crate::import::record::{SourceComment, SourceDiscussion, SourceState};
use crate::import::report::{Note, Reason, What};

const RSS: &str = r#"<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">"#;

struct Read {
    items: Vec<SourceItem>,
    notes: Vec<Oddity>,
}

fn read_bytes(bytes: Vec<u8>, options: WxrOptions) -> Result<Read, ReadError> {
    let mut reader = WxrReader::new(Box::new(Cursor::new(bytes)), options)?;
    let (mut items, mut notes) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next_item()? {
        items.push(item);
        notes.extend(reader.take_notes());
    }
    Ok(Read { items, notes })
}

fn file(items: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n{RSS}\n<channel>\n{items}\n</channel></rss>\n"
    )
}

fn read_with(items: &str, options: WxrOptions) -> Read {
    read_bytes(file(items).into_bytes(), options).unwrap()
}

fn read(items: &str) -> Vec<SourceItem> {
    read_with(items, WxrOptions::default()).items
}

fn item(fields: &str, comments: &str) -> String {
    format!(
        "<item><title>Hello</title><link>https://blog.example/hello/</link>\
         <wp:post_id>7</wp:post_id><wp:post_date>2024-03-01 12:00:00</wp:post_date>\
         <wp:post_date_gmt>2024-03-01 10:00:00</wp:post_date_gmt>\
         <wp:comment_status>open</wp:comment_status><wp:status>publish</wp:status>\
         <wp:post_type>post</wp:post_type><wp:post_password></wp:post_password>{fields}{comments}</item>"
    )
}

const COMMENT: &str = "<wp:comment><wp:comment_id>31</wp:comment_id>\
<wp:comment_author><![CDATA[Tom &amp; Ann]]></wp:comment_author>\
<wp:comment_author_email><![CDATA[Ann@mail.example]]></wp:comment_author_email>\
<wp:comment_author_url>https://ann.example</wp:comment_author_url>\
<wp:comment_author_IP>192.0.2.1</wp:comment_author_IP>\
<wp:comment_date><![CDATA[2024-03-31 02:30:00]]></wp:comment_date>\
<wp:comment_date_gmt><![CDATA[2024-03-31 00:30:00]]></wp:comment_date_gmt>\
<wp:comment_content><![CDATA[one\n\ntwo]]></wp:comment_content>\
<wp:comment_approved><![CDATA[1]]></wp:comment_approved>\
<wp:comment_type><![CDATA[comment]]></wp:comment_type>\
<wp:comment_parent>30</wp:comment_parent><wp:comment_user_id>0</wp:comment_user_id>\
<wp:commentmeta><wp:meta_key>k</wp:meta_key><wp:meta_value>v</wp:meta_value></wp:commentmeta>\
</wp:comment>";

fn with(field: &str, value: &str) -> String {
    let (open, close) = (format!("<wp:{field}>"), format!("</wp:{field}>"));
    let (before, rest) = COMMENT.split_once(&open).unwrap();
    let (_, after) = rest.split_once(&close).unwrap();
    format!("{before}{open}{value}{close}{after}")
}

fn comment_of(items: &[SourceItem]) -> &SourceComment {
    match items {
        [SourceItem::Comment(comment), ..] => comment,
        other => panic!("{other:?}"),
    }
}

fn discussion_of(items: &[SourceItem]) -> &SourceDiscussion {
    match items {
        [.., SourceItem::Discussion(discussion)] => discussion,
        other => panic!("{other:?}"),
    }
}

fn reason_of(items: &[SourceItem]) -> Reason {
    match items {
        [SourceItem::Rejected(row), ..] => row.reason,
        other => panic!("{other:?}"),
    }
}

fn ms(rfc3339: &str) -> i64 {
    rfc3339.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn helsinki() -> WxrOptions {
    WxrOptions {
        zone: Some(zone("Europe/Helsinki").unwrap()),
        ..WxrOptions::default()
    }
}

#[test]
fn a_comment_is_read_with_all_it_says_and_its_post_after_it() {
    let items = read(&item("", COMMENT));
    let comment = comment_of(&items);
    assert_eq!(
        (
            comment.source_id.as_str(),
            comment.discussion_source_id.as_str()
        ),
        ("31", "7")
    );
    assert_eq!(comment.parent_source_id.as_deref(), Some("30"));
    assert_eq!(comment.author.name, "Tom & Ann");
    assert!(comment.author.key.starts_with("mail:") && !comment.author.key.contains('@'));
    assert_eq!(comment.body, "<p>one</p>\n\n<p>two</p>");
    assert_eq!(comment.state, SourceState::Published);
    assert_eq!(comment.created, Ok(ms("2024-03-31T00:30:00Z")));
    assert_eq!(comment.line, 4);
    let post = discussion_of(&items);
    assert_eq!(
        (post.source_id.as_str(), post.title.as_str()),
        ("7", "Hello")
    );
    assert_eq!(post.url.as_deref(), Some("https://blog.example/hello/"));
    assert_eq!(post.created, Ok(ms("2024-03-01T10:00:00Z")));
    assert!(!post.closed && !post.deleted);
    assert_eq!(items.len(), 2);
}

/// GMT and local text, whether the zone is given, the right time, and what is noted.
type TimeCase = (
    &'static str,
    &'static str,
    Option<()>,
    &'static str,
    Option<Note>,
);

const ZERO: &str = "0000-00-00 00:00:00";
const TIMES: [TimeCase; 9] = [
    (
        "2024-03-31 00:30:00",
        "2024-03-31 02:30:00",
        None,
        "2024-03-31T00:30:00Z",
        None,
    ),
    (
        "2024-03-31 00:30:00",
        "2024-03-31 02:30:00",
        Some(()),
        "2024-03-31T00:30:00Z",
        None,
    ),
    (
        ZERO,
        "2024-03-31 02:30:00",
        Some(()),
        "2024-03-31T00:30:00Z",
        None,
    ),
    (
        "",
        "2024-03-31 02:30:00",
        Some(()),
        "2024-03-31T00:30:00Z",
        None,
    ),
    (
        "-0001-11-30 00:00:00",
        "2024-07-01 12:00:00",
        Some(()),
        "2024-07-01T09:00:00Z",
        None,
    ),
    (
        "1970-01-01 00:00:00",
        "2024-07-01 12:00:00",
        Some(()),
        "2024-07-01T09:00:00Z",
        None,
    ),
    (
        ZERO,
        "2024-03-31 03:30:00",
        Some(()),
        "2024-03-31T01:30:00Z",
        Some(Note::TimeGap),
    ),
    (
        ZERO,
        "2024-10-27 03:30:00",
        Some(()),
        "2024-10-27T00:30:00Z",
        Some(Note::TimeFold),
    ),
    (
        ZERO,
        "2024-07-01 12:00:00",
        None,
        "2024-07-01T12:00:00Z",
        Some(Note::ZoneAssumed),
    ),
];

#[test]
fn a_real_gmt_time_is_taken_and_the_local_one_only_where_it_is_zero() {
    for (gmt, local, zone, time, note) in TIMES {
        let dates = with("comment_date", local).replace("<![CDATA[2024-03-31 00:30:00]]>", gmt);
        let options = zone.map_or_else(WxrOptions::default, |()| helsinki());
        let read = read_with(&item("", &dates), options);
        assert_eq!(
            comment_of(&read.items).created,
            Ok(ms(time)),
            "{gmt} {local}"
        );
        let noted: Vec<What> = read.notes.iter().map(|note| note.what).collect();
        assert_eq!(
            noted,
            note.map(What::Changed).into_iter().collect::<Vec<_>>()
        );
        assert!(
            read.notes
                .iter()
                .all(|note| note.source_id == "31" && note.detail.contains(local))
        );
    }
    let never = with("comment_date", ZERO).replace("<![CDATA[2024-03-31 00:30:00]]>", ZERO);
    let read = read_with(&item("", &never), helsinki());
    assert_eq!(comment_of(&read.items).created, Err(ZERO.to_owned()));
    assert!(read.notes.is_empty());
}

#[test]
fn states_are_those_of_wordpress_and_an_unknown_one_waits_for_a_moderator() {
    for (approved, state) in [
        ("1", SourceState::Published),
        ("", SourceState::Published),
        ("0", SourceState::Pending),
        ("hold", SourceState::Pending),
        ("reported", SourceState::Pending),
        ("spam", SourceState::Spam),
        ("trash", SourceState::Deleted),
        ("post-trashed", SourceState::Deleted),
    ] {
        let items = read(&item("", &with("comment_approved", approved)));
        assert_eq!(comment_of(&items).state, state, "{approved:?}");
    }
}

#[test]
fn pings_are_left_out_unless_asked_for_and_notes_of_programs_always() {
    for kind in ["pingback", "trackback", "webmention"] {
        let row = item("", &with("comment_type", kind));
        assert_eq!(reason_of(&read(&row)), Reason::Ping);
        let pings = WxrOptions {
            pings: true,
            ..WxrOptions::default()
        };
        assert_eq!(comment_of(&read_with(&row, pings).items).source_id, "31");
    }
    for kind in ["order_note", "note", "action_log"] {
        let items = read(&item("", &with("comment_type", kind)));
        assert_eq!(reason_of(&items), Reason::NotAComment);
    }
    for kind in ["", "comment", "review"] {
        comment_of(&read(&item("", &with("comment_type", kind))));
    }
}

#[test]
fn what_not_everybody_could_read_is_left_out_with_its_comments_unless_asked_for() {
    let secret = item("", COMMENT).replace("_password><", "_password>s<");
    let status = |status: &str| item("", COMMENT).replace(">publish<", &format!(">{status}<"));
    for row in [
        secret,
        status("private"),
        status("draft"),
        status("future"),
        status("wc-on-hold"),
    ] {
        let items = read(&row);
        let [SourceItem::Rejected(comment), SourceItem::Rejected(post)] = &items[..] else {
            panic!("{items:?}");
        };
        assert_eq!(
            (comment.reason, post.reason),
            (Reason::NotPublic, Reason::NotPublic)
        );
        let unpublished = WxrOptions {
            unpublished: true,
            ..WxrOptions::default()
        };
        let items = read_with(&row, unpublished).items;
        assert!(!discussion_of(&items).deleted && comment_of(&items).source_id == "31");
    }
    assert!(discussion_of(&read(&status("trash"))).deleted);
}

#[test]
fn pictures_and_menus_are_no_discussions_unless_somebody_commented() {
    for kind in ["attachment", "nav_menu_item", "wp_template", "custom_css"] {
        let row = |comments| {
            let row = item("", comments).replace("_type>post<", &format!("_type>{kind}<"));
            row.replace(">publish<", ">inherit<")
        };
        assert_eq!(reason_of(&read(&row(""))), Reason::NotDiscussed);
        assert_eq!(discussion_of(&read(&row(COMMENT))).source_id, "7");
    }
    let page = read(&item("", "").replace("_type>post<", "_type>product<"));
    assert_eq!(
        discussion_of(&page).source_id,
        "7",
        "what people may still comment on"
    );
    let closed = read(&item("", "").replace(">open<", ">closed<"));
    assert!(discussion_of(&closed).closed);
}

#[test]
fn comments_before_the_fields_of_their_post_wait_for_them() {
    let late = item("", "").replace("<title>", &format!("{COMMENT}<title>"));
    assert_eq!(comment_of(&read(&late)).discussion_source_id, "7");
    let secret = late.replace("_password><", "_password>s<");
    assert_eq!(reason_of(&read(&secret)), Reason::NotPublic);
    let late_password = item("", "")
        .replace("<wp:post_password></wp:post_password>", "")
        .replace(
            "</item>",
            &format!("{COMMENT}<wp:post_password>s</wp:post_password></item>"),
        );
    let items = read(&late_password);
    assert!(
        discussion_of(&items).deleted,
        "what was given already is taken back"
    );
}

#[test]
fn a_post_without_a_number_is_known_by_its_link_and_one_without_either_is_rejected() {
    let other = "<item><title>A</title><link>https://a.example/</link>\
         <wp:post_date_gmt>2024-03-01 10:00:00</wp:post_date_gmt>%</item>"
        .replace('%', COMMENT);
    let items = read(&other);
    assert_eq!(
        comment_of(&items).discussion_source_id,
        "https://a.example/"
    );
    assert_eq!(discussion_of(&items).source_id, "https://a.example/");
    let nameless = read(&other.replace("https://a.example/", ""));
    assert_eq!(reason_of(&nameless), Reason::NoDiscussion);
    assert!(matches!(&nameless[1], SourceItem::Rejected(row) if row.reason == Reason::NoId));
    let items = read(&item("", &with("comment_id", "")));
    assert_eq!(reason_of(&items), Reason::NoId);
}

#[test]
fn an_author_is_known_by_account_else_mail_else_name() {
    let key = |row: &str| comment_of(&read(&item("", row))).author.key.clone();
    assert_eq!(key(&with("comment_user_id", "4")), "user:4");
    let named = with("comment_author_email", "");
    assert_eq!(key(&named), "name:Tom & Ann");
    let nobody = named.replace("<![CDATA[Tom &amp; Ann]]>", "");
    assert_eq!(key(&nobody), "anonymous");
}

#[test]
fn texts_keep_split_cdata_entities_emoji_and_line_ends() {
    let body = |text: &str| {
        comment_of(&read(&item("", &with("comment_content", text))))
            .body
            .clone()
    };
    assert_eq!(body("<![CDATA[a ]]]]><![CDATA[> b]]>"), "a ]]> b");
    assert_eq!(body("a &lt;b&gt;&#x1F600;&hellip;"), "a <b>😀&hellip;");
    assert_eq!(body("<![CDATA[👩‍👩‍👧 &amp; 𝒳\r\nb]]>"), "👩‍👩‍👧 &amp; 𝒳<br>\nb");
    assert_eq!(body("<p>not <b>escaped</b></p>"), "not escaped");
}

#[test]
fn a_mark_or_empty_lines_before_the_file_and_windows_line_ends_are_fine() {
    let whole = file(&item("", COMMENT));
    let windows = whole.replace('\n', "\r\n");
    for bytes in [format!("\u{feff}{whole}"), format!("\n\n{whole}"), windows] {
        let read = read_bytes(bytes.into_bytes(), WxrOptions::default()).unwrap();
        assert_eq!(comment_of(&read.items).body, "<p>one</p>\n\n<p>two</p>");
    }
}

#[test]
fn articles_with_their_pictures_in_them_pass() {
    let article = format!(
        "<content:encoded><![CDATA[{}]]></content:encoded>",
        "x".repeat(9 << 20)
    );
    assert_eq!(comment_of(&read(&item(&article, COMMENT))).source_id, "31");
    let long = with("comment_content", &"x".repeat(5 << 20));
    let error = read_bytes(file(&item("", &long)).into_bytes(), WxrOptions::default());
    assert!(error.is_err_and(|error| error.what.contains("more than")));
}

#[test]
fn what_is_no_wordpress_export_is_refused_with_what_it_is() {
    for (text, what) in [
        ("<disqus/>", "<disqus>"),
        ("<rss version=\"2.0\"><channel></channel></rss>", "feed"),
        ("", "no XML"),
    ] {
        let error = read_bytes(text.as_bytes().to_vec(), WxrOptions::default())
            .err()
            .unwrap();
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    let whole = file(&item("", COMMENT));
    for cut in (1..whole.len() - 3).filter(|cut| whole.is_char_boundary(*cut)) {
        let cut = whole.as_bytes()[..cut].to_vec();
        assert!(read_bytes(cut, WxrOptions::default()).is_err());
    }
}
