//! How fast a walk may go: a limit of rows, the store's own latency, and a flag that stops it.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use crate::domain::flags::{Context, evaluate};
use crate::store::flags::FlagStore;

/// The flag that pauses every walk while it is on.
pub const PAUSE_FLAG: &str = "walker-pause";

/// The first wait after a slow answer; it doubles with each further one.
const BRAKE_FIRST: Duration = Duration::from_millis(10);
/// The longest wait between two batches.
const BRAKE_MAX: Duration = Duration::from_secs(2);
/// Rows that may come at once: one batch.
const BURST_ROWS: u32 = 1_000;

/// How fast a walk may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Rows a second of all workers of this process; `None`: as many as the store gives.
    pub rows_per_second: Option<NonZeroU32>,
    /// A batch that takes longer makes the walk wait; `None`: it never waits for that.
    pub latency_max: Option<Duration>,
}

/// Shared by the workers of one walk in this process.
#[derive(Debug)]
pub struct Throttle {
    limiter: Option<DefaultDirectRateLimiter>,
    latency_max: Option<Duration>,
    brake: Mutex<Brake>,
    flags: Arc<dyn FlagStore>,
}

impl Throttle {
    /// A throttle with these limits.
    pub fn new(limits: Limits, flags: Arc<dyn FlagStore>) -> Self {
        let limiter = limits.rows_per_second.map(|rows| {
            let burst = rows.max(NonZeroU32::new(BURST_ROWS).unwrap_or(NonZeroU32::MIN));
            RateLimiter::direct(Quota::per_second(rows).allow_burst(burst))
        });
        Self {
            limiter,
            latency_max: limits.latency_max,
            brake: Mutex::new(Brake::default()),
            flags,
        }
    }

    /// Whether walks are paused now.
    pub fn is_paused(&self) -> bool {
        let flags = self.flags.snapshot();
        flags.get(PAUSE_FLAG).is_some() && evaluate(&flags, PAUSE_FLAG, &Context::default()).is_on()
    }

    /// How long to wait after a batch that took `took`.
    pub fn wait_after(&self, took: Duration) -> Duration {
        let Some(latency_max) = self.latency_max else {
            return Duration::ZERO;
        };
        let mut brake = self.brake.lock().unwrap_or_else(PoisonError::into_inner);
        brake.after(took, latency_max)
    }

    /// Waits until `rows` more may be worked on.
    pub async fn admit(&self, rows: u64) {
        let Some(limiter) = &self.limiter else {
            return;
        };
        let mut left = u32::try_from(rows).unwrap_or(u32::MAX);
        while let Some(some) = NonZeroU32::new(left.min(BURST_ROWS)) {
            // Never refused: no more than the burst is asked for at once.
            if limiter.until_n_ready(some).await.is_err() {
                return;
            }
            left -= some.get();
        }
    }
}

/// Waits longer with each slow answer, and half as long with each quick one.
#[derive(Debug, Default)]
struct Brake {
    wait: Duration,
}

impl Brake {
    fn after(&mut self, took: Duration, latency_max: Duration) -> Duration {
        self.wait = if took > latency_max {
            self.wait.saturating_mul(2).clamp(BRAKE_FIRST, BRAKE_MAX)
        } else if self.wait > BRAKE_FIRST {
            self.wait / 2
        } else {
            Duration::ZERO
        };
        self.wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_store_is_left_alone_more_and_more_and_a_quick_one_not_at_all() {
        let (slow, quick, max) = (
            Duration::from_millis(200),
            Duration::from_millis(5),
            Duration::from_millis(100),
        );
        let mut brake = Brake::default();
        assert_eq!(brake.after(quick, max), Duration::ZERO);
        let waits: Vec<_> = (0..12).map(|_| brake.after(slow, max)).collect();
        assert_eq!(waits.first(), Some(&BRAKE_FIRST));
        assert!(waits.is_sorted());
        assert_eq!(waits.last(), Some(&BRAKE_MAX));
        let waits: Vec<_> = (0..12).map(|_| brake.after(quick, max)).collect();
        assert!(waits.is_sorted_by(|a, b| a >= b));
        assert_eq!(waits.last(), Some(&Duration::ZERO));
    }
}
