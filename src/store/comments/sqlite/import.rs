//! Rows of other systems: ids made from the source's, each written once, never merged.

use std::sync::Arc;

use sqlx::SqliteConnection;

use super::create::{count_new, insert_row, load_comment, mark_hidden, mark_unindexed};
use super::discussions::{claim_key, insert_discussion, load_discussion};
use crate::domain::comment::{Comment, DEPTH_MAX};
use crate::domain::discussion::{Discussion, DiscussionState, entity_key, url_key};
use crate::domain::ids::imported::{first_place, next_place};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::{ImportComment, ImportDiscussion, ImportOutcome, NewDiscussion};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.import";

/// What all comments of a call share.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) discussion: DiscussionId,
    pub(super) source: String,
    pub(super) marker: i64,
    pub(super) comments_max: i64,
}

async fn mapped(
    db: &mut SqliteConnection,
    source: &str,
    scope: i64,
    source_id: &str,
) -> Result<Option<i64>, StoreError> {
    sqlx::query_scalar("SELECT id FROM import_map WHERE source = ? AND scope = ? AND source_id = ?")
        .bind(source)
        .bind(scope)
        .bind(source_id)
        .fetch_optional(db)
        .await
        .during(OP)
}

async fn map(
    db: &mut SqliteConnection,
    source: &str,
    scope: i64,
    source_id: &str,
    id: i64,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO import_map VALUES (?, ?, ?, ?)")
        .bind(source)
        .bind(scope)
        .bind(source_id)
        .bind(id)
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}

/// Opens a discussion of another system, or finds it again.
pub(super) async fn discussion(
    db: &mut SqliteConnection,
    new: ImportDiscussion,
) -> Result<(Arc<Discussion>, bool), StoreError> {
    if let Some(id) = mapped(db, &new.source, 0, &new.source_id).await?
        && let Some(row) = load_discussion(db, DiscussionId::new(id)).await?
    {
        return Ok((row, false));
    }
    let mut place = first_place(&new.source, &new.source_id, new.created_ms, None);
    while load_discussion(db, DiscussionId::new(place))
        .await?
        .is_some()
    {
        place = next_place(place);
    }
    let id = DiscussionId::new(place);
    map(db, &new.source, 0, &new.source_id, place).await?;
    // An address or entity that another discussion holds stays with it: nothing is merged.
    let url = match new.url {
        Some(url) if claim_key(db, &url_key(&url), id).await? => Some(url),
        _ => None,
    };
    let entity = match new.entity {
        Some((kind, entity)) if claim_key(db, &entity_key(&kind, &entity), id).await? => {
            Some((kind, entity))
        }
        _ => None,
    };
    let row = NewDiscussion {
        id,
        title: new.title,
        url,
        entity,
        premoderated: false,
        depth_limit: new.depth_limit,
    };
    let state = if new.closed {
        DiscussionState::Closed
    } else {
        DiscussionState::Open
    };
    insert_discussion(db, &row, state).await?;
    let row = load_discussion(db, id).await?;
    row.map(|row| (row, true))
        .ok_or_else(|| StoreError::corrupt("discussions", id, "discussion_id"))
}

/// Writes a batch in order; each row's outcome at its place.
pub(super) async fn comments(
    db: &mut SqliteConnection,
    batch: Batch,
    rows: Vec<ImportComment>,
) -> Result<Vec<ImportOutcome>, StoreError> {
    if rows.iter().any(|row| row.state.hides_below()) {
        // Before the first of them: pages and counts look at ancestors' states only where it is set.
        mark_hidden(db, batch.discussion).await?;
    }
    let Some(discussion) = load_discussion(db, batch.discussion).await? else {
        return Err(StoreError::corrupt(
            "discussions",
            batch.discussion,
            "discussion_id",
        ));
    };
    let mut room = batch.comments_max - discussion.counts.all.total;
    let mut outcomes = Vec::with_capacity(rows.len());
    let mut written = false;
    for row in rows {
        let known = mapped(db, &batch.source, discussion.id.get(), &row.source_id).await?;
        let outcome = match known {
            Some(id) => ImportOutcome::AlreadyThere(CommentId::new(id)),
            None if room <= 0 => ImportOutcome::DiscussionFull,
            None => {
                room -= 1;
                written = true;
                comment(db, &discussion, &batch.source, row).await?
            }
        };
        outcomes.push(outcome);
    }
    if written {
        mark_unindexed(db, discussion.id, batch.marker).await?;
    }
    Ok(outcomes)
}

/// What an imported row hangs under.
#[derive(Debug, Default)]
struct Above {
    parent: Option<CommentId>,
    ancestors: Vec<CommentId>,
    missing: bool,
    flattened: bool,
}

async fn above(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    source: &str,
    parent_source_id: Option<&str>,
) -> Result<Above, StoreError> {
    let Some(parent_source_id) = parent_source_id else {
        return Ok(Above::default());
    };
    let parent = match mapped(db, source, discussion.id.get(), parent_source_id).await? {
        None => None,
        Some(id) => load_comment(db, discussion.id, CommentId::new(id)).await?,
    };
    let Some(parent) = parent else {
        return Ok(Above {
            missing: true,
            ..Above::default()
        });
    };
    let mut ancestors = parent.ancestors;
    ancestors.push(parent.id);
    let flattened = ancestors.len() > usize::from(DEPTH_MAX);
    ancestors.truncate(usize::from(DEPTH_MAX));
    Ok(Above {
        parent: ancestors.last().copied(),
        ancestors,
        missing: false,
        flattened,
    })
}

async fn comment(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    source: &str,
    row: ImportComment,
) -> Result<ImportOutcome, StoreError> {
    let above = above(db, discussion, source, row.parent_source_id.as_deref()).await?;
    let parent = above.parent.map(CommentId::get);
    let mut place = first_place(source, &row.source_id, row.created_ms, parent);
    while load_comment(db, discussion.id, CommentId::new(place))
        .await?
        .is_some()
    {
        place = next_place(place);
    }
    map(db, source, discussion.id.get(), &row.source_id, place).await?;
    let comment = Comment {
        id: CommentId::new(place),
        discussion_id: discussion.id,
        author_id: row.author_id,
        body: row.body,
        format: row.format,
        parent_id: above.parent,
        ancestors: above.ancestors,
        edited_at_ms: row.edited_at_ms,
        revision: 1,
        state: row.state,
        live_below: false,
    };
    insert_row(db, &comment).await?;
    count_new(db, discussion, &comment).await?;
    Ok(if above.missing {
        ImportOutcome::ParentMissing(comment.id)
    } else if above.flattened {
        ImportOutcome::Flattened(comment.id)
    } else {
        ImportOutcome::Imported(comment.id)
    })
}
