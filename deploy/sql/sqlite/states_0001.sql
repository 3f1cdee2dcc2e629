-- Group "states": people now; reactions, follows and lists join it later.

CREATE TABLE users (
  user_id         INTEGER PRIMARY KEY,
  name            TEXT    NOT NULL
);

CREATE TABLE user_subjects (
  issuer          TEXT    NOT NULL,
  subject         TEXT    NOT NULL,
  user_id         INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) WITHOUT ROWID;
