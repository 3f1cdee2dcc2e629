//! A comment, its states, and the changes it may go through.

use super::body::BodyFormat;
use super::ids::{CommentId, DiscussionId, UserId};

/// The deepest level a reply may have; roots have level 0.
pub const DEPTH_MAX: u16 = 512;

/// Where a comment stands. Stored as a small integer; numbers may never be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommentState {
    /// Everybody may read it.
    Published,
    /// Waits for a moderator; only its author sees it.
    Pending,
    /// Taken away by a moderator; may come back.
    Hidden,
    /// Deleted by its author or a moderator: body and author are gone. Final.
    Buried,
}

impl CommentState {
    /// The stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Published => 0,
            Self::Pending => 1,
            Self::Hidden => 2,
            Self::Buried => 3,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Published),
            1 => Some(Self::Pending),
            2 => Some(Self::Hidden),
            3 => Some(Self::Buried),
            _ => None,
        }
    }

    /// Whether nothing below it can be read, as long as it stands like this.
    ///
    /// Nobody can answer a pending comment; imports may bring one with answers all the same.
    #[must_use]
    pub const fn hides_below(self) -> bool {
        matches!(self, Self::Hidden | Self::Pending)
    }

    /// Applies a moderator's or author's act.
    pub const fn apply(self, act: StateAct) -> Result<Self, StateRefusal> {
        match (self, act) {
            (Self::Buried, _) => Err(StateRefusal::AlreadyDeleted),
            (_, StateAct::Bury) => Ok(Self::Buried),
            (Self::Hidden, StateAct::Hide | StateAct::Approve)
            | (Self::Published, StateAct::Restore | StateAct::Approve)
            | (Self::Pending, StateAct::Restore) => Err(StateRefusal::NoChange),
            (Self::Published | Self::Pending, StateAct::Hide) => Ok(Self::Hidden),
            (Self::Hidden, StateAct::Restore) | (Self::Pending, StateAct::Approve) => {
                Ok(Self::Published)
            }
        }
    }
}

/// A change of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateAct {
    /// A moderator takes it away.
    Hide,
    /// A moderator brings a hidden one back.
    Restore,
    /// A moderator lets a pending one through.
    Approve,
    /// Its author or a moderator deletes it for good.
    Bury,
}

/// Why an act changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateRefusal {
    /// The comment is buried, and that is final.
    AlreadyDeleted,
    /// The comment is already as the act would make it.
    NoChange,
}

/// A comment's row as stored, nothing redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its id; the time inside is when it was written.
    pub id: CommentId,
    /// Where it was written.
    pub discussion_id: DiscussionId,
    /// Who wrote it; [`UserId::NOBODY`] once buried.
    pub author_id: UserId,
    /// The source text; empty once buried.
    pub body: String,
    /// How the source text is written.
    pub format: BodyFormat,
    /// What it answers, if anything.
    pub parent_id: Option<CommentId>,
    /// Everything above it, root first; empty for a root.
    pub ancestors: Vec<CommentId>,
    /// When the text last changed, in milliseconds since 1970.
    pub edited_at_ms: Option<i64>,
    /// Grows by one with each change; edits name the one they saw.
    pub revision: u32,
    /// Where it stands.
    pub state: CommentState,
    /// For a buried row: whether something readable hangs below, so a tombstone is shown.
    pub live_below: bool,
}

impl Comment {
    /// Level below the root; 0 for a root.
    #[must_use]
    pub fn depth(&self) -> u16 {
        u16::try_from(self.ancestors.len()).unwrap_or(u16::MAX)
    }

    /// The root of its branch: itself, or its first ancestor.
    #[must_use]
    pub fn root_id(&self) -> CommentId {
        self.ancestors.first().copied().unwrap_or(self.id)
    }
}

/// The partition of the index a comment lies in: 0 for roots, else an ancestor.
///
/// With limit 1 every reply, however deep, lies in its root's branch.
#[must_use]
pub fn branch_of(ancestors: &[CommentId], depth_limit: u16) -> i64 {
    let level = ancestors.len().min(usize::from(depth_limit.max(1)));
    level
        .checked_sub(1)
        .and_then(|level| ancestors.get(level))
        .map_or(0, |id| id.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buried_is_final_and_repeats_change_nothing() {
        use CommentState::{Buried, Hidden, Pending, Published};
        use StateAct::{Approve, Bury, Hide, Restore};
        for act in [Hide, Restore, Approve, Bury] {
            assert_eq!(Buried.apply(act), Err(StateRefusal::AlreadyDeleted));
        }
        for (from, act, want) in [
            (Published, Hide, Ok(Hidden)),
            (Published, Restore, Err(StateRefusal::NoChange)),
            (Published, Approve, Err(StateRefusal::NoChange)),
            (Published, Bury, Ok(Buried)),
            (Pending, Hide, Ok(Hidden)),
            (Pending, Approve, Ok(Published)),
            (Pending, Restore, Err(StateRefusal::NoChange)),
            (Hidden, Hide, Err(StateRefusal::NoChange)),
            (Hidden, Restore, Ok(Published)),
            (Hidden, Bury, Ok(Buried)),
        ] {
            assert_eq!(from.apply(act), want, "{from:?} {act:?}");
        }
    }

    #[test]
    fn a_branch_is_the_root_under_limit_one_and_deeper_under_others() {
        let chain: Vec<CommentId> = [10, 20, 30].map(CommentId::new).to_vec();
        assert_eq!(branch_of(&[], 1), 0);
        assert_eq!(branch_of(&chain[..1], 1), 10);
        assert_eq!(branch_of(&chain, 1), 10);
        assert_eq!(branch_of(&chain[..1], 2), 10);
        assert_eq!(branch_of(&chain[..2], 2), 20);
        assert_eq!(branch_of(&chain, 2), 20);
        assert_eq!(branch_of(&chain, 9), 30);
    }
}
