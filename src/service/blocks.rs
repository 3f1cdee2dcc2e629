//! Blocks between people: whom a reader does not want to see.
//!
//! What follows for comments is decided in [`visibility`](crate::domain::visibility); here the set
//! of blocked people is kept and changed. It is read once a request at most, only for those who are
//! signed in, and only when comments are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::sync::Cache;

use super::writing::signed_in;
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::ids::UserId;
use crate::domain::page::PageArgs;
use crate::domain::states::{
    Actor, BLOCKED, BLOCKS, StateKey, StatePlace, StateRow, StateSlice, decode_place, encode_place,
};
use crate::domain::user::User;
use crate::domain::viewer::Role;
use crate::domain::visibility::Reader;
use crate::store::states::{Expected, SetOutcome, SetState};

/// People whom one person may block.
pub const BLOCKS_MAX: u32 = 1_000;
/// How long a set is not looked at again; another instance may have changed it.
const KNOWN_FOR: Duration = Duration::from_mins(1);
/// Ids of blocked people kept in memory, over all sets.
const KNOWN_IDS_MAX: u64 = 1_000_000;

/// Sets of blocked people that were read lately.
#[derive(Clone, Debug)]
pub(super) struct KnownBlocks {
    sets: Cache<UserId, Arc<HashSet<UserId>>>,
    /// Changes by this process: what was read before one is not kept after it.
    changes: Arc<AtomicU64>,
}

impl Default for KnownBlocks {
    fn default() -> Self {
        let weigh = |_: &UserId, set: &Arc<HashSet<UserId>>| {
            u32::try_from(set.len() + 4).unwrap_or(u32::MAX)
        };
        Self {
            sets: Cache::builder()
                .max_capacity(KNOWN_IDS_MAX)
                .weigher(weigh)
                .time_to_live(KNOWN_FOR)
                .build(),
            changes: Arc::default(),
        }
    }
}

impl KnownBlocks {
    fn keep(&self, blocker: UserId, set: &Arc<HashSet<UserId>>, changes: u64) {
        let is_current = || self.changes.load(Ordering::SeqCst) == changes;
        if is_current() {
            self.sets.insert(blocker, Arc::clone(set));
            // A change between the look and the insert found nothing to forget.
            if !is_current() {
                self.sets.invalidate(&blocker);
            }
        }
    }

    /// Nothing that was read before now is used again.
    pub(super) fn forget(&self, blocker: UserId) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.sets.invalidate(&blocker);
    }
}

/// Forgets a set when a change is over, whatever became of it, also when nobody waits for it.
struct Changing<'a>(&'a KnownBlocks, UserId);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// Why somebody is not blocked, banned or the like, though nothing is wrong with the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonRefusal {
    /// One cannot do this to oneself.
    Yourself,
    /// The viewer blocks as many people as they may.
    TooManyBlocked {
        /// People whom one may block.
        limit: u32,
    },
}

/// A page of people whom the viewer blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockedPage {
    /// The people and their cursors, blocked last first.
    pub people: Vec<(User, String)>,
    /// Whether somebody comes before.
    pub has_previous: bool,
    /// Whether somebody comes after.
    pub has_next: bool,
}

impl Service {
    /// Whom a person blocks, as this instance knows: at most a minute old, and never older than
    /// what this instance changed.
    pub async fn blocked_by(&self, blocker: UserId) -> ServiceResult<Arc<HashSet<UserId>>> {
        if let Some(known) = self.blocks.sets.get(&blocker) {
            return Ok(known);
        }
        let changes = self.blocks.changes.load(Ordering::SeqCst);
        let all = StateSlice {
            above: None,
            below: None,
            ascending: false,
            limit: BLOCKS_MAX,
        };
        let states = &self.ports.states;
        let rows = states.entities(Actor::person(blocker), BLOCKS, all).await?;
        let set: HashSet<UserId> = rows
            .iter()
            .map(|row| UserId::new(row.key.entity.id))
            .collect();
        let set = Arc::new(set);
        self.blocks.keep(blocker, &set, changes);
        Ok(set)
    }

