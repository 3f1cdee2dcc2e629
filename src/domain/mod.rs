//! The pure part: what a comment, an id, a flag or a cursor *is*. No async, no I/O, no framework.
//!
//! Nothing here may import from the rest of the crate.

pub mod bans;
pub mod body;
pub mod branches;
pub mod census;
pub mod clock;
pub mod comment;
pub mod counts;
pub mod cursor;
pub mod discussion;
pub mod flags;
pub mod hash;
pub mod ids;
pub mod keys;
pub mod live;
pub mod mode;
pub mod moderation;
pub mod page;
pub mod states;
pub mod text;
pub mod tree;
pub mod urls;
pub mod user;
pub mod viewer;
pub mod visibility;
pub mod words;
