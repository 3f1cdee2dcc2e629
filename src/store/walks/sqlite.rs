//! Port `walks` on SQLite (group "comments"): one row a walk, one a range.

use async_trait::async_trait;
use sqlx::{Row as _, SqliteConnection};

use super::{Opening, RangeLease, WalkPlan, WalkStatus, WalkStore};
use crate::domain::keys::KeyRange;
use crate::store::StoreError;
use crate::store::driver::sqlite::{DuringOp as _, SqliteGroup};

/// Walks in one file.
#[derive(Clone, Debug)]
pub struct SqliteWalks {
    group: SqliteGroup,
}

impl SqliteWalks {
    /// Walks in an open group.
    pub fn new(group: SqliteGroup) -> Self {
        Self { group }
    }
}

async fn open(
    db: &mut SqliteConnection,
    plan: WalkPlan,
    anew: bool,
    now_ms: i64,
) -> Result<Opening, StoreError> {
    const OP: &str = "walks.open";
    let last: Option<(String, i64, Option<i64>)> =
        sqlx::query_as("SELECT settings, run, ended_ms FROM walks WHERE name = ?")
            .bind(&plan.name)
            .fetch_optional(&mut *db)
            .await
            .during(OP)?;
    let last_run = last.as_ref().map_or(0, |(_, run, _)| *run);
    match last {
        Some((settings, run, None)) if !anew => {
            return Ok(if settings == plan.settings {
                Opening::Joined(run)
            } else {
                Opening::Other(settings)
            });
        }
        Some(_) | None => {}
    }
    // What workers of an older run still hold is void: its ranges are gone.
    sqlx::query("DELETE FROM walk_ranges WHERE walk = ?")
        .bind(&plan.name)
        .execute(&mut *db)
        .await
        .during(OP)?;
    let run = last_run + 1;
    sqlx::query(
        "INSERT OR REPLACE INTO walks (name, settings, run, began_ms, ended_ms) \
         VALUES (?, ?, ?, ?, NULL)",
    )
    .bind(&plan.name)
    .bind(&plan.settings)
    .bind(run)
    .bind(now_ms)
    .execute(&mut *db)
    .await
    .during(OP)?;
    for (range, part) in plan.ranges.iter().zip(0_i64..) {
        sqlx::query(
            "INSERT INTO walk_ranges (walk, run, part, from_key, to_key) VALUES (?, ?, ?, ?, ?)",
        )
        .bind(&plan.name)
        .bind(run)
        .bind(part)
        .bind(range.from)
        .bind(range.to)
        .execute(&mut *db)
        .await
        .during(OP)?;
    }
    Ok(Opening::Begun(run))
}

async fn lease(
    db: &mut SqliteConnection,
    (walk, run): (&str, i64),
    owner: &str,
    now_ms: i64,
    ttl_ms: i64,
) -> Result<Option<RangeLease>, StoreError> {
    const OP: &str = "walks.lease";
    let leased = sqlx::query(
        "UPDATE walk_ranges SET owner = ?1, until_ms = ?2, epoch = epoch + 1 \
         WHERE walk = ?3 AND run = ?5 AND part = (SELECT part FROM walk_ranges \
           WHERE walk = ?3 AND run = ?5 AND is_done = 0 AND until_ms <= ?4 ORDER BY part LIMIT 1) \
         RETURNING part, from_key, to_key, done_to, tally, epoch",
    )
    .bind(owner)
    .bind(now_ms.saturating_add(ttl_ms))
    .bind(walk)
    .bind(now_ms)
    .bind(run)
    .fetch_optional(db)
    .await
    .during(OP)?;
    let Some(row) = leased else {
        return Ok(None);
    };
    let part: i64 = row.try_get(0).during(OP)?;
    Ok(Some(RangeLease {
        walk: walk.to_owned(),
        run,
        part: u32::try_from(part)
            .map_err(|_negative| StoreError::corrupt("walk_ranges", part, "part"))?,
        range: KeyRange {
            from: row.try_get(1).during(OP)?,
            to: row.try_get(2).during(OP)?,
        },
        done_to: row.try_get(3).during(OP)?,
        tally: row.try_get(4).during(OP)?,
        epoch: row.try_get(5).during(OP)?,
    }))
}

/// Ends the walk if no range is left.
async fn end_if_done(db: &mut SqliteConnection, walk: &str, now_ms: i64) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE walks SET ended_ms = ? WHERE name = ? AND ended_ms IS NULL \
         AND NOT EXISTS (SELECT 1 FROM walk_ranges WHERE walk = name AND is_done = 0)",
    )
    .bind(now_ms)
    .bind(walk)
    .execute(db)
    .await
    .during("walks.finish")?;
    Ok(())
}

#[async_trait]
impl WalkStore for SqliteWalks {
    async fn open(&self, plan: WalkPlan, anew: bool) -> Result<Opening, StoreError> {
        let clock = self.group.clock().clone();
        self.group
            .write("walks.open", move |db| {
                Box::pin(async move { open(db, plan, anew, clock.now_ms()).await })
            })
            .await
    }

