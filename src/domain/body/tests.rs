//! Bodies in each format, from source to what is shown.

use proptest::prelude::*;

use super::BodyFormat::{Html, Markdown, Plain};
use super::*;

const FORMATS: [BodyFormat; 3] = [Plain, Markdown, Html];

/// Every text and its rendering, with what a reader without HTML gets.
fn assert_read(format: BodyFormat, source: &str, html: &str, text: &str) {
    let body = Body::read(source, format);
    assert_eq!(body.html.trim_end(), html, "html of {source:?}");
    assert_eq!(body.text, text, "text of {source:?}");
    assert_eq!(body.format, format);
}

#[test]
fn plain_text_keeps_its_lines_and_is_not_markup() {
    assert_read(Plain, "", "", "");
    assert_read(
        Plain,
        "a < b & *c* \"d\" 'e'",
        "<p>a &lt; b &amp; *c* &quot;d&quot; &#39;e&#39;</p>",
        "a < b & *c* \"d\" 'e'",
    );
    assert_read(
        Plain,
        "a\r\nb\rc\n\n \nd\n",
        "<p>a<br>\nb<br>\nc</p>\n<p>d</p>",
        "a\r\nb\rc\n\n \nd\n",
    );
    assert_read(
        Plain,
        "&amp; &#39;",
        "<p>&amp;amp; &amp;#39;</p>",
        "&amp; &#39;",
    );
}

#[test]
fn markdown_is_commonmark_with_tables_and_strikethrough() {
    assert_read(
        Markdown,
        "**a** _b_ ~~c~~ `d<e`",
        "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d&lt;e</code></p>",
        "a b c d<e",
    );
    assert_read(
        Markdown,
        "> q\n\nr",
        "<blockquote>\n<p>q</p>\n</blockquote>\n<p>r</p>",
        "q\n\nr",
    );
    assert_read(
        Markdown,
        "3. a\n4. b",
        "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>",
        "a\nb",
    );
    assert_read(Markdown, "a  \nb\nc", "<p>a<br>\nb\nc</p>", "a\nb c");
    assert_read(
        Markdown,
        "```rust\nfn a() {\n  b\n}\n```\nc",
        "<pre><code>fn a() {\n  b\n}\n</code></pre>\n<p>c</p>",
        "fn a() {\n  b\n}\n\n\nc",
    );
    assert_read(
        Markdown,
        "a\n\n---\n\nb",
        "<p>a</p>\n<hr>\n<p>b</p>",
        "a\n\n---\n\nb",
    );
    let table = Body::read("|a|b|\n|:-:|-|\n|1|2|\n", Markdown);
    assert_eq!(table.text, "a b\n1 2");
    assert!(
        table.html.contains("<th>a</th>") && table.html.contains("<td>2</td>"),
        "{}",
        table.html
    );
}

#[test]
fn links_go_to_http_https_and_mailto_only() {
    let rel = "rel=\"nofollow ugc noopener noreferrer\"";
    let html = format!("<p><a href=\"https://a.example/?b=1&amp;c\" {rel}>x</a></p>");
    assert_read(Markdown, "[x](https://a.example/?b=1&c)", &html, "x");
    let html = format!("<p><a href=\"mailto:a@b.example\" {rel}>a@b.example</a></p>");
    assert_read(Markdown, "<a@b.example>", &html, "a@b.example");
    for refused in [
        "ftp://a.example/",
        "/relative",
        "//a.example/",
        "tel:1",
        "#top",
        "?a=1",
    ] {
        let html = format!("<p><a {rel}>x</a></p>");
        assert_read(Markdown, &format!("[x]({refused})"), &html, "x");
        let html = format!("<a {rel}>x</a>");
        assert_read(Html, &format!("<a href='{refused}'>x</a>"), &html, "x");
    }
}

#[test]
fn html_loses_everything_but_the_listed_tags() {
    assert_read(
        Html,
        "<div class=a id=b style='color:red' onclick=c()><span>x</span><form>y<input value=z></form></div>",
        "<div>xy</div>",
        "xy",
    );
    assert_read(
        Html,
        "a<script>b</script><style>c</style><svg><text>d</text></svg>e",
        "ae",
        "ae",
    );
    assert_read(
        Html,
        "<p>a<p>b<br>c<br><br>d",
        "<p>a</p><p>b<br>c<br><br>d</p>",
        "a\n\nb\nc\n\nd",
    );
    assert_read(Html, "<ol start=-1><li>a</ol>", "<ol><li>a</li></ol>", "a");
    assert_read(
        Html,
        "a&nbsp;&lt;b&gt; &amp;lt; &copy;",
        "a&nbsp;&lt;b&gt; &amp;lt; ©",
        "a\u{A0}<b> &lt; ©",
    );
}

