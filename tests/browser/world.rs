//! A server with the made-up community, a browser, and what is asked of both.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::common::{Place, Server};

pub(crate) const HELLO: &str = "https://blog.example.com/hello";
pub(crate) const BREAD: &str = "https://blog.example.com/2026/01/sunday-bread";
pub(crate) const BOOK: &str = "https://blog.example.com/ru/kniga-zimy";
pub(crate) const OLD: &str = "https://blog.example.com/2025/old-site";

/// The places of a case. The order of the fields is the order of their end.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) browser: Browser,
    pub(crate) server: Server,
    _place: Place,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With settings of the environment.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let place = Place::new();
        let server = place.serve_with(&["--seed"], settings).await;
        let browser = Browser::start().await;
        Self {
            browser,
            server,
            _place: place,
        }
    }

    /// The page's address.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.server.base())
    }

    /// Opens a page and waits until something is shown.
    pub(crate) async fn open(&self, path: &str) {
        self.browser.goto(&self.at(path)).await;
        self.ready().await;
    }

    pub(crate) async fn ready(&self) {
        let shown = "!document.querySelector('#waiting') && \
             document.querySelector('#main').getAttribute('aria-busy') !== 'true'";
        self.browser.until(shown).await;
    }

    /// Opens the discussion of an address.
    pub(crate) async fn discuss(&self, url: &str) -> String {
        let id = self.discussion(url).await;
        self.open(&format!("/d/{id}")).await;
        id
    }

    pub(crate) async fn discussion(&self, url: &str) -> String {
        let query = "query ($url: URL!) { discussion(url: $url) { id } }";
        let data = self
            .server
            .graphql(None, query, json!({ "url": url }))
            .await;
        data["discussion"]["id"].as_str().unwrap().to_owned()
    }

    /// Becomes somebody, as the sign-in form does.
    pub(crate) async fn sign_in(&self, user: &str, roles: &str) {
        let identity = json!({ "devUser": user, "devRoles": roles }).to_string();
        self.browser.goto(&self.at("/")).await;
        let script = "localStorage.setItem('threadline.identity', arguments[0])";
        self.browser.js_with(script, vec![json!(identity)]).await;
    }

    /// Writes a comment beside the page. Returns its id.
    pub(crate) async fn post(
        &self,
        user: &str,
        url: &str,
        parent: Option<&str>,
        body: &str,
    ) -> String {
        let query = "mutation ($input: CreateCommentInput!) { createComment(input: $input) { \
             ... on CommentWritten { comment { id } } ... on CommentRefused { code message } } }";
        let input = match parent {
            Some(parent) => {
                json!({ "discussion": self.discussion(url).await, "parent": parent, "body": body })
            }
            None => json!({ "url": url, "body": body }),
        };
        let data = self
            .server
            .graphql(Some(user), query, json!({ "input": input }))
            .await;
        let id = data["createComment"]["comment"]["id"].as_str();
        id.unwrap_or_else(|| panic!("{data}")).to_owned()
    }

    /// How often a text stands in a discussion.
    pub(crate) async fn times(&self, url: &str, text: &str) -> usize {
        let query = "query ($url: URL!, $after: String) { discussion(url: $url) { \
             comments(mode: LINEAR, first: 100, after: $after) { edges { node { body { text } } } \
             pageInfo { hasNextPage endCursor } } } }";
        let (mut times, mut after) = (0, Value::Null);
        loop {
            let variables = json!({ "url": url, "after": after });
            let data = self.server.graphql(None, query, variables).await;
            let page = &data["discussion"]["comments"];
            let edges = page["edges"].as_array().unwrap();
            times += edges
                .iter()
                .filter(|edge| edge["node"]["body"]["text"] == text)
                .count();
            if page["pageInfo"]["hasNextPage"] != true {
                return times;
            }
            after = page["pageInfo"]["endCursor"].clone();
        }
    }

    /// The texts of the comments that are shown, from top to bottom.
    pub(crate) async fn shown(&self) -> Vec<String> {
        let script =
            "return [...document.querySelectorAll('article.comment')].map((it) => it.dataset.id)";
        let ids = self.browser.js(script).await;
        ids.as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap().to_owned())
            .collect()
    }

    /// Whether some comment on the page shows this text.
    pub(crate) async fn until_text(&self, text: &str) {
        let text = json!(text);
        let found = format!(
            "[...document.querySelectorAll('article.comment:not(.sending) > .body')].some((it) => it.innerText.trim() === {text})"
        );
        self.browser.until(&found).await;
    }

    /// A selector for the comment that shows exactly this text.
    pub(crate) async fn comment(&self, text: &str) -> String {
        self.until_text(text).await;
        let script = "return [...document.querySelectorAll('article.comment')].find((it) => \
             it.querySelector(':scope > .body')?.innerText.trim() === arguments[0]).id";
        let id = self.browser.js_with(script, vec![json!(text)]).await;
        format!("[id=\"{}\"]", id.as_str().unwrap())
    }

    /// The end of a case: the browser must have nothing to complain about.
    pub(crate) async fn end(&self) {
        let complaints = self.complaints().await;
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
        let foreign = self.foreign_requests().await;
        assert!(foreign.is_empty(), "left the page: {foreign:?}");
    }

    /// Warnings and errors of the console since the last look.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let entries = self.browser.log("browser").await;
        let bad = entries
            .iter()
            .filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        bad.map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses of other hosts that pages asked for.
    pub(crate) async fn foreign_requests(&self) -> Vec<String> {
        let entries = self.browser.log("performance").await;
        let mut foreign = Vec::new();
        for entry in entries {
            let event: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            let event = &event["message"];
            if event["method"] != "Network.requestWillBeSent" {
                continue;
            }
            let url = event["params"]["request"]["url"]
                .as_str()
                .unwrap()
                .to_owned();
            let ours = [
                "http://127.0.0.1:",
                "http://localhost:",
                "data:",
                "chrome",
                "about:",
            ];
            if !ours.iter().any(|start| url.starts_with(start)) {
                foreign.push(url);
            }
        }
        foreign
    }
}
