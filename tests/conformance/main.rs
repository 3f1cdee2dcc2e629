//! The conformance suite: every engine of every port passes the same cases.
//!
//! Trials are port × engine × case, for example
//! `comments::sqlite::c1_an_acknowledged_create_is_readable_everywhere`. A case's name begins with the
//! promise it holds an engine to (see the contracts in `src/store/*/mod.rs`). An engine whose URL is not
//! set shows as ignored, or fails under `THREADLINE_TEST_REQUIRE=all`. Each trial has a fresh store.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a case fails by panicking"
)]

mod audit;
mod builder;
mod comments;
mod engines;
mod env;
mod oracle;
mod promises;
mod property;
mod states;
mod states_property;
mod users;
mod wake;
mod walks;
mod workers;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for engine in engines::ALL {
        trials.extend(comments::trials(*engine));
        trials.extend(states::trials(*engine));
        trials.extend(users::trials(*engine));
        trials.extend(wake::trials(*engine));
        trials.extend(walks::trials(*engine));
        trials.extend(workers::trials(*engine));
    }
    trials.push(Trial::test(
        "promises::every_promise_has_a_case_and_every_case_a_promise",
        || {
            promises::check();
            Ok(())
        },
    ));
    libtest_mimic::run(&arguments, trials).exit_code()
}
