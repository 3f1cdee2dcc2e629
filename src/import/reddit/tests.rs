//! Comments and submissions, as tables and as lines.

use std::io::Cursor;

use super::*;

const HEADER: &str = "id,post_id,parent_id,author,body,created_utc\n";

fn input(text: &str) -> Input {
    Box::new(Cursor::new(text.as_bytes().to_vec()))
}

fn read_with(
    comments: &str,
    posts: Option<&str>,
    with_submission_texts: bool,
) -> Result<Vec<SourceItem>, ReadError> {
    let options = RedditOptions {
        with_submission_texts,
    };
    let mut reader = RedditReader::new(input(comments), posts.map(input), options)?;
    std::iter::from_fn(|| reader.next_item().transpose()).collect()
}

fn comments(text: &str) -> Vec<SourceComment> {
    let items = read_with(text, None, false).unwrap().into_iter();
    items
        .map(|item| match item {
            SourceItem::Comment(comment) => *comment,
            other @ (SourceItem::Discussion(_) | SourceItem::Rejected(_)) => panic!("{other:?}"),
        })
        .collect()
}

fn wrong(comments: &str, posts: Option<&str>) -> ReadError {
    read_with(comments, posts, false).unwrap_err()
}

#[test]
fn a_table_is_read_by_the_names_of_its_columns() {
    let text = "\u{feff}score,created_utc,body,author,parent_id,link_id,id\r\n\
                3,1773561820.0,\"two\r\n\"\"lines\"\"\",ann,p1,p1,c1\r\n\
                -1,1773561821.5,b,bob,c1,p1,c2\r\n";
    let rows = comments(text);
    assert_eq!(rows[0].body, "two\r\n\"lines\"");
    assert_eq!(rows[0].created, Ok(1_773_561_820_000));
    assert_eq!(rows[0].author.key, "user:ann");
    assert_eq!(rows[0].discussion_source_id, "p1");
    assert_eq!(
        rows[0].parent_source_id, None,
        "its parent is the submission"
    );
    assert_eq!(rows[1].parent_source_id.as_deref(), Some("c1"));
    assert_eq!(rows[1].created, Ok(1_773_561_821_500));
    assert_eq!((rows[0].line, rows[1].line), (2, 4));
}

