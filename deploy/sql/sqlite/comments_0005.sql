-- Around a person: what was answered to them, up to where they read it, and up to where they have
-- seen a discussion. Marks lie beside the comments they point at: one file tells what is new.

CREATE TABLE comment_replies (
  user_id         INTEGER NOT NULL,            -- who wrote the parent
  event_id        INTEGER NOT NULL,            -- of the create, or of what let it through
  discussion_id   INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL,
  is_waiting      INTEGER NOT NULL,            -- for a moderator; not listed until let through
  PRIMARY KEY (user_id, event_id)
) WITHOUT ROWID;
CREATE INDEX comment_replies_by_comment ON comment_replies (discussion_id, comment_id);

CREATE TABLE reply_marks (
  user_id         INTEGER PRIMARY KEY,
  read_to         INTEGER NOT NULL             -- an event_id
);

CREATE TABLE seen_marks (
  user_id         INTEGER NOT NULL,
  discussion_id   INTEGER NOT NULL,
  seen_to         INTEGER NOT NULL,            -- a comment_id
  PRIMARY KEY (user_id, discussion_id)
) WITHOUT ROWID;
