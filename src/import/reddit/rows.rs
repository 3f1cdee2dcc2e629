//! The rows of a file of Reddit's, whether it is a table or lines of JSON.

use serde::Deserialize;

use super::is_json;
use crate::import::input::{Input, ReadError};
use crate::import::lines::Lines;
use crate::import::loose::Loose;
use crate::import::table::Table;

/// Bytes of a row.
const ROW_BYTES_MAX: u64 = 4 << 20;

/// A comment's texts as they stand in the file; empty where they do not.
#[derive(Debug, Default)]
pub(super) struct Comment {
    pub(super) id: String,
    pub(super) submission: String,
    pub(super) parent: String,
    pub(super) author: String,
    pub(super) body: String,
    pub(super) created: String,
    pub(super) edited: String,
    pub(super) line: u64,
}

/// A submission's texts as they stand in the file; empty where they do not.
#[derive(Debug, Default)]
pub(super) struct Submission {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) author: String,
    pub(super) created: String,
    pub(super) edited: String,
    pub(super) permalink: String,
    pub(super) subreddit: String,
    pub(super) locked: String,
    pub(super) line: u64,
}

/// One of them.
#[derive(Debug)]
pub(super) enum Row {
    Submission(Submission),
    Comment(Comment),
}

/// What a table is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Submissions,
    Comments,
}

/// A stream of rows.
#[derive(Debug)]
pub(super) enum Rows {
    Lines(Lines),
    Comments(Table, CommentColumns),
    Submissions(Table, SubmissionColumns),
}

#[derive(Debug)]
pub(super) struct CommentColumns {
    id: usize,
    submission: usize,
    parent: usize,
    author: usize,
    body: usize,
    created: usize,
    edited: Option<usize>,
}

#[derive(Debug)]
pub(super) struct SubmissionColumns {
    id: usize,
    title: usize,
    created: usize,
    text: Option<usize>,
    author: Option<usize>,
    edited: Option<usize>,
    permalink: Option<usize>,
    subreddit: Option<usize>,
    locked: Option<usize>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct JsonRow {
    id: Option<Loose>,
    name: Option<Loose>,
    link_id: Option<Loose>,
    parent_id: Option<Loose>,
    author: Option<Loose>,
    body: Option<Loose>,
    created_utc: Option<Loose>,
    edited: Option<Loose>,
    title: Option<Loose>,
    selftext: Option<Loose>,
    permalink: Option<Loose>,
    subreddit: Option<Loose>,
    locked: Option<Loose>,
}

const CREATED: &[&str] = &["created_utc", "created"];

impl Rows {
    pub(super) fn new(mut input: Input, expected: Found) -> Result<Self, ReadError> {
        if is_json(&mut input)? {
            return Ok(Self::Lines(Lines::new(input, ROW_BYTES_MAX)));
        }
        let table = Table::new(input, ROW_BYTES_MAX)?;
        Ok(match expected {
            Found::Comments => {
                let columns = CommentColumns {
                    id: table.needed_column(&["id"])?,
                    submission: table.needed_column(&["post_id", "link_id", "submission_id"])?,
                    parent: table.needed_column(&["parent_id"])?,
                    author: table.needed_column(&["author"])?,
                    body: table.needed_column(&["body"])?,
                    created: table.needed_column(CREATED)?,
                    edited: table.column(&["edited"])?,
                };
                Self::Comments(table, columns)
            }
            Found::Submissions => {
                let columns = SubmissionColumns {
                    id: table.needed_column(&["id"])?,
                    title: table.needed_column(&["title"])?,
                    created: table.needed_column(CREATED)?,
                    text: table.column(&["selftext", "text", "body"])?,
                    author: table.column(&["author"])?,
                    edited: table.column(&["edited"])?,
                    permalink: table.column(&["permalink"])?,
                    subreddit: table.column(&["subreddit"])?,
                    locked: table.column(&["locked"])?,
                };
                Self::Submissions(table, columns)
            }
        })
    }

    /// The next row; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row>, ReadError> {
        match self {
            Self::Lines(lines) => next_of_lines(lines),
            Self::Comments(table, columns) => {
                let has_row = table.next()?;
                has_row
                    .then(|| columns.read(table).map(Row::Comment))
                    .transpose()
            }
            Self::Submissions(table, columns) => {
                let has_row = table.next()?;
                has_row
                    .then(|| columns.read(table).map(Row::Submission))
                    .transpose()
            }
        }
    }
}

fn cell(table: &Table, column: usize) -> Result<String, ReadError> {
    table.cell(column).map(str::to_owned)
}

fn cell_or_none(table: &Table, column: Option<usize>) -> Result<String, ReadError> {
    column.map_or_else(|| Ok(String::new()), |column| cell(table, column))
}

impl CommentColumns {
    fn read(&self, table: &Table) -> Result<Comment, ReadError> {
        Ok(Comment {
            id: cell(table, self.id)?,
            submission: cell(table, self.submission)?,
            parent: cell(table, self.parent)?,
            author: cell(table, self.author)?,
            body: cell(table, self.body)?,
            created: cell(table, self.created)?,
            edited: cell_or_none(table, self.edited)?,
            line: table.line(),
        })
    }
}

impl SubmissionColumns {
    fn read(&self, table: &Table) -> Result<Submission, ReadError> {
        Ok(Submission {
            id: cell(table, self.id)?,
            title: cell(table, self.title)?,
            created: cell(table, self.created)?,
            text: cell_or_none(table, self.text)?,
            author: cell_or_none(table, self.author)?,
            edited: cell_or_none(table, self.edited)?,
            permalink: cell_or_none(table, self.permalink)?,
            subreddit: cell_or_none(table, self.subreddit)?,
            locked: cell_or_none(table, self.locked)?.to_ascii_lowercase(),
            line: table.line(),
        })
    }
}

fn next_of_lines(lines: &mut Lines) -> Result<Option<Row>, ReadError> {
    let Some((number, text)) = lines.next()? else {
        return Ok(None);
    };
    let read: Result<JsonRow, serde_json::Error> = serde_json::from_str(text);
    let row = read.map_err(|error| lines.json_error(number, &error))?;
    if row.body.is_some() || row.link_id.is_some() {
        return Ok(Some(Row::Comment(row.comment(number))));
    }
    if row.title.is_some() {
        return Ok(Some(Row::Submission(row.submission(number))));
    }
    let what = "this is neither a comment (`link_id`, `body`) nor a submission (`title`)";
    Err(lines.error(number, what))
}

impl JsonRow {
    fn comment(self, line: u64) -> Comment {
        Comment {
            id: Loose::text(self.id.or(self.name)),
            submission: Loose::text(self.link_id),
            parent: Loose::text(self.parent_id),
            author: Loose::text(self.author),
            body: Loose::text(self.body),
            created: Loose::text(self.created_utc),
            edited: Loose::text(self.edited),
            line,
        }
    }

    fn submission(self, line: u64) -> Submission {
        Submission {
            id: Loose::text(self.id.or(self.name)),
            title: Loose::text(self.title),
            text: Loose::text(self.selftext),
            author: Loose::text(self.author),
            created: Loose::text(self.created_utc),
            edited: Loose::text(self.edited),
            permalink: Loose::text(self.permalink),
            subreddit: Loose::text(self.subreddit),
            locked: Loose::text(self.locked),
            line,
        }
    }
}
