//! Writing: what is shown at once, what is told when it fails, and that nothing typed is lost.

use serde_json::json;

use crate::world::{HELLO, World};

const ROOT: &str = ".writing textarea";
/// The next comment arrives and is written; its answer does not come back.
const LOSE: &str = "const real = window.fetch; window.fetch = async (...all) => { \
     const answer = await real(...all); if (!all[1].body.includes('createComment')) return answer; \
     window.fetch = real; throw new TypeError('cut off'); }";

async fn signed_in() -> World {
    let world = World::new().await;
    world.sign_in("7", "").await;
    world.discuss(HELLO).await;
    world
}

pub(crate) async fn a_comment_is_posted_edited_and_deleted() {
    let world = signed_in().await;
    let browser = &world.browser;
    browser.fill(ROOT, "First *words*").await;
    browser.press(".writing", "Post comment").await;
    let mine = world.comment("First words").await;
    browser
        .until("document.activeElement.matches('article.comment')")
        .await;
    assert_eq!(
        browser
            .js(&format!("return document.querySelector('{ROOT}').value"))
            .await,
        ""
    );
    browser
        .until("document.querySelector('.total').innerText === '89 comments'")
        .await;
    browser.press(&mine, "Edit").await;
    let field = format!("{mine} .slot textarea");
    browser
        .until("document.activeElement.tagName === 'TEXTAREA'")
        .await;
    assert_eq!(
        browser
            .js(&format!(
                "return document.querySelector('{}').value",
                field.replace('"', "\\\"")
            ))
            .await,
        "First *words*"
    );
    browser.paste(&field, "Second words").await;
    browser.press(&mine, "Save").await;
    let mine = world.comment("Second words").await;
    browser
        .until(&format!(
            "document.querySelector('{mine} .mark')?.innerText === 'edited'"
        ))
        .await;
    browser.press(&mine, "More").await;
    browser.press(&mine, "Delete").await;
    browser.press(&mine, "Keep it").await;
    browser.press(&mine, "More").await;
    browser.press(&mine, "Delete").await;
    browser.press(&format!("{mine} .question"), "Delete").await;
    browser
        // Nothing hangs below it, so its place goes as soon as the event tells.
        .until(&format!("!document.querySelector('{mine}')"))
        .await;
    browser
        .until("document.querySelector('.total').innerText === '88 comments'")
        .await;
    assert_eq!(world.times(HELLO, "Second words").await, 0);
    world.end().await;
}

pub(crate) async fn a_reply_lies_under_what_it_answers() {
    let world = World::new().await;
    let root = world
        .post("8", "https://blog.example.com/new", None, "A root")
        .await;
    world.sign_in("7", "").await;
    world.discuss("https://blog.example.com/new").await;
    let above = world.comment("A root").await;
    world.browser.press(&above, "Reply").await;
    world
        .browser
        .fill(&format!("{above} .slot textarea"), "An answer")
        .await;
    world
        .browser
        .press(&format!("{above} .slot"), "Post reply")
        .await;
    let answer = world.comment("An answer").await;
    let parent = format!(
        "return document.querySelector('{answer}').closest('.kids').closest('.item').querySelector('article').dataset.id"
    );
    assert_eq!(world.browser.js(&parent).await, root.as_str());
    assert_eq!(
        world
            .browser
            .js(&format!(
                "return document.querySelector('{above} .slot').childElementCount"
            ))
            .await,
        0
    );
    world.end().await;
}

pub(crate) async fn a_lost_connection_keeps_the_draft_and_a_retry_gives_one_comment() {
    let world = signed_in().await;
    let browser = &world.browser;
    browser.fill(ROOT, "From the tunnel").await;
    browser.offline(true).await;
    browser.press(".writing", "Post comment").await;
    browser.until("document.querySelector('.writing [role=alert]')?.innerText.includes('Your text is kept')").await;
    assert_eq!(
        browser
            .js(&format!("return document.querySelector('{ROOT}').value"))
            .await,
        "From the tunnel"
    );
    assert_eq!(
        browser
            .js("return document.querySelectorAll('.sending').length")
            .await,
        0
    );
    browser.offline(false).await;
    browser.press(".writing", "Try again").await;
    world.until_text("From the tunnel").await;
    assert_eq!(world.times(HELLO, "From the tunnel").await, 1);
    let complaints = world.complaints().await;
    assert!(
        complaints
            .iter()
            .all(|it| it.contains("ERR_INTERNET_DISCONNECTED")),
        "{complaints:?}"
    );
    world.end().await;
}

