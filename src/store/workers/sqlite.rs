//! Port `workers` on SQLite (group "comments"): one row a worker.

use async_trait::async_trait;
use sqlx::SqliteConnection;

use super::{WorkerLease, WorkerStore};
use crate::domain::ids::WORKERS_MAX;
use crate::store::StoreError;
use crate::store::driver::sqlite::{SqliteGroup, failed};

/// Leases in one file.
#[derive(Clone, Debug)]
pub struct SqliteWorkers {
    group: SqliteGroup,
}

impl SqliteWorkers {
    /// Leases in an open group.
    pub fn new(group: SqliteGroup) -> Self {
        Self { group }
    }
}

/// The lowest worker that is free, and the last millisecond it used.
async fn free_worker(
    db: &mut SqliteConnection,
    now_ms: i64,
) -> Result<Option<(u16, i64)>, sqlx::Error> {
    let rows: Vec<(i64, i64, i64)> =
        sqlx::query_as("SELECT worker, until_ms, last_ms FROM worker_leases ORDER BY worker")
            .fetch_all(db)
            .await?;
    Ok((0..WORKERS_MAX).find_map(|worker| {
        match rows.iter().find(|(taken, ..)| *taken == i64::from(worker)) {
            None => Some((worker, 0)),
            // Both must lie in the past: a holder may run ahead of the clock by a burst.
            Some((_, until_ms, last_ms)) => {
                (*until_ms <= now_ms && *last_ms < now_ms).then_some((worker, *last_ms))
            }
        }
    }))
}

#[async_trait]
impl WorkerStore for SqliteWorkers {
    async fn acquire(&self, owner: &str, ttl_ms: i64) -> Result<Option<WorkerLease>, StoreError> {
        const OP: &str = "workers.acquire";
        let (owner, clock) = (owner.to_owned(), self.group.clock().clone());
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    let store_ms = clock.now_ms();
                    let free = free_worker(db, store_ms).await.map_err(|e| failed(OP, e))?;
                    let Some((worker, after_ms)) = free else {
                        return Ok(None);
                    };
                    sqlx::query(
                        "INSERT INTO worker_leases (worker, owner, until_ms, last_ms) \
                         VALUES (?, ?, ?, ?) ON CONFLICT (worker) DO UPDATE \
                         SET owner = excluded.owner, until_ms = excluded.until_ms",
                    )
                    .bind(i64::from(worker))
                    .bind(&owner)
                    .bind(store_ms + ttl_ms)
                    .bind(after_ms)
                    .execute(db)
                    .await
                    .map_err(|e| failed(OP, e))?;
                    Ok(Some(WorkerLease {
                        worker,
                        after_ms,
                        store_ms,
                    }))
                })
            })
            .await
    }

    async fn renew(
        &self,
        owner: &str,
        worker: u16,
        last_ms: i64,
        ttl_ms: i64,
    ) -> Result<Option<WorkerLease>, StoreError> {
        const OP: &str = "workers.renew";
        let (owner, clock) = (owner.to_owned(), self.group.clock().clone());
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    let store_ms = clock.now_ms();
                    let renewed = sqlx::query(
                        "UPDATE worker_leases SET until_ms = ?, last_ms = max(last_ms, ?) \
                         WHERE worker = ? AND owner = ? AND until_ms > ?",
                    )
                    .bind(store_ms + ttl_ms)
                    .bind(last_ms)
                    .bind(i64::from(worker))
                    .bind(&owner)
                    .bind(store_ms)
                    .execute(db)
                    .await
                    .map_err(|e| failed(OP, e))?
                    .rows_affected();
                    let lease = WorkerLease {
                        worker,
                        after_ms: last_ms,
                        store_ms,
                    };
                    Ok((renewed == 1).then_some(lease))
                })
            })
            .await
    }

    async fn release(&self, owner: &str, worker: u16, last_ms: i64) -> Result<(), StoreError> {
        const OP: &str = "workers.release";
        let owner = owner.to_owned();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    sqlx::query(
                        "UPDATE worker_leases SET until_ms = 0, last_ms = max(last_ms, ?) \
                         WHERE worker = ? AND owner = ?",
                    )
                    .bind(last_ms)
                    .bind(i64::from(worker))
                    .bind(&owner)
                    .execute(db)
                    .await
                    .map_err(|e| failed(OP, e))?;
                    Ok(())
                })
            })
            .await
    }
}
