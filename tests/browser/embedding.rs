//! The embed, in a page of another origin.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::browser::Browser;
use crate::world::World;

/// A site of its own with one page, answered to whatever is asked.
#[derive(Debug)]
struct Site {
    listener: TcpListener,
    origin: String,
}

impl Site {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, origin }
    }

    /// Serves the page until the case ends.
    async fn serve(&self, page: &str) {
        loop {
            let (mut stream, _) = self.listener.accept().await.unwrap();
            // A browser opens connections that it may never use.
            let mut head = [0; 4096];
            let read = stream.read(&mut head);
            if !matches!(
                tokio::time::timeout(std::time::Duration::from_secs(2), read).await,
                Ok(Ok(1..))
            ) {
                continue;
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            );
            stream.write_all(answer.as_bytes()).await.ok();
        }
    }
}

fn page(world: &World, url: &str) -> String {
    format!(
        "<!doctype html><html lang=en style='color-scheme: dark'><title>A blog</title><link rel=icon href='data:,'>\
         <body><h1>A post</h1><p>Words.</p><script src='{}' data-url='{url}' data-loading=eager></script><p id=after>The end</p>",
        world.at("/embed.js")
    )
}

/// Runs the case while the site is served.
async fn beside(site: &Site, page: &str, case: impl Future<Output = ()>) {
    tokio::select! {
        () = site.serve(page) => {}
        () = case => {}
    }
}

/// A message that is not from the frame is not taken, although it looks like one.
async fn a_stranger_changes_nothing(browser: &Browser) {
    let height = "return document.querySelector('iframe').offsetHeight";
    let before = browser.js(height).await;
    // This listener comes after the embed's own, so that has looked at the message by then.
    let send = "return new Promise((done) => { addEventListener('message', () => done(), { once: true }); \
         postMessage({ threadline: 1, type: 'height', height: 9999 }, '*'); })";
    browser.js(send).await;
    assert_eq!(browser.js(height).await, before);
}

pub(crate) async fn a_page_of_another_origin_gets_a_frame_of_the_right_height() {
    let site = Site::new().await;
    let origins = format!("[\"{}\"]", site.origin);
    let world = World::with(&[("THREADLINE_SERVER__EMBED_ORIGINS", &origins)]).await;
    let page = page(&world, "https://blog.example.com/never-seen");
    let browser = &world.browser;
    beside(&site, &page, async {
        browser.goto(&site.origin).await;
        browser.until("document.querySelector('iframe')").await;
        let client = browser.client();
        client.enter_frame(0).await.unwrap();
        browser
            .until("document.querySelector('.place .quiet')")
            .await;
        browser
            .until("document.documentElement.dataset.theme === 'dark'")
            .await;
        // The first comment opens the discussion.
        let identity = json!({ "devUser": "7", "devRoles": "" }).to_string();
        browser
            .js_with(
                "localStorage.setItem('threadline.identity', arguments[0]); location.reload()",
                vec![json!(identity)],
            )
            .await;
        client.enter_parent_frame().await.unwrap();
        client.enter_frame(0).await.unwrap();
        browser.fill(".writing textarea", "First!").await;
        browser.press(".writing", "Post comment").await;
        world.until_text("First!").await;
        let long = "A line.\n\n".repeat(60);
        browser.paste(".writing textarea", &long).await;
        browser.press(".writing", "Post comment").await;
        browser
            .until("document.querySelectorAll('article.comment').length === 2")
            .await;
        client.enter_parent_frame().await.unwrap();
        browser
            .until("document.querySelector('iframe').offsetHeight > 1200")
            .await;
        client.enter_frame(0).await.unwrap();
        let fits = "Math.abs(document.body.getBoundingClientRect().height - innerHeight) <= 1";
        browser.until(fits).await;
        // It shrinks as well.
        browser
            .js("document.querySelector('.comments').hidden = true")
            .await;
        browser.until(&format!("innerHeight < 900 && {fits}")).await;
        client.enter_parent_frame().await.unwrap();
        a_stranger_changes_nothing(browser).await;
        let complaints = world.complaints().await;
        assert!(complaints.is_empty(), "{complaints:?}");
    })
    .await;
    assert_eq!(
        world
            .times("https://blog.example.com/never-seen", "First!")
            .await,
        1
    );
    world.end().await;
}

pub(crate) async fn an_origin_that_is_not_named_gets_nothing() {
    let site = Site::new().await;
    let world = World::new().await;
    let page = page(&world, "https://blog.example.com/hello");
    beside(&site, &page, async {
        world.browser.goto(&site.origin).await;
        world
            .browser
            .until("document.querySelector('iframe')")
            .await;
        let refused = async {
            loop {
                let complaints = world.complaints().await;
                if complaints.iter().any(|it| it.contains("frame-ancestors")) {
                    return;
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), refused)
            .await
            .unwrap();
        world.browser.client().enter_frame(0).await.unwrap();
        let shown = world
            .browser
            .js("return document.querySelectorAll('article.comment').length")
            .await;
        assert_eq!(shown, 0);
    })
    .await;
}
