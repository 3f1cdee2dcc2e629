//! Live discussions from outside: the built binary, real sockets, several processes on one store.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

mod client;
mod crowd;
mod events;
mod protocol;
mod resume;
mod sharing;
mod slow;
mod streams;
