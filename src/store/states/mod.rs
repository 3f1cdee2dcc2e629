//! Port `states`: who is in which state towards what; likes, votes, follows and blocks are states.
//!
//! A row is named by entity and actor and seen from both sides. Promises, each a conformance case
//! of the same name; every engine keeps all of them:
//!
//! - **S1** the counts equal the rows after every interleaving of changes;
//! - **S2** a change repeated is one change: it counts once and moves no time;
//! - **S3** no count is ever negative; a recount finds what drifted and mends it;
//! - **S4** a change that expects a state is done only from that state;
//! - **S5** a state set is the state read, one by one and many at once, until it is removed;
//! - **S6** the lists of an entity's actors and of an actor's entities hold each live row once, by
//!   the time of its last change, in both directions and page by page;
//! - **S7** an actor is never in a state towards more entities of a type than the change allows;
//! - **S8** what is forgotten leaves no row behind, live or removed, and no count.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::states::{Actor, ActorType, Entity, EntityType, StateKey, StateRow, StateSlice};
use crate::store::StoreError;

pub mod sqlite;

/// Whether a change depends on how things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It does not.
    Anything,
    /// Only if the actor is in no state.
    Nothing,
    /// Only if the actor is in this one.
    State(u16),
}

/// A state to be in.
#[derive(Clone, Copy, Debug)]
pub struct SetState {
    /// Who, towards what.
    pub key: StateKey,
    /// The state afterwards, whatever it was.
    pub state: u16,
    /// The amount afterwards.
    pub amount: i64,
    /// How things must stand.
    pub expected: Expected,
    /// Entities of this type that the actor may be in a state towards; `None`: any number.
    pub entities_max: Option<u32>,
}

/// What a change gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// Done.
    Changed(StateRow),
    /// It already was so; nothing was written.
    Same(StateRow),
    /// It was not as expected but like this; nothing was written.
    Unexpected(Option<StateRow>),
    /// The actor is in a state towards as many entities as they may; nothing was written.
    Full,
}

/// A count that its rows contradicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The value or the number of the bit.
    pub state: u16,
    /// What was stored.
    pub stored: i64,
    /// What there is.
    pub counted: i64,
}

/// States. Every change is one atomic write of the row, its mirror and its counts.
#[async_trait]
pub trait StateStore: Send + Sync + Debug {
    /// Puts an actor into a state (S2, S4, S7).
    async fn set(&self, change: SetState) -> Result<SetOutcome, StoreError>;

    /// Takes an actor out of the state they are in: gives it, or `None` if there was none (S2).
    async fn remove(&self, key: StateKey) -> Result<Option<StateRow>, StoreError>;

    /// The live states among `keys`, in no particular order (S5). One call.
    async fn states(&self, keys: &[StateKey]) -> Result<Vec<StateRow>, StoreError>;

    /// The live state under one key.
    async fn state(&self, key: StateKey) -> Result<Option<StateRow>, StoreError> {
        Ok(self.states(&[key]).await?.pop())
    }

    /// Which actors of a type are in a state towards an entity, by time (S6).
    async fn actors(
        &self,
        entity: Entity,
        of: ActorType,
        slice: StateSlice,
    ) -> Result<Vec<StateRow>, StoreError>;

    /// Towards which entities of a type somebody is in a state, by time (S6).
    async fn entities(
        &self,
        actor: Actor,
        of: EntityType,
        slice: StateSlice,
    ) -> Result<Vec<StateRow>, StoreError>;

    /// How many are in each state, or have each bit, towards some entities; zeros are left out. In
    /// no particular order (S1). One call.
    async fn counts(&self, entities: &[Entity]) -> Result<Vec<(Entity, u16, i64)>, StoreError>;

    /// Counts an entity's rows anew and mends what is stored (S3).
    async fn recount(&self, entity: Entity) -> Result<Vec<Drift>, StoreError>;

    /// Removes up to `limit` rows of an actor towards entities of a type for good. Returns how
    /// many; 0: all are gone (S8).
    async fn forget_actor(
        &self,
        actor: Actor,
        of: EntityType,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// As [`Self::forget_actor`], for the rows of everybody towards an entity.
    async fn forget_entity(&self, entity: Entity, limit: u32) -> Result<u64, StoreError>;
}
