//! Port `comments` on SQLite (group "comments").
//!
//! One transaction holds a comment, its index rows, its log entry, its claim and its counts, so the
//! promises that Cassandra needs protocols for are plain here. Whether an index is complete is
//! exact, without a margin: a write without index row is ordered against builds by the transaction
//! (`unindexed_id` is raised to whatever build has begun).

mod audit;
mod bare;
mod cache;
mod change;
mod counting;
mod create;
mod discussions;
mod import;
mod index;
mod layouts;
mod listing;
mod moderating;
mod moderation_queue;
mod origins;
mod people;
mod queue;
mod reads;
mod recount;
mod reports;
mod revisions;
mod rows;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::SqliteConnection;

pub use self::bare::BarePage;

use self::cache::PageCache;
use crate::domain::ids::DiscussionId;
use crate::store::StoreError;
use crate::store::driver::sqlite::{Migration, SqliteGroup};

/// The schema of the group, step by step.
pub const MIGRATIONS: &[Migration] = &[
    include_str!("../../../../deploy/sql/sqlite/comments_0001.sql"),
    include_str!("../../../../deploy/sql/sqlite/comments_0002.sql"),
    include_str!("../../../../deploy/sql/sqlite/comments_0003.sql"),
    include_str!("../../../../deploy/sql/sqlite/comments_0004.sql"),
    include_str!("../../../../deploy/sql/sqlite/comments_0005.sql"),
];

/// How the engine behaves.
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    /// Bytes of rows kept in memory; 0 keeps none.
    pub cache_bytes: u64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
        }
    }
}

/// Comments in one file.
#[derive(Clone, Debug)]
pub struct SqliteComments {
    group: SqliteGroup,
    cache: PageCache,
}

impl SqliteComments {
    /// Comments in an open group.
    pub fn new(group: SqliteGroup, options: SqliteOptions) -> Self {
        Self {
            group,
            cache: PageCache::new(options.cache_bytes),
        }
    }

    /// The open file, for counting statements.
    pub fn group(&self) -> &SqliteGroup {
        &self.group
    }

    /// A write to one discussion: whatever its outcome, cached rows of it are not used again.
    async fn change<T, F>(
        &self,
        op: &'static str,
        discussion: DiscussionId,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let moved = Arc::new(self.cache.a_move(discussion));
        let begins = Arc::downgrade(&moved);
        self.group
            .write_then(
                op,
                move || drop(moved),
                move |db| {
                    if let Some(moved) = begins.upgrade() {
                        moved.begin();
                    }
                    work(db)
                },
            )
            .await
    }
}
