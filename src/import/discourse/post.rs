//! One object of the API, and what a post means.

use serde::Deserialize;

use super::Refused;
use crate::domain::body::BodyFormat;
use crate::import::loose::Loose;
use crate::import::names::ANONYMOUS;
use crate::import::record::{SourceAuthor, SourceComment, SourceState, check_id};
use crate::import::report::Reason;
use crate::import::times::rfc3339;

/// A notice of the forum, such as "closed the topic".
const SMALL_ACTION: i64 = 3;
/// A post for the staff alone.
const WHISPER: i64 = 4;

/// A post, a topic's document or a list of posts; other fields are passed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    pub(super) id: Option<Loose>,
    topic_id: Option<Loose>,
    post_number: Option<Loose>,
    reply_to_post_number: Option<Loose>,
    post_type: Option<i64>,
    user_id: Option<Loose>,
    username: Option<String>,
    name: Option<String>,
    pub(super) created_at: Option<String>,
    updated_at: Option<String>,
    pub(super) deleted_at: Option<String>,
    hidden: Option<bool>,
    user_deleted: Option<bool>,
    raw: Option<String>,
    cooked: Option<String>,
    topic_title: Option<String>,
    topic_slug: Option<String>,
    pub(super) title: Option<String>,
    pub(super) slug: Option<String>,
    pub(super) closed: Option<bool>,
    pub(super) archived: Option<bool>,
    post_stream: Option<Stream>,
    latest_posts: Option<Vec<Self>>,
}

#[derive(Debug, Deserialize)]
struct Stream {
    posts: Option<Vec<Row>>,
}

/// What a post says about its topic; empty where it does not.
pub(super) struct NamedTopic {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) slug: String,
}

impl Row {
    pub(super) fn is_post(&self) -> bool {
        self.post_number.is_some() || self.topic_id.is_some()
    }

    pub(super) fn has_stream(&self) -> bool {
        self.post_stream.is_some()
    }

    /// The posts below it, if it is a document.
    pub(super) fn listed(&mut self) -> Option<Vec<Self>> {
        let posts = match &mut self.post_stream {
            Some(stream) => Some(stream.posts.take().unwrap_or_default()),
            None => None,
        };
        posts.or_else(|| self.latest_posts.take())
    }

    pub(super) fn topic(&self) -> NamedTopic {
        let owned = |text: &Option<String>| text.clone().unwrap_or_default();
        NamedTopic {
            id: Loose::text(self.topic_id.clone()),
            title: owned(&self.topic_title),
            slug: owned(&self.topic_slug),
        }
    }

    pub(super) fn into_comment(self, line: u64) -> Result<SourceComment, Refused> {
        let topic = Loose::text(self.topic_id.clone());
        let number = Loose::text(self.post_number.clone());
        let source_id = format!("{topic}/{number}");
        if check_id(&topic).is_err() {
            let detail = "the post names no topic".to_owned();
            return Err((source_id, Reason::NoDiscussion, detail));
        }
        if number.is_empty() {
            let detail = "the post has no number".to_owned();
            return Err((source_id, Reason::NoId, detail));
        }
        check_id(&source_id).map_err(|(reason, detail)| (source_id.clone(), reason, detail))?;
        if self.post_type == Some(SMALL_ACTION) {
            let detail = "a notice of the forum".to_owned();
            return Err((source_id, Reason::NotAComment, detail));
        }
        let created = rfc3339(self.created_at.as_deref().unwrap_or_default());
        // Every change moves it, the first minutes' corrections too, which raise no version.
        let changed = self.updated_at.as_deref().map(rfc3339);
        let edited = changed.filter(|changed| match (changed, &created) {
            (Ok(changed), Ok(created)) => changed > created,
            (Err(text), _) => !text.is_empty(),
            (Ok(_), Err(_)) => true,
        });
        let parent = Loose::text(self.reply_to_post_number.clone());
        let (author, state) = (self.author(), self.state());
        let (body, format) = self.body();
        Ok(SourceComment {
            source_id,
            parent_source_id: (!parent.is_empty()).then(|| format!("{topic}/{parent}")),
            discussion_source_id: topic,
            author,
            created,
            edited,
            body,
            format,
            state,
            line,
        })
    }

    /// Names change, numbers do not. A deleted account has neither.
    fn author(&self) -> SourceAuthor {
        let username = self.username.as_deref().unwrap_or_default().trim();
        let full_name = self.name.as_deref().unwrap_or_default().trim();
        let number = Loose::text(self.user_id.clone());
        let key = if !number.is_empty() {
            format!("id:{number}")
        } else if username.is_empty() {
            ANONYMOUS.to_owned()
        } else {
            format!("user:{username}")
        };
        let shown = if full_name.is_empty() {
            username
        } else {
            full_name
        };
        SourceAuthor {
            key,
            name: shown.to_owned(),
        }
    }

    fn state(&self) -> SourceState {
        if self.deleted_at.is_some() || self.user_deleted == Some(true) {
            SourceState::Deleted
        } else if self.hidden == Some(true) || self.post_type == Some(WHISPER) {
            SourceState::Hidden
        } else {
            SourceState::Published
        }
    }

    fn body(self) -> (String, BodyFormat) {
        let source = self.raw.filter(|raw| !raw.trim().is_empty());
        match (source, self.cooked) {
            (Some(raw), _) => (raw, BodyFormat::Markdown),
            (None, Some(cooked)) => (cooked, BodyFormat::Html),
            (None, None) => (String::new(), BodyFormat::Markdown),
        }
    }
}
