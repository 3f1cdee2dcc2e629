//! Port `states` on SQLite (group "states"): the row, its mirror and its counts in one transaction.
//!
//! A removed state stays as a row that is marked deleted, so that a later change knows what was.
//! Every list and count is of one app; several may share a file.

mod change;

use async_trait::async_trait;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use self::change::stored;
use super::{Drift, SetOutcome, SetState, StateStore};
use crate::domain::states::{
    Actor, ActorType, Entity, EntityType, StateKey, StatePlace, StateRow, StateSlice,
};
use crate::store::StoreError;
use crate::store::driver::sqlite::{DuringOp as _, SqliteGroup};

/// States of one app in one file.
#[derive(Clone, Debug)]
pub struct SqliteStates {
    group: SqliteGroup,
    app: i64,
}

impl SqliteStates {
    /// The states of an app in an open group.
    pub fn new(group: SqliteGroup, app: u32) -> Self {
        Self {
            group,
            app: i64::from(app),
        }
    }
}

/// The lists differ in their tables, in what they are of and in their direction.
macro_rules! list_sql {
    ($table:literal, $of:literal, $other:literal, $direction:literal) => {
        concat!(
            "SELECT ",
            $other,
            "_id, is_deleted, state, amount, created_at, updated_at FROM ",
            $table,
            " WHERE app_id = ?1 AND ",
            $of,
            "_type = ?2 AND ",
            $of,
            "_id = ?3 AND ",
            $other,
            "_type = ?4 AND is_deleted = 0 AND (updated_at, ",
            $other,
            "_id) > (?5, ?6) \
             AND (updated_at, ",
            $other,
            "_id) < (?7, ?8) ORDER BY updated_at ",
            $direction,
            ", ",
            $other,
            "_id ",
            $direction,
            " LIMIT ?9"
        )
    };
}

const ACTORS_ASC: &str = list_sql!("states", "entity", "actor", "ASC");
const ACTORS_DESC: &str = list_sql!("states", "entity", "actor", "DESC");
const ENTITIES_ASC: &str = list_sql!("state_actors", "actor", "entity", "ASC");
const ENTITIES_DESC: &str = list_sql!("state_actors", "actor", "entity", "DESC");

impl SqliteStates {
    /// A part of a list: `(type, id)` of what it is of, and the type of what is listed.
    async fn list(
        &self,
        sql: &'static str,
        (of, id): (u16, i64),
        listed: u16,
        slice: StateSlice,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let first = StatePlace {
            updated_ms: i64::MIN,
            id: i64::MIN,
        };
        let last = StatePlace {
            updated_ms: i64::MAX,
            id: i64::MAX,
        };
        let (above, below) = (slice.above.unwrap_or(first), slice.below.unwrap_or(last));
        self.group.count(1);
        sqlx::query(sql)
            .bind(self.app)
            .bind(i64::from(of))
            .bind(id)
            .bind(i64::from(listed))
            .bind(above.updated_ms)
            .bind(above.id)
            .bind(below.updated_ms)
            .bind(below.id)
            .bind(i64::from(slice.limit))
            .fetch_all(self.group.readers())
            .await
            .during("states.list")
    }
}

#[async_trait]
impl StateStore for SqliteStates {
    async fn set(&self, change: SetState) -> Result<SetOutcome, StoreError> {
        let (app, clock) = (self.app, self.group.clock().clone());
        self.group
            .write("states.set", move |db| {
                Box::pin(async move { change::set(db, app, change, clock.now_ms()).await })
            })
            .await
    }

    async fn remove(&self, key: StateKey) -> Result<Option<StateRow>, StoreError> {
        let (app, clock) = (self.app, self.group.clock().clone());
        self.group
            .write("states.remove", move |db| {
                Box::pin(async move { change::remove(db, app, key, clock.now_ms()).await })
            })
            .await
    }

    async fn states(&self, keys: &[StateKey]) -> Result<Vec<StateRow>, StoreError> {
        const OP: &str = "states.states";
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let named: Vec<(u16, i64, u16, i64)> = keys
            .iter()
            .map(|key| {
                let (entity, actor) = (key.entity, key.actor);
                (entity.of.code(), entity.id, actor.of.code(), actor.id)
            })
            .collect();
        self.group.count(1);
        let found = sqlx::query(
            "SELECT h.key, s.is_deleted, s.state, s.amount, s.created_at, s.updated_at \
             FROM json_each(?1) h CROSS JOIN states s WHERE s.app_id = ?2 \
             AND s.entity_type = json_extract(h.value, '$[0]') \
             AND s.entity_id = json_extract(h.value, '$[1]') \
             AND s.actor_type = json_extract(h.value, '$[2]') \
             AND s.actor_id = json_extract(h.value, '$[3]') AND s.is_deleted = 0",
        )
        .bind(serde_json::to_string(&named).unwrap_or_default())
        .bind(self.app)
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        let mut states: Vec<StateRow> = Vec::with_capacity(found.len());
        for row in &found {
            let at: i64 = row.try_get(0).during(OP)?;
            let key = usize::try_from(at).ok().and_then(|at| keys.get(at));
            // A key that is asked for twice is answered once.
            if let Some(key) = key
                && states.iter().all(|seen| seen.key != *key)
            {
                states.push(stored(row, 1, *key)?.row);
            }
        }
        Ok(states)
    }

