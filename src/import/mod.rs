//! Brings comments of other systems, and the made-up community, into the stores.

pub mod synthetic;
