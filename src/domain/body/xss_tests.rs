//! Payloads that sanitisers let through somewhere, and what must hold for the output of each.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use super::BodyFormat::{Html, Markdown, Plain};
use super::render_html;

const TAGS: [&str; 49] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

#[derive(Default)]
struct Tokens(RefCell<Vec<Token>>);

impl TokenSink for Tokens {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        self.0.borrow_mut().push(token);
        TokenSinkResult::Continue
    }
}

fn tokens(html: &str) -> Vec<Token> {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Tokens::default(), TokenizerOpts::default());
    drop(tokenizer.feed(&input));
    assert!(input.is_empty());
    tokenizer.end();
    tokenizer.sink.0.take()
}

/// Panics if a browser could find anything but the allowed tags and attributes, well nested.
pub(super) fn assert_safe(html: &str, source: &str) {
    let mut open = Vec::new();
    for token in tokens(html) {
        match token {
            Token::TagToken(tag) => {
                let name = tag.name.to_string();
                assert!(
                    TAGS.contains(&name.as_str()),
                    "<{name}> from {source:?}: {html}"
                );
                for attribute in &tag.attrs {
                    let value = attribute.value.to_string();
                    let is_allowed = match (name.as_str(), &*attribute.name.local) {
                        ("a", "rel") => value == "nofollow ugc noopener noreferrer",
                        ("a", "href") => ["http:", "https:", "mailto:"]
                            .iter()
                            .any(|scheme| value.trim().to_ascii_lowercase().starts_with(scheme)),
                        ("ol", "start") => value.parse::<u32>().is_ok(),
                        _ => false,
                    };
                    assert!(is_allowed, "{attribute:?} from {source:?}: {html}");
                }
                match tag.kind {
                    TagKind::StartTag if matches!(name.as_str(), "br" | "hr") => {}
                    TagKind::StartTag => {
                        let is_named = tag.attrs.iter().any(|it| &*it.name.local == "rel");
                        assert!(
                            name != "a" || is_named,
                            "a link without rel from {source:?}"
                        );
                        open.push(name);
                    }
                    TagKind::EndTag => assert_eq!(open.pop(), Some(name), "{source:?}: {html}"),
                }
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) => {
                panic!("neither text nor tag from {source:?}: {html}")
            }
            Token::CharacterTokens(_)
            | Token::NullCharacterToken
            | Token::EOFToken
            | Token::ParseError(_) => {}
        }
    }
    assert_eq!(
        open,
        Vec::<String>::new(),
        "left open by {source:?}: {html}"
    );
}

