//! Whether this instance may get traffic: `/readyz` asks here.
//!
//! A store that does not answer, or no right to mint ids, takes the instance out. Flags that are
//! not as their source says do not: the last good ones are served, and what is wrong is named.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join;

use crate::api::http::{Check, CheckState, Readiness};
use crate::domain::ids::UserId;
use crate::service::Service;
use crate::store::flags::FlagsHealth;
use crate::store::{StoreError, StoreErrorKind};

/// How long a store may take for the cheapest read; whoever probes gives up soon after.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Judges the ports of a service.
#[derive(Debug)]
pub(super) struct PortsReadiness(pub(super) Service);

#[async_trait]
impl Readiness for PortsReadiness {
    async fn checks(&self) -> Vec<Check> {
        let (ports, nobody) = (self.0.ports(), [UserId::NOBODY]);
        let (comments, users) = join(
            answered("comments", ports.comments.queued(1)),
            answered("users", ports.users.users(&nobody)),
        )
        .await;
        let lease = lease(ports.ids.has_lease());
        vec![comments, users, lease, flags(&ports.flags.health())]
    }
}

/// A store's check: it answers in time.
async fn answered<T>(name: &str, read: impl Future<Output = Result<T, StoreError>>) -> Check {
    let failure = match tokio::time::timeout(ANSWER_TIME, read).await {
        Ok(Ok(_)) => return check(name, CheckState::Ready, None),
        Ok(Err(error)) => error,
        Err(elapsed) => StoreError::new("readyz", StoreErrorKind::Timeout, elapsed),
    };
    // The cause may hold a path or an address; who probes gets what it means only.
    tracing::warn!(store = name, error = %failure, "a store does not answer");
    let detail = match failure.kind {
        StoreErrorKind::Unavailable => "the store cannot be reached",
        StoreErrorKind::Timeout => "the store does not answer in time",
        StoreErrorKind::Conflict | StoreErrorKind::Limit => "the store refuses a read",
        StoreErrorKind::Corrupt { .. } => "the store cannot read what it holds",
    };
    check(name, CheckState::Failed, Some(detail.to_owned()))
}

fn lease(is_held: bool) -> Check {
    if is_held {
        return check("worker", CheckState::Ready, None);
    }
    let detail = "no worker lease is held: nothing can be written through this instance";
    check("worker", CheckState::Failed, Some(detail.to_owned()))
}

/// Degraded at worst: what is served is older than its source, but whole.
fn flags(health: &FlagsHealth) -> Check {
    let rejected = health.rejected.iter().map(|flag| {
        let served = if flag.keeps_last_good {
            "the last good one is served"
        } else {
            "it is not served"
        };
        format!("{}: {} ({served})", flag.place, flag.error)
    });
    let unread = health.source_error.iter().map(|error| {
        let ms = health.stale_ms;
        format!("not read for {ms} ms, the last ones are served: {error}")
    });
    let problems: Vec<String> = unread.chain(rejected).collect();
    if problems.is_empty() {
        return check("flags", CheckState::Ready, None);
    }
    check("flags", CheckState::Degraded, Some(problems.join("; ")))
}

fn check(name: &str, state: CheckState, detail: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        state,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::flags::RejectedFlag;

    fn health() -> FlagsHealth {
        FlagsHealth {
            revision: 3,
            flags: 2,
            rejected: Vec::new(),
            stale_ms: 40,
            source_error: None,
        }
    }

    #[test]
    fn flags_as_their_source_says_are_ready() {
        assert_eq!(flags(&health()).state, CheckState::Ready);
    }

    #[test]
    fn each_rejected_flag_is_named_with_its_error_and_degrades() {
        let rejected = |place: &str, keeps_last_good| RejectedFlag {
            place: place.to_owned(),
            error: "line 3 is odd".to_owned(),
            keeps_last_good,
        };
        let found = flags(&FlagsHealth {
            rejected: vec![
                rejected("flags/a.toml", true),
                rejected("flags/b.toml", false),
            ],
            ..health()
        });
        assert_eq!(found.state, CheckState::Degraded);
        assert_eq!(
            found.detail.as_deref(),
            Some(
                "flags/a.toml: line 3 is odd (the last good one is served); \
                 flags/b.toml: line 3 is odd (it is not served)"
            )
        );
    }

    #[test]
    fn a_source_that_cannot_be_read_degrades_and_says_since_when() {
        let found = flags(&FlagsHealth {
            source_error: Some("no such folder".to_owned()),
            stale_ms: 7_000,
            ..health()
        });
        assert_eq!(found.state, CheckState::Degraded);
        let detail = found.detail.unwrap();
        assert!(detail.contains("7000 ms") && detail.contains("no such folder"));
    }

    #[tokio::test]
    async fn a_failed_store_fails_and_its_cause_stays_inside() {
        let error = StoreError::new("x", StoreErrorKind::Unavailable, "/secret/path");
        let found = answered::<()>("comments", async { Err(error) }).await;
        assert_eq!(found.state, CheckState::Failed);
        assert!(!found.detail.unwrap().contains("secret"));
    }

    #[test]
    fn without_a_lease_no_traffic_should_come() {
        assert_eq!(lease(false).state, CheckState::Failed);
        assert_eq!(lease(true).state, CheckState::Ready);
    }
}
