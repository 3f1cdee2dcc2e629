//! Port `users` on SQLite (group "states").
//!
//! Profiles stand beside every comment, and whether somebody is banned before everything they
//! write, so what was read lately of people is kept in memory (`known`).

mod bans;
mod erasures;
mod known;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{Row as _, SqliteConnection};

use self::known::{Known, Moment};
use super::{SignIn, UserStore};
use crate::domain::bans::BanEntry;
use crate::domain::ids::UserId;
use crate::domain::user::{NUMERIC_SUBJECT_END, User};
use crate::store::driver::sqlite::{Migration, SqliteGroup, failed};
use crate::store::{StoreError, StoreErrorKind};

/// The schema of the group, step by step.
pub const MIGRATIONS: &[Migration] = &[
    include_str!("../../../../deploy/sql/sqlite/states_0001.sql"),
    include_str!("../../../../deploy/sql/sqlite/states_0002.sql"),
];

const USERS: &str =
    "SELECT user_id, name FROM users WHERE user_id IN (SELECT value FROM json_each(?))";

/// Bytes of profiles kept in memory unless said otherwise.
const CACHE_BYTES: u64 = 8 << 20;
/// Bans get this part of the memory for profiles.
const BANS_PART: u64 = 4;

/// Users in one file.
#[derive(Clone, Debug)]
pub struct SqliteUsers {
    group: SqliteGroup,
    known: Known<Profile>,
    bans: Known<Option<Arc<BanEntry>>>,
}

/// What was read of a user.
#[derive(Clone, Debug)]
enum Profile {
    Named(Arc<str>),
    Missing,
}

impl SqliteUsers {
    /// Users in an open group.
    pub fn new(group: SqliteGroup) -> Self {
        Self::with_cache(group, CACHE_BYTES)
    }

    /// As [`Self::new`], with so many bytes of profiles in memory; 0 keeps none.
    pub fn with_cache(group: SqliteGroup, bytes: u64) -> Self {
        Self {
            group,
            known: Known::new(bytes, |profile| match profile {
                Profile::Named(name) => name.len(),
                Profile::Missing => 0,
            }),
            bans: Known::new(bytes / BANS_PART, |entry| {
                entry.as_ref().map_or(0, |entry| entry.reason.len() + 100)
            }),
        }
    }

    /// Runs the statement of [`UserStore::users`] and leaves its rows unread: what a measurement
    /// compares pages with. Returns how many rows there are.
    pub async fn bare_users(&self, ids: &[UserId]) -> Result<usize, StoreError> {
        let rows = sqlx::query(USERS)
            .bind(serde_json::to_string(ids).unwrap_or_default())
            .fetch_all(self.group.readers())
            .await
            .map_err(|e| failed("users.users", e))?;
        Ok(rows.len())
    }
}