pub(crate) async fn an_answer_that_got_lost_gives_one_comment() {
    let world = signed_in().await;
    let browser = &world.browser;
    // The request arrives and is done; its answer does not come back.
    browser.js(LOSE).await;
    browser.fill(ROOT, "Once only").await;
    browser.press(".writing", "Post comment").await;
    browser.until("document.querySelector('.writing [role=alert]')?.innerText.includes('trying again is safe')").await;
    browser.press(".writing", "Try again").await;
    world.until_text("Once only").await;
    assert_eq!(world.times(HELLO, "Once only").await, 1);
    // Changed in between, it is another comment, and its writer decides.
    browser.js(LOSE).await;
    browser.fill(ROOT, "Half").await;
    browser.press(".writing", "Post comment").await;
    browser
        .until("document.querySelector('.writing [role=alert]')")
        .await;
    browser.fill(ROOT, " and whole").await;
    browser.press(".writing", "Post comment").await;
    browser.press(".writing", "Post this version as well").await;
    world.until_text("Half and whole").await;
    assert_eq!(world.times(HELLO, "Half").await, 1);
    assert_eq!(world.times(HELLO, "Half and whole").await, 1);
    world.end().await;
}

pub(crate) async fn a_refusal_is_told_in_the_form() {
    let world = signed_in().await;
    let browser = &world.browser;
    let alert = "document.querySelector('.writing [role=alert]')";
    browser.press(".writing", "Post comment").await;
    browser
        .until(&format!(
            "{alert}?.innerText.startsWith('Write something first')"
        ))
        .await;
    browser
        .until("document.activeElement.matches('textarea[aria-invalid=true]')")
        .await;
    browser.paste(ROOT, &"long ".repeat(2_100)).await;
    browser.press(".writing", "Post comment").await;
    browser
        .until(&format!(
            "{alert}?.innerText.includes('10,500 of at most 10,000')"
        ))
        .await;
    let length = browser
        .js(&format!(
            "return document.querySelector('{ROOT}').value.length"
        ))
        .await;
    assert_eq!(length, 10_500, "nothing was cut");
    world.end().await;
}

pub(crate) async fn an_edit_of_an_older_text_is_refused_and_may_be_mended() {
    let world = World::new().await;
    let url = "https://blog.example.com/new";
    let id = world.post("7", url, None, "One").await;
    world.sign_in("7", "").await;
    world.discuss(url).await;
    let mine = world.comment("One").await;
    world.browser.press(&mine, "Edit").await;
    world
        .browser
        .until("document.activeElement.tagName === 'TEXTAREA'")
        .await;
    let edit = "mutation ($input: EditCommentInput!) { editComment(input: $input) { __typename } }";
    let input = json!({ "input": { "comment": id, "expectedRevision": 1, "body": "Two" } });
    world.server.graphql(Some("7"), edit, input).await;
    world
        .browser
        .paste(&format!("{mine} .slot textarea"), "Three")
        .await;
    world.browser.press(&mine, "Save").await;
    world
        .browser
        .until("document.querySelector('.slot [role=alert] blockquote')?.innerText === 'Two'")
        .await;
    assert_eq!(world.times(url, "Two").await, 1);
    world.browser.press(&mine, "Save mine over it").await;
    world
        .browser
        .until("!document.querySelector('.slot form')")
        .await;
    assert_eq!(world.times(url, "Three").await, 1);
    world.end().await;
}

pub(crate) async fn a_draft_outlives_the_page() {
    let world = signed_in().await;
    world.browser.paste(ROOT, "Not yet done 🙂 שלום").await;
    world.open("/").await;
    world.discuss(HELLO).await;
    let value = format!("return document.querySelector('{ROOT}').value");
    world
        .browser
        .until(&format!("document.querySelector('{ROOT}')"))
        .await;
    assert_eq!(world.browser.js(&value).await, "Not yet done 🙂 שלום");
    world.browser.press(".writing", "Post comment").await;
    world.until_text("Not yet done 🙂 שלום").await;
    world.discuss(HELLO).await;
    world
        .browser
        .until(&format!("document.querySelector('{ROOT}')"))
        .await;
    assert_eq!(world.browser.js(&value).await, "");
    world.end().await;
}
