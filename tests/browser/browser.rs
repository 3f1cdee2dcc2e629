//! A Chromium under `WebDriver`, with what the cases need of its own protocol beside it.
//!
//! What a page shows is asked for by small scripts, and waited for by asking again: no case knows
//! how long anything takes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use fantoccini::elements::{Element, ElementRef};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// Longer than anything may take that is not a fault.
const DEADLINE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// A call of the driver that the standard does not have.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

/// One browser with a driver of its own; both end with it.
#[derive(Debug)]
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    client: Client,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        let (driver, port) = start_driver();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            "--lang=en-GB",
        ];
        let capabilities = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "unhandledPromptBehavior": "ignore",
        });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().unwrap().clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .unwrap();
        Self {
            driver,
            port,
            client,
        }
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) async fn goto(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    /// A call of Chromium's own protocol.
    pub(crate) async fn chromium(&self, name: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": name, "params": parameters });
        let path = "goog/cdp/execute";
        self.client
            .issue_cmd(Extension { path, body })
            .await
            .unwrap()
    }

    /// What the browser wrote down since the last time; `kind` is `browser` or `performance`.
    pub(crate) async fn log(&self, kind: &str) -> Vec<Value> {
        let body = json!({ "type": kind });
        let path = "se/log";
        let entries = self
            .client
            .issue_cmd(Extension { path, body })
            .await
            .unwrap();
        entries.as_array().unwrap().clone()
    }

    /// Runs the body of a function in the page.
    pub(crate) async fn js(&self, script: &str) -> Value {
        self.js_with(script, Vec::new()).await
    }

    pub(crate) async fn js_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        let ran = self.client.execute(script, arguments).await;
        ran.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Waits until the expression is true in the page.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str) -> impl Future<Output = ()> {
        let script = format!("return Boolean({expression})");
        let place = std::panic::Location::caller();
        async move {
            let waiting = async {
                while self.js(&script).await != true {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            };
            if tokio::time::timeout(DEADLINE, waiting).await.is_err() {
                let text = self.js("return document.body.innerText").await;
                panic!("{place}: never true: {script}\n{}", text.as_str().unwrap());
            }
        }
    }

    /// Clicks as a person does: what is covered or out of sight cannot be clicked.
    pub(crate) async fn click(&self, css: &str) {
        let find = "return document.querySelector(arguments[0])";
        let waiting = async {
            while !self.clicked(find, vec![json!(css)]).await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let done = tokio::time::timeout(DEADLINE, waiting).await;
        assert!(done.is_ok(), "{css} cannot be clicked");
    }

    /// Clicks the first button or link within `css` that shows this text. What is drawn anew in
    /// between is looked for again.
    pub(crate) async fn press(&self, css: &str, text: &str) {
        let find = "const [css, text] = arguments; for (const place of document.querySelectorAll(css)) \
             for (const it of place.querySelectorAll('button, a, summary')) \
             if (it.innerText.trim().startsWith(text) && it.offsetParent && !it.disabled) return it; \
             return null;";
        let waiting = async {
            while !self.clicked(find, vec![json!(css), json!(text)]).await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let done = tokio::time::timeout(DEADLINE, waiting).await;
        assert!(
            done.is_ok(),
            "nothing in {css} says {text:?}, or it cannot be clicked"
        );
    }

    /// Clicks what a script finds, and tells whether that went well.
    async fn clicked(&self, find: &str, arguments: Vec<Value>) -> bool {
        let found = self.js_with(find, arguments).await;
        let Some(element) = self.element(&found) else {
            return false;
        };
        // A page that moves between the button's going down and up makes no click of them.
        let watch = "window.pressed = 'waiting'; arguments[0].addEventListener('click', \
             () => { window.pressed = 'done' }, { once: true, capture: true })";
        let watched = self.client.execute(watch, vec![found.clone()]).await;
        if watched.is_ok() && element.click().await.is_ok() {
            // Where the click led to another page, nothing waits there.
            let pressed = self.client.execute("return window.pressed", Vec::new());
            return !pressed.await.is_ok_and(|pressed| pressed == "waiting");
        }
        // What stays on top may cover it: a person scrolls then. It may also be gone by now.
        let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
        self.client.execute(script, vec![found]).await.ok();
        false
    }

    /// What a script returned, where it is an element.
    fn element(&self, value: &Value) -> Option<Element> {
        let id = value.as_object()?.values().next()?.as_str()?;
        let id = ElementRef::from(id.to_owned());
        Some(Element::from_element_id(self.client.clone(), id))
    }

    /// Types into a field, after what is there.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        self.until(&format!("document.querySelector({css:?})"))
            .await;
        let element = self.client.find(Locator::Css(css)).await.unwrap();
        element.send_keys(text).await.unwrap();
    }

    /// Puts a text into a field at once: the driver types no characters beyond the first plane.
    pub(crate) async fn paste(&self, css: &str, text: &str) {
        self.until(&format!("document.querySelector({css:?})"))
            .await;
        let script = "const field = document.querySelector(arguments[0]); field.value = arguments[1]; \
             field.dispatchEvent(new Event('input', { bubbles: true }))";
        self.js_with(script, vec![json!(css), json!(text)]).await;
    }

    /// Presses a key on the page.
    pub(crate) async fn key(&self, key: &str) {
        let active = self.client.active_element().await.unwrap();
        active.send_keys(key).await.unwrap();
    }

    /// Makes the page so wide and high as a device.
    pub(crate) async fn size(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.chromium("Emulation.setDeviceMetricsOverride", size)
            .await;
    }

    /// Sets the reader's colour scheme, `light` or `dark`.
    pub(crate) async fn scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.chromium(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )
        .await;
    }

    /// Cuts the network, or joins it again.
    pub(crate) async fn offline(&self, is_offline: bool) {
        self.chromium("Network.enable", json!({})).await;
        let conditions = json!({ "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.chromium("Network.emulateNetworkConditions", conditions)
            .await;
    }

    /// Keeps a picture of the page, where pictures are wanted.
    pub(crate) async fn shot(&self, name: &str) {
        let Some(folder) = std::env::var_os("THREADLINE_TEST_SHOTS") else {
            return;
        };
        let made = self
            .chromium("Page.captureScreenshot", json!({ "format": "png" }))
            .await;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(made["data"].as_str().unwrap())
            .unwrap();
        let file = std::path::Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(file, bytes).unwrap();
    }
}

/// Starts a driver on a free port. Two that start at once may choose the same one; then the second
/// ends, and another is started.
fn start_driver() -> (Child, u16) {
    for _ in 0..5 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let mut ports = lines.map_while(Result::ok).filter_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        if let Some(port) = ports.next() {
            return (driver, port);
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver does not start");
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to shut down, the driver closes its browser first; a signal would leave that behind.
        let asked = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(DEADLINE))?;
            stream.write_all(
                b"GET /shutdown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
            )?;
            stream.read_to_end(&mut Vec::new())
        });
        if asked.is_err() {
            self.driver.kill().ok();
        }
        self.driver.wait().ok();
    }
}
