//! Rows of other systems: ids made from the source's, each written once, never merged.
//!
//! A batch costs a number of statements that hardly depends on its size: what its rows need to know
//! is read at once, what they are and count is worked out in memory, and rows of one table are
//! written together. The result is the same as if each row had been written by itself, in order.

pub(super) mod lanes;
mod place;
mod put;
mod tallies;

use std::sync::Arc;

use sqlx::SqliteConnection;

use self::place::Placing;
use self::tallies::Tallies;
use super::create::{mark_hidden, mark_unindexed};
use super::discussions::{claim_key, insert_discussion, load_discussion};
use crate::domain::comment::Comment;
use crate::domain::discussion::{Discussion, DiscussionState, entity_key, url_key};
use crate::domain::ids::DiscussionId;
use crate::domain::ids::imported::{first_place, next_place};
use crate::store::comments::{
    IMPORT_BATCH_MAX, ImportComment, ImportDiscussion, ImportOutcome, NewDiscussion, Origin,
};
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::{StoreError, StoreErrorKind};

const OP: &str = "comments.import";

/// What all comments of a call share.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) discussion: DiscussionId,
    pub(super) source: String,
    pub(super) marker: i64,
    pub(super) comments_max: i64,
}

/// The discussion that was imported from somewhere.
async fn mapped(db: &mut SqliteConnection, name: &Origin) -> Result<Option<i64>, StoreError> {
    sqlx::query_scalar("SELECT id FROM import_map WHERE source = ? AND scope = 0 AND source_id = ?")
        .bind(&name.source)
        .bind(&name.source_id)
        .fetch_optional(db)
        .await
        .during(OP)
}

/// Refuses a call with more rows than one may have.
pub(super) fn check_size(rows: usize) -> Result<(), StoreError> {
    if rows <= IMPORT_BATCH_MAX {
        return Ok(());
    }
    let cause = format!("{rows} rows in one call (limit {IMPORT_BATCH_MAX})");
    Err(StoreError::new(OP, StoreErrorKind::Limit, cause))
}

/// Opens discussions of another system in the order given, or finds them again.
pub(super) async fn discussions(
    db: &mut SqliteConnection,
    batch: Vec<ImportDiscussion>,
) -> Result<Vec<(Arc<Discussion>, bool)>, StoreError> {
    let mut opened = Vec::with_capacity(batch.len());
    for new in batch {
        opened.push(discussion(db, new).await?);
    }
    Ok(opened)
}

async fn discussion(
    db: &mut SqliteConnection,
    new: ImportDiscussion,
) -> Result<(Arc<Discussion>, bool), StoreError> {
    let name = Origin {
        source: new.source.clone(),
        source_id: new.source_id.clone(),
    };
    let origin = new.kept.as_ref().and_then(|kept| kept.origin.clone());
    for name in [Some(&name), origin.as_ref()].into_iter().flatten() {
        if let Some(id) = mapped(db, name).await?
            && let Some(row) = load_discussion(db, DiscussionId::new(id)).await?
        {
            return Ok((row, false));
        }
    }
    let mut kept_id = new.kept.as_ref().map(|kept| kept.id);
    if let Some(id) = kept_id
        && let Some(found) = load_discussion(db, id).await?
    {
        if is_same(&found, &new) {
            return Ok((found, false));
        }
        kept_id = None;
    }
    let id = match kept_id {
        Some(id) => id,
        None => free_place(db, &new).await?,
    };
    // One that keeps its id is found again by it.
    let names = [kept_id.is_none().then_some(name), origin];
    let names = names.into_iter().flatten();
    let names: Vec<(Origin, i64)> = names.map(|name| (name, id.get())).collect();
    put::map(db, 0, &names).await?;
    open(db, id, new).await
}

/// Whether a discussion that has the id of `new` is that one: it may have lost an address or
/// entity to another one, but it has none that `new` has not.
fn is_same(found: &Discussion, new: &ImportDiscussion) -> bool {
    (found.url.is_none() || found.url == new.url)
        && (found.entity.is_none() || found.entity == new.entity)
}

async fn free_place(
    db: &mut SqliteConnection,
    new: &ImportDiscussion,
) -> Result<DiscussionId, StoreError> {
    let mut place = first_place(&new.source, &new.source_id, new.created_ms, None);
    while load_discussion(db, DiscussionId::new(place))
        .await?
        .is_some()
    {
        place = next_place(place);
    }
    Ok(DiscussionId::new(place))
}

async fn open(
    db: &mut SqliteConnection,
    id: DiscussionId,
    new: ImportDiscussion,
) -> Result<(Arc<Discussion>, bool), StoreError> {
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
        premoderated: new.kept.is_some_and(|kept| kept.premoderated),
        depth_limit: new.depth_limit,
        opened_by: None,
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
    let room = batch.comments_max - discussion.counts.all.total;
    let placing = Placing::load(db, discussion.id, &batch.source, &rows, room).await?;
    let placed = placing.place(db, rows).await?;
    put::map(db, discussion.id.get(), &placed.mapped).await?;
    put::revisions(db, discussion.id, &placed.revisions).await?;
    write(db, &discussion, placed.comments, batch.marker).await?;
    Ok(placed.outcomes)
}

/// Writes and counts new rows, parents before replies.
async fn write(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    mut comments: Vec<Comment>,
    marker: i64,
) -> Result<(), StoreError> {
    if comments.is_empty() {
        return Ok(());
    }
    let tallies = Tallies::of(db, discussion, &mut comments).await?;
    put::comments(db, &comments).await?;
    put::waiting(db, &comments, marker).await?;
    // Rows that were there first: the runs they lie in are still the old ones.
    tallies.adjust(db, discussion).await?;
    lanes::add(db, discussion, &comments, &tallies).await?;
    mark_unindexed(db, discussion.id, marker).await
}
