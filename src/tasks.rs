//! The one place that spawns. Shutdown (and a test) can wait for every task that was started.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Spawns tasks, tells them to stop, and waits for them. Clones share one set of tasks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// An empty set of tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task that [`Tasks::shutdown`] waits for.
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(task)
    }

    /// Runs `work`, which blocks, on a thread of its own; [`Tasks::shutdown`] waits for it.
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.tracker.spawn_blocking(work)
    }

    /// Resolves when the tasks should end; long-running loops select on it.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Asks every task to stop and waits up to `limit`. Returns whether all of them ended.
    pub async fn shutdown(&self, limit: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(limit, self.tracker.wait())
            .await
            .is_ok()
    }
}
