//! A gateway to test, and the ways to ask it.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use threadline::app::{App, AppBuilder};
use threadline::config::Config;
use threadline::domain::clock::Clock;
use tower::ServiceExt as _;

/// 2026-11-30, a whole second.
pub(crate) const NOW_MS: i64 = 1_796_000_000_000;

/// Who asks, with which client.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    user: Option<i64>,
    roles: Option<&'static str>,
    client: Option<(&'static str, &'static str)>,
    read_after: Option<String>,
}

impl Who {
    /// Nobody, with a client that the shipped gate admits.
    pub(crate) fn anonymous() -> Self {
        Self {
            user: None,
            roles: None,
            client: Some(("web", "2.0.0")),
            read_after: None,
        }
    }

    /// A signed-in member, with a client that the shipped gate admits.
    pub(crate) fn user(id: i64) -> Self {
        Self {
            user: Some(id),
            ..Self::anonymous()
        }
    }

    pub(crate) fn moderator(id: i64) -> Self {
        Self {
            roles: Some("moderator"),
            ..Self::user(id)
        }
    }

    pub(crate) fn client(mut self, name: &'static str, version: &'static str) -> Self {
        self.client = Some((name, version));
        self
    }

    pub(crate) fn without_client(mut self) -> Self {
        self.client = None;
        self
    }

    pub(crate) fn having_read(mut self, token: &str) -> Self {
        self.read_after = Some(token.to_owned());
        self
    }
}

/// A gateway over stores in a temporary folder.
pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    pub(crate) folder: TempDir,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With settings, as the environment names them: `COMMENTS__PAGE_SIZE_MAX`.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for flag in ["comments-threaded.toml", "comments-index-write.toml"] {
            let shipped = format!("{}/flags/{flag}", env!("CARGO_MANIFEST_DIR"));
            std::fs::create_dir_all(folder.path().join("flags")).unwrap();
            std::fs::copy(shipped, folder.path().join("flags").join(flag)).unwrap();
        }
        let clock = Clock::manual(NOW_MS);
        let app = build(folder.path(), &clock, settings).await;
        Self { app, clock, folder }
    }

    /// A second gateway over the same files, with the same clock.
    pub(crate) async fn sibling(&self) -> App {
        build(self.folder.path(), &self.clock, &[]).await
    }

    /// Replaces a flag's file and waits until it is served.
    pub(crate) async fn write_flag(&self, key: &str, toml: &str) {
        let flags = &self.app.service().ports().flags;
        let before = flags.snapshot().revision();
        std::fs::write(
            self.folder.path().join("flags").join(format!("{key}.toml")),
            toml,
        )
        .unwrap();
        for _ in 0..1_000 {
            if flags.snapshot().revision() > before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the flag file was not read within 10 s");
    }

    /// Changes the shipped `comments-threaded`: `change` gets its text.
    pub(crate) async fn change_threaded(&self, change: impl FnOnce(String) -> String) {
        let path = self.folder.path().join("flags/comments-threaded.toml");
        let text = std::fs::read_to_string(path).unwrap();
        self.write_flag("comments-threaded", &change(text)).await;
    }

    pub(crate) async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.app.take_lease().await.unwrap();
    }

    /// The whole answer.
    pub(crate) async fn answer(
        &self,
        who: &Who,
        query: &str,
        variables: Value,
    ) -> (StatusCode, Value) {
        answer_of(&self.app, who, query, variables).await
    }

    /// The data of an answer without errors.
    pub(crate) async fn ask(&self, who: &Who, query: &str, variables: Value) -> Value {
        let (status, answer) = self.answer(who, query, variables).await;
        assert_eq!(status, StatusCode::OK, "{answer:#}");
        assert!(answer.get("errors").is_none(), "{answer:#}");
        answer["data"].clone()
    }

    /// Posts to the discussion of entity `post:NAME`; returns the comment's id.
    pub(crate) async fn post(
        &self,
        who: &Who,
        name: &str,
        parent: Option<&str>,
        body: &str,
    ) -> String {
        let written = self.try_post(who, name, parent, body, None).await;
        written["comment"]["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{written:#}"))
            .to_owned()
    }

    /// As [`Self::post`], with a key; returns the payload.
    pub(crate) async fn try_post(
        &self,
        who: &Who,
        name: &str,
        parent: Option<&str>,
        body: &str,
        key: Option<&str>,
    ) -> Value {
        let input = json!({
            "entity": {"type": "post", "id": name}, "parent": parent, "body": body, "key": key,
        });
        self.ask(who, CREATE, json!({"input": input})).await["createComment"].clone()
    }

    pub(crate) async fn discussion_id(&self, name: &str) -> String {
        let query = "query($id: String!) { discussion(entity: {type: \"post\", id: $id}) { id } }";
        let data = self
            .ask(&Who::anonymous(), query, json!({"id": name}))
            .await;
        data["discussion"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn edit(&self, who: &Who, id: &str, seen: i64, body: &str) -> Value {
        let query = "mutation($i: EditCommentInput!) { editComment(input: $i) { __typename \
            ... on CommentWritten { comment { id revision body { text } } readAfter } \
            ... on CommentRefused { reason code message comment { revision body { text } } } } }";
        let input = json!({"comment": id, "expectedRevision": seen, "body": body});
        self.ask(who, query, json!({"i": input})).await["editComment"].clone()
    }

    pub(crate) async fn delete(&self, who: &Who, id: &str, seen: Option<i64>) -> Value {
        let query = "mutation($i: DeleteCommentInput!) { deleteComment(input: $i) { __typename \
            ... on CommentWritten { comment { id state body { text } author { id } } readAfter } \
            ... on CommentRefused { reason code message comment { revision } } } }";
        let input = json!({"comment": id, "expectedRevision": seen});
        self.ask(who, query, json!({"i": input})).await["deleteComment"].clone()
    }

    /// `hideComment`, `restoreComment` or `approveComment`.
    pub(crate) async fn moderate(&self, who: &Who, act: &str, id: &str) -> Value {
        let query = format!(
            "mutation($i: ModerateCommentInput!) {{ {act}(input: $i) {{ __typename \
            ... on CommentWritten {{ comment {{ id state }} readAfter }} \
            ... on CommentRefused {{ reason }} }} }}"
        );
        self.ask(who, &query, json!({"i": {"comment": id}})).await[act].clone()
    }

    /// `[total, published, visible, roots, replies]` of a discussion.
    pub(crate) async fn counts(&self, name: &str) -> Vec<i64> {
        let query = "query($id: String!) { discussion(entity: {type: \"post\", id: $id}) \
            { counts { total published visible roots replies } } }";
        let data = self
            .ask(&Who::anonymous(), query, json!({"id": name}))
            .await;
        let counts = &data["discussion"]["counts"];
        ["total", "published", "visible", "roots", "replies"]
            .map(|name| counts[name].as_i64().unwrap())
            .to_vec()
    }

    /// A page of a discussion: `arguments` as GraphQL writes them.
    pub(crate) async fn page(&self, who: &Who, name: &str, arguments: &str) -> Page {
        let query = format!(
            "query($id: String!) {{ discussion(entity: {{type: \"post\", id: $id}}) \
            {{ comments({arguments}) {PAGE} }} }}"
        );
        let data = self.ask(who, &query, json!({"id": name})).await;
        Page::read(&data["discussion"]["comments"])
    }
}

/// What [`Page`] reads of a connection.
pub(crate) const PAGE: &str = "{ mode modeReason totalCount \
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } \
    edges { cursor node { id depth state body { text } parent { id } } } }";

pub(crate) const CREATE: &str = "mutation($input: CreateCommentInput!) { \
    createComment(input: $input) { __typename \
    ... on CommentWritten { comment { id revision state depth body { text } } readAfter replayed } \
    ... on CommentRefused { reason code message limit actual } } }";

/// A page of comments as a client keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) mode: String,
    pub(crate) reason: String,
    pub(crate) ids: Vec<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) has_next: bool,
    pub(crate) has_previous: bool,
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) total: i64,
    pub(crate) raw: Value,
}

