//! The ports: one folder each, the contract in `mod.rs` and the engines beside it.
//!
//! A contract is an object-safe trait with numbered promises; every engine passes the same
//! conformance cases. "Not found" is `None`, never an error. A port never uses another port.

pub mod comments;
pub mod driver;
mod error;
pub mod flags;
pub mod open;
pub mod states;
pub mod users;
pub mod wake;
pub mod walks;
pub mod workers;

pub use error::{StoreError, StoreErrorKind};
