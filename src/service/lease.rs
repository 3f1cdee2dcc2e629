//! Holding a worker lease for as long as the process may mint ids.
//!
//! A lease is renewed at a third of its life. When it is lost, or this clock and the store's are
//! too far apart, minting stops at once and a new lease is sought.

use std::sync::Arc;
use std::time::Duration;

use super::ServiceResult;
use crate::domain::clock::Clock;
use crate::domain::ids::generator::{IdGenerator, Lease};
use crate::store::workers::{WorkerLease, WorkerStore};
use crate::store::{StoreError, StoreErrorKind};
use crate::tasks::Tasks;

/// How long a lease lasts, in ms.
pub const LEASE_TTL_MS: i64 = 30_000;
/// How often it is renewed.
const RENEW_PERIOD: Duration = Duration::from_secs(10);
/// How far this clock and the store's may be apart, in ms.
pub const CLOCK_APART_MAX_MS: i64 = 20_000;

/// What keeps a lease alive.
#[derive(Clone, Debug)]
pub struct LeaseKeeper {
    workers: Arc<dyn WorkerStore>,
    ids: Arc<IdGenerator>,
    clock: Clock,
    owner: Arc<str>,
}

impl LeaseKeeper {
    /// A keeper that holds nothing yet. `owner` is unique to this process.
    pub fn new(
        workers: Arc<dyn WorkerStore>,
        ids: Arc<IdGenerator>,
        clock: Clock,
        owner: &str,
    ) -> Self {
        Self {
            workers,
            ids,
            clock,
            owner: Arc::from(owner),
        }
    }

    /// Takes a lease, keeps it in the background, and gives it back at shutdown.
    pub async fn start(self, tasks: &Tasks) -> ServiceResult<()> {
        let worker = self.acquire().await?;
        let stopping = tasks.stopping();
        tasks.spawn(async move {
            let mut held = Some(worker);
            loop {
                tokio::select! {
                    () = stopping.cancelled() => break,
                    () = tokio::time::sleep(RENEW_PERIOD) => {}
                }
                held = self.step(held).await;
            }
            self.give_back(held).await;
        });
        Ok(())
    }

    /// Takes a free worker.
    pub async fn acquire(&self) -> ServiceResult<u16> {
        let asked = self.clock.monotonic();
        let lease = self.workers.acquire(&self.owner, LEASE_TTL_MS).await?;
        let Some(lease) = lease else {
            let cause = "all 512 workers are taken";
            return Err(StoreError::new("workers.acquire", StoreErrorKind::Limit, cause).into());
        };
        self.install(lease, asked);
        Ok(lease.worker)
    }

    /// Renews what is held, or seeks a new lease. Returns the worker held afterwards.
    pub async fn step(&self, held: Option<u16>) -> Option<u16> {
        let Some(worker) = held else {
            return match self.acquire().await {
                Ok(worker) => Some(worker),
                Err(error) => {
                    tracing::warn!(%error, "no worker lease; this instance mints no ids");
                    None
                }
            };
        };
        let asked = self.clock.monotonic();
        let last_ms = self.ids.last_ms();
        match self
            .workers
            .renew(&self.owner, worker, last_ms, LEASE_TTL_MS)
            .await
        {
            Ok(Some(lease)) => {
                self.install(lease, asked);
                Some(worker)
            }
            Ok(None) => {
                tracing::warn!(worker, "the worker lease was lost");
                self.ids.set_lease(None);
                None
            }
            // The lease runs on until its deadline; the next step tries again.
            Err(error) => {
                tracing::warn!(%error, worker, "the worker lease could not be renewed");
                Some(worker)
            }
        }
    }

    /// The deadline counts from when the store was asked, so it is never later than the store's.
    fn install(&self, lease: WorkerLease, asked: Duration) {
        let apart_ms = (self.clock.now_ms() - lease.store_ms).abs();
        if apart_ms > CLOCK_APART_MAX_MS {
            tracing::error!(
                apart_ms,
                "this clock and the store's are too far apart to mint ids"
            );
            self.ids.set_lease(None);
            return;
        }
        let life = Duration::from_millis(u64::try_from(LEASE_TTL_MS).unwrap_or(0));
        self.ids.set_lease(Some(Lease {
            worker: lease.worker,
            deadline: asked + life,
            after_ms: lease.after_ms,
        }));
    }

    async fn give_back(&self, held: Option<u16>) {
        self.ids.set_lease(None);
        if let Some(worker) = held
            && let Err(error) = self
                .workers
                .release(&self.owner, worker, self.ids.last_ms())
                .await
        {
            tracing::warn!(%error, worker, "the worker lease could not be given back");
        }
    }
}
