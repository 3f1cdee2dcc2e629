//! The authors of an export as users: one user a source key, found again by every later run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use moka::sync::Cache;

use crate::domain::ids::UserId;
use crate::domain::ids::generator::{IdGenerator, MintError};
use crate::store::StoreError;
use crate::store::users::UserStore;

/// Authors kept in memory; any other is asked for again.
const CACHED_MAX: u64 = 20_000;
/// Authors asked for at once.
const TOGETHER: usize = 16;

/// Why an author has no user.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Mint(#[from] MintError),
}

/// Maps the authors of one source.
#[derive(Debug)]
pub(super) struct Authors {
    users: Arc<dyn UserStore>,
    ids: Arc<IdGenerator>,
    issuer: String,
    known: Cache<String, UserId>,
}

impl Authors {
    pub(super) fn new(users: Arc<dyn UserStore>, ids: Arc<IdGenerator>, source: &str) -> Self {
        Self {
            users,
            ids,
            issuer: format!("import:{source}"),
            known: Cache::new(CACHED_MAX),
        }
    }

    /// The users of `authors` (key and name), in their order. A name counts only for a new user.
    pub(super) async fn users(
        &self,
        authors: Vec<(String, String)>,
    ) -> Result<Vec<UserId>, AuthorError> {
        let mut unknown = BTreeMap::new();
        for (key, name) in &authors {
            if !self.known.contains_key(key) {
                unknown.entry(key.clone()).or_insert_with(|| name.clone());
            }
        }
        let found: HashMap<String, UserId> = stream::iter(unknown)
            .map(|(key, name)| self.ask(key, name))
            .buffer_unordered(TOGETHER)
            .try_collect()
            .await?;
        let mut users = Vec::with_capacity(authors.len());
        for (key, name) in authors {
            let known = found.get(&key).copied().or_else(|| self.known.get(&key));
            users.push(match known {
                Some(user) => user,
                // Pushed out of memory since: asked for alone.
                None => self.ask(key, name).await?.1,
            });
        }
        for (key, user) in found {
            self.known.insert(key, user);
        }
        Ok(users)
    }

    /// Gives names to users who have no profile here. Who has one keeps it.
    pub(super) async fn keep(&self, users: Vec<(UserId, String)>) -> Result<(), AuthorError> {
        let named: BTreeMap<UserId, String> = users
            .into_iter()
            .filter(|(id, name)| *id != UserId::NOBODY && !name.is_empty())
            .collect();
        let ids: Vec<UserId> = named.keys().copied().collect();
        let found = self.users.users(&ids).await?;
        let known: HashSet<UserId> = found.iter().map(|user| user.id).collect();
        stream::iter(named)
            .filter(|(id, _)| std::future::ready(!known.contains(id)))
            .map(|(id, name)| async move { self.users.set_name(id, &name).await })
            .buffer_unordered(TOGETHER)
            .try_collect::<()>()
            .await?;
        Ok(())
    }

    async fn ask(&self, key: String, name: String) -> Result<(String, UserId), AuthorError> {
        let candidate = UserId::new(self.ids.mint()?);
        let user = self
            .users
            .map_subject(&self.issuer, &key, candidate, &name)
            .await?;
        Ok((key, user))
    }
}
