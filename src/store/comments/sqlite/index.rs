//! Building the index beside the rows.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};

use super::SqliteComments;
use super::create::mark_unindexed;
use super::discussions::load_discussion;
use super::rows::{self, discussion_columns};
use super::{layouts, queue};
use crate::domain::comment::{CommentState, branch_of};
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::keys::KeyRange;
use crate::store::comments::{CommentIndex, IndexPlace, IndexRow, ScanRow, WRITE_ROWS_MAX};
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::{StoreError, StoreErrorKind};

/// Rows of one statement: past this, more of them in one statement gain nothing.
pub(super) const STATEMENT_ROWS: usize = 100;

/// One call is one short transaction.
fn few(op: &'static str, rows: usize) -> Result<(), StoreError> {
    if rows <= WRITE_ROWS_MAX {
        return Ok(());
    }
    let cause = format!("{rows} rows in one call (limit {WRITE_ROWS_MAX})");
    Err(StoreError::new(op, StoreErrorKind::Limit, cause))
}

async fn put(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    layout: Layout,
    index: Vec<IndexRow>,
) -> Result<(), StoreError> {
    let Some(row) = load_discussion(db, discussion).await? else {
        return Ok(());
    };
    if !layouts::of(&row).any(|known| known.number == layout.number) {
        // Dropped while its build went on: nobody would ever remove these rows.
        return Ok(());
    }
    for rows in index.chunks(STATEMENT_ROWS) {
        let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new("INSERT INTO comment_tree ");
        insert.push_values(rows, |mut values, row| {
            values
                .push_bind(discussion.get())
                .push_bind(i64::from(layout.number))
                .push_bind(branch_of(&row.ancestors, layout.depth_limit))
                .push_bind(row.id.get())
                .push_bind(row.parent_id.map(CommentId::get))
                .push_bind(rows::pack(&row.ancestors));
        });
        insert.push(" ON CONFLICT DO NOTHING");
        let inserted = insert.build().execute(&mut *db).await;
        inserted.during("comments.put_index")?;
    }
    let is_other = row
        .other_layout
        .is_some_and(|other| other.number == layout.number);
    match index.last() {
        Some(last) if is_other => layouts::count_to(db, &row, last.id).await,
        _ => Ok(()),
    }
}

async fn finish(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    layout: u32,
    built_from: i64,
) -> Result<bool, StoreError> {
    const OP: &str = "comments.finish_build";
    let Some(row) = load_discussion(db, discussion).await? else {
        return Ok(false);
    };
    if row.other_layout.is_some_and(|other| other.number == layout) {
        layouts::count_rest(db, &row).await?;
    }
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
    let complete = row
        .is_some_and(|row| layouts::of(&row).any(|built| built.number == layout && built.complete));
    if complete {
        queue::dequeue(db, discussion).await?;
    }
    Ok(complete)
}

fn scan_row(row: &sqlx::sqlite::SqliteRow) -> Result<ScanRow, StoreError> {
    const OP: &str = "comments.scan";
    let id: i64 = row.try_get(0).during(OP)?;
    let parent: Option<i64> = row.try_get(1).during(OP)?;
    let state: i64 = row.try_get(3).during(OP)?;
    Ok(ScanRow {
        id: CommentId::new(id),
        parent_id: parent.map(CommentId::new),
        ancestors: rows::unpack(row.try_get(2).during(OP)?, id)?,
        state: CommentState::from_code(state)
            .ok_or_else(|| StoreError::corrupt("comments", id, "state"))?,
        live_below: row.try_get::<i64, _>(4).during(OP)? != 0,
    })
}

