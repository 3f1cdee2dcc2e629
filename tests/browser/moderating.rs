//! Moderating: what each role is shown, and what happens then.

use crate::world::{OLD, World};

const URL: &str = "https://blog.example.com/new";

pub(crate) async fn members_have_no_controls_and_moderators_hide_and_restore() {
    let world = World::new().await;
    world.post("8", URL, None, "Somebody's").await;
    let controls = "return [...document.querySelectorAll('[data-act]')].map((it) => it.dataset.act)";
    world.discuss(URL).await;
    world.until_text("Somebody's").await;
    let shown = world.browser.js(controls).await.to_string();
    assert!(!shown.contains("hide") && !shown.contains("reply"), "{shown}");
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    world.until_text("Somebody's").await;
    let shown = world.browser.js(controls).await.to_string();
    assert!(shown.contains("reply") && !shown.contains("hide") && !shown.contains("delete"), "{shown}");
    world.sign_in("9", "moderator").await;
    world.discuss(URL).await;
    let comment = world.comment("Somebody's").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Hide").await;
    world.browser.until(&format!("document.querySelector('{comment}').dataset.state === 'HIDDEN'")).await;
    assert_eq!(world.times(URL, "Somebody's").await, 0);
    world.browser.press(&comment, "Restore").await;
    world.browser.until(&format!("document.querySelector('{comment}').dataset.state === 'PUBLISHED'")).await;
    assert_eq!(world.times(URL, "Somebody's").await, 1);
    world.end().await;
}

pub(crate) async fn a_closed_discussion_takes_nothing() {
    let world = World::new().await;
    world.sign_in("7", "").await;
    world.discuss(OLD).await;
    world.browser.until("document.querySelector('.writing')?.innerText.includes('closed')").await;
    assert_eq!(world.browser.js("return document.querySelectorAll('textarea, [data-act=reply]').length").await, 0);
    world.end().await;
}
