//! The one source of time. Everything that asks "what time is it" holds a [`Clock`], so a test can set it.
//!
//! Two readings: wall time (milliseconds since 1970, may step back) and monotonic time (for
//! deadlines and leases, never steps back).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall and monotonic time; cheap to clone, clones share a manual clock's hands.
#[derive(Clone, Debug)]
pub struct Clock(Hands);

#[derive(Clone, Debug)]
enum Hands {
    System { started: Instant, offset_ms: i64 },
    Manual { wall_ms: Arc<AtomicI64>, monotonic_ms: Arc<AtomicI64> },
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self::system_with_offset(0)
    }

    /// The machine's clock, read `offset_ms` ahead; for tests of skewed instances only.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    pub fn system_with_offset(offset_ms: i64) -> Self {
        Self(Hands::System { started: Instant::now(), offset_ms })
    }

    /// A clock that stands still until it is told to move.
    pub fn manual(wall_ms: i64) -> Self {
        Self(Hands::Manual {
            wall_ms: Arc::new(AtomicI64::new(wall_ms)),
            monotonic_ms: Arc::new(AtomicI64::new(0)),
        })
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Hands::System { offset_ms, .. } => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX).saturating_add(*offset_ms)
            }
            Hands::Manual { wall_ms, .. } => wall_ms.load(Ordering::SeqCst),
        }
    }

    /// Time since some fixed moment; never steps back.
    pub fn monotonic(&self) -> Duration {
        match &self.0 {
            Hands::System { started, .. } => started.elapsed(),
            Hands::Manual { monotonic_ms, .. } => {
                let ms = monotonic_ms.load(Ordering::SeqCst);
                Duration::from_millis(u64::try_from(ms).unwrap_or(0))
            }
        }
    }

    /// Moves a manual clock's wall and monotonic hands forward. The machine's clock does not move.
    pub fn advance(&self, by: Duration) {
        let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        if let Hands::Manual { wall_ms, monotonic_ms } = &self.0 {
            wall_ms.fetch_add(by_ms, Ordering::SeqCst);
            monotonic_ms.fetch_add(by_ms, Ordering::SeqCst);
        }
    }

    /// Steps a manual clock's wall hand back, as an operator or NTP would; monotonic time goes on.
    pub fn step_back(&self, by: Duration) {
        if let Hands::Manual { wall_ms, .. } = &self.0 {
            let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            wall_ms.fetch_sub(by_ms, Ordering::SeqCst);
        }
    }
}