    async fn actors(
        &self,
        entity: Entity,
        of: ActorType,
        slice: StateSlice,
    ) -> Result<Vec<StateRow>, StoreError> {
        let sql = if slice.ascending {
            ACTORS_ASC
        } else {
            ACTORS_DESC
        };
        let whose = (entity.of.code(), entity.id);
        let rows = self.list(sql, whose, of.code(), slice).await?;
        rows.iter()
            .map(|row| {
                let id = row.try_get(0).during("states.actors")?;
                let actor = Actor { of, id };
                Ok(stored(row, 1, StateKey { entity, actor })?.row)
            })
            .collect()
    }

    async fn entities(
        &self,
        actor: Actor,
        of: EntityType,
        slice: StateSlice,
    ) -> Result<Vec<StateRow>, StoreError> {
        let sql = if slice.ascending {
            ENTITIES_ASC
        } else {
            ENTITIES_DESC
        };
        let whose = (actor.of.code(), actor.id);
        let rows = self.list(sql, whose, of.code(), slice).await?;
        rows.iter()
            .map(|row| {
                let id = row.try_get(0).during("states.entities")?;
                let entity = Entity { of, id };
                Ok(stored(row, 1, StateKey { entity, actor })?.row)
            })
            .collect()
    }

    async fn counts(&self, entities: &[Entity]) -> Result<Vec<(Entity, u16, i64)>, StoreError> {
        const OP: &str = "states.counts";
        if entities.is_empty() {
            return Ok(Vec::new());
        }
        let named: Vec<(u16, i64)> = entities
            .iter()
            .map(|entity| (entity.of.code(), entity.id))
            .collect();
        self.group.count(1);
        let found: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT h.key, c.state_or_bit, c.count FROM json_each(?1) h CROSS JOIN state_counts c \
             WHERE c.app_id = ?2 AND c.entity_type = json_extract(h.value, '$[0]') \
             AND c.entity_id = json_extract(h.value, '$[1]') AND c.count <> 0",
        )
        .bind(serde_json::to_string(&named).unwrap_or_default())
        .bind(self.app)
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        found
            .into_iter()
            .map(|(at, state, count)| {
                let entity = usize::try_from(at).ok().and_then(|at| entities.get(at));
                let state = u16::try_from(state).ok();
                let corrupt = || StoreError::corrupt("state_counts", at, "state_or_bit");
                entity
                    .zip(state)
                    .map(|(entity, state)| (*entity, state, count))
                    .ok_or_else(corrupt)
            })
            .collect()
    }

    async fn recount(&self, entity: Entity) -> Result<Vec<Drift>, StoreError> {
        let app = self.app;
        self.group
            .write("states.recount", move |db| {
                Box::pin(change::recount(db, app, entity))
            })
            .await
    }

    async fn forget_actor(
        &self,
        actor: Actor,
        of: EntityType,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let app = self.app;
        self.group
            .write("states.forget_actor", move |db| {
                Box::pin(async move {
                    let found = sqlx::query(
                        "SELECT entity_id, is_deleted, state, amount, created_at, updated_at \
                         FROM state_actors WHERE app_id = ? AND actor_type = ? AND actor_id = ? \
                         AND entity_type = ? LIMIT ?",
                    )
                    .bind(app)
                    .bind(i64::from(actor.of.code()))
                    .bind(actor.id)
                    .bind(i64::from(of.code()))
                    .bind(i64::from(limit))
                    .fetch_all(&mut *db)
                    .await
                    .during("states.forget_actor")?;
                    let rows = found.iter().map(|row| {
                        let id = row.try_get(0).during("states.forget_actor")?;
                        let entity = Entity { of, id };
                        stored(row, 1, StateKey { entity, actor })
                    });
                    let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
                    change::forget(db, app, rows).await
                })
            })
            .await
    }

    async fn forget_entity(&self, entity: Entity, limit: u32) -> Result<u64, StoreError> {
        let app = self.app;
        self.group
            .write("states.forget_entity", move |db| {
                Box::pin(async move {
                    let found = sqlx::query(
                        "SELECT actor_type, actor_id, is_deleted, state, amount, created_at, \
                         updated_at FROM states WHERE app_id = ? AND entity_type = ? \
                         AND entity_id = ? LIMIT ?",
                    )
                    .bind(app)
                    .bind(i64::from(entity.of.code()))
                    .bind(entity.id)
                    .bind(i64::from(limit))
                    .fetch_all(&mut *db)
                    .await
                    .during("states.forget_entity")?;
                    let rows = found.iter().map(|row| {
                        let of: i64 = row.try_get(0).during("states.forget_entity")?;
                        let of = u16::try_from(of).ok().ok_or_else(|| {
                            StoreError::corrupt("states", entity.id, "actor_type")
                        })?;
                        let actor = Actor {
                            of: ActorType::new(of),
                            id: row.try_get(1).during("states.forget_entity")?,
                        };
                        stored(row, 2, StateKey { entity, actor })
                    });
                    let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
                    change::forget(db, app, rows).await
                })
            })
            .await
    }
}
