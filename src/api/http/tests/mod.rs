//! The edge as a client meets it: a small schema behind the real router.

mod attacks;
mod contract;
mod execution;
mod media;
mod sign_in;
mod surroundings;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use async_graphql::{
    Context, Enum, Error, ErrorExtensions, InputObject, Object, Schema, SimpleObject,
};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt as _};
use serde_json::{Value as Json, json};
use tokio::sync::Notify;
use tower::ServiceExt;

use super::auth::Authenticator;
use super::settings::HttpSettings;
use super::{
    Check, CheckState, Edge, Executor, LiveEnd, LiveEvent, LiveStream, PreparedRequest, Readiness,
    RequestContext, live_payload, router,
};
use crate::domain::clock::Clock;
use crate::domain::viewer::Role;
use crate::tasks::Tasks;

/// 2026-01-01T00:00:00Z, where the manual clock stands.
const NOW_MS: i64 = 1_767_225_600_000;

/// What resolvers did, and what holds them.
#[derive(Debug, Default)]
struct Probe {
    count: AtomicI32,
    reads: AtomicI32,
    started: Notify,
    go_on: Notify,
}

struct Query;

#[derive(SimpleObject)]
struct Counter {
    value: i32,
    text: String,
}

#[derive(InputObject)]
struct Point {
    x: i32,
}

#[derive(Clone, Copy, Enum, PartialEq, Eq)]
enum Colour {
    Red,
}

fn probe(context: &Context<'_>) -> Arc<Probe> {
    Arc::clone(context.data_unchecked::<Arc<Probe>>())
}

#[Object]
impl Query {
    async fn hello(&self) -> &'static str {
        "hi"
    }

    async fn read(&self, context: &Context<'_>) -> i32 {
        probe(context).reads.fetch_add(1, Ordering::SeqCst) + 1
    }

    async fn counter(&self) -> Counter {
        Counter {
            value: 7,
            text: "seven".to_owned(),
        }
    }

    async fn echo(&self, value: i32) -> i32 {
        value
    }

    async fn list(&self, values: Vec<Vec<i32>>, point: Option<Point>) -> usize {
        values.len() + point.map_or(0, |point| usize::from(point.x > 0))
    }

    async fn colour(&self, colour: Colour) -> Colour {
        colour
    }

    async fn nested(&self) -> Query {
        Query
    }

    async fn whoami(&self, context: &Context<'_>) -> String {
        let request = context.data_unchecked::<RequestContext>();
        let Some(identity) = &request.identity else {
            return "nobody".to_owned();
        };
        let role = match identity.role {
            Role::Member => "member",
            Role::Moderator => "moderator",
            Role::Administrator => "administrator",
        };
        format!("{}/{}/{role}", identity.issuer, identity.subject)
    }

    async fn client(&self, context: &Context<'_>) -> String {
        let request = context.data_unchecked::<RequestContext>();
        format!("{:?} {:?}", request.client.name, request.read_after)
    }

    async fn long(&self, length: usize) -> String {
        "x".repeat(length)
    }

    async fn stuck(&self, context: &Context<'_>) -> i32 {
        let probe = probe(context);
        probe.started.notify_one();
        probe.go_on.notified().await;
        1
    }

    async fn panics(&self) -> i32 {
        "x".parse().expect("resolver panics on purpose")
    }

    async fn fails(&self) -> Result<i32, Error> {
        let cause = std::io::Error::other("the disk says hunter2");
        Err(std::future::ready(cause).await.into())
    }

    async fn fails_nullable(&self) -> Option<Result<i32, Error>> {
        Some(Err(Error::new("secret without a source")))
    }

    async fn refuses(&self) -> Option<Result<i32, Error>> {
        Some(Err(
            Error::new("not yours").extend_with(|_, it| it.set("code", "FORBIDDEN"))
        ))
    }

    async fn many_failures(&self) -> Vec<Option<Failing>> {
        (0..50).map(|_| Some(Failing)).collect()
    }
}

struct Failing;

#[Object]
impl Failing {
    async fn value(&self) -> Option<Result<i32, Error>> {
        Some(Err(Error::new("one of many")))
    }
}

struct Mutation;

#[Object]
impl Mutation {
    async fn inc(&self, context: &Context<'_>) -> Counter {
        let value = probe(context).count.fetch_add(1, Ordering::SeqCst) + 1;
        Counter {
            value,
            text: value.to_string(),
        }
    }

    async fn slow_inc(&self, context: &Context<'_>) -> i32 {
        let probe = probe(context);
        probe.started.notify_one();
        probe.go_on.notified().await;
        probe.count.fetch_add(1, Ordering::SeqCst) + 1
    }

    async fn panics(&self) -> i32 {
        "x".parse().expect("mutation panics on purpose")
    }
}

struct Subscription;

