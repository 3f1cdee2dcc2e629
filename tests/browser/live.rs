//! What comes in while one reads.

use fantoccini::wd::WindowHandle;
use serde_json::json;

use crate::world::{HELLO, World};

const URL: &str = "https://blog.example.com/new";
const LIVE: &str = "document.querySelector('#live').dataset.state === 'live'";

async fn graphql(world: &World, user: &str, query: &str, input: serde_json::Value) {
    world
        .server
        .graphql(Some(user), query, json!({ "input": input }))
        .await;
}

pub(crate) async fn what_others_write_comes_in_without_moving_what_is_read() {
    let world = World::new().await;
    let id = world.discuss(HELLO).await;
    let browser = &world.browser;
    browser.until(LIVE).await;
    browser.js("const at = document.querySelectorAll('article.comment')[12]; at.focus(); at.scrollIntoView({ block: 'center' })").await;
    let top = "return document.activeElement.getBoundingClientRect().top";
    let before = browser.js(top).await;
    let first = world.shown().await[0].clone();
    // Above the place of the reader: announced. A branch that is shown to its end takes it in then.
    for text in ["Above one", "Above two"] {
        world.post("8", HELLO, Some(&first), text).await;
    }
    browser
        .until("document.querySelector('.arrived')?.innerText === '2 new comments'")
        .await;
    browser
        .until("document.querySelector('.total').innerText === '90 comments'")
        .await;
    assert_eq!(browser.js(top).await, before, "nothing moved");
    // Below it: there at once.
    world.post("8", HELLO, None, "Below").await;
    world.until_text("Below").await;
    assert_eq!(browser.js(top).await, before, "nothing moved");
    browser.press(".arrivals", "2 new").await;
    world.until_text("Above one").await;
    world.until_text("Above two").await;
    browser
        .until("document.activeElement.innerText.includes('Above one')")
        .await;
    browser.until("!document.querySelector('.arrived')").await;
    assert_eq!(world.discussion(HELLO).await, id);
    world.end().await;
}

pub(crate) async fn a_second_tab_shows_a_post_an_edit_and_a_deletion() {
    let world = World::new().await;
    world.post("8", URL, None, "Somebody else").await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    let client = world.browser.client();
    let first: WindowHandle = client.window().await.unwrap();
    let second = client.new_window(true).await.unwrap().handle;
    client.switch_to_window(second.clone()).await.unwrap();
    world.discuss(URL).await;
    world.browser.until(LIVE).await;
    client.switch_to_window(first.clone()).await.unwrap();
    world
        .browser
        .fill(".writing textarea", "From the first")
        .await;
    world.browser.press(".writing", "Post comment").await;
    let mine = world.comment("From the first").await;
    client.switch_to_window(second.clone()).await.unwrap();
    world.until_text("From the first").await;
    // What may be done with it is asked for, since an event cannot tell.
    world
        .browser
        .until(&format!("document.querySelector('{mine} [data-act=edit]')"))
        .await;
    client.switch_to_window(first.clone()).await.unwrap();
    world.browser.press(&mine, "Edit").await;
    world
        .browser
        .paste(&format!("{mine} .slot textarea"), "Mended")
        .await;
    world.browser.press(&mine, "Save").await;
    world.until_text("Mended").await;
    client.switch_to_window(second.clone()).await.unwrap();
    world.until_text("Mended").await;
    client.switch_to_window(first.clone()).await.unwrap();
    world.browser.press(&mine, "More").await;
    world.browser.press(&mine, "Delete").await;
    world
        .browser
        .press(&format!("{mine} .question"), "Delete")
        .await;
    client.switch_to_window(second).await.unwrap();
    world
        .browser
        .until(&format!("!document.querySelector('{mine}')"))
        .await;
    assert_eq!(world.shown().await.len(), 1);
    world.end().await;
}

