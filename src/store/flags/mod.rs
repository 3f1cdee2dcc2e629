//! The port of feature flags: where the live set comes from.
//!
//! Promises, kept by every engine:
//!
//! - F1 `snapshot` never waits and never fails: it gives a whole set of one moment. Two reads of one
//!   snapshot agree; a request takes one and keeps it.
//! - F2 A change is swapped in as a whole: nobody sees half of one revision.
//! - F3 A flag that becomes broken keeps its last good definition; the others go on changing. One that
//!   is broken at start is absent. Both are listed in `health` until they are mended.
//! - F4 A flag that is deleted is gone; put back, also with the same bytes, it is there again.
//! - F5 State wins over a definition's initial values for the fields it names, and may come before or
//!   outlive the flag.
//! - F6 The revision grows by one with each change that evaluation can see, and only then; within one
//!   process it never goes back.
//! - F7 When the source cannot be read, the last set is served on, and `health` says since when.
//! - F8 A change at the source is live without a restart.

pub mod folder;

use std::fmt::Debug;
use std::sync::Arc;

use crate::domain::flags::FlagSet;

/// A source of flags, held as `Arc<dyn FlagStore>`.
pub trait FlagStore: Send + Sync + Debug {
    /// The live set. Cheap: a pointer is copied.
    fn snapshot(&self) -> Arc<FlagSet>;

    /// How well the live set follows its source.
    fn health(&self) -> FlagsHealth;
}

/// How well the live set follows its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagsHealth {
    /// Of the live set.
    pub revision: u64,
    /// How many flags are live.
    pub flags: usize,
    /// What was rejected and is not as its source says, in a fixed order.
    pub rejected: Vec<RejectedFlag>,
    /// Milliseconds since the source was last read in full; it grows while it cannot be.
    pub stale_ms: u64,
    /// Why the source cannot be read now, if it cannot.
    pub source_error: Option<String>,
}

impl FlagsHealth {
    /// Whether everything is as the source says.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.rejected.is_empty() && self.source_error.is_none()
    }
}

/// A definition or state that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RejectedFlag {
    /// The file or key it stands in, as an operator would look for it.
    pub place: String,
    /// What is wrong, with the line or the field and the limit.
    pub error: String,
    /// Whether an earlier good definition is served meanwhile; otherwise the flag is absent, or runs
    /// in its initial state.
    pub keeps_last_good: bool,
}
