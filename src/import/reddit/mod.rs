//! Reads comments and submissions of Reddit: tables (CSV) or dumps of JSON lines, told apart by their
//! first byte.
//!
//! A submission is a discussion; comments that name a submission which no file has open theirs under
//! its id. Ids stand with or without their kind (`t1_`, `t3_`); a parent that is the submission makes
//! a root. Texts are Markdown in which Reddit's API writes `&`, `<` and `>` as entities, once. What
//! Reddit left of a deleted text (`[deleted]`, `[removed]`) is no text; an author who has deleted the
//! account is anonymous and keeps what is left. Times are seconds. A submission's own text is what is
//! discussed, like an article elsewhere, and stays out unless it is asked for as a comment.

mod rows;

use std::collections::VecDeque;
use std::io::BufRead as _;

use url::Url;

use self::rows::{Comment, Found, Rows, Submission};
use super::input::{Input, ReadError};
use super::names::ANONYMOUS;
use super::record::{
    ExportReader, RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem,
    SourceState, SourceTime, check_id,
};
use super::report::{Reason, RowKind};
use super::times::unix_seconds;
use crate::domain::body::BodyFormat;

/// Where submissions are found.
const SITE: &str = "https://www.reddit.com";

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct RedditOptions {
    /// Makes each submission's own text a comment, `t3_` and its id.
    pub with_submission_texts: bool,
}

/// A stream of submissions and comments: of the one file, then of the other.
#[derive(Debug)]
pub struct RedditReader {
    submissions: Option<Rows>,
    rows: Rows,
    options: RedditOptions,
    ready: VecDeque<SourceItem>,
}

impl RedditReader {
    /// Reads `posts`, if there is such a file, and then `comments`. A table that lacks a column is an
    /// error.
    pub fn new(
        comments: Input,
        posts: Option<Input>,
        options: RedditOptions,
    ) -> Result<Self, ReadError> {
        let rows = Rows::new(comments, Found::Comments)?;
        let submissions = posts.map(|posts| Rows::new(posts, Found::Submissions));
        Ok(Self {
            submissions: submissions.transpose().map_err(of_posts)?,
            rows,
            options,
            ready: VecDeque::new(),
        })
    }

    fn submission(&mut self, row: &Submission) {
        let id = without_kind(&row.id);
        if let Err((reason, detail)) = check_id(id) {
            let kind = RowKind::Discussion;
            self.ready
                .push_back(refused(kind, id, row.line, reason, detail));
            return;
        }
        let created = unix_seconds(&row.created);
        self.ready
            .push_back(SourceItem::Discussion(SourceDiscussion {
                source_id: id.to_owned(),
                title: unescaped(&row.title),
                url: address(row, id),
                entity: None,
                created: created.clone(),
                closed: row.locked == "true",
                deleted: false,
                line: row.line,
            }));
        if self.options.with_submission_texts && !row.text.trim().is_empty() {
            let comment = SourceComment {
                source_id: format!("t3_{id}"),
                discussion_source_id: id.to_owned(),
                parent_source_id: None,
                author: author(&row.author),
                created,
                edited: edited(&row.edited),
                state: state(&row.text),
                body: unescaped(&row.text),
                format: BodyFormat::Markdown,
                line: row.line,
            };
            self.ready.push_back(SourceItem::Comment(Box::new(comment)));
        }
    }
}

impl ExportReader for RedditReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        while self.ready.is_empty() {
            let row = match &mut self.submissions {
                Some(submissions) => submissions.next().map_err(of_posts)?,
                None => self.rows.next()?,
            };
            match row {
                Some(rows::Row::Submission(row)) => self.submission(&row),
                Some(rows::Row::Comment(row)) => return Ok(Some(comment(&row))),
                None if self.submissions.take().is_some() => {}
                None => return Ok(None),
            }
        }
        Ok(self.ready.pop_front())
    }

    fn opens_undeclared(&self) -> bool {
        true
    }
}

