//! Port `walks`: who works on which part of a table, and how far they are.
//!
//! A walk goes once over a table, cut into ranges; any number of workers in any number of processes
//! lease ranges, store how far they are, and go on where another one ended. What a worker found is
//! its tally: text of its own that is stored with the place it stands for, so that it is exact
//! however often work is repeated. Promises:
//!
//! - **K1** a range is leased to one worker at a time; the one that lost it can store nothing more;
//! - **K2** a checkpoint and its tally are stored as one, and neither goes back;
//! - **K3** a range given back, or whose lease ran out, is leased again from its last checkpoint;
//! - **K4** opening a walk that is under way joins it; with other settings that is refused; one that
//!   ended begins anew;
//! - **K5** a walk has ended when every range has, and its tallies stay until it begins anew.

pub mod sqlite;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::keys::KeyRange;
use crate::store::StoreError;

/// A walk to begin or join.
#[derive(Clone, Debug)]
pub struct WalkPlan {
    /// Which job: at most one walk of a name is under way.
    pub name: String,
    /// What it was asked to do, as text; walks with other settings are not joined.
    pub settings: String,
    /// The ranges, if it begins now.
    pub ranges: Vec<KeyRange>,
}

/// What opening a walk gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It began, as this run of its name.
    Begun(i64),
    /// It was under way and goes on.
    Joined(i64),
    /// One with these other settings is under way.
    Other(String),
}

/// A leased range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeLease {
    /// The walk's name.
    pub walk: String,
    /// Which run of it.
    pub run: i64,
    /// Which range, from 0.
    pub part: u32,
    /// Its keys.
    pub range: KeyRange,
    /// The last key that is done; `None` before the first.
    pub done_to: Option<i64>,
    /// What was found up to there.
    pub tally: String,
    /// Grows with every lease of the range: an older one is void.
    pub epoch: i64,
}

/// How a walk stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStatus {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub settings: String,
    /// Which run of its name.
    pub run: i64,
    /// When it began, in ms since 1970.
    pub began_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How many ranges it has.
    pub parts: u32,
    /// How many are done.
    pub done: u32,
    /// How many are leased now.
    pub leased: u32,
    /// What was found in each range that was begun.
    pub tallies: Vec<String>,
}

/// Walks and their ranges.
#[async_trait]
pub trait WalkStore: Send + Sync + Debug {
    /// Begins a walk or joins the one under way (K4). `anew`: whatever is under way is given up.
    async fn open(&self, plan: WalkPlan, anew: bool) -> Result<Opening, StoreError>;

    /// Leases a range of a run that nobody works on for `ttl_ms`, the first one first. `None`: there
    /// is none now; whether the walk has ended, [`WalkStore::walks`] tells.
    async fn lease(
        &self,
        walk: &str,
        run: i64,
        owner: &str,
        ttl_ms: i64,
    ) -> Result<Option<RangeLease>, StoreError>;

    /// Stores how far a range is and prolongs its lease by `ttl_ms` from now. `false`: the lease was
    /// lost, and nothing was stored (K1).
    async fn checkpoint(
        &self,
        lease: &RangeLease,
        done_to: Option<i64>,
        tally: &str,
        ttl_ms: i64,
    ) -> Result<bool, StoreError>;

    /// Stores that a range is done. `false`: the lease was lost. The last one ends the walk (K5).
    async fn finish(&self, lease: &RangeLease, tally: &str) -> Result<bool, StoreError>;

    /// Gives a range back; it is leased again from its last checkpoint.
    async fn release(&self, lease: &RangeLease) -> Result<(), StoreError>;

    /// Every walk, by name.
    async fn walks(&self) -> Result<Vec<WalkStatus>, StoreError>;
}
