//! Sources that nest without end or stand for far more than their size.

use super::BodyFormat::{Html, Markdown, Plain};
use super::*;

/// Repeated until the source is as long as wanted.
const PIECES: &[&str] = &[
    ">",
    "> ",
    "[",
    "![",
    "*",
    "_",
    "**a ",
    "a**",
    "*a_",
    "`",
    "`a``b",
    "<b>",
    "<i><p>",
    "<a href=x>",
    "<div>",
    "</p>",
    "<div></p>",
    "<table>",
    "<table><td>",
    "- ",
    "1. ",
    "* a\n",
    "[a](",
    "[a][",
    "[]()",
    "<",
    "<!",
    "<![CDATA[",
    "<!--",
    "<?",
    "&",
    "&#",
    "\\",
    "~~",
    "~~a~",
    "|",
    "|-",
    "a|b\n-|-\n",
    "<svg>",
    "<math><mi>",
    "<svg><title>",
    "<select>",
    "<template>",
    "<object>",
    "<font a>",
    "<nobr>",
    "</b>",
    "<b></p>",
    "<ul><li>",
    "<dl><dd>",
    "[a]: b\n",
    "# ",
    "   ",
    "\t",
    "\n",
    "\u{202E}",
    "\u{2066}",
    "\u{2066}\u{202E}",
    "\u{2069}",
    "<div><object></div></object>",
    "<p><i><b>",
    "<ruby><rt>",
];

/// The first one for half of the source, the second one for the rest.
const PAIRS: &[(&str, &str)] = &[
    ("[", "]"),
    ("[", "](b)"),
    ("*", "a*"),
    ("`", "a`"),
    ("<div>", "</p>"),
    ("<div>", "</div>"),
    ("<b>", "<p>"),
    ("<b>", "</b>"),
    ("<a>", "</p>"),
    ("<table>", "x"),
    ("\u{202E}", "\u{2069}"),
    ("[a]: <b\n", "[a]"),
    ("a&b;", "&amp;"),
    ("<i a><object></i></object>", "<p>x"),
    ("<i a=1><textarea></i></textarea>", "<p>x"),
];

fn numbered(count: usize, source: impl Fn(usize) -> String) -> String {
    (0..count).map(source).collect::<Vec<_>>().concat()
}

/// Sources of about `size` bytes.
fn hostile_sources(size: usize) -> Vec<String> {
    let fill = |piece: &str, size: usize| piece.repeat(size / piece.len());
    let half = |piece: &str| fill(piece, size / 2);
    let target = "a".repeat(size / 2);
    let mut sources: Vec<String> = PIECES.iter().map(|piece| fill(piece, size)).collect();
    sources.extend(
        PAIRS
            .iter()
            .map(|(first, second)| half(first) + &half(second)),
    );
    for unclosed in [40, 90, size / 20] {
        let tags = numbered(unclosed, |nth| format!("<i a={nth}>"));
        sources.push(format!("<p>{tags}{}", half("<p>x")));
    }
    sources.extend([
        numbered(size / 60, |nth| format!("{}a", "`".repeat(nth % 100))),
        numbered(size / 20, |nth| format!("{}- a\n", " ".repeat(nth % 20))),
        numbered(size / 9, |nth| format!("<x{nth}>")),
        format!(
            "{}\n{}\n{}",
            fill("|a", size / 6),
            fill("|-", size / 6),
            half("a\n")
        ),
        format!("[b]: https://a.example/{target}\n\n{}", half("[b]")),
        format!("<a href=\"https://a.example/{target}\">{}", half("<p>x")),
        fill(&format!("{}a\n", ">".repeat(99)), size),
        fill(&format!("{}b\n", "- ".repeat(48)), size),
        format!("<table>{}", fill("<b>x<tr><td>", size)),
    ]);
    sources
}

fn assert_in_proportion(sources: &[String]) {
    for source in sources {
        for format in [Plain, Markdown, Html] {
            let body = Body::read(source, format);
            let start: String = source.chars().take(20).collect();
            let size_max = source.len() * 20 + 400_000;
            assert!(
                body.html.len() <= size_max,
                "{start:?} {format:?}: {}",
                body.html.len()
            );
        }
    }
}

#[test]
fn hostile_sources_end_with_output_in_proportion_on_a_small_stack() {
    // A quarter of what the runtime's threads have: recursion would end the process here.
    let reader = std::thread::Builder::new().stack_size(512 * 1024);
    let reader = reader
        .spawn(|| assert_in_proportion(&hostile_sources(10_000)))
        .unwrap();
    assert!(reader.join().is_ok(), "the case above names the source");
}

#[test]
fn markup_beyond_the_limits_is_shown_as_it_was_typed() {
    let nested = format!("{}a", ">".repeat(10_000));
    assert_eq!(Body::read(&nested, Markdown).text, nested);
    let nested = format!("{}a", "<div>".repeat(101));
    assert_eq!(Body::read(&nested, Html).text, nested);
    let nested = format!("{}a", "<div>".repeat(100));
    assert_eq!(Body::read(&nested, Html).text, "a");
    let long = format!("**{}**", "a".repeat(MARKUP_BYTES_MAX));
    assert_eq!(Body::read(&long, Markdown).text, long);
    let unclosed_paragraphs = "<p>a".repeat(500);
    assert!(
        Body::read(&unclosed_paragraphs, Html)
            .html
            .starts_with("<p>a</p><p>a</p>")
    );
}
