//! The lines of a text file, of bounded length and with their numbers. Empty ones are passed.

use std::fmt;
use std::io::{BufRead as _, Read as _};

use super::input::{Counted, Input, ReadError};

/// A stream of lines.
pub(super) struct Lines {
    input: Counted<Input>,
    line: Vec<u8>,
    line_bytes_max: u64,
    /// Bytes before the text last given.
    begins_at: u64,
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
            begins_at: 0,
        }
    }

    /// The next line that is not empty, with its number from 1; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        let number = loop {
            let number = self.input.line();
            self.begins_at = self.input.byte();
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
        let what = match std::str::from_utf8(&self.line) {
            Ok(text) => {
                let text_alone = text.trim_start_matches('\u{feff}');
                self.begins_at += wide(text.len() - text_alone.len());
                return Ok(Some((number, text_alone)));
            }
            Err(error) => {
                self.begins_at += wide(error.valid_up_to());
                "the bytes here are not UTF-8".to_owned()
            }
        };
        Err(ReadError {
            line: number,
            byte: self.begins_at,
            what,
        })
    }

    /// An error in line `number`.
    pub(super) fn error(&self, number: u64, what: &(impl ToString + ?Sized)) -> ReadError {
        ReadError {
            line: number,
            ..self.input.error(what)
        }
    }
    /// An error of JSON in the text last given, which is line `number`, at its exact place.
    pub(super) fn json_error(&self, number: u64, error: &serde_json::Error) -> ReadError {
        let what = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        ReadError {
            line: number,
            byte: self.begins_at + wide(error.column().saturating_sub(1)),
            what: what.strip_suffix(&place).unwrap_or(&what).to_owned(),
        }
    }
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn lines(text: &[u8]) -> Lines {
        Lines::new(Box::new(Cursor::new(text.to_vec())), 100)
    }

    #[test]
    fn a_wrong_byte_is_found_by_line_and_byte() {
        let mut lines = lines(b"\xef\xbb\xbffirst\r\n\n\xc3\xa4\xff\n");
        assert_eq!(lines.next().unwrap(), Some((1, "first\r\n")));
        let error = lines.next().unwrap_err();
        assert_eq!((error.line, error.byte), (3, 13));
    }

    #[test]
    fn wrong_json_is_found_by_line_and_byte() {
        let mut lines = lines("\u{feff}[]\n[1,x]\n".as_bytes());
        lines.next().unwrap();
        let (number, text) = lines.next().unwrap().unwrap();
        let wrong = serde_json::from_str::<Vec<u8>>(text).unwrap_err();
        let error = lines.json_error(number, &wrong);
        assert_eq!((error.line, error.byte), (2, 9));
        assert_eq!(error.what, "expected value");
    }
}
