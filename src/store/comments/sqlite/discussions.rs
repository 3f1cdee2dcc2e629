//! Opening, finding and importing discussions; the writing trait.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::SqliteConnection;

use super::rows::{self, discussion_columns};
use super::{SqliteComments, audit, change, create, import};
use crate::domain::discussion::{Discussion, DiscussionState, entity_key, url_key};
use crate::domain::ids::DiscussionId;
use crate::store::StoreError;
use crate::store::comments::{
    ChangeOutcome, CommentWrites, CreateOutcome, EditComment, ImportComment, ImportDiscussion,
    ImportOutcome, NewComment, NewDiscussion, Opened,
};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.discussions";

/// One discussion's row, as the transaction sees it.
pub(super) async fn load_discussion(
    db: &mut SqliteConnection,
    id: DiscussionId,
) -> Result<Option<Arc<Discussion>>, StoreError> {
    let found = sqlx::query(concat!(
        "SELECT ",
        discussion_columns!(),
        " FROM discussions WHERE discussion_id = ?"
    ))
    .bind(id.get())
    .fetch_optional(db)
    .await
    .during(OP)?;
    found.as_ref().map(rows::discussion).transpose()
}

/// Who holds a key.
async fn holder(db: &mut SqliteConnection, key: &str) -> Result<Option<DiscussionId>, StoreError> {
    let id: Option<i64> =
        sqlx::query_scalar("SELECT discussion_id FROM discussion_by_key WHERE key = ?")
            .bind(key)
            .fetch_optional(db)
            .await
            .during(OP)?;
    Ok(id.map(DiscussionId::new))
}

/// Claims a key for a discussion; `false` when somebody holds it.
pub(super) async fn claim_key(
    db: &mut SqliteConnection,
    key: &str,
    discussion: DiscussionId,
) -> Result<bool, StoreError> {
    let claimed = sqlx::query("INSERT INTO discussion_by_key VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(key)
        .bind(discussion.get())
        .execute(db)
        .await
        .during(OP)?;
    Ok(claimed.rows_affected() == 1)
}

/// The row of a new discussion, with its first layout.
pub(super) async fn insert_discussion(
    db: &mut SqliteConnection,
    new: &NewDiscussion,
    state: DiscussionState,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO discussions (discussion_id, title, url, entity_type, entity_id, state, \
         premoderated, layout, depth_limit, layout_last) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, 1)",
    )
    .bind(new.id.get())
    .bind(&new.title)
    .bind(&new.url)
    .bind(new.entity.as_ref().map(|(kind, _)| kind))
    .bind(new.entity.as_ref().map(|(_, id)| id))
    .bind(state.code())
    .bind(i64::from(new.premoderated))
    .bind(i64::from(new.depth_limit))
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

async fn open(db: &mut SqliteConnection, new: NewDiscussion) -> Result<Opened, StoreError> {
    let keys: Vec<String> = [
        new.url.as_deref().map(url_key),
        new.entity.as_ref().map(|(kind, id)| entity_key(kind, id)),
    ]
    .into_iter()
    .flatten()
    .collect();
    for key in &keys {
        if let Some(id) = holder(db, key).await?
            && let Some(row) = load_discussion(db, id).await?
        {
            return Ok(Opened::Existing(row));
        }
    }
    insert_discussion(db, &new, DiscussionState::Open).await?;
    for key in &keys {
        claim_key(db, key, new.id).await?;
    }
    if let Some(by) = new.opened_by {
        audit::opened(db, new.id, by).await?;
    }
    let row = load_discussion(db, new.id).await?;
    row.map(Opened::New)
        .ok_or_else(|| StoreError::corrupt("discussions", new.id, "discussion_id"))
}

#[async_trait]
impl CommentWrites for SqliteComments {
    async fn open_discussion(&self, new: NewDiscussion) -> Result<Opened, StoreError> {
        self.change("comments.open_discussion", new.id, move |db| {
            Box::pin(open(db, new))
        })
        .await
    }

    async fn create(&self, new: NewComment) -> Result<CreateOutcome, StoreError> {
        let now = self.group.clock().clone();
        self.change("comments.create", new.discussion_id, move |db| {
            Box::pin(async move { create::create(db, new, now.now_ms()).await })
        })
        .await
    }

    async fn edit(&self, edit: EditComment) -> Result<ChangeOutcome, StoreError> {
        let now = self.group.clock().clone();
        self.change("comments.edit", edit.discussion_id, move |db| {
            Box::pin(async move { change::edit(db, edit, now.now_ms()).await })
        })
        .await
    }

    async fn import_discussions(
        &self,
        batch: Vec<ImportDiscussion>,
    ) -> Result<Vec<(Arc<Discussion>, bool)>, StoreError> {
        import::check_size(batch.len())?;
        self.group
            .write("comments.import_discussions", move |db| {
                Box::pin(import::discussions(db, batch))
            })
            .await
    }

    async fn import_comments(
        &self,
        discussion: DiscussionId,
        source: &str,
        batch: Vec<ImportComment>,
        marker: i64,
        comments_max: i64,
    ) -> Result<Vec<ImportOutcome>, StoreError> {
        import::check_size(batch.len())?;
        let source = source.to_owned();
        self.change("comments.import_comments", discussion, move |db| {
            Box::pin(async move {
                import::comments(
                    db,
                    import::Batch {
                        discussion,
                        source,
                        marker,
                        comments_max,
                    },
                    batch,
                )
                .await
            })
        })
        .await
    }
}