fn index_row(row: &sqlx::sqlite::SqliteRow) -> Result<(i64, IndexRow), StoreError> {
    const OP: &str = "comments.scan_index";
    let id: i64 = row.try_get(1).during(OP)?;
    let parent: Option<i64> = row.try_get(2).during(OP)?;
    let place = IndexRow {
        id: CommentId::new(id),
        parent_id: parent.map(CommentId::new),
        ancestors: rows::unpack(row.try_get(3).during(OP)?, id)?,
    };
    Ok((row.try_get(0).during(OP)?, place))
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

    async fn split(&self, parts: u32) -> Result<Vec<KeyRange>, StoreError> {
        self.group.count(1);
        let starts: Vec<i64> = sqlx::query_scalar(
            "SELECT min(discussion_id) FROM (SELECT discussion_id, \
             ntile(?) OVER (ORDER BY discussion_id) AS part FROM discussions) \
             GROUP BY part ORDER BY part",
        )
        .bind(i64::from(parts.max(1)))
        .fetch_all(self.group.readers())
        .await
        .during("comments.split")?;
        // The first range begins with the first key there can be, not with the first there is.
        Ok(KeyRange::cut(starts.get(1..).unwrap_or_default()))
    }

    async fn discussions_in(
        &self,
        range: KeyRange,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Arc<Discussion>)>, StoreError> {
        let from = match after {
            Some(i64::MAX) => return Ok(Vec::new()),
            Some(after) => range.from.max(after + 1),
            None => range.from,
        };
        self.group.count(1);
        let found = sqlx::query(concat!(
            "SELECT ",
            discussion_columns!(),
            " FROM discussions WHERE discussion_id >= ? AND discussion_id <= ? \
             ORDER BY discussion_id LIMIT ?"
        ))
        .bind(from)
        .bind(range.to)
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.discussions_in")?;
        found
            .iter()
            .map(|row| rows::discussion(row).map(|row| (row.id.get(), row)))
            .collect()
    }

    async fn size(&self) -> Result<Option<u64>, StoreError> {
        self.group.count(1);
        let sum: i64 = sqlx::query_scalar("SELECT coalesce(sum(all_total), 0) FROM discussions")
            .fetch_one(self.group.readers())
            .await
            .during("comments.size")?;
        Ok(u64::try_from(sum).ok())
    }

    async fn scan(
        &self,
        discussion: DiscussionId,
        after: Option<CommentId>,
        limit: u32,
    ) -> Result<Vec<ScanRow>, StoreError> {
        self.group.count(1);
        let found = sqlx::query(
            "SELECT comment_id, parent_id, ancestors, state, live_below FROM comments \
             WHERE discussion_id = ? AND comment_id > ? ORDER BY comment_id LIMIT ?",
        )
        .bind(discussion.get())
        .bind(after.map_or(i64::MIN, CommentId::get))
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.scan")?;
        found.iter().map(scan_row).collect()
    }

    async fn scan_index(
        &self,
        discussion: DiscussionId,
        layout: u32,
        after: Option<IndexPlace>,
        limit: u32,
    ) -> Result<Vec<(i64, IndexRow)>, StoreError> {
        self.group.count(1);
        let (branch, id) = after.unwrap_or((i64::MIN, CommentId::new(i64::MIN)));
        let found = sqlx::query(
            "SELECT branch_id, comment_id, parent_id, ancestors FROM comment_tree \
             WHERE discussion_id = ? AND layout = ? AND (branch_id, comment_id) > (?, ?) \
             ORDER BY branch_id, comment_id LIMIT ?",
        )
        .bind(discussion.get())
        .bind(i64::from(layout))
        .bind(branch)
        .bind(id.get())
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.scan_index")?;
        found.iter().map(index_row).collect()
    }

    async fn remove_index(
        &self,
        discussion: DiscussionId,
        layout: u32,
        places: Vec<IndexPlace>,
        marker: i64,
    ) -> Result<(), StoreError> {
        const OP: &str = "comments.remove_index";
        few(OP, places.len())?;
        self.change(OP, discussion, move |db| {
            Box::pin(async move {
                mark_unindexed(db, discussion, marker).await?;
                for (branch, id) in places {
                    sqlx::query(
                        "DELETE FROM comment_tree WHERE discussion_id = ? AND layout = ? \
                         AND branch_id = ? AND comment_id = ?",
                    )
                    .bind(discussion.get())
                    .bind(i64::from(layout))
                    .bind(branch)
                    .bind(id.get())
                    .execute(&mut *db)
                    .await
                    .during(OP)?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn set_ancestors(
        &self,
        discussion: DiscussionId,
        rows: Vec<IndexRow>,
    ) -> Result<(), StoreError> {
        const OP: &str = "comments.set_ancestors";
        few(OP, rows.len())?;
        self.change(OP, discussion, move |db| {
            Box::pin(async move {
                for row in rows {
                    sqlx::query(
                        "UPDATE comments SET ancestors = ? WHERE discussion_id = ? AND comment_id = ?",
                    )
                    .bind(rows::pack(&row.ancestors))
                    .bind(discussion.get())
                    .bind(row.id.get())
                    .execute(&mut *db)
                    .await
                    .during(OP)?;
                }
                // What is counted depends on it.
                sqlx::query("UPDATE discussions SET changes = changes + 1 WHERE discussion_id = ?")
                    .bind(discussion.get())
                    .execute(db)
                    .await
                    .during(OP)?;
                Ok(())
            })
        })
        .await
    }

    async fn put_index(
        &self,
        discussion: DiscussionId,
        layout: Layout,
        rows: Vec<IndexRow>,
    ) -> Result<(), StoreError> {
        few("comments.put_index", rows.len())?;
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
        let clock = self.group.clock().clone();
        self.group
            .write("comments.enqueue", move |db| {
                Box::pin(async move { queue::enqueue(db, discussion, clock.now_ms()).await })
            })
            .await
    }

    async fn lease_queued(
        &self,
        owner: &str,
        ttl_ms: i64,
        limit: u32,
    ) -> Result<Vec<DiscussionId>, StoreError> {
        let (owner, clock) = (owner.to_owned(), self.group.clock().clone());
        self.group
            .write("comments.lease_queued", move |db| {
                Box::pin(
                    async move { queue::lease(db, &owner, clock.now_ms(), ttl_ms, limit).await },
                )
            })
            .await
    }

    async fn hold_queued(
        &self,
        discussion: DiscussionId,
        owner: &str,
        ttl_ms: i64,
    ) -> Result<bool, StoreError> {
        let (owner, clock) = (owner.to_owned(), self.group.clock().clone());
        self.group
            .write("comments.hold_queued", move |db| {
                Box::pin(async move {
                    let until_ms = clock.now_ms().saturating_add(ttl_ms);
                    queue::hold(db, discussion, &owner, until_ms).await
                })
            })
            .await
    }

    async fn dequeue(&self, discussion: DiscussionId) -> Result<(), StoreError> {
        self.group
            .write("comments.dequeue", move |db| {
                Box::pin(queue::dequeue(db, discussion))
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
            Box::pin(layouts::add(db, discussion, depth_limit))
        })
        .await
    }

    async fn flip_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError> {
        self.change("comments.flip_layout", discussion, move |db| {
            Box::pin(layouts::flip(db, discussion))
        })
        .await
    }

    async fn drop_other_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError> {
        self.change("comments.drop_other_layout", discussion, move |db| {
            Box::pin(layouts::give_up(db, discussion))
        })
        .await
    }

    async fn sweep(&self, discussion: DiscussionId) -> Result<bool, StoreError> {
        self.group
            .write("comments.sweep", move |db| {
                Box::pin(layouts::sweep(db, discussion))
            })
            .await
    }
}
