//! What is left when the gateway or an import is killed, stopped under load, or has a twin.
//!
//! The cases run the built binary over real files and know only what it answered: what was
//! acknowledged must be there, what was not may be there once. Every case prints its seed, and
//! `THREADLINE_CRASH_SEED` repeats it; the moments still differ, since processes race.
//! `THREADLINE_CRASH_KILLS` kills more often than the usual 5 times.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::future_not_send,
    reason = "a case fails by panicking, tells what it did and runs in one thread; its seed and \
              where the exports lie are matters of the machine, no settings"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

mod builds;
mod client;
mod crowd;
mod files;
mod imports;
mod kills;
mod ledger;
mod lists;
mod stops;
mod twins;

use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fastrand::Rng;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let shared = std::env::var("THREADLINE_SHARED").map_or_else(
        |_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let disqus = shared.join("data/comments-disqus/disqus.xml");
    let is_missing = !disqus.exists();
    let kind = if is_missing {
        "NO REAL EXPORTS HERE"
    } else {
        ""
    };
    let disqus = case(
        "a_real_export_whose_import_is_killed_again_and_again_ends_like_one_that_was_not",
        move |rng| imports::real(disqus.clone(), rng),
    );
    let trials = vec![
        case(
            "what_was_acknowledged_outlives_kills_and_keys_find_the_rest_once",
            kills::rounds,
        ),
        case(
            "an_import_killed_again_and_again_ends_like_one_that_was_not",
            imports::made_up,
        ),
        case(
            "builds_killed_again_and_again_end_like_one_that_was_not",
            builds::killed_and_not,
        ),
        disqus.with_kind(kind).with_ignored_flag(is_missing),
        case(
            "sigterm_under_load_answers_or_refuses_and_loses_nothing",
            stops::under_load,
        ),
        case(
            "two_gateways_on_one_store_write_each_key_once_and_list_the_same",
            twins::overlapping,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn case<F: Future<Output = ()>>(name: &str, run: impl Fn(Rng) -> F + Send + 'static) -> Trial {
    let title = name.to_owned();
    let body = move || -> Result<(), Failed> {
        let given = std::env::var("THREADLINE_CRASH_SEED").ok();
        let seed = given.map_or_else(
            || RandomState::new().hash_one(&title),
            |text| text.parse().unwrap(),
        );
        println!("{title}: THREADLINE_CRASH_SEED={seed}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(run(Rng::with_seed(seed)));
        Ok(())
    };
    Trial::test(name, body)
}
