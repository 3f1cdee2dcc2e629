//! What the page looks like: narrow, dark, in other scripts, to a screen reader.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{BREAD, HELLO, World};

const URL: &str = "https://blog.example.com/new";
const NOTHING_WIDER: &str = "return [...document.querySelectorAll('body *')].filter((it) => { \
     if (it.closest('pre, .wide, .unseen, .skip')) return false; const box = it.getBoundingClientRect(); \
     return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5) && getComputedStyle(it.parentElement).overflow !== 'hidden'; \
     }).map((it) => it.outerHTML.slice(0, 120)).concat(document.documentElement.scrollWidth > innerWidth ? ['the page'] : [])";

/// The accessibility rules, from the package registry into a folder that is kept between runs.
fn axe() -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = cache.join("threadline-tests/axe-core-4.10.3");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ]);
        let done = npm.arg(&folder).arg("axe-core@4.10.3").output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    std::fs::read_to_string(script).unwrap()
}

/// What axe finds serious on the page as it stands.
async fn serious(world: &World, axe: &str, place: &str) -> Vec<String> {
    // Through the driver, which the page's policy does not bind.
    let run = json!({ "expression": format!(
        "{axe}; axe.run(document, {{ resultTypes: ['violations'] }}).then((it) => JSON.stringify(it.violations))"
    ), "awaitPromise": true, "returnByValue": true });
    let answer = world.browser.chromium("Runtime.evaluate", run).await;
    let text = answer["result"]["value"]
        .as_str()
        .unwrap_or_else(|| panic!("{place}: {answer}"));
    let violations: Vec<Value> = serde_json::from_str(text).unwrap();
    let serious = violations
        .iter()
        .filter(|it| it["impact"] == "serious" || it["impact"] == "critical");
    let line = |it: &Value| {
        format!(
            "{place}: {} {} {}",
            it["id"], it["help"], it["nodes"][0]["html"]
        )
    };
    serious.map(line).collect()
}

/// A discussion with everything that is hard to lay out.
async fn hard_cases(world: &World) {
    let long = "W".repeat(400);
    let root = world
        .post(
            "7",
            URL,
            None,
            &format!("{long} https://example.com/{long}"),
        )
        .await;
    world
        .post("8", URL, None, "👩‍👩‍👧‍👦👍🏽🏳️‍🌈 ".repeat(60).trim())
        .await;
    world
        .post("8", URL, None, "שלום **עולם** and English")
        .await;
    world.post("8", URL, None, "مرحبا بالعالم").await;
    let table = format!(
        "| a | b |\n| - | - |\n| {} | c |\n\n```\n{}\n```",
        "x".repeat(300),
        "y".repeat(300)
    );
    let query = "mutation ($u: URL!, $b: String!) { createComment(input: { url: $u, body: $b, format: MARKDOWN }) { __typename } }";
    world
        .server
        .graphql(Some("9"), query, json!({ "u": URL, "b": table }))
        .await;
    let mut parent = root;
    for level in 0..8 {
        parent = world
            .post(
                "8",
                URL,
                Some(&parent),
                &format!("{level} {}", "deep".repeat(30)),
            )
            .await;
    }
}

pub(crate) async fn nothing_is_wider_than_a_phone() {
    let world = World::new().await;
    hard_cases(&world).await;
    world.sign_in("7", "administrator").await;
    world.browser.size(360, 740).await;
    for mode in ["THREADED", "LINEAR"] {
        world
            .browser
            .js(&format!(
                "localStorage.setItem('threadline.mode', '\"{mode}\"')"
            ))
            .await;
        for url in [URL, HELLO, BREAD] {
            world.discuss(url).await;
            assert_eq!(
                world.browser.js(NOTHING_WIDER).await,
                json!([]),
                "{mode} {url}"
            );
        }
    }
    world.discuss(HELLO).await;
    world.browser.press("article.comment", "Reply").await;
    assert_eq!(
        world.browser.js(NOTHING_WIDER).await,
        json!([]),
        "with a form"
    );
    world.open("/").await;
    assert_eq!(world.browser.js(NOTHING_WIDER).await, json!([]), "the list");
    world.end().await;
}

pub(crate) async fn dark_is_dark_and_readable() {
    let world = World::new().await;
    let light = "const [r, g, b] = getComputedStyle(document.documentElement).backgroundColor.match(/[0-9.]+/g).map(Number); return r + g + b";
    for (scheme, is_dark) in [("dark", true), ("light", false)] {
        world.browser.scheme(scheme).await;
        world.open("/").await;
        let sum = world.browser.js(light).await.as_f64().unwrap();
        assert_eq!(sum < 150.0, is_dark, "{scheme}: {sum}");
    }
    world.end().await;
}

pub(crate) async fn other_scripts_keep_their_direction() {
    let world = World::new().await;
    hard_cases(&world).await;
    world.discuss(URL).await;
    world.until_text("مرحبا بالعالم").await;
    let directions = "return [...document.querySelectorAll('.comments > .item > article > .body')].map((it) => getComputedStyle(it).direction)";
    let found = world.browser.js(directions).await;
    assert_eq!(found, json!(["ltr", "ltr", "rtl", "rtl", "ltr"]));
    // Emoji of several characters stay whole.
    world.until_text("👩‍👩‍👧‍👦👍🏽🏳️‍🌈 ".repeat(60).trim()).await;
    // A name of another direction does not reach into what is beside it.
    let names =
        "return [...document.querySelectorAll('.who')].every((it) => it.querySelector('bdi'))";
    assert_eq!(world.browser.js(names).await, true);
    world.end().await;
}

pub(crate) async fn axe_finds_nothing_serious() {
    let axe = axe();
    let world = World::new().await;
    hard_cases(&world).await;
    let mut found = Vec::new();
    world.sign_in("9", "moderator").await;
    for scheme in ["light", "dark"] {
        world.browser.scheme(scheme).await;
        world.open("/").await;
        found.extend(serious(&world, &axe, &format!("{scheme} list")).await);
        world.discuss(HELLO).await;
        found.extend(serious(&world, &axe, &format!("{scheme} threads")).await);
        world.browser.press("article.comment", "Reply").await;
        world.browser.press(".slot", "Post reply").await;
        world
            .browser
            .until("document.querySelector('.slot [role=alert]')")
            .await;
        world.browser.press("article.comment", "More").await;
        found.extend(serious(&world, &axe, &format!("{scheme} form, refusal, menu")).await);
        world.browser.click("[data-mode=LINEAR]").await;
        world
            .browser
            .until("document.querySelector('.by-date')")
            .await;
        found.extend(serious(&world, &axe, &format!("{scheme} by date")).await);
        world.browser.click("[data-mode=AUTO]").await;
        world
            .browser
            .until("document.querySelector('.threads')")
            .await;
        world.discuss(URL).await;
        found.extend(serious(&world, &axe, &format!("{scheme} hard cases")).await);
        world.browser.click("#keys").await;
        found.extend(serious(&world, &axe, &format!("{scheme} help")).await);
        for page in ["/moderation", "/mine"] {
            world.open(page).await;
            found.extend(serious(&world, &axe, &format!("{scheme} {page}")).await);
        }
    }
    world.browser.js("localStorage.clear()").await;
    world.open("/").await;
    world.browser.press("#account", "Sign in").await;
    found.extend(serious(&world, &axe, "sign in").await);
    world
        .browser
        .goto(&world.at(&format!("/embed?url={HELLO}")))
        .await;
    world.ready().await;
    found.extend(serious(&world, &axe, "embed").await);
    assert!(found.is_empty(), "{}", found.join("\n"));
    world.end().await;
}
