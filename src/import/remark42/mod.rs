//! Reads a remark42 backup: lines of JSON, the first about users and pages, then one comment each.
//!
//! A page is known by its address, which every comment repeats; the discussion is given before its
//! first comment. The text is the HTML that readers saw, because the Markdown behind it breaks lines
//! where `CommonMark` does not. What this service has no place for (votes, pins, pictures, hashes of
//! addresses) is not read. Unknown fields are passed: backups of newer versions may have more.

use std::collections::{HashMap, VecDeque, hash_map};
use std::fmt;

use serde::Deserialize;

use super::input::{Input, ReadError};
use super::lines::Lines;
use super::names::{self, ANONYMOUS};
use super::record::{
    ExportReader, RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem,
    SourceState, check_id,
};
use super::report::{Reason, RowKind};
use super::times::rfc3339;
use crate::domain::body::BodyFormat;

/// Bytes of a line: the first one names all users that anything is known about, and a comment's
/// line all who voted.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// The only version of the format so far.
const VERSION: u64 = 1;

/// A stream of comments, and of the pages they name.
pub struct Remark42Reader {
    lines: Lines,
    /// Pages named so far, and whether each is read only.
    pages: HashMap<String, Page>,
    ready: VecDeque<SourceItem>,
    has_begun: bool,
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    closed: bool,
    given: bool,
}

impl fmt::Debug for Remark42Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remark42Reader")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Meta {
    version: u64,
    #[serde(default)]
    posts: Option<Vec<PostMeta>>,
}

#[derive(Deserialize)]
struct PostMeta {
    #[serde(default)]
    url: String,
    #[serde(default)]
    read_only: bool,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: String,
    #[serde(default)]
    pid: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    orig: String,
    user: Option<User>,
    locator: Option<Locator>,
    #[serde(default)]
    time: String,
    edit: Option<Edit>,
    #[serde(default)]
    delete: bool,
    #[serde(default)]
    title: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Locator {
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
struct Edit {
    #[serde(default)]
    time: String,
}

impl Remark42Reader {
    /// Reads `input` from its beginning.
    pub fn new(input: Input) -> Self {
        Self {
            lines: Lines::new(input, LINE_BYTES_MAX),
            pages: HashMap::new(),
            ready: VecDeque::new(),
            has_begun: false,
            has_ended: false,
        }
    }

    /// Reads the first line, which says what file this is.
    fn begin(&mut self) -> Result<(), ReadError> {
        let Some((number, text)) = self.lines.next()? else {
            return Err(self.lines.error(1, "the file is empty"));
        };
        let meta: Meta = serde_json::from_str(text).map_err(|error| {
            let what = format!(
                "this is no remark42 backup: its first line should hold \"version\", \"users\" and \
                 \"posts\" ({error})"
            );
            self.lines.error(number, &what)
        })?;
        if meta.version > VERSION {
            let what = format!(
                "the backup has version {}, but only version {VERSION} is known",
                meta.version
            );
            return Err(self.lines.error(number, &what));
        }
        for post in meta.posts.unwrap_or_default() {
            self.pages.entry(post.url).or_default().closed |= post.read_only;
        }
        Ok(())
    }

    fn comment(&mut self, line: Line, number: u64) {
        let url = line.locator.as_ref().map_or("", |locator| &locator.url);
        let wrong = check_id(&line.id).err().or_else(|| {
            let unnamed = check_id(url).is_err();
            unnamed.then(|| (Reason::NoDiscussion, "the comment names no page".to_owned()))
        });
        if let Some((reason, detail)) = wrong {
            self.ready.push_back(SourceItem::Rejected(RejectedRow {
                kind: RowKind::Comment,
                source_id: line.id,
                line: number,
                reason,
                detail,
            }));
            return;
        }
        let page = match self.pages.entry(url.to_owned()) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(new) => new.insert(Page::default()),
        };
        if !page.given {
            page.given = true;
            let title = names::without_markup(&line.title);
            self.ready.push_back(discussion(url, title, page.closed));
        }
        self.ready.push_back(line.item(number));
    }

    /// Pages that nobody wrote on stay closed, if they were.
    fn end(&mut self) {
        self.has_ended = true;
        let mut closed: Vec<&String> = self
            .pages
            .iter()
            .filter(|(url, page)| page.closed && !page.given && check_id(url).is_ok())
            .map(|(url, _)| url)
            .collect();
        closed.sort_unstable();
        let items = closed
            .into_iter()
            .map(|url| discussion(url, String::new(), true));
        self.ready.extend(items);
    }
}

/// A page has no row of its own, and began with its first comment.
fn discussion(url: &str, title: String, closed: bool) -> SourceItem {
    SourceItem::Discussion(SourceDiscussion {
        source_id: url.to_owned(),
        title,
        url: Some(url.to_owned()),
        entity: None,
        created: Err(String::new()),
        closed,
        deleted: false,
        line: 0,
    })
}

impl ExportReader for Remark42Reader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        if !self.has_begun {
            self.begin()?;
            self.has_begun = true;
        }
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            if self.has_ended {
                return Ok(None);
            }
            let Some((number, text)) = self.lines.next()? else {
                self.end();
                continue;
            };
            let line: Line =
                serde_json::from_str(text).map_err(|error| self.lines.error(number, &error))?;
            self.comment(line, number);
        }
    }

    fn opens_undeclared(&self) -> bool {
        false
    }
}

impl Line {
    fn item(self, number: u64) -> SourceItem {
        let (body, format) = if self.text.trim().is_empty() {
            (self.orig, BodyFormat::Markdown)
        } else {
            (self.text, BodyFormat::Html)
        };
        SourceItem::Comment(Box::new(SourceComment {
            source_id: self.id,
            discussion_source_id: self.locator.map(|locator| locator.url).unwrap_or_default(),
            parent_source_id: Some(self.pid).filter(|parent| !parent.is_empty()),
            author: self.user.map_or_else(anonymous, User::author),
            created: rfc3339(&self.time),
            edited: self.edit.map(|edit| rfc3339(&edit.time)),
            body,
            format,
            state: if self.delete {
                SourceState::Deleted
            } else {
                SourceState::Published
            },
            line: number,
        }))
    }
}

impl User {
    fn author(self) -> SourceAuthor {
        match self.id.as_str() {
            // What a user who had everything deleted is replaced with.
            "" | "deleted" => anonymous(),
            id => SourceAuthor {
                key: format!("user:{id}"),
                name: names::without_markup(&self.name),
            },
        }
    }
}

fn anonymous() -> SourceAuthor {
    SourceAuthor {
        key: ANONYMOUS.to_owned(),
        name: String::new(),
    }
}

#[cfg(test)]
mod tests;
