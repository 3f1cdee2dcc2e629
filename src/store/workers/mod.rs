//! Port `workers`: the right to mint ids as one of 512 workers, leased through the store.
//!
//! - **W1** no two owners hold the same worker at once;
//! - **W2** a worker is given out again only once its lease ran out and its last id lies in the past;
//! - **W3** every answer carries the store's time, so that a holder can tell how far off its clock is;
//! - **W4** a released worker is free at once; renewing a lost lease fails.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::store::StoreError;

pub mod sqlite;

/// A lease as the store knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLease {
    /// 0–511.
    pub worker: u16,
    /// Ids must be of a later millisecond than this.
    pub after_ms: i64,
    /// The store's clock when it answered, ms since 1970.
    pub store_ms: i64,
}

/// Leases of workers.
#[async_trait]
pub trait WorkerStore: Send + Sync + Debug {
    /// Takes a free worker for `ttl_ms`. `None`: all are taken.
    async fn acquire(&self, owner: &str, ttl_ms: i64) -> Result<Option<WorkerLease>, StoreError>;

    /// Prolongs the owner's lease by `ttl_ms` from now and stores the last millisecond used.
    /// `None`: the lease was lost.
    async fn renew(
        &self,
        owner: &str,
        worker: u16,
        last_ms: i64,
        ttl_ms: i64,
    ) -> Result<Option<WorkerLease>, StoreError>;

    /// Gives the worker back.
    async fn release(&self, owner: &str, worker: u16, last_ms: i64) -> Result<(), StoreError>;
}
