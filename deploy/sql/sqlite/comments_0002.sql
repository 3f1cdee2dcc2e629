-- Walks over the tables: who works on which range, and how far they are. Leases of queued builds,
-- layouts that are counted step by step, and layouts that are removed step by step.

CREATE TABLE walks (
  name            TEXT PRIMARY KEY,
  settings        TEXT    NOT NULL,
  run             INTEGER NOT NULL,            -- grows each time it begins anew
  began_ms        INTEGER NOT NULL,
  ended_ms        INTEGER
) WITHOUT ROWID;

CREATE TABLE walk_ranges (
  walk            TEXT    NOT NULL,
  run             INTEGER NOT NULL,
  part            INTEGER NOT NULL,
  from_key        INTEGER NOT NULL,            -- both included
  to_key          INTEGER NOT NULL,
  done_to         INTEGER,                     -- the last key that is done
  is_done         INTEGER NOT NULL DEFAULT 0,
  owner           TEXT    NOT NULL DEFAULT '',
  until_ms        INTEGER NOT NULL DEFAULT 0,  -- the end of its lease
  epoch           INTEGER NOT NULL DEFAULT 0,  -- grows with every lease; an older one is void
  tally           TEXT    NOT NULL DEFAULT '', -- what was found up to done_to, as JSON
  PRIMARY KEY (walk, run, part)
) WITHOUT ROWID;

ALTER TABLE index_queue ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE index_queue ADD COLUMN until_ms INTEGER NOT NULL DEFAULT 0;

-- Rows up to this id are counted in the second layout's branches; a build moves it on.
ALTER TABLE discussions ADD COLUMN other_counted_to INTEGER NOT NULL DEFAULT 9223372036854775807;

-- Grows with every change of a count: a recount that saw another value is void.
ALTER TABLE discussions ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;

CREATE TABLE dropped_layouts (
  discussion_id   INTEGER NOT NULL,
  layout          INTEGER NOT NULL,
  PRIMARY KEY (discussion_id, layout)
) WITHOUT ROWID;
