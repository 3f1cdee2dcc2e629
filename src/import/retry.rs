//! Patience with a store that does not answer for a while: every write of an import may be repeated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::writing::Stop;
use crate::store::{StoreError, StoreErrorKind};

/// How long to wait before trying again, and when to give up.
#[derive(Debug)]
pub(super) struct Patience {
    /// The first wait; each further one is twice as long.
    first: Duration,
    /// The longest wait.
    longest: Duration,
    /// All waits for one write together.
    total: Duration,
    stop: CancellationToken,
    retries: AtomicU64,
}

impl Patience {
    /// Gives up after a minute, or when told to stop.
    pub(super) fn new(stop: CancellationToken) -> Self {
        Self {
            first: Duration::from_millis(100),
            longest: Duration::from_secs(5),
            total: Duration::from_mins(1),
            stop,
            retries: AtomicU64::new(0),
        }
    }

    /// How often something was tried again so far.
    pub(super) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Does `attempt`, and again as long as the store says that another try may help.
    pub(super) async fn with<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Stop>
    where
        F: Future<Output = Result<T, Stop>>,
    {
        let (mut wait, mut waited) = (self.first, Duration::ZERO);
        loop {
            let error = match attempt().await {
                Err(Stop::Store(error)) if may_pass(&error) && waited < self.total => error,
                settled => return settled,
            };
            tracing::warn!(%error, wait_ms = wait.as_millis(), "the store failed, trying again");
            self.retries.fetch_add(1, Ordering::Relaxed);
            let stopped = self.stop.run_until_cancelled(tokio::time::sleep(wait));
            if stopped.await.is_none() {
                return Err(Stop::Asked);
            }
            waited += wait;
            wait = self.longest.min(wait * 2);
        }
    }
}

fn may_pass(error: &StoreError) -> bool {
    match error.kind {
        StoreErrorKind::Unavailable | StoreErrorKind::Timeout => true,
        StoreErrorKind::Conflict | StoreErrorKind::Limit | StoreErrorKind::Corrupt { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impatient(total_ms: u64) -> Patience {
        Patience {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(2),
            total: Duration::from_millis(total_ms),
            ..Patience::new(CancellationToken::new())
        }
    }

    async fn failing(patience: &Patience, times: u64, kind: StoreErrorKind) -> Result<u64, Stop> {
        let tries = AtomicU64::new(0);
        let attempt = || async {
            let before = tries.fetch_add(1, Ordering::Relaxed);
            if before < times {
                return Err(StoreError::new("test", kind.clone(), "down").into());
            }
            Ok(before)
        };
        patience.with(attempt).await
    }

    #[tokio::test]
    async fn a_store_that_comes_back_is_waited_for_and_each_try_is_counted() {
        let patience = impatient(60_000);
        let done = failing(&patience, 3, StoreErrorKind::Unavailable).await;
        assert!(matches!(done, Ok(3)));
        assert!(matches!(
            failing(&patience, 1, StoreErrorKind::Timeout).await,
            Ok(1)
        ));
        assert_eq!(patience.retries(), 4);
    }

    #[tokio::test]
    async fn a_store_that_stays_away_fails_the_import_and_what_cannot_pass_fails_at_once() {
        let patience = impatient(5);
        let failed = failing(&patience, u64::MAX, StoreErrorKind::Unavailable).await;
        assert!(matches!(failed, Err(Stop::Store(_))));
        assert!(patience.retries() > 1);
        let before = patience.retries();
        let failed = failing(&patience, u64::MAX, StoreErrorKind::Limit).await;
        assert!(matches!(failed, Err(Stop::Store(_))));
        assert_eq!(patience.retries(), before);
    }

    #[tokio::test]
    async fn a_stop_ends_the_waiting() {
        let patience = Patience {
            first: Duration::from_hours(1),
            ..impatient(60_000)
        };
        patience.stop.cancel();
        let stopped = failing(&patience, u64::MAX, StoreErrorKind::Timeout).await;
        assert!(matches!(stopped, Err(Stop::Asked)));
    }
}
