//! (being written)

pub mod flags;
