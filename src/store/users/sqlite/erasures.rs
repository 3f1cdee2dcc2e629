//! Erasures that were asked for: one row a person.

use async_trait::async_trait;

use super::SqliteUsers;
use crate::domain::ids::UserId;
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::users::{Erasure, ErasureStep, UserErasures};

const ONE: &str = "SELECT user_id, asked_ms, emptied_ms, done_ms FROM erasures WHERE user_id = ?";

type Row = (i64, i64, Option<i64>, Option<i64>);

fn erasure((user, asked_ms, emptied_ms, done_ms): Row) -> Erasure {
    Erasure {
        user_id: UserId::new(user),
        asked_ms,
        emptied_ms,
        done_ms,
    }
}

#[async_trait]
impl UserErasures for SqliteUsers {
    async fn ask_erasure(&self, id: UserId) -> Result<Erasure, StoreError> {
        const OP: &str = "users.ask_erasure";
        let clock = self.group.clock().clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    sqlx::query(
                        "INSERT INTO erasures (user_id, asked_ms) VALUES (?, ?) \
                         ON CONFLICT (user_id) DO UPDATE SET asked_ms = excluded.asked_ms, \
                         emptied_ms = NULL, done_ms = NULL WHERE emptied_ms IS NOT NULL",
                    )
                    .bind(id.get())
                    .bind(clock.now_ms())
                    .execute(&mut *db)
                    .await
                    .during(OP)?;
                    let row: Row = sqlx::query_as(ONE)
                        .bind(id.get())
                        .fetch_one(db)
                        .await
                        .during(OP)?;
                    Ok(erasure(row))
                })
            })
            .await
    }

    async fn erasure(&self, id: UserId) -> Result<Option<Erasure>, StoreError> {
        self.group.count(1);
        let found: Option<Row> = sqlx::query_as(ONE)
            .bind(id.get())
            .fetch_optional(self.group.readers())
            .await
            .during("users.erasure")?;
        Ok(found.map(erasure))
    }

    async fn step_erasure(&self, id: UserId, step: ErasureStep) -> Result<(), StoreError> {
        const OP: &str = "users.step_erasure";
        let sql = match step {
            ErasureStep::Emptied => {
                "UPDATE erasures SET emptied_ms = coalesce(emptied_ms, ?2) WHERE user_id = ?1"
            }
            ErasureStep::Done => {
                "UPDATE erasures SET emptied_ms = coalesce(emptied_ms, ?2), \
                 done_ms = coalesce(done_ms, ?2) WHERE user_id = ?1"
            }
        };
        let clock = self.group.clock().clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    sqlx::query(sql)
                        .bind(id.get())
                        .bind(clock.now_ms())
                        .execute(db)
                        .await
                        .during(OP)
                        .map(drop)
                })
            })
            .await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.group.scrub("users.scrub").await
    }

    async fn open_erasures(&self, limit: u32) -> Result<Vec<Erasure>, StoreError> {
        self.group.count(1);
        let found: Vec<Row> = sqlx::query_as(
            "SELECT user_id, asked_ms, emptied_ms, done_ms FROM erasures \
             WHERE done_ms IS NULL ORDER BY asked_ms, user_id LIMIT ?",
        )
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("users.open_erasures")?;
        Ok(found.into_iter().map(erasure).collect())
    }
}
