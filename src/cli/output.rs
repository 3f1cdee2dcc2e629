//! The one place that writes to the terminal.
//!
//! Results go to standard output, everything said about them to standard error. A reader that went
//! away (`threadline config | head`) is no failure.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use super::Failure;

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::other(format!(
            "cannot write to standard output: {error}"
        ))),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Tells the person at the terminal that something works but is risky.
pub(crate) fn warn(text: &str) {
    say(&format!("warning: {text}\n"));
}

/// Tells why a command failed, with every cause.
pub(crate) fn complain(failure: &Failure) {
    let causes = std::iter::successors(failure.source(), |cause| (*cause).source());
    let causes: Vec<String> = causes
        .map(|cause| format!("\n  because: {cause}"))
        .collect();
    say(&format!("threadline: {failure}{}\n", causes.concat()));
}

/// Prints help to standard output, or what is wrong with the arguments to standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Only a closed stream can fail here, and then nobody is left to tell.
    match error.print() {
        Ok(()) | Err(_) => {}
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn say(text: &str) {
    // Without standard error there is nowhere to report that it is missing.
    match io::stderr().lock().write_all(text.as_bytes()) {
        Ok(()) | Err(_) => {}
    }
}
