//! What the engines of several ports share: connections, groups of writes, time limits.

pub mod sqlite;