#[async_graphql::Subscription]
impl Subscription {
    /// Counts from `after` (or 0) to `to`, and goes on for ever without `to`.
    async fn ticks(&self, to: Option<i32>, after: Option<String>) -> impl Stream<Item = i32> {
        let from = after.map_or(0, |after| after.parse().expect("a number"));
        let ticks = stream::iter(from..to.unwrap_or(from + 1));
        let rest = if to.is_some() {
            stream::empty().boxed()
        } else {
            stream::pending().boxed()
        };
        ticks.chain(rest)
    }
}

#[derive(Clone)]
struct SmallSchema(Schema<Query, Mutation, Subscription>);

impl std::fmt::Debug for SmallSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SmallSchema")
    }
}

impl Executor for SmallSchema {
    fn subscribe(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, Result<LiveStream, async_graphql::Response>> {
        let schema = self.0.clone();
        async move {
            let answers = schema.execute_stream(request.into_graphql().data(context));
            let mut answers = answers.boxed().peekable();
            let first = std::pin::Pin::new(&mut answers)
                .next_if(async_graphql::Response::is_err)
                .await;
            if let Some(refused) = first {
                return Err(refused);
            }
            let event = |nth: usize, answer| {
                Ok(LiveEvent {
                    id: nth.to_string().into(),
                    payload: live_payload(answer).ok_or(LiveEnd::Failed)?.into(),
                })
            };
            let events = answers.enumerate();
            Ok(events.map(move |(nth, answer)| event(nth, answer)).boxed())
        }
        .boxed()
    }

    fn execute(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, async_graphql::Response> {
        let schema = self.0.clone();
        async move { schema.execute(request.into_graphql().data(context)).await }.boxed()
    }
}

#[derive(Debug)]
struct FixedReadiness(CheckState);

#[async_trait]
impl Readiness for FixedReadiness {
    async fn checks(&self) -> Vec<Check> {
        let check = |name: &str, state| Check {
            name: name.to_owned(),
            state,
            detail: None,
        };
        vec![check("comments", CheckState::Ready), check("flags", self.0)]
    }
}

/// A running edge without a socket.
struct TestEdge {
    router: Router,
    probe: Arc<Probe>,
    clock: Clock,
    tasks: Tasks,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The code of the first error of a request that did not run.
    #[track_caller]
    fn refusal(&self) -> (u16, String) {
        let body = self.json();
        assert!(body.get("data").is_none(), "{body}");
        let error = &body["errors"][0];
        assert_eq!(
            error["extensions"]["requestId"].as_str(),
            self.header("x-request-id")
        );
        assert!(!error["message"].as_str().unwrap().is_empty());
        (
            self.status.as_u16(),
            error["extensions"]["code"].as_str().unwrap().to_owned(),
        )
    }

    #[track_caller]
    fn data(&self) -> Json {
        assert_eq!(
            self.status,
            StatusCode::OK,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self.json()["data"].clone()
    }
}

impl TestEdge {
    fn new() -> Self {
        Self::with(HttpSettings::default(), CheckState::Ready)
    }

    fn with(settings: HttpSettings, flags: CheckState) -> Self {
        let probe = Arc::new(Probe::default());
        let schema = Schema::build(Query, Mutation, Subscription);
        let schema = schema.data(Arc::clone(&probe)).finish();
        let clock = Clock::manual(NOW_MS);
        let tasks = Tasks::new();
        let listen: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let authenticator = Authenticator::new(&settings.auth, listen, &clock, &tasks).unwrap();
        let edge = Edge {
            executor: Arc::new(SmallSchema(schema)),
            authenticator: Arc::new(authenticator),
            clock: clock.clone(),
            readiness: Arc::new(FixedReadiness(flags)),
            metrics: Arc::new(|| "requests_total 3\n".to_owned()),
            tasks: tasks.clone(),
            settings,
        };
        Self {
            router: router(edge).unwrap(),
            probe,
            clock,
            tasks,
        }
    }

    fn count(&self) -> i32 {
        self.probe.count.load(Ordering::SeqCst)
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX)
            .await
            .unwrap()
            .to_vec();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    async fn post_with(&self, body: impl Into<Body>, headers: &[(&str, &str)]) -> Answer {
        self.send(post(body, headers)).await
    }

    async fn post(&self, body: Json) -> Answer {
        self.post_with(body.to_string(), &[]).await
    }

    async fn query(&self, query: &str) -> Answer {
        self.post(json!({ "query": query })).await
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(Method::GET).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }
}

/// A POST from a peer on this machine.
fn post(body: impl Into<Body>, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(Method::POST).uri("/graphql");
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let peer: SocketAddr = "127.0.0.1:50000".parse().unwrap();
    request
        .extension(ConnectInfo(peer))
        .body(body.into())
        .unwrap()
}

/// The path of a GET with these parameters.
fn uri(parameters: &[(&str, &str)]) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish();
    format!("/graphql?{query}")
}
