-- Moderation: reports, the queue of what waits for a moderator, the audit log, pinned comments.

-- Ids of the pinned comments in their order, 8 bytes big-endian each.
ALTER TABLE discussions ADD COLUMN pinned BLOB NOT NULL DEFAULT x'';

-- One a person and comment. A forgotten reporter's rows keep a number of their own below zero.
CREATE TABLE comment_reports (
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  reporter_id     INTEGER NOT NULL,
  report_id       INTEGER NOT NULL,            -- minted; its time is when
  reason          INTEGER NOT NULL,
  text            TEXT    NOT NULL,
  is_answered     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (discussion_id, comment_id, reporter_id)
) WITHOUT ROWID;
CREATE INDEX comment_reports_open ON comment_reports (discussion_id, comment_id, report_id)
  WHERE is_answered = 0;
CREATE INDEX comment_reports_by_reporter ON comment_reports (reporter_id, report_id);

-- A comment that is pending or has unanswered reports. Places are never given twice, or a cursor
-- would pass by who came into the queue again.
CREATE TABLE moderation_queue (
  item_id         INTEGER PRIMARY KEY AUTOINCREMENT,
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  since_ms        INTEGER NOT NULL,
  is_pending      INTEGER NOT NULL,
  reports         INTEGER NOT NULL,            -- unanswered ones
  reasons         INTEGER NOT NULL,            -- their reasons, a bit each
  UNIQUE (discussion_id, comment_id)
);
CREATE INDEX moderation_queue_by_discussion ON moderation_queue (discussion_id, item_id);

INSERT INTO moderation_queue (discussion_id, comment_id, since_ms, is_pending, reports, reasons)
  SELECT discussion_id, comment_id, comment_id >> 21, 1, 0, 0 FROM comments WHERE state = 1
  ORDER BY comment_id, discussion_id;

CREATE TABLE moderation_audit (
  event_id        INTEGER PRIMARY KEY,         -- minted; its time is when
  actor_id        INTEGER NOT NULL,
  act             INTEGER NOT NULL,
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER,
  user_id         INTEGER,                     -- who wrote the comment
  detail          TEXT    NOT NULL
);
CREATE INDEX moderation_audit_by_discussion ON moderation_audit (discussion_id, event_id);
CREATE INDEX moderation_audit_by_actor ON moderation_audit (actor_id, event_id);
