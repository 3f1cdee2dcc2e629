-- States towards things, seen from both sides, with their counts; and bans.

CREATE TABLE states (
  app_id          INTEGER NOT NULL,
  entity_type     INTEGER NOT NULL,
  entity_id       INTEGER NOT NULL,
  actor_type      INTEGER NOT NULL,
  actor_id        INTEGER NOT NULL,
  is_deleted      INTEGER NOT NULL,
  state           INTEGER NOT NULL,            -- 16 bits: one value, or a set of bits
  amount          INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (app_id, entity_type, entity_id, actor_type, actor_id)
) WITHOUT ROWID;
CREATE INDEX states_by_time
  ON states (app_id, entity_type, entity_id, is_deleted, actor_type, updated_at, actor_id);

-- The same rows by actor, written in the same transaction.
CREATE TABLE state_actors (
  app_id          INTEGER NOT NULL,
  actor_type      INTEGER NOT NULL,
  actor_id        INTEGER NOT NULL,
  entity_type     INTEGER NOT NULL,
  entity_id       INTEGER NOT NULL,
  is_deleted      INTEGER NOT NULL,
  state           INTEGER NOT NULL,
  amount          INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (app_id, actor_type, actor_id, entity_type, entity_id)
) WITHOUT ROWID;
CREATE INDEX state_actors_by_time
  ON state_actors (app_id, actor_type, actor_id, entity_type, is_deleted, updated_at, entity_id);

CREATE TABLE state_counts (
  app_id          INTEGER NOT NULL,
  entity_type     INTEGER NOT NULL,
  entity_id       INTEGER NOT NULL,
  state_or_bit    INTEGER NOT NULL,
  count           INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (app_id, entity_type, entity_id, state_or_bit)
) WITHOUT ROWID;

-- Append-only: the latest entry of a person decides. kind 0: banned, 1: lifted.
CREATE TABLE bans (
  user_id         INTEGER NOT NULL,
  event_id        INTEGER NOT NULL,
  kind            INTEGER NOT NULL,
  by_id           INTEGER NOT NULL,
  at_ms           INTEGER NOT NULL,
  until_ms        INTEGER,                     -- NULL: for ever
  reason          TEXT    NOT NULL,
  PRIMARY KEY (user_id, event_id)
) WITHOUT ROWID;
CREATE INDEX bans_by_event ON bans (event_id);

-- Who asked for their data to be erased, and how far that is.
CREATE TABLE erasures (
  user_id         INTEGER PRIMARY KEY,
  asked_ms        INTEGER NOT NULL,
  emptied_ms      INTEGER,                     -- nothing of it can be read any more
  done_ms         INTEGER                      -- nor is it left in the files
);
CREATE INDEX erasures_open ON erasures (asked_ms) WHERE done_ms IS NULL;

-- A person's sign-ins, asked when their data is exported or erased.
CREATE INDEX user_subjects_by_user ON user_subjects (user_id);
