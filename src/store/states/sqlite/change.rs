//! What changes do to a row, its mirror and its counts, each inside the writer's transaction.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::domain::states::{Entity, StateKey, StateRow};
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::states::{Drift, Expected, SetOutcome, SetState};

/// A row as stored, which may be a removed one.
pub(super) struct Stored {
    pub(super) row: StateRow,
    is_deleted: bool,
}

/// `is_deleted, state, amount, created_at, updated_at` from column `at` on.
pub(super) fn stored(row: &SqliteRow, at: usize, key: StateKey) -> Result<Stored, StoreError> {
    const OP: &str = "states.row";
    let state: i64 = row.try_get(at + 1).during(OP)?;
    let state = u16::try_from(state)
        .ok()
        .ok_or_else(|| StoreError::corrupt("states", format!("{key:?}"), "state"))?;
    let is_deleted: i64 = row.try_get(at).during(OP)?;
    Ok(Stored {
        row: StateRow {
            key,
            state,
            amount: row.try_get(at + 2).during(OP)?,
            created_ms: row.try_get(at + 3).during(OP)?,
            updated_ms: row.try_get(at + 4).during(OP)?,
        },
        is_deleted: is_deleted != 0,
    })
}

async fn load(
    db: &mut SqliteConnection,
    app: i64,
    key: StateKey,
) -> Result<Option<Stored>, StoreError> {
    let found = sqlx::query(
        "SELECT is_deleted, state, amount, created_at, updated_at FROM states \
         WHERE app_id = ? AND entity_type = ? AND entity_id = ? AND actor_type = ? AND actor_id = ?",
    )
    .bind(app)
    .bind(i64::from(key.entity.of.code()))
    .bind(key.entity.id)
    .bind(i64::from(key.actor.of.code()))
    .bind(key.actor.id)
    .fetch_optional(db)
    .await
    .during("states.load")?;
    found.map(|row| stored(&row, 0, key)).transpose()
}

/// Writes a row and its mirror.
async fn store(
    db: &mut SqliteConnection,
    app: i64,
    row: &StateRow,
    is_deleted: bool,
) -> Result<(), StoreError> {
    const ROW: &str = "INSERT OR REPLACE INTO states (app_id, entity_type, entity_id, actor_type, \
         actor_id, is_deleted, state, amount, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    const MIRROR: &str = "INSERT OR REPLACE INTO state_actors (app_id, entity_type, entity_id, \
         actor_type, actor_id, is_deleted, state, amount, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    for sql in [ROW, MIRROR] {
        sqlx::query(sql)
            .bind(app)
            .bind(i64::from(row.key.entity.of.code()))
            .bind(row.key.entity.id)
            .bind(i64::from(row.key.actor.of.code()))
            .bind(row.key.actor.id)
            .bind(i64::from(is_deleted))
            .bind(i64::from(row.state))
            .bind(row.amount)
            .bind(row.created_ms)
            .bind(row.updated_ms)
            .execute(&mut *db)
            .await
            .during("states.store")?;
    }
    Ok(())
}

/// Adds to the counts of an entity: what `before` counted under goes, what `after` does comes.
async fn count(
    db: &mut SqliteConnection,
    app: i64,
    entity: Entity,
    before: Option<u16>,
    after: Option<u16>,
) -> Result<(), StoreError> {
    const OP: &str = "states.count";
    let of = |state: Option<u16>| state.map_or_else(Vec::new, |state| entity.of.counted(state));
    let (before, after) = (of(before), of(after));
    let change = |sql, state: u16| {
        sqlx::query(sql)
            .bind(app)
            .bind(i64::from(entity.of.code()))
            .bind(entity.id)
            .bind(i64::from(state))
    };
    for state in before.iter().filter(|one| !after.contains(one)) {
        let taken = change(
            "UPDATE state_counts SET count = count - 1 WHERE app_id = ? AND entity_type = ? \
             AND entity_id = ? AND state_or_bit = ? AND count > 0",
            *state,
        )
        .execute(&mut *db)
        .await
        .during(OP)?;
        if taken.rows_affected() == 0 {
            // The rows say one and the count none: it is not clamped but counted anew.
            return Err(StoreError::corrupt("state_counts", entity.id, "count"));
        }
    }
    for state in after.iter().filter(|one| !before.contains(one)) {
        change(
            "INSERT INTO state_counts (app_id, entity_type, entity_id, state_or_bit, count) \
             VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1",
            *state,
        )
        .execute(&mut *db)
        .await
        .during(OP)?;
    }
    Ok(())
}

async fn is_full(
    db: &mut SqliteConnection,
    app: i64,
    change: &SetState,
) -> Result<bool, StoreError> {
    let Some(most) = change.entities_max else {
        return Ok(false);
    };
    let here: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM (SELECT 1 FROM state_actors WHERE app_id = ? AND actor_type = ? \
         AND actor_id = ? AND entity_type = ? AND is_deleted = 0 LIMIT ?)",
    )
    .bind(app)
    .bind(i64::from(change.key.actor.of.code()))
    .bind(change.key.actor.id)
    .bind(i64::from(change.key.entity.of.code()))
    .bind(i64::from(most))
    .fetch_one(db)
    .await
    .during("states.set")?;
    Ok(here >= i64::from(most))
}

