//! Pictures for people, of every page in both sizes and schemes, where a folder for them is named.

use serde_json::json;

use crate::world::{BOOK, HELLO, World};

/// The address of a reply far down in a discussion.
async fn deep_link(world: &World) -> String {
    let query = "query ($u: URL!) { discussion(url: $u) { id \
         comments(mode: LINEAR, last: 20) { edges { node { id depth } } } } }";
    let data = world
        .server
        .graphql(None, query, json!({ "u": BOOK }))
        .await;
    let id = data["discussion"]["id"].as_str().unwrap();
    let edges = data["discussion"]["comments"]["edges"].as_array().unwrap();
    let mut nodes = edges.iter().map(|edge| &edge["node"]);
    let deep = nodes.find(|node| node["depth"].as_i64() > Some(0)).unwrap();
    format!("/d/{id}#c={}", deep["id"].as_str().unwrap())
}

/// Something to moderate, and an answer to the moderator.
async fn prepare(world: &World) {
    let spam = "Cheap *watches*, visit my page";
    let spam = world.post("8", HELLO, None, spam).await;
    let report = "mutation ($c: ID!) { reportComment(input: { comment: $c, reason: SPAM, \
         text: \"An advertisement\" }) { __typename } }";
    for user in ["5", "6"] {
        let variables = json!({ "c": spam });
        world.server.graphql(Some(user), report, variables).await;
    }
    let mine = "Is anybody here from Almaty?";
    let mine = world.post("9", HELLO, None, mine).await;
    let answer = "I am! Since last spring 🙂";
    world.post("5", HELLO, Some(&mine), answer).await;
}

/// Walks through the pages; without a folder it still sees that every one of them opens.
pub(crate) async fn pictures_for_people() {
    let world = World::new().await;
    let browser = &world.browser;
    let link = deep_link(&world).await;
    prepare(&world).await;
    for (size, width, height) in [("desktop", 1280, 1000), ("phone", 360, 760)] {
        for scheme in ["light", "dark"] {
            browser.size(width, height).await;
            browser.scheme(scheme).await;
            let shot = async |name: &str| browser.shot(&format!("{name}-{size}-{scheme}")).await;
            world.sign_in("1", "").await;
            world.open("/").await;
            shot("list").await;
            world.discuss(HELLO).await;
            shot("threads").await;
            browser.js("scrollTo(0, 700)").await;
            shot("threads-below").await;
            browser.js("scrollTo(0, 0)").await;
            browser.press(".writing", "Post comment").await;
            browser
                .until("document.querySelector('.writing [role=alert]')")
                .await;
            shot("refusal").await;
            browser.click("[data-mode=LINEAR]").await;
            browser.until("document.querySelector('.by-date')").await;
            shot("by-date").await;
            browser.click("[data-mode=AUTO]").await;
            browser.until("document.querySelector('.threads')").await;
            world.open("/").await;
            world.open(&link).await;
            browser
                .until("document.querySelector('.comment.target')")
                .await;
            shot("link").await;
            world.sign_in("9", "moderator").await;
            world.discuss(HELLO).await;
            browser.press("article.comment", "More").await;
            shot("moderation").await;
            world.open("/moderation").await;
            shot("queue").await;
            world.open("/mine").await;
            shot("mine").await;
            world.open(&format!("/embed?url={HELLO}")).await;
            shot("embed").await;
            browser.js("localStorage.clear()").await;
            world.open("/").await;
            browser.press("#account", "Sign in").await;
            shot("sign-in").await;
        }
    }
    world.end().await;
}
