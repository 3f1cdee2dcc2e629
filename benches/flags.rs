//! Evaluating a flag: with a client gate and a rollout, as `comments-threaded` has them while it is
//! rolled out. The goal is 100 ns.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use threadline::domain::flags::{Context, Flag, FlagSet, evaluate};
use threadline::domain::viewer::ClientInfo;

const GATED: &str = include_str!("../flags/comments-threaded.toml");

fn flags(criterion: &mut Criterion) {
    let rolled_out = format!("{GATED}\n[rollout]\nnum = 8\nden = 16\n");
    let flag = Flag::from_toml(&rolled_out).expect("the shipped flag with a rollout");
    let set = FlagSet::from_definitions(vec![flag]).expect("one flag");
    let context = Context {
        unit: Some("576460752303423487".to_owned()),
        client: ClientInfo {
            name: Some("web".to_owned()),
            version: Some("2.14.3".to_owned()),
        },
        ..Context::default()
    };
    criterion.bench_function("flags/gated rollout", |bench| {
        bench.iter(|| evaluate(black_box(&set), "comments-threaded", black_box(&context)));
    });
    let pinned = Context {
        client: ClientInfo::default(),
        ..context
    };
    criterion.bench_function("flags/stopped at the gate", |bench| {
        bench.iter(|| evaluate(black_box(&set), "comments-threaded", black_box(&pinned)));
    });
}

criterion_group!(benches, flags);
criterion_main!(benches);
