//! Reads posts of a Discourse forum as its API gives them: one JSON object a line.
//!
//! A line is a post, a topic's document (`{"post_stream":{"posts":[…]},…}`) or a list of posts
//! (`{"latest_posts":[…]}`). A topic is a discussion, and every post of it a comment, the opening one
//! too: it has its author, its edits and its replies like any other. Replies name a number within
//! their topic, so a post is known as `topic/number`. The Markdown source is taken where the export
//! has it, else the HTML. Whispers and posts that the community flagged are hidden, notices such as
//! "closed the topic" are no comments. A topic's title is that of the first row that names it. Of
//! the file only a few bytes a topic are kept.

mod post;

use std::collections::VecDeque;

use url::Url;

use self::post::Row;
use super::input::{Input, ReadError};
use super::lines::Lines;
use super::loose::{Firsts, Loose};
use super::record::{
    ExportReader, RejectedRow, SourceDiscussion, SourceItem, SourceTime, check_id,
};
use super::report::{Reason, RowKind};
use super::times::rfc3339;

/// Bytes of one line: a topic's document may hold a thousand posts.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// What an export does not say about itself.
#[derive(Clone, Debug, Default)]
pub struct DiscourseOptions {
    /// Where the forum is or was; its topics get their addresses below it.
    pub site: Option<Url>,
}

/// A stream of posts, and of the topics they name.
#[derive(Debug)]
pub struct DiscourseReader {
    lines: Lines,
    options: DiscourseOptions,
    topics: Firsts,
    ready: VecDeque<SourceItem>,
}

/// What a row says about its topic.
struct Topic<'a> {
    id: &'a str,
    title: &'a str,
    slug: &'a str,
    created: SourceTime,
    closed: bool,
    deleted: bool,
    line: u64,
}

impl DiscourseReader {
    /// Reads `input` from its beginning.
    #[must_use]
    pub fn new(input: Input, options: DiscourseOptions) -> Self {
        Self {
            lines: Lines::new(input, LINE_BYTES_MAX),
            options,
            topics: Firsts::default(),
            ready: VecDeque::new(),
        }
    }

    /// Takes what stands in one row: a post or many.
    fn row(&mut self, mut row: Row, line: u64) -> Result<(), ReadError> {
        let listed = row.listed();
        if listed.is_none() && !row.is_post() {
            let what = "this is no post of Discourse: it has neither `post_number` nor \
                        `post_stream` nor `latest_posts`";
            return Err(self.lines.error(line, what));
        }
        match listed {
            None => self.post(row, line),
            Some(posts) => {
                let id = Loose::text(row.id.take());
                if row.has_stream() && check_id(&id).is_ok() {
                    self.topic(&Topic {
                        id: &id,
                        title: row.title.as_deref().unwrap_or_default(),
                        slug: row.slug.as_deref().unwrap_or_default(),
                        created: rfc3339(row.created_at.as_deref().unwrap_or_default()),
                        closed: row.closed == Some(true) || row.archived == Some(true),
                        deleted: row.deleted_at.is_some(),
                        line,
                    });
                }
                for post in posts {
                    self.post(post, line);
                }
            }
        }
        Ok(())
    }

    fn post(&mut self, post: Row, line: u64) {
        let topic = post.topic();
        let item = match post.into_comment(line) {
            Ok(comment) => {
                self.topic(&Topic {
                    id: &topic.id,
                    title: &topic.title,
                    slug: &topic.slug,
                    // Its first comment tells, whichever row that is.
                    created: Err(String::new()),
                    closed: false,
                    deleted: false,
                    line: 0,
                });
                SourceItem::Comment(Box::new(comment))
            }
            Err((source_id, reason, detail)) => SourceItem::Rejected(RejectedRow {
                kind: RowKind::Comment,
                source_id,
                line,
                reason,
                detail,
            }),
        };
        self.ready.push_back(item);
    }

    fn topic(&mut self, topic: &Topic<'_>) {
        if !self.topics.is_first(topic.id) {
            return;
        }
        self.ready
            .push_back(SourceItem::Discussion(SourceDiscussion {
                source_id: topic.id.to_owned(),
                title: topic.title.to_owned(),
                url: self.address(topic),
                entity: None,
                created: topic.created.clone(),
                closed: topic.closed,
                deleted: topic.deleted,
                line: topic.line,
            }));
    }

    /// `…/t/slug/id`. A topic without a slug is found below `/t/-/`, as Discourse has it.
    fn address(&self, topic: &Topic<'_>) -> Option<String> {
        let mut address = self.options.site.clone()?;
        let slug = Some(topic.slug).filter(|slug| !slug.is_empty());
        address.path_segments_mut().ok()?.pop_if_empty().extend([
            "t",
            slug.unwrap_or("-"),
            topic.id,
        ]);
        Some(address.into())
    }
}

impl ExportReader for DiscourseReader {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        while self.ready.is_empty() {
            let Some((number, text)) = self.lines.next()? else {
                return Ok(None);
            };
            // Documents that were fetched one after the other may stand on one line.
            let rows = serde_json::Deserializer::from_str(text).into_iter::<Row>();
            let rows: Result<Vec<Row>, serde_json::Error> = rows.collect();
            let rows = rows.map_err(|error| self.lines.json_error(number, &error))?;
            for row in rows {
                self.row(row, number)?;
            }
        }
        Ok(self.ready.pop_front())
    }

    fn opens_undeclared(&self) -> bool {
        true
    }
}

/// Why a post is none: its id, the reason and more about it.
type Refused = (String, Reason, String);

#[cfg(test)]
mod tests;
