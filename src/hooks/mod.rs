//! Services outside that are asked while a request waits: whether a text is spam.
//!
//! An answer is advice with a time limit; what holds when none comes is the caller's setting. Must
//! never put a person's text into a log or an error.

pub mod spam;
pub mod spam_http;
