//! Posting a comment with its index row, beside inserting one bare row through the same writer with
//! the same promise to the disk. One after another, so each is a transaction of its own.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use criterion::{Criterion, criterion_group, criterion_main};
use threadline::cli::bench::Place;
use threadline::domain::body::BodyFormat;
use threadline::domain::ids::{CommentId, DiscussionId, UserId};
use threadline::domain::viewer::{ClientInfo, Role, Viewer};
use threadline::service::reading::DiscussionRef;
use threadline::service::writing::{Post, WriteOutcome};
use tokio::runtime::Runtime;

// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BODY: &str = "A comment of some length, as people write them when they agree with somebody \
                    and would like to add one more thing.";
const AUTHOR: UserId = UserId::new(7);

async fn post(place: &Place, discussion: DiscussionId, parent: Option<CommentId>) {
    let service = place.hot().service();
    let viewer = Viewer {
        user_id: AUTHOR,
        role: Role::Member,
    };
    let request = service
        .request(Some(viewer), ClientInfo::default(), None)
        .await
        .expect("a request");
    let post = Post {
        discussion: DiscussionRef::Id(discussion),
        parent: parent.map(|id| (discussion, id)),
        body: BODY.to_owned(),
        format: BodyFormat::Plain,
        key: None,
    };
    let written = service.post(&request, post).await.expect("a post");
    assert!(matches!(written, WriteOutcome::Written(_)), "{written:?}");
}

async fn insert(place: &Place, discussion: DiscussionId) {
    let id = place.hot().service().ports().ids.mint().expect("an id");
    place
        .comments()
        .bare_insert(discussion, CommentId::new(id), AUTHOR, BODY.to_owned())
        .await
        .expect("a row");
}

fn create(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let place = runtime.block_on(Place::open()).expect("a place");
    let mut group = criterion.benchmark_group("create");
    let opened = runtime
        .block_on(place.fill(1_000, |_| ()))
        .expect("comments");
    let statements = place.statements(threadline::cli::bench::PageShape::Threads, 1_000);
    let root = runtime
        .block_on(statements)
        .expect("statements")
        .roots()
        .first()
        .copied();
    group.bench_function("bare insert", |bench| {
        // Where nobody counts, so that the counts of the other discussion stay right.
        let nowhere = DiscussionId::new(1);
        bench.to_async(&runtime).iter(|| insert(&place, nowhere));
    });
    group.bench_function("root", |bench| {
        bench
            .to_async(&runtime)
            .iter(|| post(&place, opened.id, None));
    });
    group.bench_function("reply", |bench| {
        bench
            .to_async(&runtime)
            .iter(|| post(&place, opened.id, root));
    });
    group.finish();
    runtime.block_on(place.close()).expect("an end");
}

criterion_group!(benches, create);
criterion_main!(benches);
