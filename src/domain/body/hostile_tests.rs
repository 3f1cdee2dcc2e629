//! Sources that nest without end or stand for far more than their size.

use super::BodyFormat::{Html, Markdown, Plain};
use super::*;

/// Sources that nest without end or make parsers slow, each of about `size` bytes.
fn hostile_sources(size: usize) -> Vec<String> {
    let repeated = [
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
    let mut sources: Vec<String> = repeated
        .iter()
        .map(|piece| piece.repeat(size / piece.len()))
        .collect();
    let half = |piece: &str| piece.repeat(size / piece.len() / 2);
    let numbered = |count: usize, tag: &str| -> String {
        (0..count).map(|nth| format!("<{tag} a={nth}>")).collect()
    };
    for (open, close) in [
        ("[", "]"),
        ("[", "](b)"),
        ("*", "a*"),
        ("<div>", "</p>"),
        ("<b>", "<p>"),
        ("<b>", "</b>"),
        ("<div>", "</div>"),
        ("\u{202E}", "\u{2069}"),
        ("<a>", "</p>"),
        ("<table>", "x"),
        ("`", "a`"),
    ] {
        sources.push(half(open) + &half(close));
    }
    sources.push(
        (1..size / 60)
            .map(|nth| format!("{}a", "`".repeat(nth % 100)))
            .collect(),
    );
    sources.push(format!("<p>{}{}", numbered(size / 20, "i"), half("<p>x")));
    sources.push(format!("<p>{}{}", numbered(90, "b"), half("<p>x")));
    sources.push(format!("<p>{}{}", numbered(40, "b"), half("<p>x")));
    sources.push(
        (0..size / 20)
            .map(|nth| format!("{}- a\n", " ".repeat(nth % 20)))
            .collect(),
    );
    let wide = "|".repeat(size / 6);
    sources.push(format!(
        "{}\n|{}\n{}",
        wide.replace('|', "|x"),
        wide.replace('|', "-|"),
        half("a\n")
    ));
    sources.push(format!(
        "{}\n{}\n{}",
        "|a".repeat(size / 12),
        "|-".repeat(size / 12),
        half("a\n")
    ));
    let target = "a".repeat(size / 2);
    sources.push(format!(
        "[b]: https://a.example/{target}\n\n{}",
        half("[b]")
    ));
    sources.push(format!("{}a\n", ">".repeat(99)).repeat(size / 101));
    sources.push(format!("{}b\n", "- ".repeat(48)).repeat(size / 98));
    sources.push(half("[a]: <b\n") + &half("[a]"));
    sources.push(half("a&b;") + &half("&amp;"));
    sources.push(format!(
        "<a href=\"https://a.example/{target}\">{}",
        half("<p>x")
    ));
    sources.push(format!("<table>{}", "<b>x<tr><td>".repeat(size / 12)));
    sources.push((0..size / 9).map(|nth| format!("<x{nth}>")).collect());
    sources.push("<i a><object></i></object>".repeat(size / 52) + &half("<p>x"));
    sources.push("<i a=1><textarea></i></textarea>".repeat(size / 64) + &half("<p>x"));
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