impl Page {
    pub(crate) fn read(connection: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let edges = connection["edges"]
            .as_array()
            .unwrap_or_else(|| panic!("{connection:#}"));
        let info = &connection["pageInfo"];
        Self {
            mode: text(&connection["mode"]).unwrap(),
            reason: text(&connection["modeReason"]).unwrap(),
            ids: edges
                .iter()
                .map(|edge| text(&edge["node"]["id"]).unwrap())
                .collect(),
            texts: edges
                .iter()
                .map(|edge| text(&edge["node"]["body"]["text"]).unwrap_or("(gone)".to_owned()))
                .collect(),
            has_next: info["hasNextPage"].as_bool().unwrap(),
            has_previous: info["hasPreviousPage"].as_bool().unwrap(),
            start: text(&info["startCursor"]),
            end: text(&info["endCursor"]),
            total: connection["totalCount"].as_i64().unwrap(),
            raw: connection.clone(),
        }
    }
}

async fn build(folder: &std::path::Path, clock: &Clock, settings: &[(&str, &str)]) -> App {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut environment = vec![
        (
            "THREADLINE_STORES__COMMENTS".to_owned(),
            format!("sqlite:{}", at("comments.db")),
        ),
        (
            "THREADLINE_STORES__USERS".to_owned(),
            format!("sqlite:{}", at("states.db")),
        ),
        (
            "THREADLINE_STORES__FLAGS".to_owned(),
            format!("folder:{}", at("flags")),
        ),
    ];
    for (name, value) in settings {
        environment.push((format!("THREADLINE_{name}"), (*value).to_owned()));
    }
    let environment = environment
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    let config = Config::load_from(None, environment).unwrap().config;
    AppBuilder::new(config)
        .clock(clock.clone())
        .build()
        .await
        .unwrap()
}

/// Asks one gateway.
pub(crate) async fn answer_of(
    app: &App,
    who: &Who,
    query: &str,
    variables: Value,
) -> (StatusCode, Value) {
    let request = request_of(who, query, &variables);
    let response = app.router().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), 64 << 20)
        .await
        .unwrap();
    let answer = serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
    (status, answer)
}

/// A request as somebody sends it.
pub(crate) fn request_of(who: &Who, query: &str, variables: &Value) -> Request<Body> {
    let body = json!({"query": query, "variables": variables}).to_string();
    let mut request = Request::post("/graphql")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40_000))));
    if let Some(user) = who.user {
        request = request.header("x-dev-user", user);
    }
    if let Some(roles) = who.roles {
        request = request.header("x-dev-roles", roles);
    }
    if let Some((name, version)) = who.client {
        request = request
            .header("x-client-name", name)
            .header("x-client-version", version);
    }
    if let Some(token) = &who.read_after {
        request = request.header("x-read-after", token);
    }
    request.body(Body::from(body)).unwrap()
}