#[async_trait]
impl UserStore for SqliteUsers {
    async fn users(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        const OP: &str = "users.users";
        let foreign = self.group.foreign_writes();
        let mut found = Vec::with_capacity(ids.len());
        let mut missing: HashMap<UserId, Moment> = HashMap::new();
        for id in ids {
            let moment = self.known.moment(*id, foreign);
            match self.known.get(moment) {
                Some(Profile::Named(name)) => found.push(User {
                    id: *id,
                    name: name.as_ref().to_owned(),
                }),
                Some(Profile::Missing) => {}
                None => {
                    missing.insert(*id, moment);
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let wanted: Vec<UserId> = missing.keys().copied().collect();
        self.group.count(1);
        let rows = sqlx::query(USERS)
            .bind(serde_json::to_string(&wanted).unwrap_or_default())
            .fetch_all(self.group.readers())
            .await
            .map_err(|e| failed(OP, e))?;
        for row in &rows {
            let user = User {
                id: UserId::new(row.try_get(0).map_err(|e| failed(OP, e))?),
                name: row.try_get(1).map_err(|e| failed(OP, e))?,
            };
            if let Some(moment) = missing.remove(&user.id) {
                let name = Arc::from(user.name.as_str());
                self.known.keep(moment, Profile::Named(name));
            }
            found.push(user);
        }
        for moment in missing.into_values() {
            self.known.keep(moment, Profile::Missing);
        }
        Ok(found)
    }

    async fn map_subject(
        &self,
        issuer: &str,
        subject: &str,
        candidate: UserId,
        name: &str,
    ) -> Result<UserId, StoreError> {
        const OP: &str = "users.map_subject";
        const FIND: &str = "SELECT user_id FROM user_subjects WHERE issuer = ? AND subject = ?";
        if candidate.get() < NUMERIC_SUBJECT_END {
            let cause = "the candidate is an id that a numeric subject may claim";
            return Err(StoreError::new(OP, StoreErrorKind::Limit, cause));
        }
        self.group.count(1);
        let known: Option<i64> = sqlx::query_scalar(FIND)
            .bind(issuer)
            .bind(subject)
            .fetch_optional(self.group.readers())
            .await
            .map_err(|e| failed(OP, e))?;
        if let Some(known) = known {
            return Ok(UserId::new(known));
        }
        let (issuer, subject, name) = (issuer.to_owned(), subject.to_owned(), name.to_owned());
        let known = self.known.clone();
        self.group
            .write_then(OP, move || known.forget(candidate), move |db| {
                Box::pin(async move {
                    let claimed = sqlx::query(
                        "INSERT INTO user_subjects (issuer, subject, user_id) VALUES (?, ?, ?) \
                         ON CONFLICT DO NOTHING",
                    )
                    .bind(&issuer)
                    .bind(&subject)
                    .bind(candidate.get())
                    .execute(&mut *db)
                    .await
                    .map_err(|e| failed(OP, e))?
                    .rows_affected();
                    if claimed == 1 {
                        sqlx::query("INSERT INTO users (user_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING")
                            .bind(candidate.get())
                            .bind(&name)
                            .execute(&mut *db)
                            .await
                            .map_err(|e| failed(OP, e))?;
                        return Ok(candidate);
                    }
                    let first: i64 = sqlx::query_scalar(FIND)
                        .bind(&issuer)
                        .bind(&subject)
                        .fetch_one(&mut *db)
                        .await
                        .map_err(|e| failed(OP, e))?;
                    Ok(UserId::new(first))
                })
            })
            .await
    }

    async fn set_name(&self, id: UserId, name: &str) -> Result<(), StoreError> {
        const OP: &str = "users.set_name";
        let name = name.to_owned();
        let known = self.known.clone();
        self.group
            .write_then(
                OP,
                move || known.forget(id),
                move |db| {
                    Box::pin(async move {
                        sqlx::query(
                            "INSERT INTO users (user_id, name) VALUES (?, ?) \
                         ON CONFLICT (user_id) DO UPDATE SET name = excluded.name",
                        )
                        .bind(id.get())
                        .bind(&name)
                        .execute(&mut *db)
                        .await
                        .map_err(|e| failed(OP, e))?;
                        Ok(())
                    })
                },
            )
            .await
    }

    async fn sign_ins(&self, id: UserId) -> Result<Vec<SignIn>, StoreError> {
        self.group.count(1);
        let found: Vec<(String, String)> = sqlx::query_as(
            "SELECT issuer, subject FROM user_subjects WHERE user_id = ? ORDER BY issuer, subject",
        )
        .bind(id.get())
        .fetch_all(self.group.readers())
        .await
        .map_err(|e| failed("users.sign_ins", e))?;
        let sign_ins = found.into_iter();
        Ok(sign_ins
            .map(|(issuer, subject)| SignIn { issuer, subject })
            .collect())
    }

    async fn forget(&self, id: UserId) -> Result<(), StoreError> {
        let known = self.known.clone();
        self.group
            .write_then(
                "users.forget",
                move || known.forget(id),
                move |db| Box::pin(forget(db, id)),
            )
            .await
    }
}

async fn forget(db: &mut SqliteConnection, id: UserId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM user_subjects WHERE user_id = ?",
        "UPDATE users SET name = '' WHERE user_id = ? AND name <> ''",
    ] {
        sqlx::query(sql)
            .bind(id.get())
            .execute(&mut *db)
            .await
            .map_err(|e| failed("users.forget", e))?;
    }
    Ok(())
}
