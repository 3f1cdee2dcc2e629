//! Bans: who may not write for a while, or for ever.
//!
//! Entries are only ever added; the latest one of a person decides, and a ban with an end ends by
//! the clock, without anybody's act.

use super::ids::{EventId, UserId};

/// Unicode scalars of a reason at most.
pub const REASON_SCALARS_MAX: usize = 300;

/// What a moderator did to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BanAct {
    /// They may not write until then, in milliseconds since 1970; `None`: for ever.
    Ban {
        /// The first moment they may write again.
        until_ms: Option<i64>,
    },
    /// They may write again.
    Lift,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BanEntry {
    /// A minted id; entries are ordered by it.
    pub event_id: EventId,
    /// Who is banned, or no longer.
    pub user_id: UserId,
    /// Who did it.
    pub by: UserId,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What.
    pub act: BanAct,
    /// Why; may be empty.
    pub reason: String,
}

/// A ban that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// When it ends, in milliseconds since 1970; `None`: never.
    pub until_ms: Option<i64>,
    /// Why; may be empty.
    pub reason: String,
}

/// The ban that holds at a moment, by a person's latest entry.
#[must_use]
pub fn ban_at(latest: &BanEntry, now_ms: i64) -> Option<Ban> {
    match latest.act {
        BanAct::Lift => None,
        BanAct::Ban { until_ms } => until_ms.is_none_or(|end| now_ms < end).then(|| Ban {
            until_ms,
            reason: latest.reason.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ban_holds_until_its_end_or_until_it_is_lifted() {
        let entry = |act| BanEntry {
            event_id: EventId::new(1),
            user_id: UserId::new(2),
            by: UserId::new(3),
            at_ms: 100,
            act,
            reason: "spam".to_owned(),
        };
        let until = |until_ms| entry(BanAct::Ban { until_ms });
        let holds = |entry: &BanEntry, now_ms| ban_at(entry, now_ms).is_some();
        assert!(holds(&until(None), i64::MAX));
        assert!(holds(&until(Some(200)), 199));
        assert!(!holds(&until(Some(200)), 200));
        assert!(!holds(&entry(BanAct::Lift), 100));
    }
}
