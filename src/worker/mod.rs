//! What runs behind requests. Every worker may run on several instances, and repeats safely.

pub mod eraser;
pub mod index_builder;
pub mod jobs;
pub mod walker;
