//! The whole gateway in process, asked as a client asks: real stores in a temporary folder, a
//! manual clock, HTTP requests without a socket.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod bans;
mod blocks;
mod contexts;
mod discussion_list;
mod erasure;
mod events;
mod found;
mod gate;
mod leaks;
mod moderation;
mod modes;
mod pages;
mod replies;
mod restore;
mod scroll;
mod support;
mod walk;
mod work;
mod writes;
