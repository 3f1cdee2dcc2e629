//! Takes up erasures of people's data that somebody asked for and nobody finished.

use std::time::Duration;

use crate::service::Service;
use crate::tasks::Tasks;

/// How often it looks.
const PERIOD: Duration = Duration::from_mins(1);

/// Finishes erasures behind requests. Any number of processes may: every step may be repeated.
#[derive(Clone, Debug)]
pub struct Eraser {
    service: Service,
    scrub_interval: Duration,
}

impl Eraser {
    /// Over a service; files are rewritten at most once an interval.
    #[must_use]
    pub fn new(service: Service, scrub_interval: Duration) -> Self {
        Self {
            service,
            scrub_interval,
        }
    }

    /// Looks at once and then every minute, until the tasks stop.
    pub fn start(self, tasks: &Tasks) {
        let stop = tasks.stopping();
        tasks.spawn(async move {
            loop {
                // A failed one is tried again: whatever is open stays listed.
                if let Err(error) = self.service.go_on_erasing(self.scrub_interval).await {
                    tracing::warn!(%error, "erasures wait");
                }
                if stop
                    .run_until_cancelled(tokio::time::sleep(PERIOD))
                    .await
                    .is_none()
                {
                    return;
                }
            }
        });
    }
}
