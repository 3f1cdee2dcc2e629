//! Walks over real stores: builds, checks and repairs, alone and together, interrupted and resumed,
//! while people write.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

mod live;
mod repairs;
mod sharing;
mod sqlite;
mod stops;
mod world;
