//! Writes discussions in our own format: lines of JSON that `threadline import jsonl` reads.
//!
//! Everything a discussion holds is written, whatever its state: pending, hidden and deleted
//! comments too, so an export is for those who may see everything. A line says in plain fields what
//! any reader understands, and in the field `threadline` ([`Kept`]) what it takes to restore the row
//! as it was. Not written are the log of changes, posting keys, and which sign-in belongs to which
//! user. Invariant: a line is never longer than an import takes ([`LINE_BYTES_MAX`]).

mod kept;
mod person;

use std::collections::HashMap;
use std::io;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

pub use self::kept::Kept;
pub(crate) use self::kept::{CommentField, DiscussionField};
pub use self::person::export_person;

use self::kept::{Decimal, FormatName};
use crate::domain::clock::Clock;
use crate::domain::comment::{Comment, CommentState};
use crate::domain::discussion::{Discussion, DiscussionState};
use crate::domain::ids::{CommentId, UserId};
use crate::domain::page::Slice;
use crate::service::pace::{Pace, PacedError};
use crate::store::comments::{CommentStore, KeptComment, KeptDiscussion, Lane, Origin};
use crate::store::users::UserStore;

/// Bytes of one line.
pub const LINE_BYTES_MAX: u64 = 16 << 20;
/// What an address is written with that is kept without.
pub(crate) const URL_SCHEME: &str = "https://";
/// Comments read and written at once.
const PAGE_ROWS: u32 = 500;

/// Where exports are read from.
#[derive(Clone, Copy, Debug)]
pub struct Ports<'a> {
    /// The comments.
    pub comments: &'a dyn CommentStore,
    /// Their authors' names.
    pub users: &'a dyn UserStore,
    /// Tells how long the stores take.
    pub clock: &'a Clock,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Discussions.
    pub discussions: u64,
    /// Comments, whatever their state.
    pub comments: u64,
    /// Earlier texts of comments.
    pub revisions: u64,
    /// Earlier texts that found no place: the oldest of comments whose line would be too long.
    pub revisions_left_out: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.discussions += other.discussions;
        self.comments += other.comments;
        self.revisions += other.revisions;
        self.revisions_left_out += other.revisions_left_out;
    }
}

#[derive(Serialize)]
struct DiscussionLine<'a> {
    r#type: &'static str,
    id: Decimal,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<EntityField<'a>>,
    created_at: i64,
    closed: bool,
    threadline: DiscussionField,
}

#[derive(Serialize)]
struct EntityField<'a> {
    r#type: &'a str,
    id: &'a str,
}

#[derive(Serialize)]
struct CommentLine<'a> {
    r#type: &'static str,
    id: Decimal,
    discussion: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<AuthorField<'a>>,
    created_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<i64>,
    format: FormatName,
    body: &'a str,
    state: &'static str,
    threadline: CommentField,
}

#[derive(Serialize)]
struct AuthorField<'a> {
    id: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

/// Writes a discussion and its comments, oldest first, so that parents come before replies. A page
/// is read only when the one before was taken; what people write meanwhile may be in it or not. When
/// it ends early, what was written is whole lines, but not a whole discussion.
pub async fn export_discussion<W>(
    ports: Ports<'_>,
    discussion: &Discussion,
    out: &mut W,
    pace: &mut dyn Pace,
) -> Result<Counts, PacedError>
where
    W: AsyncWrite + Unpin + Send,
{
    let origin = ports.comments.origin_of_discussion(discussion.id).await?;
    let mut buffer = Vec::new();
    put_line(&mut buffer, &discussion_line(discussion, origin))?;
    let mut counts = Counts {
        discussions: 1,
        ..Counts::default()
    };
    let mut slice = Slice {
        above: None,
        below: None,
        ascending: true,
        limit: PAGE_ROWS,
    };
    loop {
        let wanted = [(Lane::Linear, slice)];
        let layout = discussion.layout.number;
        let read = ports.comments.slices(discussion.id, layout, &wanted);
        let asked = ports.clock.monotonic();
        let rows = read.await?.pop().unwrap_or_default();
        put_comments(ports, discussion, &rows, &mut buffer, &mut counts).await?;
        let took = ports.clock.monotonic().saturating_sub(asked);
        out.write_all(&buffer).await?;
        buffer.clear();
        let length = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        pace.step(length, took).await?;
        let Some(last) = rows.last() else {
            return Ok(counts);
        };
        slice = slice.beyond(last.id, PAGE_ROWS);
    }
}

