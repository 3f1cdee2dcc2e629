-- Group "comments": discussions, the linear rows, the tree index, counts, claims, log, imports.
-- Steps are applied in order and never edited; a newer step must work with the code before it.

CREATE TABLE discussions (
  discussion_id   INTEGER PRIMARY KEY,
  title           TEXT    NOT NULL,
  url             TEXT,
  entity_type     TEXT,
  entity_id       TEXT,
  state           INTEGER NOT NULL,
  premoderated    INTEGER NOT NULL,
  has_hidden      INTEGER NOT NULL DEFAULT 0,
  layout          INTEGER NOT NULL,            -- what reads use
  depth_limit     INTEGER NOT NULL,
  built_from      INTEGER NOT NULL DEFAULT 0,  -- minted before the build that filled the layout
  other_layout    INTEGER NOT NULL DEFAULT 0,  -- being built, or kept for going back; 0: none
  other_depth_limit INTEGER NOT NULL DEFAULT 0,
  other_built_from  INTEGER NOT NULL DEFAULT 0,
  layout_last     INTEGER NOT NULL,            -- numbers are never reused
  build_started   INTEGER NOT NULL DEFAULT 0,  -- the build under way
  unindexed_id    INTEGER NOT NULL DEFAULT 0,  -- the latest write without index row
  all_total INTEGER NOT NULL DEFAULT 0, all_published INTEGER NOT NULL DEFAULT 0,
  all_visible INTEGER NOT NULL DEFAULT 0, all_shown INTEGER NOT NULL DEFAULT 0,
  roots_total INTEGER NOT NULL DEFAULT 0, roots_published INTEGER NOT NULL DEFAULT 0,
  roots_visible INTEGER NOT NULL DEFAULT 0, roots_shown INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE discussion_by_key (
  key             TEXT PRIMARY KEY,
  discussion_id   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE comments (
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  author_id       INTEGER NOT NULL,
  body            TEXT    NOT NULL,
  format          INTEGER NOT NULL,
  parent_id       INTEGER,
  ancestors       BLOB    NOT NULL,            -- 8 bytes big-endian each, root first
  edited_at       INTEGER,
  revision        INTEGER NOT NULL,
  state           INTEGER NOT NULL,
  live_below      INTEGER NOT NULL,
  PRIMARY KEY (discussion_id, comment_id)
) WITHOUT ROWID;

CREATE TABLE comment_tree (
  discussion_id   INTEGER NOT NULL,
  layout          INTEGER NOT NULL,
  branch_id       INTEGER NOT NULL,            -- 0 for a root, else an ancestor
  comment_id      INTEGER NOT NULL,
  parent_id       INTEGER,
  ancestors       BLOB    NOT NULL,
  PRIMARY KEY (discussion_id, layout, branch_id, comment_id)
) WITHOUT ROWID;

-- Runs of consecutive rows; branch -1 is the linear list, 0 the roots (both under layout 0).
CREATE TABLE branch_counts (
  discussion_id   INTEGER NOT NULL,
  layout          INTEGER NOT NULL,
  branch_id       INTEGER NOT NULL,
  from_id         INTEGER NOT NULL,
  to_id           INTEGER NOT NULL,
  total           INTEGER NOT NULL,
  published       INTEGER NOT NULL,
  visible         INTEGER NOT NULL,
  shown           INTEGER NOT NULL,
  PRIMARY KEY (discussion_id, layout, branch_id, from_id)
) WITHOUT ROWID;

CREATE TABLE comment_claims (
  author_id       INTEGER NOT NULL,
  key             TEXT    NOT NULL,
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  body_hash       BLOB    NOT NULL,
  expires_at      INTEGER NOT NULL,
  PRIMARY KEY (author_id, key)
) WITHOUT ROWID;
CREATE INDEX comment_claims_expiry ON comment_claims (expires_at);

CREATE TABLE comment_log (
  discussion_id   INTEGER NOT NULL,
  event_id        INTEGER NOT NULL,
  kind            INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  PRIMARY KEY (discussion_id, event_id)
) WITHOUT ROWID;

CREATE TABLE comments_by_author (
  author_id       INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  discussion_id   INTEGER NOT NULL,
  PRIMARY KEY (author_id, comment_id, discussion_id)
) WITHOUT ROWID;

CREATE TABLE comment_revisions (
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  body            TEXT    NOT NULL,
  format          INTEGER NOT NULL,
  PRIMARY KEY (discussion_id, comment_id, revision)
) WITHOUT ROWID;

CREATE TABLE import_map (
  source          TEXT    NOT NULL,
  scope           INTEGER NOT NULL,            -- 0 for discussions, else the comment's discussion
  source_id       TEXT    NOT NULL,
  id              INTEGER NOT NULL,
  PRIMARY KEY (source, scope, source_id)
) WITHOUT ROWID;

CREATE TABLE index_queue (
  discussion_id   INTEGER PRIMARY KEY,
  asked_at        INTEGER NOT NULL
);

CREATE TABLE worker_leases (
  worker          INTEGER PRIMARY KEY,
  owner           TEXT    NOT NULL,
  until_ms        INTEGER NOT NULL,
  last_ms         INTEGER NOT NULL             -- the last millisecond an id was minted in
);
