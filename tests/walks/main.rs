//! Walks over real stores: builds, checks and repairs, alone and together, interrupted and resumed,
//! while people write.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

mod command;
mod export;
mod live;
mod repairs;
mod sharing;
mod sqlite;
mod stops;
mod world;
