//! Comma-separated values with a header, row by row, by the names of their columns.
//!
//! A row that is too large, has more or fewer cells than the header, or whose last quote is never
//! closed because the file was cut, is an error at its beginning, never a shorter row.

use std::fmt;
use std::io::{Chain, Cursor, Read as _};

use csv::{ByteRecord, Terminator};

use super::input::{Counted, Input, ReadError};

/// Stands behind the end of the file. It is a row of its own unless a quote is still open there,
/// which is the only sign of it.
const END: &[u8] = b"\n\x1eend of file\n";
const END_CELL: &[u8] = b"\x1eend of file";

/// The file and what stands behind it.
type Whole = Chain<Input, Cursor<&'static [u8]>>;

/// A stream of rows.
pub(super) struct Table {
    rows: csv::Reader<Counted<Whole>>,
    columns: Vec<String>,
    row: ByteRecord,
    /// Where the row begins.
    line: u64,
    byte: u64,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("columns", &self.columns)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Reads the header of `input`. A row of about `row_bytes_max` bytes or more is an error.
    pub(super) fn new(input: Input, row_bytes_max: u64) -> Result<Self, ReadError> {
        let rows = csv::ReaderBuilder::new()
            .has_headers(false)
            // Rows of another length get an error of ours, and the end is such a row.
            .flexible(true)
            // Only so are the lines of a file with CR LF counted right; the CR is taken off below.
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Counted::new(input.chain(Cursor::new(END)), row_bytes_max));
        let mut table = Self {
            rows,
            columns: Vec::new(),
            row: ByteRecord::new(),
            line: 1,
            byte: 0,
        };
        if !table.read()? {
            return Err(table.error("the file is empty: there is no header"));
        }
        for at in 0..table.row.len() {
            let name = table.cell(at)?.trim_start_matches('\u{feff}').trim();
            table.columns.push(name.to_owned());
        }
        Ok(table)
    }

    /// The place of the column that has one of `names`, of which the first is the usual one.
    pub(super) fn column(&self, names: &[&str]) -> Result<Option<usize>, ReadError> {
        let is_wanted = |column: &&str| names.contains(column);
        let mut found = (self.columns.iter().map(String::as_str).enumerate())
            .filter(|(_, column)| is_wanted(column));
        match (found.next(), found.next()) {
            (Some((_, first)), Some((_, second))) => {
                let what = format!("the columns `{first}` and `{second}` say the same: keep one");
                Err(self.error(&what))
            }
            (first, _) => Ok(first.map(|(at, _)| at)),
        }
    }

    /// The same for a column that has to be there.
    pub(super) fn needed_column(&self, names: &[&str]) -> Result<usize, ReadError> {
        self.column(names)?.ok_or_else(|| {
            let name = names.join("` or `");
            let there = self.columns.join(", ");
            self.error(&format!("there is no column `{name}`; there are: {there}"))
        })
    }

    /// Goes to the next row; false at the end.
    pub(super) fn next(&mut self) -> Result<bool, ReadError> {
        if !self.read()? {
            return Ok(false);
        }
        let (cells, columns) = (self.row.len(), self.columns.len());
        if cells == columns {
            return Ok(true);
        }
        let what = format!("the row has {cells} cells and the header {columns}");
        Err(self.error(&what))
    }

    fn read(&mut self) -> Result<bool, ReadError> {
        loop {
            self.rows.get_mut().refill();
            let read = self.rows.read_byte_record(&mut self.row);
            self.find_beginning();
            if let Err(error) = read {
                return Err(self.error(&error));
            }
            let last = self.row.iter().next_back().unwrap_or_default();
            let is_alone = self.row.len() == 1;
            if is_alone && last == END_CELL {
                return Ok(false);
            }
            if last.ends_with(END) {
                let what = "the file ends within this row: a quote is not closed";
                return Err(self.error(what));
            }
            let is_empty_line = is_alone && last == b"\r";
            if !is_empty_line {
                return Ok(true);
            }
        }
    }

    /// The parser's own idea of where a row begins is before the empty lines that it passed.
    fn find_beginning(&mut self) {
        let newlines = self.row.as_slice().iter().filter(|byte| **byte == b'\n');
        let newlines = u64::try_from(newlines.count()).unwrap_or(0) + 1;
        let (line, byte) = (self.row.position()).map_or((1, 0), |at| (at.line(), at.byte()));
        self.line = self
            .rows
            .position()
            .line()
            .saturating_sub(newlines)
            .max(line);
        self.byte = byte + (self.line - line);
    }

    /// A cell of this row.
    pub(super) fn cell(&self, column: usize) -> Result<&str, ReadError> {
        let cell = self.row.get(column).unwrap_or_default();
        let is_last = column + 1 == self.row.len();
        let cell = cell.strip_suffix(b"\r").filter(|_| is_last).unwrap_or(cell);
        std::str::from_utf8(cell).map_err(|_not_utf8| {
            let name = self.columns.get(column).map_or("(header)", String::as_str);
            self.error(&format!("the column `{name}` of this row is not UTF-8"))
        })
    }

    /// The line in which this row begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// An error in this row.
    pub(super) fn error(&self, what: &(impl ToString + ?Sized)) -> ReadError {
        ReadError {
            line: self.line,
            byte: self.byte,
            what: what.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &[u8]) -> Result<Table, ReadError> {
        Table::new(Box::new(Cursor::new(text.to_vec())), 1_000)
    }

    fn rows(text: &[u8]) -> Result<Vec<(u64, Vec<String>)>, ReadError> {
        let mut table = table(text)?;
        let mut rows = Vec::new();
        while table.next()? {
            let cells = (0..table.columns.len()).map(|at| table.cell(at).unwrap().to_owned());
            rows.push((table.line(), cells.collect()));
        }
        Ok(rows)
    }

    fn wrong(text: &[u8]) -> (u64, u64, String) {
        let error = rows(text).unwrap_err();
        (error.line, error.byte, error.what)
    }

    #[test]
    fn cells_keep_their_lines_and_quotes_and_rows_know_where_they_begin() {
        let text = b"\xef\xbb\xbf\"a\",b\r\n1,\"x\r\n\"\"y\"\",\nz\"\r\n\r\n2,\n3,\"\"";
        let read = rows(text).unwrap();
        let cells: Vec<Vec<&str>> = (read.iter())
            .map(|(_, cells)| cells.iter().map(String::as_str).collect())
            .collect();
        assert_eq!(cells, [["1", "x\r\n\"y\",\nz"], ["2", ""], ["3", ""]]);
        let lines: Vec<u64> = read.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 6, 7]);
        assert_eq!(table(text).unwrap().columns, ["a", "b"]);
        assert!(rows(b"a,b\n").unwrap().is_empty());
    }

    #[test]
    fn a_file_that_was_cut_is_an_error_wherever_the_cut_lies() {
        let (line, byte, what) = wrong(b"a,b\n1,2\n3,\"fo\no");
        assert_eq!((line, byte), (3, 8));
        assert!(what.contains("quote"), "{what}");
        assert!(wrong(b"a,b\n1,2\n3").2.contains("1 cells"));
        assert!(wrong(b"").2.contains("empty"));
    }

    #[test]
    fn a_row_that_is_too_large_and_bytes_that_are_no_text_are_errors() {
        let huge = [b"a,b\n1,\"".as_slice(), &vec![b'x'; 20_000]].concat();
        assert!(wrong(&huge).2.contains("larger than 1000 bytes"));
        let table = table(b"a,b\n1,2\n3,\xff\n");
        let mut table = table.unwrap();
        assert!(table.next().unwrap() && table.next().unwrap());
        let error = table.cell(1).unwrap_err();
        assert_eq!((error.line, error.byte), (3, 8));
        assert!(error.what.contains("`b`"), "{error}");
    }

    #[test]
    fn a_column_is_found_by_any_of_its_names_and_missed_by_all() {
        let table = table(b"x,link_id,y,y\n").unwrap();
        assert_eq!(table.column(&["post_id", "link_id"]).unwrap(), Some(1));
        assert_eq!(table.column(&["z"]).unwrap(), None);
        let error = table.needed_column(&["body", "text"]).unwrap_err();
        assert!(error.what.contains("`body` or `text`"), "{error}");
        assert!(table.column(&["y"]).is_err());
    }
}
