//! Building the index beside the rows, and having two layouts of it.

use async_trait::async_trait;
use sqlx::SqliteConnection;

use super::SqliteComments;
use super::counting;
use super::discussions::load_discussion;
use super::rows;
use crate::domain::comment::branch_of;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::{CommentIndex, IndexRow, ScanRow};
use crate::store::driver::sqlite::DuringOp as _;

async fn put(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    layout: Layout,
    index: Vec<IndexRow>,
) -> Result<(), StoreError> {
    let row = load_discussion(db, discussion).await?;
    if !row.is_some_and(|row| layouts(&row).any(|known| known.number == layout.number)) {
        // Dropped while its build went on: nobody would ever remove these rows.
        return Ok(());
    }
    for row in index {
        sqlx::query("INSERT INTO comment_tree VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .bind(discussion.get())
            .bind(i64::from(layout.number))
            .bind(branch_of(&row.ancestors, layout.depth_limit))
            .bind(row.id.get())
            .bind(row.parent_id.map(CommentId::get))
            .bind(rows::pack(&row.ancestors))
            .execute(&mut *db)
            .await
            .during("comments.put_index")?;
    }
    Ok(())
}

/// Both layouts of a discussion, the one in use first.
fn layouts(row: &Discussion) -> impl Iterator<Item = Layout> {
    [Some(row.layout), row.other_layout].into_iter().flatten()
}

async fn finish(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    layout: u32,
    built_from: i64,
) -> Result<bool, StoreError> {
    const OP: &str = "comments.finish_build";
    sqlx::query(
        "UPDATE discussions SET \
         built_from = iif(layout = ?2, max(built_from, ?3), built_from), \
         other_built_from = iif(other_layout = ?2, max(other_built_from, ?3), other_built_from) \
         WHERE discussion_id = ?1",
    )
    .bind(discussion.get())
    .bind(i64::from(layout))
    .bind(built_from)
    .execute(&mut *db)
    .await
    .during(OP)?;
    let row = load_discussion(db, discussion).await?;
    let complete =
        row.is_some_and(|row| layouts(&row).any(|built| built.number == layout && built.complete));
    if complete {
        sqlx::query("DELETE FROM index_queue WHERE discussion_id = ?")
            .bind(discussion.get())
            .execute(db)
            .await
            .during(OP)?;
    }
    Ok(complete)
}

async fn add_layout(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    depth_limit: u16,
) -> Result<Option<Layout>, StoreError> {
    let added = sqlx::query(
        "UPDATE discussions SET layout_last = layout_last + 1, other_layout = layout_last + 1, \
         other_depth_limit = ?, other_built_from = 0 WHERE discussion_id = ? AND other_layout = 0",
    )
    .bind(i64::from(depth_limit))
    .bind(discussion.get())
    .execute(&mut *db)
    .await
    .during("comments.add_layout")?;
    if added.rows_affected() == 0 {
        return Ok(None);
    }
    let row = load_discussion(db, discussion).await?;
    if let Some(row) = &row {
        // Counts follow the rows, not the index: the new layout's branches are counted at once.
        counting::rebuild(db, row).await?;
    }
    Ok(row.and_then(|row| row.other_layout))
}

async fn flip(db: &mut SqliteConnection, discussion: DiscussionId) -> Result<bool, StoreError> {
    let row = load_discussion(db, discussion).await?;
    if !row
        .and_then(|row| row.other_layout)
        .is_some_and(|other| other.complete)
    {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE discussions SET layout = other_layout, depth_limit = other_depth_limit, \
         built_from = other_built_from, other_layout = layout, other_depth_limit = depth_limit, \
         other_built_from = built_from WHERE discussion_id = ?",
    )
    .bind(discussion.get())
    .execute(db)
    .await
    .during("comments.flip_layout")?;
    Ok(true)
}

async fn drop_other(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<bool, StoreError> {
    const OP: &str = "comments.drop_other_layout";
    let row = load_discussion(db, discussion).await?;
    let Some(other) = row.and_then(|row| row.other_layout) else {
        return Ok(false);
    };
    for sql in [
        "DELETE FROM comment_tree WHERE discussion_id = ? AND layout = ?",
        "DELETE FROM branch_counts WHERE discussion_id = ? AND layout = ?",
        "UPDATE discussions SET other_layout = 0, other_depth_limit = 0, other_built_from = 0 \
         WHERE discussion_id = ? AND other_layout = ?",
    ] {
        sqlx::query(sql)
            .bind(discussion.get())
            .bind(i64::from(other.number))
            .execute(&mut *db)
            .await
            .during(OP)?;
    }
    Ok(true)
}

#[async_trait]
impl CommentIndex for SqliteComments {
    async fn begin_build(
        &self,
        discussion: DiscussionId,
        _layout: u32,
        built_from: i64,
    ) -> Result<(), StoreError> {
        const OP: &str = "comments.begin_build";
        self.change(OP, discussion, move |db| {
            Box::pin(async move {
                sqlx::query(
                    "UPDATE discussions SET build_started = max(build_started, ?) \
                     WHERE discussion_id = ?",
                )
                .bind(built_from)
                .bind(discussion.get())
                .execute(db)
                .await
                .during(OP)?;
                Ok(())
            })
        })
        .await
    }

    async fn scan(
        &self,
        discussion: DiscussionId,
        after: Option<CommentId>,
        limit: u32,
    ) -> Result<Vec<ScanRow>, StoreError> {
        self.group.count(1);
        let found: Vec<(i64, Option<i64>)> = sqlx::query_as(
            "SELECT comment_id, parent_id FROM comments \
             WHERE discussion_id = ? AND comment_id > ? ORDER BY comment_id LIMIT ?",
        )
        .bind(discussion.get())
        .bind(after.map_or(i64::MIN, CommentId::get))
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.scan")?;
        Ok(found
            .into_iter()
            .map(|(id, parent)| ScanRow {
                id: CommentId::new(id),
                parent_id: parent.map(CommentId::new),
            })
            .collect())
    }

    async fn put_index(
        &self,
        discussion: DiscussionId,
        layout: Layout,
        rows: Vec<IndexRow>,
    ) -> Result<(), StoreError> {
        self.change("comments.put_index", discussion, move |db| {
            Box::pin(put(db, discussion, layout, rows))
        })
        .await
    }

    async fn finish_build(
        &self,
        discussion: DiscussionId,
        layout: u32,
        built_from: i64,
    ) -> Result<bool, StoreError> {
        self.change("comments.finish_build", discussion, move |db| {
            Box::pin(finish(db, discussion, layout, built_from))
        })
        .await
    }

    async fn enqueue(&self, discussion: DiscussionId) -> Result<(), StoreError> {
        const OP: &str = "comments.enqueue";
        let now = self.group.clock().clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    sqlx::query("INSERT INTO index_queue VALUES (?, ?) ON CONFLICT DO NOTHING")
                        .bind(discussion.get())
                        .bind(now.now_ms())
                        .execute(db)
                        .await
                        .during(OP)?;
                    Ok(())
                })
            })
            .await
    }

    async fn queued(&self, limit: u32) -> Result<Vec<DiscussionId>, StoreError> {
        self.group.count(1);
        let found: Vec<i64> = sqlx::query_scalar(
            "SELECT discussion_id FROM index_queue ORDER BY asked_at, discussion_id LIMIT ?",
        )
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.queued")?;
        Ok(found.into_iter().map(DiscussionId::new).collect())
    }

    async fn add_layout(
        &self,
        discussion: DiscussionId,
        depth_limit: u16,
    ) -> Result<Option<Layout>, StoreError> {
        self.change("comments.add_layout", discussion, move |db| {
            Box::pin(add_layout(db, discussion, depth_limit))
        })
        .await
    }

    async fn flip_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError> {
        self.change("comments.flip_layout", discussion, move |db| {
            Box::pin(flip(db, discussion))
        })
        .await
    }

    async fn drop_other_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError> {
        self.change("comments.drop_other_layout", discussion, move |db| {
            Box::pin(drop_other(db, discussion))
        })
        .await
    }
}
