//! Moderating: what each role is shown, and what happens then.

use crate::world::{OLD, World};

const URL: &str = "https://blog.example.com/new";

pub(crate) async fn members_have_no_controls_and_moderators_hide_and_restore() {
    let world = World::new().await;
    world.post("8", URL, None, "Somebody's").await;
    let controls =
        "return [...document.querySelectorAll('[data-act]')].map((it) => it.dataset.act)";
    world.discuss(URL).await;
    world.until_text("Somebody's").await;
    let shown = world.browser.js(controls).await.to_string();
    assert!(
        !shown.contains("hide") && !shown.contains("reply"),
        "{shown}"
    );
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    world.until_text("Somebody's").await;
    let shown = world.browser.js(controls).await.to_string();
    assert!(
        shown.contains("reply") && !shown.contains("hide") && !shown.contains("delete"),
        "{shown}"
    );
    world.sign_in("9", "moderator").await;
    world.discuss(URL).await;
    let comment = world.comment("Somebody's").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Hide").await;
    world
        .browser
        .until(&format!(
            "document.querySelector('{comment}').dataset.state === 'HIDDEN'"
        ))
        .await;
    assert_eq!(world.times(URL, "Somebody's").await, 0);
    world.browser.press(&comment, "Restore").await;
    world
        .browser
        .until(&format!(
            "document.querySelector('{comment}').dataset.state === 'PUBLISHED'"
        ))
        .await;
    assert_eq!(world.times(URL, "Somebody's").await, 1);
    world.end().await;
}

pub(crate) async fn a_closed_discussion_takes_nothing() {
    let world = World::new().await;
    world.sign_in("7", "").await;
    world.discuss(OLD).await;
    world
        .browser
        .until("document.querySelector('.writing')?.innerText.includes('closed')")
        .await;
    assert_eq!(
        world
            .browser
            .js("return document.querySelectorAll('textarea, [data-act=reply]').length")
            .await,
        0
    );
    world.end().await;
}

pub(crate) async fn a_report_reaches_the_queue_and_is_answered() {
    let world = World::new().await;
    world.post("8", URL, None, "Buy things").await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    let comment = world.comment("Buy things").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Report").await;
    world
        .browser
        .until("document.querySelector('dialog[open]')")
        .await;
    world
        .browser
        .fill("#report-text", "An advertisement <b>")
        .await;
    world.browser.press("dialog", "Send report").await;
    world
        .browser
        .until("!document.querySelector('dialog')")
        .await;
    let nav = "return [...document.querySelectorAll('#places a')].map((it) => it.innerText)";
    assert_eq!(
        world.browser.js(nav).await,
        serde_json::json!(["Discussions", "You"])
    );
    world.open("/moderation").await;
    world
        .browser
        .until("document.querySelector('.trouble')?.innerText.includes('for moderators')")
        .await;
    world.sign_in("9", "moderator").await;
    world.open("/").await;
    world.browser.press("#places", "Moderation").await;
    world
        .browser
        .until("document.querySelectorAll('.queue > li').length === 1")
        .await;
    let report = "return document.querySelector('.reports li').innerText";
    assert_eq!(
        world.browser.js(report).await,
        "Spam or advertising: An advertisement <b>"
    );
    world.browser.press(".queue", "Keep it").await;
    world
        .browser
        .until("document.querySelectorAll('.queue > li').length === 0")
        .await;
    world
        .browser
        .until("document.querySelector('main .facts').innerText === 'Nothing waits here.'")
        .await;
    world.open("/moderation").await;
    world
        .browser
        .until("document.querySelector('main .facts').innerText === 'Nothing waits here.'")
        .await;
    assert_eq!(world.times(URL, "Buy things").await, 1);
    world.end().await;
}

pub(crate) async fn a_waiting_comment_is_approved_from_the_queue() {
    let world = World::new().await;
    world.post("8", URL, None, "The first").await;
    world.sign_in("9", "moderator").await;
    world.discuss(URL).await;
    world.browser.click("[data-set=first]").await;
    world
        .browser
        .until("document.querySelector('[data-set=at-once]')")
        .await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    world
        .browser
        .fill(".writing textarea", "Please check")
        .await;
    world.browser.press(".writing", "Post comment").await;
    let mine = world.comment("Please check").await;
    world
        .browser
        .until(&format!("document.querySelector('{mine} .badge.pending')"))
        .await;
    assert_eq!(world.times(URL, "Please check").await, 0);
    world.sign_in("9", "moderator").await;
    world.open("/moderation").await;
    world.browser.press(".queue", "Approve").await;
    world
        .browser
        .until("document.querySelectorAll('.queue > li').length === 0")
        .await;
    assert_eq!(world.times(URL, "Please check").await, 1);
    world.end().await;
}

pub(crate) async fn pins_are_shown_on_top_and_go_away() {
    let world = World::new().await;
    world.post("8", URL, None, "Worth reading").await;
    world.sign_in("9", "moderator").await;
    world.discuss(URL).await;
    let comment = world.comment("Worth reading").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Pin").await;
    world
        .browser
        .until("document.querySelector('.pins li')?.innerText.includes('Worth reading')")
        .await;
    world
        .browser
        .until(&format!(
            "document.querySelector('{comment} .badge.pinned')"
        ))
        .await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Unpin").await;
    world
        .browser
        .until("!document.querySelector('.pins')")
        .await;
    world.end().await;
}