/// Where the submission is found on Reddit.
fn address(row: &Submission, id: &str) -> Option<String> {
    let is_word = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-');
    let path = if !row.permalink.trim().is_empty() {
        row.permalink.trim().to_owned()
    } else if !row.subreddit.is_empty() && row.subreddit.chars().all(is_word) {
        format!("/r/{}/comments/{id}/", row.subreddit)
    } else {
        return None;
    };
    let site = Url::parse(SITE).ok()?;
    Some(site.join(&path).ok()?.into())
}

/// Two files are read; the report names one.
fn of_posts(mut error: ReadError) -> ReadError {
    error.what.insert_str(0, "in the file of --posts: ");
    error
}

fn comment(row: &Comment) -> SourceItem {
    let (id, submission) = (without_kind(&row.id), without_kind(&row.submission));
    let kind = RowKind::Comment;
    if let Err((reason, detail)) = check_id(id) {
        return refused(kind, id, row.line, reason, detail);
    }
    if check_id(submission).is_err() {
        let detail = "the comment names no submission".to_owned();
        return refused(kind, id, row.line, Reason::NoDiscussion, detail);
    }
    SourceItem::Comment(Box::new(SourceComment {
        source_id: id.to_owned(),
        discussion_source_id: submission.to_owned(),
        parent_source_id: parent(&row.parent, submission),
        author: author(&row.author),
        created: unix_seconds(&row.created),
        edited: edited(&row.edited),
        state: state(&row.body),
        body: unescaped(&row.body),
        format: BodyFormat::Markdown,
        line: row.line,
    }))
}

/// A parent says its kind, or it is the submission's id, or it is a comment.
fn parent(parent: &str, submission: &str) -> Option<String> {
    let parent = parent.trim();
    if let Some(comment) = parent.strip_prefix("t1_") {
        return Some(comment.to_owned());
    }
    let is_root = parent.is_empty() || parent.starts_with("t3_") || parent == submission;
    (!is_root).then(|| parent.to_owned())
}

fn without_kind(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("t1_")
        .or_else(|| id.strip_prefix("t3_"))
        .unwrap_or(id)
}

fn author(name: &str) -> SourceAuthor {
    let name = name.trim();
    if matches!(name, "" | "[deleted]" | "[removed]") {
        return SourceAuthor {
            key: ANONYMOUS.to_owned(),
            name: String::new(),
        };
    }
    SourceAuthor {
        key: format!("user:{name}"),
        name: name.to_owned(),
    }
}

/// Old dumps say only whether a text was changed, newer ones when.
fn edited(text: &str) -> Option<SourceTime> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "false" | "true" | "0" => None,
        _ => Some(unix_seconds(text)),
    }
}

fn state(body: &str) -> SourceState {
    match body.trim().to_ascii_lowercase().as_str() {
        "[deleted]" | "[removed]" | "[ removed by reddit ]" => SourceState::Deleted,
        _ => SourceState::Published,
    }
}

/// Takes the entities of the API back, once. A text in which a bracket stands as itself was taken
/// from elsewhere (`raw_json=1`, a browser) and says what it means.
fn unescaped(text: &str) -> String {
    if text.contains(['<', '>']) || !text.contains('&') {
        return text.to_owned();
    }
    // `&amp;lt;` is `&lt;`: what comes out is not looked at again, because `&` goes last.
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

fn refused(kind: RowKind, id: &str, line: u64, reason: Reason, detail: String) -> SourceItem {
    SourceItem::Rejected(RejectedRow {
        kind,
        source_id: id.to_owned(),
        line,
        reason,
        detail,
    })
}

/// Whether the file is lines of JSON; else it is a table.
fn is_json(input: &mut Input) -> Result<bool, ReadError> {
    let begin = input.fill_buf().map_err(|error| ReadError {
        line: 1,
        byte: 0,
        what: error.to_string(),
    })?;
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
    Ok(begin.trim_ascii_start().first() == Some(&b'{'))
}

#[cfg(test)]
mod tests;
