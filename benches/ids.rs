//! Minting an id, with the machine's clock.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use threadline::domain::clock::Clock;
use threadline::domain::ids::generator::{IdGenerator, Lease};

fn ids(criterion: &mut Criterion) {
    let clock = Clock::system();
    let lease = Lease {
        worker: 3,
        deadline: clock.monotonic() + Duration::from_hours(1),
        after_ms: 0,
    };
    let ids = IdGenerator::new(clock);
    ids.set_lease(Some(lease));
    // A millisecond holds so many ids; asked faster than that, minting takes the next one's, and
    // refuses when it is too far ahead. What is measured is a mint either way.
    criterion.bench_function("ids/mint", |bench| {
        bench.iter(|| black_box(&ids).mint().is_ok());
    });
}

criterion_group!(benches, ids);
criterion_main!(benches);
