//! Bans: rows that are only added.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::SqliteUsers;
use super::known::Moment;
use crate::domain::bans::{BanAct, BanEntry};
use crate::domain::ids::{CommentId, EventId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::users::{BanFilter, UserBans};

const BANNED: i64 = 0;
const LIFTED: i64 = 1;

macro_rules! list_sql {
    ($direction:literal) => {
        concat!(
            "SELECT event_id, user_id, by_id, at_ms, kind, until_ms, reason FROM bans \
             WHERE event_id > ?1 AND event_id < ?2 AND (?3 IS NULL OR user_id = ?3) \
             AND (?4 IS NULL OR by_id = ?4) ORDER BY event_id ",
            $direction,
            " LIMIT ?5"
        )
    };
}

fn entry(row: &SqliteRow) -> Result<BanEntry, StoreError> {
    const OP: &str = "users.bans";
    let event_id: i64 = row.try_get(0).during(OP)?;
    let kind: i64 = row.try_get(4).during(OP)?;
    let until_ms = row.try_get(5).during(OP)?;
    Ok(BanEntry {
        event_id: EventId::new(event_id),
        user_id: UserId::new(row.try_get(1).during(OP)?),
        by: UserId::new(row.try_get(2).during(OP)?),
        at_ms: row.try_get(3).during(OP)?,
        act: match kind {
            BANNED => BanAct::Ban { until_ms },
            LIFTED => BanAct::Lift,
            _ => return Err(StoreError::corrupt("bans", event_id, "kind")),
        },
        reason: row.try_get(6).during(OP)?,
    })
}

#[async_trait]
impl UserBans for SqliteUsers {
    async fn add_ban(&self, new: BanEntry) -> Result<(), StoreError> {
        const OP: &str = "users.add_ban";
        let (known, banned) = (self.bans.clone(), new.user_id);
        self.group
            .write_then(
                OP,
                move || known.forget(banned),
                move |db| {
                    Box::pin(async move {
                        let (kind, until_ms) = match new.act {
                            BanAct::Ban { until_ms } => (BANNED, until_ms),
                            BanAct::Lift => (LIFTED, None),
                        };
                        sqlx::query(
                            "INSERT INTO bans (user_id, event_id, kind, by_id, at_ms, until_ms, \
                             reason) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        )
                        .bind(new.user_id.get())
                        .bind(new.event_id.get())
                        .bind(kind)
                        .bind(new.by.get())
                        .bind(new.at_ms)
                        .bind(until_ms)
                        .bind(&new.reason)
                        .execute(db)
                        .await
                        .during(OP)
                        .map(drop)
                    })
                },
            )
            .await
    }

    async fn latest_bans(&self, ids: &[UserId]) -> Result<Vec<BanEntry>, StoreError> {
        const OP: &str = "users.latest_bans";
        let foreign = self.group.foreign_writes();
        let mut found = Vec::new();
        let mut missing: HashMap<UserId, Moment> = HashMap::new();
        for id in ids {
            let moment = self.bans.moment(*id, foreign);
            match self.bans.get(moment) {
                Some(known) => found.extend(known.map(|entry| entry.as_ref().clone())),
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
        let rows = sqlx::query(
            "SELECT b.event_id, b.user_id, b.by_id, b.at_ms, b.kind, b.until_ms, b.reason \
             FROM json_each(?) h CROSS JOIN bans b WHERE b.user_id = h.value AND b.event_id = \
             (SELECT max(event_id) FROM bans WHERE user_id = h.value)",
        )
        .bind(serde_json::to_string(&wanted).unwrap_or_default())
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        for row in &rows {
            let entry = entry(row)?;
            if let Some(moment) = missing.remove(&entry.user_id) {
                self.bans.keep(moment, Some(Arc::new(entry.clone())));
                found.push(entry);
            }
        }
        for moment in missing.into_values() {
            self.bans.keep(moment, None);
        }
        Ok(found)
    }

    async fn bans(&self, filter: BanFilter, slice: Slice) -> Result<Vec<BanEntry>, StoreError> {
        let sql = if slice.ascending {
            list_sql!("ASC")
        } else {
            list_sql!("DESC")
        };
        self.group.count(1);
        let rows = sqlx::query(sql)
            .bind(slice.above.map_or(i64::MIN, CommentId::get))
            .bind(slice.below.map_or(i64::MAX, CommentId::get))
            .bind(filter.user.map(UserId::get))
            .bind(filter.by.map(UserId::get))
            .bind(i64::from(slice.limit))
            .fetch_all(self.group.readers())
            .await
            .during("users.bans")?;
        rows.iter().map(entry).collect()
    }
}
