//! A made-up discussion of any size, for measurements and tests of work.
//!
//! One comment in ten is a root, the other nine answer it; fifty people write in turn. Which texts
//! and authors there are depends on the size alone.

use std::sync::Arc;

use super::is_new;
use crate::domain::body::BodyFormat;
use crate::domain::comment::CommentState;
use crate::domain::discussion::Discussion;
use crate::domain::ids::UserId;
use crate::service::{Service, ServiceError, ServiceResult};
use crate::store::comments::{ImportComment, ImportDiscussion};

/// The kind of thing that these discussions are about.
pub const BULK_ENTITY_TYPE: &str = "bulk";
/// How many people write; their user ids are 1 to this.
pub const BULK_PEOPLE: i64 = 50;

const SOURCE: &str = "synthetic-bulk";
const BATCH_ROWS: u32 = 500;
const BRANCH_ROWS: u32 = 10;
/// The last comment is this old, so that ids minted from now on are later than all of them.
const AGE_MS: i64 = 60_000;

const WORDS: [&str; 24] = [
    "the", "gateway", "reads", "a", "page", "of", "comments", "and", "writes", "them", "in", "one",
    "go", "while", "somebody", "else", "answers", "below", "with", "ten", "more", "words", "or",
    "so",
];

/// Writes a discussion of `size` comments under the entity of [`BULK_ENTITY_TYPE`] and `name`, and
/// indexes it. `written` is told how many more comments are there after each transaction. What is
/// there already stays. Needs a worker lease.
pub async fn bulk(
    service: &Service,
    name: &str,
    size: u32,
    mut written: impl FnMut(usize) + Send,
) -> ServiceResult<Arc<Discussion>> {
    name_people(service).await?;
    let ports = service.ports();
    let last_ms = ports.clock.now_ms() - AGE_MS;
    let first_ms = last_ms - i64::from(size);
    let (opened, _) = ports
        .comments
        .import_discussion(ImportDiscussion {
            source: SOURCE.to_owned(),
            source_id: name.to_owned(),
            created_ms: first_ms - 1,
            title: format!("A discussion of {size} comments"),
            url: None,
            entity: Some((BULK_ENTITY_TYPE.to_owned(), name.to_owned())),
            closed: false,
            depth_limit: service.settings().depth_limit,
            kept: None,
        })
        .await?;
    for start in (0..size).step_by(usize::try_from(BATCH_ROWS).unwrap_or(usize::MAX)) {
        let end = size.min(start.saturating_add(BATCH_ROWS));
        let batch = (start..end).map(|at| row(at, first_ms)).collect();
        let marker = ports.ids.mint()?;
        let comments_max = service.settings().comments_per_discussion_max;
        let outcomes = ports
            .comments
            .import_comments(opened.id, SOURCE, batch, marker, comments_max)
            .await?;
        written(outcomes.iter().filter(|outcome| is_new(outcome)).count());
    }
    service.build(opened.id, opened.layout).await?;
    let found = service.discussions(&[opened.id]).await?.pop();
    found.ok_or_else(|| ServiceError::bad_input("name", "the discussion is gone again"))
}

fn row(at: u32, first_ms: i64) -> ImportComment {
    let in_branch = at % BRANCH_ROWS;
    // Coprime steps: everybody writes roots as well as replies.
    let author = (i64::from(at / BRANCH_ROWS) + i64::from(in_branch) * 7) % BULK_PEOPLE + 1;
    ImportComment {
        source_id: at.to_string(),
        created_ms: first_ms + i64::from(at),
        parent_source_id: (in_branch != 0).then(|| (at - in_branch).to_string()),
        author_id: UserId::new(author),
        body: text(at),
        format: BodyFormat::Plain,
        edited_at_ms: None,
        state: CommentState::Published,
        parent_id: None,
        kept: None,
    }
}

/// About 120 characters, of which some have to be escaped in JSON and HTML.
pub(super) fn text(at: u32) -> String {
    let mut text = format!("Comment {at} says \"hello\" & more:");
    let start = usize::try_from(at).unwrap_or_default();
    for word in WORDS.iter().cycle().skip(start % WORDS.len()) {
        if text.len() >= 115 {
            break;
        }
        text.push(' ');
        text.push_str(word);
    }
    text
}

async fn name_people(service: &Service) -> ServiceResult<()> {
    let users = &service.ports().users;
    let ids: Vec<UserId> = (1..=BULK_PEOPLE).map(UserId::new).collect();
    let known = users.users(&ids).await?;
    for id in ids {
        if !known.iter().any(|user| user.id == id) {
            users.set_name(id, &format!("Reader {id}")).await?;
        }
    }
    Ok(())
}