async fn put_comments(
    ports: Ports<'_>,
    discussion: &Discussion,
    rows: &[Comment],
    buffer: &mut Vec<u8>,
    counts: &mut Counts,
) -> Result<(), PacedError> {
    let ids: Vec<CommentId> = rows.iter().map(|row| row.id).collect();
    let origins = ports.comments.origins(discussion.id, &ids).await?;
    let mut origins: HashMap<CommentId, Origin> = origins.into_iter().collect();
    let mut authors: Vec<UserId> = rows.iter().map(|row| row.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    authors.retain(|author| *author != UserId::NOBODY);
    let users = ports.users.users(&authors).await?;
    let names: HashMap<UserId, &str> = users
        .iter()
        .filter(|user| !user.name.is_empty())
        .map(|user| (user.id, user.name.as_str()))
        .collect();
    for row in rows {
        let is_first = row.revision == 1 || row.state == CommentState::Buried;
        let revisions = if is_first {
            Vec::new()
        } else {
            ports.comments.revisions(discussion.id, row.id).await?
        };
        counts.comments += 1;
        counts.revisions += u64::try_from(revisions.len()).unwrap_or(0);
        let kept = KeptComment {
            id: row.id,
            revision: row.revision,
            revisions,
            origin: origins.remove(&row.id),
        };
        put_comment(
            row,
            &kept,
            names.get(&row.author_id).copied(),
            buffer,
            counts,
        )?;
    }
    Ok(())
}

fn put_comment(
    row: &Comment,
    kept: &KeptComment,
    name: Option<&str>,
    buffer: &mut Vec<u8>,
    counts: &mut Counts,
) -> io::Result<()> {
    let mut line = comment_line(row, CommentField::of(kept, row.author_id), name);
    let start = buffer.len();
    loop {
        put_line(buffer, &line)?;
        let length = u64::try_from(buffer.len() - start).unwrap_or(u64::MAX);
        // A reader takes no longer line; the newer of the earlier texts are worth more.
        if length <= LINE_BYTES_MAX || !line.threadline.forget_one() {
            return Ok(());
        }
        counts.revisions -= 1;
        counts.revisions_left_out += 1;
        buffer.truncate(start);
    }
}

fn put_line(buffer: &mut Vec<u8>, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *buffer, line)?;
    buffer.push(b'\n');
    Ok(())
}

fn discussion_line(discussion: &Discussion, origin: Option<Origin>) -> DiscussionLine<'_> {
    let url = discussion.url.as_ref();
    let entity = discussion.entity.as_ref();
    DiscussionLine {
        r#type: "discussion",
        id: Decimal(discussion.id.get()),
        title: &discussion.title,
        url: url.map(|url| format!("{URL_SCHEME}{url}")),
        entity: entity.map(|(kind, id)| EntityField { r#type: kind, id }),
        created_at: discussion.id.time_ms(),
        closed: discussion.state == DiscussionState::Closed,
        threadline: DiscussionField::of(&KeptDiscussion {
            id: discussion.id,
            premoderated: discussion.premoderated,
            origin,
        }),
    }
}

fn comment_line<'a>(
    row: &'a Comment,
    kept: CommentField,
    name: Option<&'a str>,
) -> CommentLine<'a> {
    let has_author = row.author_id != UserId::NOBODY;
    CommentLine {
        r#type: "comment",
        id: Decimal(row.id.get()),
        discussion: Decimal(row.discussion_id.get()),
        parent: row.parent_id.map(|parent| Decimal(parent.get())),
        author: has_author.then_some(AuthorField {
            id: Decimal(row.author_id.get()),
            name,
        }),
        created_at: row.id.time_ms(),
        edited_at: row.edited_at_ms,
        format: row.format.into(),
        body: &row.body,
        state: state_name(row.state),
        threadline: kept,
    }
}

/// How a state is written.
const fn state_name(state: CommentState) -> &'static str {
    match state {
        CommentState::Published => "published",
        CommentState::Pending => "pending",
        CommentState::Hidden => "hidden",
        CommentState::Buried => "deleted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::body::BodyFormat;
    use crate::domain::ids::DiscussionId;
    use crate::store::comments::Revision;

    fn row() -> Comment {
        Comment {
            id: CommentId::new(2 << 40),
            discussion_id: DiscussionId::new(1 << 40),
            author_id: UserId::new(7),
            body: "now".to_owned(),
            format: BodyFormat::Plain,
            parent_id: None,
            ancestors: Vec::new(),
            edited_at_ms: None,
            revision: 9,
            state: CommentState::Published,
            live_below: false,
        }
    }

    #[test]
    fn a_line_that_would_be_too_long_loses_its_oldest_texts_and_says_so() {
        let revisions = (1..=8).map(|revision| Revision {
            revision,
            body: "\u{1}".repeat(500_000),
            format: BodyFormat::Plain,
        });
        let kept = KeptComment {
            id: row().id,
            revision: 9,
            revisions: revisions.collect(),
            origin: None,
        };
        let mut counts = Counts {
            revisions: 8,
            ..Counts::default()
        };
        let mut buffer = b"before\n".to_vec();
        put_comment(&row(), &kept, Some("Ann"), &mut buffer, &mut counts).unwrap();
        assert!(u64::try_from(buffer.len()).unwrap() <= LINE_BYTES_MAX + 7);
        let text = String::from_utf8(buffer).unwrap();
        let line = text.strip_prefix("before\n").unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let left = line["threadline"]["revisions"].as_array().unwrap();
        assert_eq!((counts.revisions, counts.revisions_left_out), (5, 3));
        assert_eq!((left.len(), &left[4]["revision"]), (5, &8.into()));
    }
}