#[test]
fn a_dump_names_kinds_and_has_submissions_among_comments() {
    let text = concat!(
        r#"{"id":"b1","link_id":"t3_a1","parent_id":"t3_a1","author":"ann","body":"x","created_utc":"1504224000","edited":false,"gilded":0}"#,
        "\n",
        r#"{"id":"a1","title":"Tom &amp; Ann","selftext":"","author":"tom","created_utc":1504223000,"permalink":"/r/x/comments/a1/tom/","locked":true}"#,
        "\n",
        r#"{"id":"b2","link_id":"t3_a1","parent_id":"t1_b1","author":"bob","body":"y","created_utc":1504224001.0,"edited":1504224060.0}"#,
        "\n",
        r#"{"name":"t1_b3","link_id":"t3_a1","parent_id":"t1_a1","author":"bob","body":"z","created_utc":1504224002,"edited":true}"#,
    );
    let items = read_with(text, None, false).unwrap();
    let [
        SourceItem::Comment(first),
        SourceItem::Discussion(submission),
        SourceItem::Comment(second),
        SourceItem::Comment(third),
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!(
        (first.source_id.as_str(), first.parent_source_id.as_ref()),
        ("b1", None)
    );
    assert_eq!(first.created, Ok(1_504_224_000_000));
    assert_eq!(first.edited, None);
    assert_eq!(submission.title, "Tom & Ann");
    let address = "https://www.reddit.com/r/x/comments/a1/tom/";
    assert_eq!(submission.url.as_deref(), Some(address));
    assert!(submission.closed);
    assert_eq!(second.parent_source_id.as_deref(), Some("b1"));
    assert_eq!(second.edited, Some(Ok(1_504_224_060_000)));
    assert_eq!(third.source_id, "b3");
    let parent = third.parent_source_id.as_deref();
    assert_eq!(
        parent,
        Some("a1"),
        "a comment, though a submission has the same id"
    );
    assert_eq!(third.edited, None, "changed, but nobody knows when");
}

#[test]
fn submissions_come_before_comments_and_their_texts_only_where_asked_for() {
    let posts = "id,title,text,author,created_utc,subreddit\n\
                 p1,\"A, b\",own text,tom,1500000000,x\np2,C,[removed],,1500000001,x y\n";
    let rows = format!("{HEADER}c1,p1,p1,ann,a,1500000002\n");
    let items = read_with(&rows, Some(posts), false).unwrap();
    let [
        SourceItem::Discussion(first),
        SourceItem::Discussion(second),
        SourceItem::Comment(_),
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!((first.title.as_str(), first.line), ("A, b", 2));
    let address = "https://www.reddit.com/r/x/comments/p1/";
    assert_eq!(first.url.as_deref(), Some(address));
    assert_eq!(second.url, None, "that is no name of a subreddit");
    let items = read_with(&rows, Some(posts), true).unwrap();
    let [
        _,
        SourceItem::Comment(text),
        _,
        SourceItem::Comment(gone),
        _,
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!(
        (text.source_id.as_str(), text.body.as_str()),
        ("t3_p1", "own text")
    );
    assert_eq!(text.created, Ok(1_500_000_000_000));
    assert_eq!(gone.state, SourceState::Deleted);
}

#[test]
fn what_is_left_of_deleted_texts_and_people_is_no_text_and_no_name() {
    let rows = comments(&format!(
        "{HEADER}1,p,p,[deleted],[deleted],1\n2,p,1,ann,[removed],2\n3,p,2,[deleted],kept,3\n\
         4,p,p,ann,[Deleted] by me,4\n5,p,p,[deleted],[ Removed by Reddit ],5\n"
    ));
    let states: Vec<SourceState> = rows.iter().map(|row| row.state).collect();
    let (deleted, published) = (SourceState::Deleted, SourceState::Published);
    assert_eq!(states, [deleted, deleted, published, published, deleted]);
    assert_eq!(rows[2].author.key, ANONYMOUS);
    assert_eq!(
        (rows[2].author.name.as_str(), rows[2].body.as_str()),
        ("", "kept")
    );
}

#[test]
fn entities_are_taken_back_once_and_only_where_the_api_put_them() {
    for (escaped, meant) in [
        ("&gt; a &amp; b &lt;c&gt;", "> a & b <c>"),
        ("&amp;gt; &amp;#x200B;", "&gt; &#x200B;"),
        ("> it is &gt; here", "> it is &gt; here"),
        ("AT&T &copy;", "AT&T &copy;"),
    ] {
        assert_eq!(unescaped(escaped), meant);
    }
}

#[test]
fn a_bad_time_is_never_1970() {
    let rows = comments(&format!(
        "{HEADER}1,p,p,a,b,\n2,p,p,a,b,1.77E+09\n3,p,p,a,b,soon\n"
    ));
    let times: Vec<SourceTime> = rows.into_iter().map(|row| row.created).collect();
    let unreadable = ["", "1.77E+09", "soon"].map(|text| Err(text.to_owned()));
    assert_eq!(times, unreadable);
}

#[test]
fn rows_without_an_id_or_a_submission_are_left_out_for_a_reason() {
    let rows = format!("{HEADER},p,p,a,b,1\n2,,p,a,b,1\n");
    let reasons: Vec<Reason> = (read_with(&rows, None, false).unwrap().into_iter())
        .map(|item| match item {
            SourceItem::Rejected(row) => row.reason,
            other @ (SourceItem::Discussion(_) | SourceItem::Comment(_)) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(reasons, [Reason::NoId, Reason::NoDiscussion]);
}

#[test]
fn a_table_without_a_needed_column_names_it_and_says_in_which_file() {
    let error = wrong("id,post_id,parent_id,author,text,created_utc\n", None);
    assert_eq!(error.line, 1);
    assert!(
        error.what.contains("`body`") && error.what.contains("text"),
        "{error}"
    );
    let error = wrong(HEADER, Some("id,name\n"));
    assert!(
        error.what.contains("--posts") && error.what.contains("`title`"),
        "{error}"
    );
    assert!(wrong("", None).what.contains("empty"));
}

#[test]
fn a_cut_file_and_foreign_lines_stop_with_their_place() {
    let error = wrong(&format!("{HEADER}1,p,p,a,\"half a te"), None);
    assert_eq!(error.line, 2);
    let error = wrong("{\"id\":\"1\",\"link_id\":\"t3_p\",\"body\":\"half a", None);
    assert_eq!(error.line, 1);
    assert!(error.what.contains("EOF"), "{error}");
    let error = wrong("{\"id\":\"1\"}\n", None);
    assert!(error.what.contains("link_id"), "{error}");
    let huge = format!("{HEADER}1,p,p,a,\"{}", "x".repeat(5 << 20));
    assert!(wrong(&huge, None).what.contains("larger than"));
}
