//! Imports into the embedded stores: real exports, the traps of case 27, broken input, repeats.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

mod broken;
mod command;
mod disqus;
mod forums;
mod isso;
mod jsonl;
mod packed;
mod random;
mod remark42;
mod world;
mod wxr;
