//! Port `users`: profiles, and the mapping of token subjects to user ids.
//!
//! - **U1** a subject of an issuer is mapped once: every later call, from any instance, gets the first id;
//! - **U2** a name set is the name read; reading many is one call;
//! - **U3** a mapped id is never one that a numeric subject could claim (below 2^53).

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::ids::UserId;
use crate::domain::user::User;
use crate::store::StoreError;

pub mod sqlite;

/// Profiles and mapping.
#[async_trait]
pub trait UserStore: Send + Sync + Debug {
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
}
