//! A discussion: its row, its index state, and what decides whether threads can be served.

use std::sync::Arc;

use super::counts::DiscussionCounts;
use super::ids::{CommentId, DiscussionId};

/// Whether people may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiscussionState {
    /// New comments are welcome.
    Open,
    /// Read only.
    Closed,
}

impl DiscussionState {
    /// The stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Open => 0,
            Self::Closed => 1,
        }
    }

    /// Reads a stored number; `None` for one that was never written.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Open),
            1 => Some(Self::Closed),
            _ => None,
        }
    }
}

/// One arrangement of the index: its number and how deep branches nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Counts up from 1 within a discussion; never reused.
    pub number: u32,
    /// Levels below which replies no longer open a branch of their own; 1 is "roots and replies".
    pub depth_limit: u16,
    /// Whether every comment of the discussion has its row in this layout, as the store knows.
    pub complete: bool,
}

/// A discussion's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// Its id.
    pub id: DiscussionId,
    /// Shown to people; may be empty.
    pub title: String,
    /// Canonical address of what is discussed, if it has one.
    pub url: Option<String>,
    /// Type and id of what is discussed, if it is a thing of the product.
    pub entity: Option<(String, String)>,
    /// Whether people may write.
    pub state: DiscussionState,
    /// New comments wait for a moderator.
    pub premoderated: bool,
    /// The layout that reads use.
    pub layout: Layout,
    /// A layout being built, or the last one used, kept for going back.
    pub other_layout: Option<Layout>,
    /// Comments up to this one are counted in the other layout's branches; its build moves it on.
    pub other_counted_to: CommentId,
    /// Set before the first hide: only then do pages look at ancestors' states.
    pub has_hidden: bool,
    /// Pinned comments in their order, whether or not they can still be read.
    pub pinned: Arc<[CommentId]>,
    /// How many comments it has, by kind.
    pub counts: DiscussionCounts,
}

/// The key a canonical address claims.
#[must_use]
pub fn url_key(canonical: &str) -> String {
    format!("url:{canonical}")
}

/// The key a thing of the product claims; no two things share one.
///
/// A colon within the type is escaped: without that, (`a:b`, `c`) and (`a`, `b:c`) would read alike.
#[must_use]
pub fn entity_key(entity_type: &str, entity_id: &str) -> String {
    let entity_type = entity_type.replace('%', "%25").replace(':', "%3A");
    format!("entity:{entity_type}:{entity_id}")
}

/// How far an unindexed comment's id may lie behind the moment it becomes readable, in ms, on an
/// engine that cannot order a build against a write.
///
/// A create gives up 10 s after its id's time and clocks are at most 20 s apart, so after 60 s no
/// write from before a build can still appear behind it.
pub const INDEX_MARGIN_MS: i64 = 60_000;

/// Whether a layout holds every comment: its build began more than `margin_ms` after the last
/// comment that was written without an index row, or there never was such a comment.
///
/// Only the first layout is filled by writes from the start; any other is complete only once built.
#[must_use]
pub fn index_complete(layout: u32, built_from: i64, unindexed_id: i64, margin_ms: i64) -> bool {
    let margin = margin_ms << super::ids::TIME_SHIFT;
    built_from.saturating_sub(margin) > unindexed_id || (unindexed_id == 0 && layout == 1)
}

#[cfg(test)]
mod tests {
    use super::super::ids::first_id_of_ms;
    use super::*;

    fn complete(layout: u32, built_ms: i64, unindexed_ms: i64) -> bool {
        let (built, unindexed) = (first_id_of_ms(built_ms), first_id_of_ms(unindexed_ms));
        index_complete(layout, built, unindexed, INDEX_MARGIN_MS)
    }

    #[test]
    fn complete_means_built_a_minute_after_the_last_unindexed_comment() {
        assert!(complete(1, 0, 0), "indexed from its first comment on");
        assert!(!complete(1, 0, 1_000_000));
        assert!(!complete(1, 1_060_000, 1_000_000));
        assert!(complete(1, 1_060_001, 1_000_000));
        assert!(
            !complete(1, 1_060_001, 2_000_000),
            "written without index since"
        );
    }

    #[test]
    fn a_second_layout_is_complete_only_once_built() {
        assert!(!complete(2, 0, 0));
        assert!(complete(2, 1_000_000, 0));
    }
}
