//! Progress of long commands: drawn on standard error, and only when that is a terminal.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// A bar over `length` rows or bytes, or without an end when nobody knows.
pub(crate) fn bar(length: Option<u64>) -> ProgressBar {
    let bar = match length {
        Some(length) => ProgressBar::new(length),
        None => ProgressBar::no_length(),
    };
    let template = "{bar:30} {percent:>3} % {human_pos} {speed}/s {eta} left {msg}";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.with_key("speed", speed)),
        Err(_) => bar,
    }
}

fn speed(state: &ProgressState, out: &mut dyn Write) {
    // A bar that cannot be drawn is no reason to stop.
    match write!(out, "{:.0}", state.per_sec()) {
        Ok(()) | Err(_) => {}
    }
}
