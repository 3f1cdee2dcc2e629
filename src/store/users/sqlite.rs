//! Port `users` on SQLite (group "states").

use async_trait::async_trait;
use sqlx::Row as _;

use super::UserStore;
use crate::domain::ids::UserId;
use crate::domain::user::{NUMERIC_SUBJECT_END, User};
use crate::store::driver::sqlite::{Migration, SqliteGroup, failed};
use crate::store::{StoreError, StoreErrorKind};

/// The schema of the group, step by step.
pub const MIGRATIONS: &[Migration] = &[include_str!("../../../deploy/sql/sqlite/states_0001.sql")];

const USERS: &str =
    "SELECT user_id, name FROM users WHERE user_id IN (SELECT value FROM json_each(?))";

/// Users in one file.
#[derive(Clone, Debug)]
pub struct SqliteUsers {
    group: SqliteGroup,
}

impl SqliteUsers {
    /// Users in an open group.
    pub fn new(group: SqliteGroup) -> Self {
        Self { group }
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
        let wanted = serde_json::to_string(ids).unwrap_or_default();
        self.group.count(1);
        let rows = sqlx::query(USERS)
            .bind(wanted)
            .fetch_all(self.group.readers())
            .await
            .map_err(|e| failed(OP, e))?;
        rows.iter()
            .map(|row| {
                Ok(User {
                    id: UserId::new(row.try_get(0).map_err(|e| failed(OP, e))?),
                    name: row.try_get(1).map_err(|e| failed(OP, e))?,
                })
            })
            .collect()
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
        self.group
            .write(OP, move |db| {
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
        self.group
            .write(OP, move |db| {
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
            })
            .await
    }
}