    /// Whom the request's reader blocks; read once a request.
    pub async fn blocked(&self, request: &Request) -> ServiceResult<Arc<HashSet<UserId>>> {
        let mut blocked = request.blocked.lock().await;
        if let Some(blocked) = &*blocked {
            return Ok(Arc::clone(blocked));
        }
        let found = match request.viewer {
            None => Arc::default(),
            Some(viewer) => self.blocked_by(viewer.user_id).await?,
        };
        *blocked = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Who reads. There is no other way to a view of a comment, so none forgets the blocks.
    pub async fn reader(&self, request: &Request) -> ServiceResult<Reader> {
        // Moderators see through their own blocks, so these need not be known.
        let blocked = if request.role() >= Role::Moderator {
            Arc::default()
        } else {
            self.blocked(request).await?
        };
        Ok(Reader::new(request.viewer, blocked))
    }

    /// Blocks or unblocks somebody. Repeating it changes nothing.
    pub async fn set_block(
        &self,
        request: &Request,
        whom: UserId,
        is_blocked: bool,
    ) -> ServiceResult<Result<User, PersonRefusal>> {
        let viewer = signed_in(request)?;
        if whom == viewer.user_id {
            return Ok(Err(PersonRefusal::Yourself));
        }
        if whom == UserId::NOBODY {
            return Err(ServiceError::bad_input("user", "there is no such user"));
        }
        let key = StateKey::block(viewer.user_id, whom);
        let states = &self.ports.states;
        {
            let _changing = Changing(&self.blocks, viewer.user_id);
            if is_blocked {
                let change = SetState {
                    key,
                    state: BLOCKED,
                    amount: 0,
                    expected: Expected::Anything,
                    entities_max: Some(BLOCKS_MAX),
                };
                if states.set(change).await? == SetOutcome::Full {
                    let limit = BLOCKS_MAX;
                    return Ok(Err(PersonRefusal::TooManyBlocked { limit }));
                }
            } else {
                states.remove(key).await?;
            }
        }
        *request.blocked.lock().await = None;
        Ok(Ok(self.person(whom).await?))
    }

    /// One profile; somebody without one has an empty name.
    pub async fn person(&self, id: UserId) -> ServiceResult<User> {
        let mut found = self.users(&[id]).await?;
        let name = String::new();
        Ok(found.remove(&id).unwrap_or(User { id, name }))
    }

    /// Whom the viewer blocks, latest first.
    pub async fn blocked_page(
        &self,
        request: &Request,
        args: &PageArgs<String>,
    ) -> ServiceResult<BlockedPage> {
        let viewer = signed_in(request)?;
        let place = |field, text: Option<&str>| -> ServiceResult<Option<StatePlace>> {
            let read = |text| decode_place(text, BLOCKS, viewer.user_id.get());
            let bad = |error| ServiceError::bad_input(field, error);
            text.map(read).transpose().map_err(bad)
        };
        let (after, before) = (
            place("after", args.after.as_deref())?,
            place("before", args.before.as_deref())?,
        );
        // Only the sizes; the places are of another kind than comments'.
        let sizes = self.sized(args, None, None)?;
        let slice = StateSlice {
            // Latest first: what comes after is earlier.
            above: before,
            below: after,
            ascending: sizes.from_end,
            limit: sizes.limit.saturating_add(1),
        };
        let actor = Actor::person(viewer.user_id);
        let states = &self.ports.states;
        let mut rows = states.entities(actor, BLOCKS, slice).await?;
        let wanted = usize::try_from(sizes.limit).unwrap_or(usize::MAX);
        let more = rows.len() > wanted;
        rows.truncate(wanted);
        let (mut has_previous, has_next) = if sizes.from_end {
            rows.reverse();
            (more, before.is_some())
        } else {
            (after.is_some(), more)
        };
        if let Some(keep) = sizes.keep_last {
            let cut = rows
                .len()
                .saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
            rows.drain(..cut);
            has_previous |= cut > 0;
        }
        let ids: Vec<UserId> = rows
            .iter()
            .map(|row| UserId::new(row.key.entity.id))
            .collect();
        let mut names: HashMap<UserId, User> = self.users(&ids).await?;
        let people = rows.iter().map(|row| {
            let id = UserId::new(row.key.entity.id);
            let name = String::new();
            let user = names.remove(&id).unwrap_or(User { id, name });
            (
                user,
                encode_place(place_of(row), BLOCKS, viewer.user_id.get()),
            )
        });
        Ok(BlockedPage {
            people: people.collect(),
            has_previous,
            has_next,
        })
    }
}

fn place_of(row: &StateRow) -> StatePlace {
    StatePlace {
        updated_ms: row.updated_ms,
        id: row.key.entity.id,
    }
}