/// Puts an actor into a state, inside the writer's transaction.
pub(super) async fn set(
    db: &mut SqliteConnection,
    app: i64,
    change: SetState,
    now_ms: i64,
) -> Result<SetOutcome, StoreError> {
    let old = load(db, app, change.key).await?;
    let live = old
        .as_ref()
        .and_then(|old| (!old.is_deleted).then_some(old.row));
    // First whether it is so already: a repeated change finds its own result, not what it expected.
    if let Some(row) = live
        && row.state == change.state
        && row.amount == change.amount
    {
        return Ok(SetOutcome::Same(row));
    }
    let is_expected = match change.expected {
        Expected::Anything => true,
        Expected::Nothing => live.is_none(),
        Expected::State(state) => live.is_some_and(|row| row.state == state),
    };
    if !is_expected {
        return Ok(SetOutcome::Unexpected(live));
    }
    if live.is_none() && is_full(db, app, &change).await? {
        return Ok(SetOutcome::Full);
    }
    // A clock that stepped back does not move a row back in its lists.
    let updated_ms = old.map_or(now_ms, |old| old.row.updated_ms.max(now_ms));
    let row = StateRow {
        key: change.key,
        state: change.state,
        amount: change.amount,
        created_ms: live.map_or(updated_ms, |row| row.created_ms),
        updated_ms,
    };
    store(db, app, &row, false).await?;
    let before = live.map(|row| row.state);
    count(db, app, change.key.entity, before, Some(change.state)).await?;
    Ok(SetOutcome::Changed(row))
}

/// Takes an actor out of a state, inside the writer's transaction.
pub(super) async fn remove(
    db: &mut SqliteConnection,
    app: i64,
    key: StateKey,
    now_ms: i64,
) -> Result<Option<StateRow>, StoreError> {
    let Some(old) = load(db, app, key).await?.filter(|old| !old.is_deleted) else {
        return Ok(None);
    };
    let gone = StateRow {
        updated_ms: old.row.updated_ms.max(now_ms),
        ..old.row
    };
    store(db, app, &gone, true).await?;
    count(db, app, key.entity, Some(old.row.state), None).await?;
    Ok(Some(old.row))
}

/// Counts an entity's rows and mends its counts, inside the writer's transaction.
pub(super) async fn recount(
    db: &mut SqliteConnection,
    app: i64,
    entity: Entity,
) -> Result<Vec<Drift>, StoreError> {
    const OP: &str = "states.recount";
    let (of, id) = (i64::from(entity.of.code()), entity.id);
    let rows: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT state, count(*) FROM states WHERE app_id = ? AND entity_type = ? \
         AND entity_id = ? AND is_deleted = 0 GROUP BY state",
    )
    .bind(app)
    .bind(of)
    .bind(id)
    .fetch_all(&mut *db)
    .await
    .during(OP)?;
    let kept: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT state_or_bit, count FROM state_counts \
         WHERE app_id = ? AND entity_type = ? AND entity_id = ?",
    )
    .bind(app)
    .bind(of)
    .bind(id)
    .fetch_all(&mut *db)
    .await
    .during(OP)?;
    let narrow = |state: i64| {
        u16::try_from(state)
            .ok()
            .ok_or_else(|| StoreError::corrupt("states", id, "state"))
    };
    let mut counts: HashMap<u16, (i64, i64)> = HashMap::new();
    for (state, stored) in kept {
        counts.entry(narrow(state)?).or_default().0 = stored;
    }
    for (state, rows) in rows {
        for one in entity.of.counted(narrow(state)?) {
            counts.entry(one).or_default().1 += rows;
        }
    }
    let mut drifts = Vec::new();
    for (state, (stored, counted)) in counts {
        if stored == counted {
            continue;
        }
        sqlx::query("INSERT OR REPLACE INTO state_counts VALUES (?, ?, ?, ?, ?)")
            .bind(app)
            .bind(of)
            .bind(id)
            .bind(i64::from(state))
            .bind(counted)
            .execute(&mut *db)
            .await
            .during(OP)?;
        drifts.push(Drift {
            state,
            stored,
            counted,
        });
    }
    Ok(drifts)
}

