//! Reading: both modes, pages both ways, links, the way back, the keyboard.

use serde_json::json;

use crate::world::{BOOK, BREAD, HELLO, World};

const ALL_BY_DATE: &str = "query ($url: URL!, $after: String) { discussion(url: $url) { \
     comments(mode: LINEAR, first: 100, after: $after) { edges { node { id depth } } \
     pageInfo { hasNextPage endCursor } } } }";

/// Every comment of a discussion by date, with its depth.
async fn all(world: &World, url: &str) -> Vec<(String, i64)> {
    let (mut all, mut after) = (Vec::new(), json!(null));
    loop {
        let data = world
            .server
            .graphql(None, ALL_BY_DATE, json!({ "url": url, "after": after }))
            .await;
        let page = &data["discussion"]["comments"];
        for edge in page["edges"].as_array().unwrap() {
            let node = &edge["node"];
            all.push((
                node["id"].as_str().unwrap().to_owned(),
                node["depth"].as_i64().unwrap(),
            ));
        }
        if page["pageInfo"]["hasNextPage"] != true {
            return all;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

/// Presses until the page shows no such button any more.
async fn press_all(world: &World, place: &str, text: &str) {
    let count = format!(
        "return [...document.querySelectorAll('{place} button')].filter((it) => it.innerText.startsWith('{text}')).length"
    );
    while world.browser.js(&count).await != 0 {
        let before = world.shown().await.len();
        world.browser.press(place, text).await;
        let more = format!("document.querySelectorAll('article.comment').length > {before}");
        world.browser.until(&more).await;
        world
            .browser
            .until(&format!(
                "![...document.querySelectorAll('{place} button')].some((it) => it.disabled)"
            ))
            .await;
    }
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

pub(crate) async fn the_list_leads_to_a_discussion_and_back() {
    let world = World::new().await;
    world.open("/").await;
    world
        .browser
        .until("document.querySelectorAll('.discussions li').length === 12")
        .await;
    world.browser.press(".discussions", "Which bread").await;
    world
        .browser
        .until("document.querySelector('h1')?.innerText.startsWith('Which bread')")
        .await;
    assert!(
        world
            .browser
            .js("return location.pathname")
            .await
            .as_str()
            .unwrap()
            .starts_with("/d/")
    );
    assert_eq!(
        world
            .browser
            .js("return document.activeElement.tagName")
            .await,
        "H1"
    );
    world.browser.js("scrollTo(0, 600)").await;
    world.browser.client().back().await.unwrap();
    world
        .browser
        .until("document.querySelectorAll('.discussions li').length === 12")
        .await;
    world.browser.client().forward().await.unwrap();
    // What was read is there at once, where it was.
    world
        .browser
        .until("document.querySelector('h1')?.innerText.startsWith('Which bread')")
        .await;
    world.browser.until("scrollY === 600").await;
    world.end().await;
}

pub(crate) async fn threads_and_dates_show_the_same_comments() {
    let world = World::new().await;
    let all = all(&world, HELLO).await;
    world.discuss(HELLO).await;
    world
        .browser
        .until("document.querySelector('.why').innerText.startsWith('Shown as threads: ')")
        .await;
    press_all(&world, ".comments", "Show").await;
    press_all(&world, ".bar-more", "Show more").await;
    press_all(&world, ".comments", "Show").await;
    let ids: Vec<String> = all.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(sorted(world.shown().await), sorted(ids.clone()));
    world.browser.click("[data-mode=LINEAR]").await;
    world
        .browser
        .until("document.querySelector('.comments.by-date')")
        .await;
    world
        .browser
        .until("document.querySelector('.why').innerText === 'Shown by date: you chose it.'")
        .await;
    assert_eq!(
        world
            .browser
            .js("return document.activeElement.dataset.mode")
            .await,
        "LINEAR"
    );
    press_all(&world, ".bar-more", "Show more").await;
    assert_eq!(world.shown().await, ids, "by date, in order");
    // The choice holds for the next page.
    world.discuss(BREAD).await;
    world
        .browser
        .until("document.querySelector('[data-mode=LINEAR][aria-pressed=true]')")
        .await;
    world.end().await;
}

pub(crate) async fn pages_go_on_both_ways_without_repeating() {
    let world = World::new().await;
    let all = all(&world, BREAD).await;
    world.browser.goto(&world.at("/")).await;
    world
        .browser
        .js("localStorage.setItem('threadline.order', '\"NEWEST\"'); \
                      localStorage.setItem('threadline.mode', '\"LINEAR\"')")
        .await;
    world.discuss(BREAD).await;
    world
        .browser
        .until("document.querySelectorAll('article.comment').length === 20")
        .await;
    press_all(&world, ".bar-more", "Show older").await;
    let mut newest: Vec<String> = all.iter().map(|(id, _)| id.clone()).collect();
    newest.reverse();
    assert_eq!(world.shown().await, newest);
    // From the middle, both ways.
    world
        .browser
        .js("localStorage.setItem('threadline.order', '\"OLDEST\"')")
        .await;
    let root = &all
        .iter()
        .filter(|(_, depth)| *depth == 0)
        .nth(1)
        .unwrap()
        .0;
    let middle = &all[64].0;
    assert_ne!(root, middle);
    let id = world.discussion(BREAD).await;
    world.open(&format!("/d/{id}#c={middle}")).await;
    world
        .browser
        .until("document.querySelector('.comment.target')")
        .await;
    press_all(&world, ".branch-bar", "Show").await;
    let shown = world.shown().await;
    let distinct: std::collections::HashSet<_> = shown.iter().collect();
    assert_eq!(distinct.len(), shown.len());
    assert_eq!(shown.len(), 121, "the root and its 120 replies");
    world.end().await;
}

pub(crate) async fn replies_come_on_demand_and_the_button_says_how_many() {
    let world = World::new().await;
    world.discuss(BREAD).await;
    world
        .browser
        .until(
            "document.querySelector('.branch-bar button')?.innerText === 'Show 117 more replies'",
        )
        .await;
    let before = world.shown().await;
    world.browser.press(".branch-bar", "Show 117").await;
    world
        .browser
        .until("document.querySelector('.branch-bar button')?.innerText === 'Show 97 more replies'")
        .await;
    let after = world.shown().await;
    assert_eq!(after.len(), before.len() + 20);
    assert!(
        before.iter().all(|id| after.contains(id)),
        "nothing went away"
    );
    world
        .browser
        .until("document.activeElement.matches('article.comment')")
        .await;
    world
        .browser
        .until("document.querySelector('#polite').innerText === '20 more replies loaded.'")
        .await;
    world.end().await;
}

pub(crate) async fn a_link_to_a_far_reply_shows_it_with_its_context_and_the_way_back() {
    let world = World::new().await;
    let all = all(&world, BOOK).await;
    let (deepest, depth) = all.iter().max_by_key(|(_, depth)| *depth).unwrap();
    assert_eq!(*depth, 30);
    let id = world.discuss(BOOK).await;
    world.browser.js("scrollTo(0, 300)").await;
    let path = format!("/d/{id}#c={deepest}");
    // Followed within the page, as from a comment's own date.
    let follow = "const link = document.createElement('a'); link.href = arguments[0]; \
                  document.querySelector('main').append(link); link.click();";
    world.browser.js_with(follow, vec![json!(path)]).await;
    let target = format!("document.activeElement?.dataset?.id === {deepest:?}");
    world.browser.until(&target).await;
    world
        .browser
        .until("document.querySelector('.note.context')")
        .await;
    let seen = "const box = document.activeElement.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight";
    assert_eq!(world.browser.js(seen).await, true);
    let roots = "return document.querySelectorAll('.comments > .item').length";
    assert_eq!(world.browser.js(roots).await, 1, "its branch alone");
    world.browser.click("[data-back]").await;
    world
        .browser
        .until("!document.querySelector('.note.context') && scrollY === 300")
        .await;
    world.open("/").await;
    world.open(&path).await;
    world.browser.until(&target).await;
    world.browser.click("[data-whole]").await;
    world
        .browser
        .until("document.querySelectorAll('.comments > .item').length === 5")
        .await;
    world.end().await;
}

pub(crate) async fn a_link_to_nothing_says_so() {
    let world = World::new().await;
    let id = world.discussion(HELLO).await;
    let foreign = all(&world, BREAD).await[0].0.clone();
    world.open(&format!("/d/{id}#c={foreign}")).await;
    world
        .browser
        .until("document.querySelector('.note[role=status]')?.innerText.includes('not here')")
        .await;
    assert!(world.shown().await.len() > 10);
    world.open("/d/RGlzY3Vzc2lvbjox").await;
    world
        .browser
        .until("document.querySelector('.trouble [role=alert]')")
        .await;
    world.end().await;
}

pub(crate) async fn the_keyboard_goes_from_comment_to_comment() {
    let world = World::new().await;
    world.sign_in("7", "").await;
    world.discuss(HELLO).await;
    let shown = world.shown().await;
    let at = "return document.activeElement?.dataset?.id ?? ''";
    for (key, index) in [("j", 0), ("j", 1), ("j", 2), ("k", 1)] {
        world.browser.key(key).await;
        assert_eq!(world.browser.js(at).await, shown[index].as_str(), "{key}");
    }
    world.browser.key("r").await;
    world
        .browser
        .until("document.activeElement.tagName === 'TEXTAREA'")
        .await;
    // While one writes, a letter is a letter.
    world.browser.key("jk").await;
    assert_eq!(
        world
            .browser
            .js("return document.activeElement.value")
            .await,
        "jk"
    );
    world.browser.key("\u{e00c}").await;
    assert_eq!(world.browser.js(at).await, shown[1].as_str());
    world.browser.key("?").await;
    world
        .browser
        .until("document.querySelector('dialog[open]')")
        .await;
    world.browser.key("\u{e00c}").await;
    world
        .browser
        .until("!document.querySelector('dialog')")
        .await;
    assert_eq!(world.browser.js(at).await, shown[1].as_str());
    world.end().await;
}