const PAYLOADS: &[&str] = &[
    // script elements, plain and broken
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\n>alert(1)</script\n>",
    "<script/src=data:,alert(1)></script>",
    "<<script>alert(1)//<</script>",
    "<script>alert(1)",
    "</script><script>alert(1)</script>",
    "<script type=text/plain></script><script>x</script>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    // event handlers
    "<img src=x onerror=alert(1)>",
    "<img/src=x/onerror=alert(1)//",
    "<img src=x:x onerror\n=alert(1)>",
    "<b onmouseover=alert(1)>x</b>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<a onclick=alert(1) href=https://a.example>x</a>",
    "<input autofocus onfocus=alert(1)>",
    "<select onfocus=alert(1) autofocus><option>x</select>",
    "<video><source onerror=alert(1)></video>",
    "<audio src onloadstart=alert(1)>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<p onclick='alert(1)'>x</p>",
    "<img alt='\"><script>alert(1)</script>' src=x>",
    "<img alt=\"x\" alt=\"<script>\" onerror=y>",
    // schemes
    "<a href=javascript:alert(1)>x</a>",
    "<a href=JaVaScRiPt:alert(1)>x</a>",
    "<a href=' \u{1}javascript:alert(1)'>x</a>",
    "<a href='java\nscript:alert(1)'>x</a>",
    "<a href='java&#x09;script:alert(1)'>x</a>",
    "<a href=&#106;avascript:alert(1)>x</a>",
    "<a href='javascript&colon;alert(1)'>x</a>",
    "<a href='vbscript:x'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='data:text/html;base64,PHNjcmlwdD4='>x</a>",
    "<a href='blob:https://a.example/x'>x</a>",
    "<a href='file:///etc/passwd'>x</a>",
    "<a href='//x.example'>x</a>",
    "<a xlink:href='javascript:alert(1)'>x</a>",
    "<a href='https://a.example' target=_blank rel=opener>x</a>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<base href=javascript:alert(1)//>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//x.example/x.css>",
    "<area href=javascript:alert(1)>",
    "<q cite=javascript:alert(1)>x</q>",
    "<blockquote cite=javascript:alert(1)>x</blockquote>",
    "<img src=javascript:alert(1)>",
    "<img srcset='javascript:alert(1) 1x'>",
    "<table background=javascript:alert(1)><tr><td background=x>y</table>",
    // styles, ids and classes
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<style>@import '//x.example/x.css';</style>",
    "<div style=position:fixed;inset:0>x</div>",
    "<p id=location class=admin name=cookie>x</p>",
    "<form id=document><input name=cookie></form>",
    // foreign content and parser confusion
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
    "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<title><a title=\"</title><img src=x onerror=alert(1)>\">",
    "<textarea><a title=\"</textarea><img src=x onerror=alert(1)>\">",
    "<xmp><a title=\"</xmp><img src=x onerror=alert(1)>\">",
    "<template><script>alert(1)</script></template>",
    "<plaintext><script>alert(1)</script>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<!-- --!><img src=x onerror=alert(1)> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><script>alert(1)</script>",
    "<!DOCTYPE html><html><head><script>alert(1)</script></head></html>",
    "<table><script>alert(1)</script><td><svg><desc><img src=x onerror=alert(1)>",
    "<b <script>alert(1)</script>0",
    "<a href=\"https://a.example/\"\"onmouseover=alert(1)\">x</a>",
    "<x-custom onclick=alert(1)>x</x-custom>",
    "<p/onclick=alert(1)>x",
    "\u{0}<scr\u{0}ipt>alert(1)</scr\u{0}ipt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<div>&lt;img src=x onerror=alert(1)&gt;</div>",
    // markdown
    "[x](javascript:alert(1))",
    "[x](JAVASCRIPT:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](https://a.example \"\\\" onclick=alert(1)\")",
    "[x](https://a.example/\"onclick=alert(1)//)",
    "![x](javascript:alert(1))",
    "![\"onerror=alert(1) x=\"](https://a.example/i.png)",
    "![<script>alert(1)</script>](x)",
    "<javascript:alert(1)>",
    "[x]\n\n[x]: javascript:alert(1)",
    "[<script>alert(1)</script>](https://a.example)",
    "`<script>alert(1)</script>`",
    "```\"><script>alert(1)</script>\nx\n```",
    "    <script>alert(1)</script>",
    "> <script>\nalert(1)</script>",
    "a|b\n-|-\n<script>alert(1)</script>|<img src=x onerror=y>",
    "**<b onclick=alert(1)>x**</b>",
    "# <svg onload=alert(1)>",
];

#[test]
fn no_payload_leaves_more_than_the_allowed_tags_and_attributes() {
    assert!(PAYLOADS.len() >= 60);
    for source in PAYLOADS {
        let wrapped = format!("before\n\n<b>{source}</b> after");
        for format in [Plain, Markdown, Html] {
            let html = render_html(source, format);
            assert_safe(&html, source);
            assert_safe(&render_html(&wrapped, format), &wrapped);
            let again = render_html(&html, Html);
            assert_safe(&again, &html);
            assert_eq!(
                render_html(&again, Html),
                again,
                "not stable after one round: {source:?}"
            );
        }
    }
}

#[test]
fn payloads_as_plain_text_are_shown_in_full() {
    for source in PAYLOADS {
        let shown = super::plain_text(&render_html(source, Plain), Html);
        let squeezed = |text: &str| {
            text.split_whitespace()
                .collect::<String>()
                .replace('\0', "\u{FFFD}")
        };
        assert_eq!(squeezed(&shown), squeezed(source));
    }
}
