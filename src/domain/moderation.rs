//! What moderators work with: reports, the queue, acts worth a line in the audit log, pins.
//!
//! Numbers are stored and may never be reused.

use serde::{Deserialize, Serialize};

/// Unicode scalars that a report's text may have.
pub const REPORT_TEXT_SCALARS_MAX: usize = 1_000;
/// Unicode scalars that the reason of an act may have.
pub const ACT_REASON_SCALARS_MAX: usize = 300;
/// Comments that a discussion may have pinned.
pub const PINS_MAX: usize = 10;

/// What is done with a text that somebody is about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It appears at once.
    Publish,
    /// It waits for a moderator.
    Hold,
    /// It is not written.
    Refuse,
}

/// Why somebody reports a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportReason {
    /// Advertising, or the same again and again.
    Spam,
    /// It attacks or threatens somebody.
    Abuse,
    /// It has nothing to do with the discussion.
    OffTopic,
    /// It may be against the law.
    Illegal,
    /// Something else, which the report's text says.
    Other,
}

impl ReportReason {
    /// Every reason, by its number.
    pub const ALL: [Self; 5] = [
        Self::Spam,
        Self::Abuse,
        Self::OffTopic,
        Self::Illegal,
        Self::Other,
    ];

    /// The stored number, 0 to 31: sets of reasons are stored as bits.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Spam => 0,
            Self::Abuse => 1,
            Self::OffTopic => 2,
            Self::Illegal => 3,
            Self::Other => 4,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Spam),
            1 => Some(Self::Abuse),
            2 => Some(Self::OffTopic),
            3 => Some(Self::Illegal),
            4 => Some(Self::Other),
            _ => None,
        }
    }

    /// The reason's bit in a stored set.
    #[must_use]
    pub const fn bit(self) -> i64 {
        1 << self.code()
    }

    /// The reasons of a stored set; `None` when it has a bit that was never written.
    #[must_use]
    pub fn of_bits(bits: i64) -> Option<Vec<Self>> {
        let known = Self::ALL
            .iter()
            .fold(0, |known, reason| known | reason.bit());
        if bits & !known != 0 {
            return None;
        }
        let is_in = |reason: &Self| bits & reason.bit() != 0;
        Some(Self::ALL.into_iter().filter(is_in).collect())
    }
}

/// Why a comment is in the moderation queue; it may be there for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// It waits to be let through.
    Pending,
    /// People reported it, and nobody has answered that yet.
    Reported,
}

/// What a moderator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuditAct {
    /// Took a comment out of sight.
    Hide,
    /// Brought a hidden comment back.
    Restore,
    /// Let a waiting comment through.
    Approve,
    /// Deleted somebody else's comment.
    Bury,
    /// Answered the reports of a comment without a change.
    DismissReports,
    /// Pinned other comments than before.
    Pin,
    /// Closed a discussion for new comments.
    Close,
    /// Opened a closed discussion again.
    Reopen,
    /// Made new comments of a discussion wait.
    Premoderate,
    /// Made new comments of a discussion appear at once.
    PublishAtOnce,
    /// Opened a discussion that was not there.
    OpenDiscussion,
    /// Banned a person.
    Ban,
    /// Ended a person's ban.
    Unban,
}

impl AuditAct {
    /// The stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Hide => 0,
            Self::Restore => 1,
            Self::Approve => 2,
            Self::Bury => 3,
            Self::DismissReports => 4,
            Self::Pin => 5,
            Self::Close => 6,
            Self::Reopen => 7,
            Self::Premoderate => 8,
            Self::PublishAtOnce => 9,
            Self::OpenDiscussion => 10,
            Self::Ban => 11,
            Self::Unban => 12,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Hide),
            1 => Some(Self::Restore),
            2 => Some(Self::Approve),
            3 => Some(Self::Bury),
            4 => Some(Self::DismissReports),
            5 => Some(Self::Pin),
            6 => Some(Self::Close),
            7 => Some(Self::Reopen),
            8 => Some(Self::Premoderate),
            9 => Some(Self::PublishAtOnce),
            10 => Some(Self::OpenDiscussion),
            11 => Some(Self::Ban),
            12 => Some(Self::Unban),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_reads_as_what_wrote_it() {
        for reason in ReportReason::ALL {
            assert_eq!(ReportReason::from_code(reason.code()), Some(reason));
        }
        let mut code = 0;
        while let Some(act) = AuditAct::from_code(code) {
            assert_eq!(act.code(), code);
            code += 1;
        }
        assert_eq!(code, 13);
        assert_eq!(ReportReason::from_code(5), None);
    }

    #[test]
    fn a_set_of_reasons_comes_back_and_an_unknown_bit_does_not() {
        let some = [ReportReason::Abuse, ReportReason::Other];
        let bits = some.iter().fold(0, |bits, reason| bits | reason.bit());
        assert_eq!(ReportReason::of_bits(bits).unwrap(), some);
        assert_eq!(ReportReason::of_bits(0), Some(Vec::new()));
        assert_eq!(ReportReason::of_bits(1 << 5), None);
    }
}