    async fn lease(
        &self,
        walk: &str,
        run: i64,
        owner: &str,
        ttl_ms: i64,
    ) -> Result<Option<RangeLease>, StoreError> {
        let (walk, owner) = (walk.to_owned(), owner.to_owned());
        let clock = self.group.clock().clone();
        self.group
            .write("walks.lease", move |db| {
                Box::pin(
                    async move { lease(db, (&walk, run), &owner, clock.now_ms(), ttl_ms).await },
                )
            })
            .await
    }

    async fn checkpoint(
        &self,
        lease: &RangeLease,
        done_to: Option<i64>,
        tally: &str,
        ttl_ms: i64,
    ) -> Result<bool, StoreError> {
        const OP: &str = "walks.checkpoint";
        let (lease, tally) = (lease.clone(), tally.to_owned());
        let clock = self.group.clock().clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    // A lease that ran out but was taken by nobody is still this worker's.
                    let stored = sqlx::query(
                        "UPDATE walk_ranges SET done_to = ?1, tally = ?2, until_ms = ?3 \
                         WHERE walk = ?4 AND run = ?7 AND part = ?5 AND epoch = ?6 AND is_done = 0 \
                         AND (done_to IS NULL OR done_to <= ?1)",
                    )
                    .bind(done_to)
                    .bind(tally)
                    .bind(clock.now_ms().saturating_add(ttl_ms))
                    .bind(&lease.walk)
                    .bind(i64::from(lease.part))
                    .bind(lease.epoch)
                    .bind(lease.run)
                    .execute(db)
                    .await
                    .during(OP)?;
                    Ok(stored.rows_affected() == 1)
                })
            })
            .await
    }

    async fn finish(&self, lease: &RangeLease, tally: &str) -> Result<bool, StoreError> {
        const OP: &str = "walks.finish";
        let (lease, tally) = (lease.clone(), tally.to_owned());
        let clock = self.group.clock().clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    let stored = sqlx::query(
                        "UPDATE walk_ranges SET done_to = to_key, tally = ?, is_done = 1, \
                         until_ms = 0 \
                         WHERE walk = ? AND run = ? AND part = ? AND epoch = ? AND is_done = 0",
                    )
                    .bind(tally)
                    .bind(&lease.walk)
                    .bind(lease.run)
                    .bind(i64::from(lease.part))
                    .bind(lease.epoch)
                    .execute(&mut *db)
                    .await
                    .during(OP)?;
                    let is_stored = stored.rows_affected() == 1;
                    if is_stored {
                        end_if_done(db, &lease.walk, clock.now_ms()).await?;
                    }
                    Ok(is_stored)
                })
            })
            .await
    }

    async fn release(&self, lease: &RangeLease) -> Result<(), StoreError> {
        const OP: &str = "walks.release";
        let lease = lease.clone();
        self.group
            .write(OP, move |db| {
                Box::pin(async move {
                    // The epoch grows too: who gave a range back may not store into it any more.
                    sqlx::query(
                        "UPDATE walk_ranges SET until_ms = 0, epoch = epoch + 1 \
                         WHERE walk = ? AND run = ? AND part = ? AND epoch = ?",
                    )
                    .bind(&lease.walk)
                    .bind(lease.run)
                    .bind(i64::from(lease.part))
                    .bind(lease.epoch)
                    .execute(db)
                    .await
                    .during(OP)?;
                    Ok(())
                })
            })
            .await
    }

    async fn walks(&self) -> Result<Vec<WalkStatus>, StoreError> {
        const OP: &str = "walks.walks";
        self.group.count(1);
        let now_ms = self.group.clock().now_ms();
        let rows = sqlx::query(
            "SELECT w.name, w.settings, w.began_ms, w.ended_ms, r.is_done, r.until_ms, r.tally, w.run \
             FROM walks w LEFT JOIN walk_ranges r ON r.walk = w.name AND r.run = w.run ORDER BY w.name, r.part",
        )
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        let mut walks: Vec<WalkStatus> = Vec::new();
        for row in &rows {
            let name: String = row.try_get(0).during(OP)?;
            if walks.last().is_none_or(|last| last.name != name) {
                walks.push(WalkStatus {
                    name,
                    settings: row.try_get(1).during(OP)?,
                    run: row.try_get(7).during(OP)?,
                    began_ms: row.try_get(2).during(OP)?,
                    ended_ms: row.try_get(3).during(OP)?,
                    parts: 0,
                    done: 0,
                    leased: 0,
                    tallies: Vec::new(),
                });
            }
            let is_done: Option<i64> = row.try_get(4).during(OP)?;
            let until_ms: Option<i64> = row.try_get(5).during(OP)?;
            let tally: Option<String> = row.try_get(6).during(OP)?;
            if let (Some(walk), Some(is_done)) = (walks.last_mut(), is_done) {
                walk.parts += 1;
                walk.done += u32::from(is_done != 0);
                walk.leased += u32::from(is_done == 0 && until_ms.is_some_and(|ms| ms > now_ms));
                walk.tallies.extend(tally.filter(|tally| !tally.is_empty()));
            }
        }
        Ok(walks)
    }
}