#[test]
fn a_picture_is_its_description() {
    assert_read(
        Markdown,
        "a ![b *c*](https://a.example/i.png \"t\") d",
        "<p>a b c d</p>",
        "a b c d",
    );
    assert_read(
        Html,
        "<img alt='😀' src=https://a.example/i.png>",
        "😀",
        "😀",
    );
    assert_read(
        Html,
        "<img alt='<script>\"&amp;' src=data:x>",
        "&lt;script&gt;&quot;&amp;",
        "<script>\"&",
    );
    assert_read(Html, "a<img src='alt=\"x\"' onerror=b>", "a", "a");
}

#[test]
fn an_open_override_ends_with_its_block() {
    assert_read(
        Plain,
        "abc \u{202E} def",
        "<p>abc \u{202E} def\u{202C}</p>",
        "abc \u{202E} def",
    );
    assert_read(
        Markdown,
        "abc \u{202E} def\n\nx",
        "<p>abc \u{202E} def\u{202C}</p>\n<p>x</p>",
        "abc \u{202E} def\u{202C}\n\nx",
    );
    assert_read(
        Html,
        "abc \u{202E} def<br>x",
        "abc \u{202E} def\u{202C}<br>x",
        "abc \u{202E} def\u{202C}\nx",
    );
    assert_read(
        Html,
        "a<b>\u{2067}b</b>&#x202e;c",
        "a<b>\u{2067}b</b>\u{202E}c\u{202C}\u{2069}",
        "a\u{2067}b\u{202E}c\u{202C}\u{2069}",
    );
    assert_read(
        Plain,
        "\u{202A}a\u{202C}",
        "<p>\u{202A}a\u{202C}</p>",
        "\u{202A}a\u{202C}",
    );
    let crossed = "\u{2066}\u{202B}a\u{2069}b\u{202C}";
    assert_read(Plain, crossed, &format!("<p>{crossed}</p>"), crossed);
    let closed_first = "\u{202E}\u{2066}a\u{202C}b";
    let html = format!("<p>{closed_first}\u{2069}\u{202C}</p>");
    assert_read(Plain, closed_first, &html, closed_first);
    assert_read(
        Html,
        "<bdo dir=rtl>a</bdo><p dir=rtl>b</p>",
        "a<p>b</p>",
        "a\n\nb",
    );
}

#[test]
fn a_source_that_renders_to_nothing_is_empty() {
    let limits = TextLimits::default();
    for (format, source) in [
        (Plain, "\u{200B}"),
        (Markdown, "[](https://a.example)"),
        (Markdown, "![](https://a.example/i.png)"),
        (Markdown, "&#8203;&nbsp;"),
        (Markdown, "<!-- x -->"),
        (Markdown, "[a]: https://a.example"),
        (Html, "<p><br></p>"),
        (Html, "<script>x</script>"),
        (Html, "&nbsp;&zwj;"),
        (Html, "<img src=x>"),
    ] {
        assert_eq!(
            check(source, format, &limits),
            Err(TextError::Empty),
            "{source:?}"
        );
    }
    for (format, source) in [
        (Plain, "<b></b>"),
        (Markdown, "---"),
        (Markdown, "![a](b)"),
        (Html, "a"),
    ] {
        assert_eq!(check(source, format, &limits), Ok(()), "{source:?}");
    }
    let too_long = check(&"a".repeat(10_001), Html, &limits);
    assert_eq!(
        too_long,
        Err(TextError::TooLongScalars {
            limit: 10_000,
            actual: 10_001
        })
    );
}

proptest! {
    #[test]
    fn rendering_never_panics_and_never_lets_script_through(
        source in "([<>/!\"'=&;#a-z\\[\\]()*_`~|\\n -]|<script>|<svg|<b>|</b>|<p>|onload=|\\PC|javascript:|\u{202E}|\u{2069}){0,80}",
    ) {
        for format in FORMATS {
            let html = render_html(&source, format);
            prop_assert!(!html.to_ascii_lowercase().contains("<script"), "{html}");
            xss_tests::assert_safe(&html, &source);
        }
        prop_assert_eq!(plain_text(&source, Plain), source.as_str());
        prop_assert_eq!(plain::text_of(&render_html("a", Plain)), "a");
    }

    #[test]
    fn an_accepted_body_keeps_its_bytes(source in any::<String>()) {
        let before = source.clone();
        if check(&source, Plain, &TextLimits::default()).is_ok() {
            let body = Body::read(&source, Plain);
            prop_assert_eq!(body.text.as_bytes(), before.as_bytes());
        }
        for format in FORMATS {
            let _ = check(&source, format, &TextLimits::default());
        }
    }
}
