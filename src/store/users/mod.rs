//! Port `users`: profiles, the mapping of token subjects to user ids, bans, and erasures asked for.
//!
//! - **U1** a subject of an issuer is mapped once: every later call, from any instance, gets the first id;
//! - **U2** a name set is the name read; reading many is one call;
//! - **U3** a mapped id is never one that a numeric subject could claim (below 2^53);
//! - **U4** the latest entry of a person is what tells whether they are banned, on every instance;
//! - **U5** entries of bans are only added; the same one again changes nothing;
//! - **U6** entries are listed by their ids, in both directions, each once, by person or by actor;
//! - **U7** a forgotten person has no name and no sign-in; the same subject is somebody new later;
//! - **U8** an erasure that was asked for stays listed until it is done, and its steps only go forward;
//! - **U9** after a scrub nothing of what was deleted is left in the store's files.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::bans::BanEntry;
use crate::domain::ids::UserId;
use crate::domain::page::Slice;
use crate::domain::user::User;
use crate::store::StoreError;

pub mod sqlite;

/// A person's way of signing in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignIn {
    /// Who vouches for them.
    pub issuer: String,
    /// Their name there.
    pub subject: String,
}

/// Profiles and mapping; with what else is kept of people, everything the port can do.
#[async_trait]
pub trait UserStore: UserBans + UserErasures {
    /// The users that have a profile among `ids`, in no particular order.
    async fn users(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// The id of a subject; `candidate` (minted) becomes it when the subject is new (U1, U3).
    /// A new user gets `name`; an existing one keeps theirs.
    async fn map_subject(
        &self,
        issuer: &str,
        subject: &str,
        candidate: UserId,
        name: &str,
    ) -> Result<UserId, StoreError>;

    /// Creates or renames a profile.
    async fn set_name(&self, id: UserId, name: &str) -> Result<(), StoreError>;

    /// The subjects that are mapped to a person, in order. A numeric subject is mapped to nobody.
    async fn sign_ins(&self, id: UserId) -> Result<Vec<SignIn>, StoreError>;

    /// Empties a person's name and unmaps their subjects (U7).
    async fn forget(&self, id: UserId) -> Result<(), StoreError>;
}

/// Which entries of bans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BanFilter {
    /// Only of this person.
    pub user: Option<UserId>,
    /// Only by this moderator.
    pub by: Option<UserId>,
}

/// Bans.
#[async_trait]
pub trait UserBans: Send + Sync + Debug {
    /// Adds an entry (U5).
    async fn add_ban(&self, entry: BanEntry) -> Result<(), StoreError>;

    /// The latest entry of each of some people who have any, in no particular order (U4).
    async fn latest_bans(&self, ids: &[UserId]) -> Result<Vec<BanEntry>, StoreError>;

    /// Entries by their event ids, which the slice's bounds stand for (U6).
    async fn bans(&self, filter: BanFilter, slice: Slice) -> Result<Vec<BanEntry>, StoreError>;
}

/// An erasure of somebody's data that was asked for. Times are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Whose data.
    pub user_id: UserId,
    /// When it was asked for.
    pub asked_ms: i64,
    /// Since when nothing of it can be read any more.
    pub emptied_ms: Option<i64>,
    /// Since when nothing of it is left in the stores' files.
    pub done_ms: Option<i64>,
}

/// How far an erasure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureStep {
    /// Nothing can be read any more.
    Emptied,
    /// Nothing is left in the files.
    Done,
}

/// Erasures.
#[async_trait]
pub trait UserErasures: Send + Sync + Debug {
    /// Notes that a person asked, or gives what was noted before. One that is done begins anew.
    async fn ask_erasure(&self, id: UserId) -> Result<Erasure, StoreError>;

    /// What is noted of a person.
    async fn erasure(&self, id: UserId) -> Result<Option<Erasure>, StoreError>;

    /// Notes a step. A step that was noted before keeps its time (U8).
    async fn step_erasure(&self, id: UserId, step: ErasureStep) -> Result<(), StoreError>;

    /// Those that are not done, oldest first, up to `limit` (U8).
    async fn open_erasures(&self, limit: u32) -> Result<Vec<Erasure>, StoreError>;

    /// Leaves nothing of what was deleted in the store's files (U9). Costs as much as copying
    /// them; writes wait meanwhile.
    async fn scrub(&self) -> Result<(), StoreError>;
}
