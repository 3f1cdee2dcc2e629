//! Reads an Isso database, a SQLite file with the tables `threads` and `comments`.
//!
//! Isso knows a page by its path (`/2024/hello/`), so the site has to be told; a thread whose name
//! is no path has no address. Texts are Markdown in which every line end is a line break. People
//! have no accounts: an author is known by mail, of which only a hash is kept, else by name. The
//! numbers of rows are their ids; they have no lines.

mod sqlite;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::vec;

use tempfile::NamedTempFile;
use url::Url;

use self::sqlite::{CommentRow, Page, Row, ThreadRow};
use super::input::{Input, ReadError};
use super::names;
use super::record::{
    ExportReader, RejectedRow, SourceComment, SourceDiscussion, SourceItem, SourceState, SourceTime,
};
use super::report::{Reason, RowKind};
use crate::domain::body::BodyFormat;
use crate::tasks::Tasks;

/// The name rows of this format are known under unless another is given.
pub const SOURCE: &str = "isso";
/// What a SQLite file begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Pages that may wait for their reader.
const PAGES_AHEAD: usize = 2;

/// A stream of threads and comments.
#[derive(Debug)]
pub struct IssoReader {
    pages: Receiver<Page>,
    page: vec::IntoIter<Row>,
    site: Url,
    /// Removed when the reader is done.
    _copy: Option<NamedTempFile>,
}

/// Whether a file is a SQLite database as it is. Anything else may be a compressed one.
pub fn is_database(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    let mut start = File::open(path)?.take(u64::try_from(MAGIC.len()).unwrap_or(0));
    start.read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

impl IssoReader {
    /// Reads the database at `path`, as it is at this moment and without changing it. `site` is
    /// where its pages are: `https://blog.example`.
    pub fn open(path: PathBuf, site: Url, tasks: &Tasks) -> Self {
        let (sender, pages) = mpsc::sync_channel(PAGES_AHEAD);
        // The driver is asynchronous and readers are not, so it gets a thread of its own. It ends
        // when the reader is dropped.
        drop(tasks.spawn_blocking(move || sqlite::read(&path, &sender)));
        Self {
            pages,
            page: Vec::new().into_iter(),
            site,
            _copy: None,
        }
    }

    /// Reads a database out of a stream, by way of a temporary copy.
    pub fn copied(mut input: Input, site: Url, tasks: &Tasks) -> io::Result<Self> {
        let mut copy = NamedTempFile::new()?;
        io::copy(&mut input, copy.as_file_mut())?;
        let path = copy.path().to_owned();
        Ok(Self {
            _copy: Some(copy),
            ..Self::open(path, site, tasks)
        })
    }

    fn thread(&self, row: ThreadRow) -> SourceItem {
        let source_id = row.id.to_string();
        SourceItem::Discussion(SourceDiscussion {
            url: row.uri.map(|uri| self.address(uri)),
            source_id,
            title: row.title.unwrap_or_default(),
            entity: None,
            // Isso does not know; it began with its first comment.
            created: Err(String::new()),
            closed: false,
            deleted: false,
            line: 0,
        })
    }

    /// A path as an address of the site. What is no path is left as it is and will be reported.
    fn address(&self, uri: String) -> String {
        match self.site.join(&uri) {
            // Two slashes would name another host.
            Ok(address) if uri.starts_with('/') && !uri.starts_with("//") => address.into(),
            Ok(_) | Err(_) => uri,
        }
    }
}

impl ExportReader for IssoReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        loop {
            if let Some(row) = self.page.next() {
                return Ok(Some(match row {
                    Row::Thread(row) => self.thread(row),
                    Row::Comment(row) => row.item(),
                }));
            }
            match self.pages.recv() {
                Ok(Ok(Some(page))) => self.page = page.into_iter(),
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => return Err(error),
                Err(stopped) => {
                    let what = format!("reading the database stopped: {stopped}");
                    return Err(ReadError {
                        line: 0,
                        byte: 0,
                        what,
                    });
                }
            }
        }
    }

    fn opens_undeclared(&self) -> bool {
        false
    }
}

impl CommentRow {
    fn item(self) -> SourceItem {
        let source_id = self.id.to_string();
        let Some(thread) = self.thread else {
            return SourceItem::Rejected(RejectedRow {
                kind: RowKind::Comment,
                source_id,
                line: 0,
                reason: Reason::NoDiscussion,
                detail: "the comment names no thread".to_owned(),
            });
        };
        let mail = self.mail.unwrap_or_default();
        SourceItem::Comment(Box::new(SourceComment {
            source_id,
            discussion_source_id: thread.to_string(),
            parent_source_id: self
                .parent
                .filter(|parent| *parent != 0)
                .map(|parent| parent.to_string()),
            author: names::author_by_mail(&mail, &self.author.unwrap_or_default()),
            created: time(self.created),
            edited: self.modified.map(|modified| time(Some(modified))),
            body: with_line_breaks(&self.text.unwrap_or_default()),
            format: BodyFormat::Markdown,
            state: match self.mode {
                Some(1) => SourceState::Published,
                Some(4) => SourceState::Deleted,
                // 2 waits for a moderator. Isso shows no others, so a moderator should see them.
                Some(_) | None => SourceState::Pending,
            },
            line: 0,
        }))
    }
}

fn time(ms: Option<i64>) -> SourceTime {
    ms.ok_or_else(|| "no number of seconds".to_owned())
}

/// Markdown whose lines break where they end: two spaces say so, except in code.
fn with_line_breaks(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut lines = text.split('\n').peekable();
    let mut out = String::with_capacity(text.len() + 16);
    let mut is_fenced = false;
    while let Some(line) = lines.next() {
        out.push_str(line);
        let Some(next) = lines.peek() else {
            break;
        };
        let words = line.trim_start();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_code = is_fence || is_fenced || line.starts_with("    ") || line.starts_with('\t');
        let has_break = line.ends_with("  ") || line.ends_with('\\');
        if !is_code && !has_break && !words.is_empty() && !next.trim().is_empty() {
            out.push_str("  ");
        }
        out.push('\n');
    }
    out
}