/// Removes rows with their mirrors and counts.
pub(super) async fn forget(
    db: &mut SqliteConnection,
    app: i64,
    rows: Vec<Stored>,
) -> Result<u64, StoreError> {
    const OP: &str = "states.forget";
    const ROW: &str = "DELETE FROM states WHERE app_id = ? AND entity_type = ? \
         AND entity_id = ? AND actor_type = ? AND actor_id = ?";
    const MIRROR: &str = "DELETE FROM state_actors WHERE app_id = ? AND entity_type = ? \
         AND entity_id = ? AND actor_type = ? AND actor_id = ?";
    const ZEROS: &str = "DELETE FROM state_counts WHERE app_id = ? AND entity_type = ? \
         AND entity_id = ? AND count = 0";
    let forgotten = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    for Stored { row, is_deleted } in rows {
        let (entity, actor) = (row.key.entity, row.key.actor);
        for sql in [ROW, MIRROR] {
            sqlx::query(sql)
                .bind(app)
                .bind(i64::from(entity.of.code()))
                .bind(entity.id)
                .bind(i64::from(actor.of.code()))
                .bind(actor.id)
                .execute(&mut *db)
                .await
                .during(OP)?;
        }
        if !is_deleted {
            count(db, app, entity, Some(row.state), None).await?;
        }
        sqlx::query(ZEROS)
            .bind(app)
            .bind(i64::from(entity.of.code()))
            .bind(entity.id)
            .execute(&mut *db)
            .await
            .during(OP)?;
    }
    Ok(forgotten)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::SqliteStates;
    use super::*;
    use crate::domain::clock::Clock;
    use crate::domain::ids::UserId;
    use crate::store::driver::sqlite::SqliteGroup;
    use crate::store::states::StateStore as _;
    use crate::tasks::Tasks;

    const MIGRATIONS: &[&str] = &[
        include_str!("../../../../deploy/sql/sqlite/states_0001.sql"),
        include_str!("../../../../deploy/sql/sqlite/states_0002.sql"),
    ];

    async fn damage(group: &SqliteGroup, to: i64) -> Result<(), StoreError> {
        let damaged = group.write("test", move |db| {
            let set = sqlx::query("UPDATE state_counts SET count = ?").bind(to);
            Box::pin(async move { set.execute(db).await.during("test").map(drop) })
        });
        damaged.await
    }

    #[tokio::test]
    async fn drift_is_found_and_mended_and_never_goes_below_zero() {
        let root = tempfile::tempdir().unwrap();
        let (tasks, clock) = (Tasks::new(), Clock::manual(1_800_000_000_000));
        let file = root.path().join("s.db");
        let group = SqliteGroup::open(&file, MIGRATIONS, clock, &tasks).await;
        let group = group.unwrap();
        let states = SqliteStates::new(group.clone(), 1);
        let key = StateKey::block(UserId::new(1), UserId::new(2));
        let change = SetState {
            key,
            state: 1,
            amount: 0,
            expected: Expected::Anything,
            entities_max: None,
        };
        states.set(change).await.unwrap();
        damage(&group, 7).await.unwrap();
        let drift = Drift {
            state: 1,
            stored: 7,
            counted: 1,
        };
        assert_eq!(states.recount(key.entity).await.unwrap(), [drift]);
        assert_eq!(states.recount(key.entity).await.unwrap(), []);
        damage(&group, 0).await.unwrap();
        // A change that would make a count negative is refused as a whole.
        states.remove(key).await.unwrap_err();
        assert!(states.state(key).await.unwrap().is_some());
        states.recount(key.entity).await.unwrap();
        assert!(states.remove(key).await.unwrap().is_some());
        assert_eq!(states.counts(&[key.entity]).await.unwrap(), []);
        assert!(tasks.shutdown(Duration::from_mins(1)).await);
    }
}
