//! A page's statements and nothing else: what measurements compare pages and creates with.
//!
//! The statements are those that [`super::reads`] runs, on the same kind of pool; their rows are
//! fetched and not read. So the difference between a page and this is what the layers above cost.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::SqliteComments;
use super::index::STATEMENT_ROWS;
use super::reads::{BRANCH_SUMS, DISCUSSION_BY_KEY, DISCUSSIONS, LINEAR_ASC, TREE_ASC, json};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.bare";

/// Everything a first page needs to know beforehand, oldest first.
#[derive(Clone, Debug)]
pub struct BarePage {
    /// The discussion's key, `entity:…` or `url:…`.
    pub key: String,
    /// The discussion.
    pub discussion: DiscussionId,
    /// The layout that reads use; `None` reads the page from the main table.
    pub layout: Option<u32>,
    /// Rows to read, one more than the page shows.
    pub limit: u32,
    /// The comments on the page that head a branch: their counts are summed.
    pub heads: Vec<CommentId>,
    /// Replies to read under each head, one more than shown; `None` reads none.
    pub replies: Option<u32>,
}

impl SqliteComments {
    /// Runs the statements of a page. Returns how many rows they gave together.
    pub async fn bare_page(&self, page: &BarePage) -> Result<usize, StoreError> {
        let readers = self.group.readers();
        let discussion = page.discussion.get();
        let layout = i64::from(page.layout.unwrap_or(1));
        let mut rows = sqlx::query(DISCUSSION_BY_KEY)
            .bind(&page.key)
            .fetch_all(readers)
            .await
            .during(OP)?
            .len();
        rows += sqlx::query(DISCUSSIONS)
            .bind(json(&[discussion]))
            .fetch_all(readers)
            .await
            .during(OP)?
            .len();
        let listed = if page.layout.is_some() {
            self.bare_branches(page, "[0]".to_owned(), page.limit).await
        } else {
            self.bare_linear(page).await
        };
        rows += listed?;
        if !page.heads.is_empty() {
            rows += sqlx::query(BRANCH_SUMS)
                .bind(json(&page.heads))
                .bind(discussion)
                .bind(layout)
                .fetch_all(readers)
                .await
                .during(OP)?
                .len();
        }
        if let Some(limit) = page.replies {
            rows += self.bare_branches(page, json(&page.heads), limit).await?;
        }
        Ok(rows)
    }

    async fn bare_linear(&self, page: &BarePage) -> Result<usize, StoreError> {
        let rows = sqlx::query(LINEAR_ASC)
            .bind(page.discussion.get())
            .bind(i64::MIN)
            .bind(i64::MAX)
            .bind(i64::from(page.limit))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        Ok(rows.len())
    }

    async fn bare_branches(
        &self,
        page: &BarePage,
        heads: String,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let rows = sqlx::query(TREE_ASC)
            .bind(page.discussion.get())
            .bind(i64::MIN)
            .bind(i64::MAX)
            .bind(i64::from(limit))
            .bind(heads)
            .bind(i64::from(page.layout.unwrap_or(1)))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        Ok(rows.len())
    }

    /// Reads a discussion's rows in order and writes each into the index as it says it lies, `rows`
    /// at a time, and nothing else. Returns how many there were.
    pub async fn bare_index(
        &self,
        discussion: DiscussionId,
        layout: u32,
        rows: u32,
    ) -> Result<usize, StoreError> {
        let (mut after, mut written) = (i64::MIN, 0);
        loop {
            let page: Vec<(i64, Option<i64>, Vec<u8>)> = sqlx::query_as(
                "SELECT comment_id, parent_id, ancestors FROM comments \
                 WHERE discussion_id = ? AND comment_id > ? ORDER BY comment_id LIMIT ?",
            )
            .bind(discussion.get())
            .bind(after)
            .bind(i64::from(rows))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
            let Some((last, ..)) = page.last() else {
                return Ok(written);
            };
            after = *last;
            written += page.len();
            self.group
                .write(OP, move |db| {
                    Box::pin(bare_insert_index(db, discussion, layout, page))
                })
                .await?;
        }
    }

    /// Writes the main row of a root and nothing else, in the writer's transaction: no index row,
    /// no counts, no log. Only for a file that is thrown away.
    pub async fn bare_insert(
        &self,
        discussion: DiscussionId,
        id: CommentId,
        author: UserId,
        body: String,
    ) -> Result<(), StoreError> {
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    sqlx::query(
                        "INSERT INTO comments (discussion_id, comment_id, author_id, body, format, \
                         ancestors, revision, state, live_below) VALUES (?, ?, ?, ?, 0, x'', 1, 0, 0)",
                    )
                    .bind(discussion.get())
                    .bind(id.get())
                    .bind(author.get())
                    .bind(body)
                    .execute(db)
                    .await
                    .during(OP)?;
                    Ok(())
                })
            })
            .await
    }
}

async fn bare_insert_index(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    layout: u32,
    page: Vec<(i64, Option<i64>, Vec<u8>)>,
) -> Result<(), StoreError> {
    for rows in page.chunks(STATEMENT_ROWS) {
        let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new("INSERT INTO comment_tree ");
        insert.push_values(rows, |mut values, (id, parent, ancestors)| {
            let root = ancestors.first_chunk::<8>().copied();
            values
                .push_bind(discussion.get())
                .push_bind(i64::from(layout))
                .push_bind(root.map_or(0, i64::from_be_bytes))
                .push_bind(*id)
                .push_bind(*parent)
                .push_bind(ancestors.clone());
        });
        insert.build().execute(&mut *db).await.during(OP)?;
    }
    Ok(())
}
