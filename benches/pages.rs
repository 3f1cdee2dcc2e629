//! Pages of 50 within one process: the routes, the schema's executor, the service, the statements.
//!
//! `threadline bench pages` measures the same pages over HTTP. Subtract to see where time goes:
//! `route` − `execute` is the edge and the front, `execute` − `load` is GraphQL.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::net::SocketAddr;

use async_graphql::Variables;
use async_graphql::parser::parse_query;
use async_graphql::parser::types::OperationType;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use threadline::api::graphql;
use threadline::api::http::auth::Identity;
use threadline::api::http::{PreparedRequest, RequestContext};
use threadline::app::App;
use threadline::cli::bench::{PageShape, Place, VIEWER};
use threadline::domain::viewer::{ClientInfo, Role};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [u32; 2] = [1_000, 10_000];

async fn route(app: &App, shape: PageShape, body: String) -> usize {
    let mut request = Request::post("/graphql")
        .header("host", "127.0.0.1")
        .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40_000))));
    for (name, value) in shape.headers() {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(body)).expect("a request");
    let answer = app.router().oneshot(request).await.expect("an answer");
    assert!(answer.status().is_success());
    let bytes = to_bytes(answer.into_body(), usize::MAX).await;
    bytes.expect("a body").len()
}

fn prepared(shape: PageShape, size: u32) -> PreparedRequest {
    let query = shape.document();
    PreparedRequest {
        document: parse_query(&query).expect("a document"),
        query,
        operation_name: Some("Page".to_owned()),
        operation_type: OperationType::Query,
        variables: Variables::from_json(json!({"id": Place::name(size)})),
        extensions: serde_json::Map::new(),
    }
}

fn context(shape: PageShape) -> RequestContext {
    let identity = Identity {
        issuer: "bench".to_owned(),
        subject: VIEWER.to_string(),
        role: Role::Member,
        name: None,
        expires_ms: None,
    };
    RequestContext {
        identity: (shape != PageShape::Linear).then_some(identity),
        client: ClientInfo {
            name: Some("web".to_owned()),
            version: Some("2.0.0".to_owned()),
        },
        ..RequestContext::default()
    }
}

fn pages(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let place = runtime.block_on(Place::open()).expect("a place");
    for size in SIZES {
        runtime
            .block_on(place.fill(size, |_| ()))
            .expect("comments");
    }
    for shape in PageShape::ALL {
        let mut group = criterion.benchmark_group(format!("pages/{}", shape.name()));
        for size in SIZES {
            let name = Place::name(size);
            for (cache, app) in [("hot", place.hot()), ("cold", place.cold())] {
                group.bench_function(BenchmarkId::new(format!("route {cache}"), size), |bench| {
                    bench
                        .to_async(&runtime)
                        .iter(|| route(app, shape, shape.body(&name)));
                });
                let executor = graphql::executor(app.service().clone());
                group.bench_function(
                    BenchmarkId::new(format!("execute {cache}"), size),
                    |bench| {
                        bench.to_async(&runtime).iter_batched(
                            || (prepared(shape, size), context(shape)),
                            |(request, context)| executor.execute(request, context),
                            criterion::BatchSize::SmallInput,
                        );
                    },
                );
                let load = async || shape.load(app.service(), &name).await.expect("a page");
                group.bench_function(BenchmarkId::new(format!("load {cache}"), size), |bench| {
                    bench.to_async(&runtime).iter(load);
                });
            }
            let statements = runtime.block_on(place.statements(shape, size));
            let statements = statements.expect("statements");
            group.bench_function(BenchmarkId::new("bare", size), |bench| {
                bench
                    .to_async(&runtime)
                    .iter(|| async { place.run(&statements).await.expect("rows") });
            });
        }
        group.finish();
    }
    runtime.block_on(place.close()).expect("an end");
}

criterion_group!(benches, pages);
criterion_main!(benches);
