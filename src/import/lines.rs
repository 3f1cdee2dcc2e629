//! The lines of a text file, of bounded length and with their numbers. Empty ones are passed.

use std::fmt;
use std::io::{BufRead as _, Read as _};

use super::input::{Counted, Input, ReadError};

/// A stream of lines.
pub(super) struct Lines {
    input: Counted<Input>,
    line: Vec<u8>,
    line_bytes_max: u64,
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("line", &self.input.line())
            .finish_non_exhaustive()
    }
}

impl Lines {
    /// Reads `input` from its beginning. A line with more than `line_bytes_max` bytes is an error.
    pub(super) fn new(input: Input, line_bytes_max: u64) -> Self {
        Self {
            input: Counted::new(input, u64::MAX),
            line: Vec::new(),
            line_bytes_max,
        }
    }

    /// The next line that is not empty, with its number from 1; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        let number = loop {
            let number = self.input.line();
            self.line.clear();
            let mut line = (&mut self.input).take(self.line_bytes_max.saturating_add(1));
            let read = line
                .read_until(b'\n', &mut self.line)
                .map_err(|error| self.input.error(&error))?;
            if read == 0 {
                return Ok(None);
            }
            let is_long = u64::try_from(read).is_ok_and(|read| read > self.line_bytes_max);
            if is_long && !self.line.ends_with(b"\n") {
                let what = format!("the line is longer than {} bytes", self.line_bytes_max);
                return Err(self.input.error(&what));
            }
            if !self.line.trim_ascii().is_empty() {
                break number;
            }
        };
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(Some((number, text.trim_start_matches('\u{feff}')))),
            Err(error) => {
                let what = format!("the bytes here are not UTF-8: {error}");
                Err(self.error(number, &what))
            }
        }
    }

    /// An error in line `number`.
    pub(super) fn error(&self, number: u64, what: &(impl ToString + ?Sized)) -> ReadError {
        ReadError {
            line: number,
            ..self.input.error(what)
        }
    }
}