pub(crate) async fn a_lost_connection_is_told_and_what_was_missed_comes_after_it() {
    let world = World::new().await;
    world.post("8", URL, None, "Before").await;
    // Sockets of the page, to be cut by the case.
    let keep = "window.sockets = []; const Real = WebSocket; window.WebSocket = class extends Real { \
                constructor(...all) { if (window.cut) all[0] = 'ws://127.0.0.1:1/'; super(...all); window.sockets.push(this); } }";
    world
        .browser
        .chromium(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": keep }),
        )
        .await;
    world.discuss(URL).await;
    world.browser.until(LIVE).await;
    world
        .browser
        .js("window.cut = true; for (const socket of window.sockets) socket.close()")
        .await;
    world
        .browser
        .until("document.querySelector('#live').innerText.startsWith('Not live')")
        .await;
    let missed = world.post("8", URL, None, "Missed").await;
    let edit = "mutation ($input: EditCommentInput!) { editComment(input: $input) { __typename } }";
    graphql(
        &world,
        "8",
        edit,
        json!({ "comment": missed, "expectedRevision": 1, "body": "Missed, mended" }),
    )
    .await;
    world
        .browser
        .js("window.cut = false; dispatchEvent(new Event('online'))")
        .await;
    world.browser.until(LIVE).await;
    world.until_text("Missed, mended").await;
    assert_eq!(world.shown().await.len(), 2);
    let complaints = world.complaints().await;
    assert!(
        complaints.iter().all(|it| it.contains("ws://127.0.0.1:1/")),
        "{complaints:?}"
    );
    world.end().await;
}

pub(crate) async fn closing_a_discussion_reaches_those_who_read_it() {
    let world = World::new().await;
    world.post("8", URL, None, "Open").await;
    world.sign_in("7", "").await;
    let id = world.discuss(URL).await;
    world.browser.until(LIVE).await;
    let close =
        "mutation ($d: ID!) { setDiscussionState(discussion: $d, state: CLOSED) { state } }";
    let body = json!({ "query": close, "variables": { "d": id } });
    let request = world.server.client().post(world.at("/graphql"));
    let request = request
        .header("x-dev-user", "9")
        .header("x-dev-roles", "moderator");
    request.json(&body).send().await.unwrap();
    world
        .browser
        .until("document.querySelector('.writing').innerText.includes('closed')")
        .await;
    world
        .browser
        .until("!document.querySelector('[data-act=reply]')")
        .await;
    world.end().await;
}

pub(crate) async fn a_resync_reads_what_is_shown_anew_and_keeps_place_and_draft() {
    let world = World::new().await;
    let edited = world.post("8", URL, None, "Old text").await;
    let hidden = world.post("8", URL, None, "To be hidden").await;
    // What the server sends may be held back, and other messages put in its place.
    let keep = "const Real = WebSocket; window.WebSocket = class extends Real { \
                set onmessage(take) { window.deliver = (data) => take({ data: JSON.stringify(data) }); \
                super.onmessage = (event) => { if (!(window.held && event.data.includes('commentEvents'))) take(event); }; } }";
    world
        .browser
        .chromium(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": keep }),
        )
        .await;
    world.sign_in("7", "").await;
    world.discuss(URL).await;
    world.browser.until(LIVE).await;
    let first = world.comment("Old text").await;
    world.browser.press(&first, "Reply").await;
    let field = format!("{first} .slot textarea");
    world.browser.fill(&field, "My draft").await;
    world.browser.js("window.held = true").await;
    let edit = "mutation ($input: EditCommentInput!) { editComment(input: $input) { __typename } }";
    let input = json!({ "comment": edited, "expectedRevision": 1, "body": "New text" });
    graphql(&world, "8", edit, input).await;
    let delete =
        "mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { __typename } }";
    graphql(&world, "8", delete, json!({ "comment": hidden })).await;
    world.post("8", URL, None, "Came meanwhile").await;
    let resync = json!({ "type": "next", "id": "1", "payload": { "data": { "commentEvents": {
        "id": "r1", "kind": "RESYNC", "commentId": null, "comment": null, "discussion": null } } } });
    let deliver = "window.deliver(arguments[0]); window.deliver(arguments[0])";
    world.browser.js_with(deliver, vec![resync]).await;
    world.until_text("New text").await;
    world.until_text("Came meanwhile").await;
    world
        .browser
        .until(&format!("!document.getElementById('c-{hidden}')"))
        .await;
    assert_eq!(world.shown().await.len(), 2);
    let draft = format!("return document.querySelector('{field}').value");
    assert_eq!(world.browser.js(&draft).await, "My draft");
    world
        .browser
        .until("document.activeElement.tagName === 'TEXTAREA'")
        .await;
    world.end().await;
}
