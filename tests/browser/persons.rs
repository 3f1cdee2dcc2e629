//! Between people: blocks, bans, answers, what is new.

use crate::world::World;

const URL: &str = "https://blog.example.com/new";

pub(crate) async fn a_blocked_person_is_a_placeholder_until_they_are_unblocked() {
    let world = World::new().await;
    let root = world.post("8", URL, None, "Rude words").await;
    world.post("6", URL, Some(&root), "An answer").await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    let comment = world.comment("Rude words").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Block this person").await;
    let blocked = format!("document.querySelector('{comment}').dataset.state === 'BLOCKED'");
    world.browser.until(&blocked).await;
    world.until_text("An answer").await;
    let page = "return document.querySelector('main').innerText.includes('Rude words')";
    assert_eq!(world.browser.js(page).await, false);
    world.discuss(URL).await;
    world.browser.until(&blocked).await;
    assert_eq!(world.browser.js(page).await, false);
    world.browser.press("#places", "You").await;
    world.browser.press(".people", "Unblock").await;
    world
        .browser
        .until("document.querySelector('.people').innerText === 'Nobody.'")
        .await;
    world.discuss(URL).await;
    world.until_text("Rude words").await;
    world.end().await;
}

pub(crate) async fn a_banned_person_is_told_in_the_form() {
    let world = World::new().await;
    world.post("8", URL, None, "Rude words").await;
    world.sign_in("9", "moderator").await;
    world.discuss(URL).await;
    let comment = world.comment("Rude words").await;
    world.browser.press(&comment, "More").await;
    world.browser.press(&comment, "Ban this person").await;
    world.browser.fill("dialog [name=reason]", "Enough").await;
    world.browser.press("dialog", "Ban").await;
    world
        .browser
        .until("!document.querySelector('dialog')")
        .await;
    world.sign_in("8", "").await;
    world.discuss(URL).await;
    world.browser.fill(".writing textarea", "Me again").await;
    world.browser.press(".writing", "Post comment").await;
    world
        .browser
        .until("document.querySelector('.writing [role=alert]')?.innerText.includes('ban')")
        .await;
    let kept = "return document.querySelector('.writing textarea').value";
    assert_eq!(world.browser.js(kept).await, "Me again");
    assert_eq!(world.times(URL, "Me again").await, 0);
    world.end().await;
}

pub(crate) async fn answers_are_listed_and_marked_as_read() {
    let world = World::new().await;
    let root = world.post("7", URL, None, "A question").await;
    for text in ["One answer", "Two answers"] {
        world.post("8", URL, Some(&root), text).await;
    }
    world.sign_in("7", "").await;
    world.open("/").await;
    world.browser.press("#places", "You (2 new)").await;
    world
        .browser
        .until("document.querySelectorAll('.queue > li').length === 2")
        .await;
    world
        .browser
        .until("document.querySelectorAll('.badge.new').length === 2")
        .await;
    world.browser.press("main", "Mark all as read").await;
    world
        .browser
        .until("document.querySelectorAll('.badge.new').length === 0")
        .await;
    let nav = "[...document.querySelectorAll('#places a')].some((it) => it.innerText === 'You')";
    world.browser.until(nav).await;
    world.end().await;
}

pub(crate) async fn what_is_new_since_the_last_visit_is_told_and_marked() {
    let world = World::new().await;
    world.post("8", URL, None, "Seen").await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    world.until_text("Seen").await;
    let marked = "query ($u: URL!) { discussion(url: $u) { viewerSeenAt } }";
    loop {
        let variables = serde_json::json!({ "u": URL });
        let data = world.server.graphql(Some("7"), marked, variables).await;
        if !data["discussion"]["viewerSeenAt"].is_null() {
            break;
        }
        tokio::task::yield_now().await;
    }
    world.open("/").await;
    world.post("8", URL, None, "Not seen").await;
    world.discuss(URL).await;
    let told = "document.querySelector('.facts .badge.new')?.innerText === '1 new one since you were here'";
    world.browser.until(told).await;
    let fresh = world.comment("Not seen").await;
    world
        .browser
        .until(&format!("document.querySelector('{fresh} .badge.new')"))
        .await;
    assert_eq!(
        world
            .browser
            .js("return document.querySelectorAll('article .badge.new').length")
            .await,
        1
    );
    world.end().await;
}
