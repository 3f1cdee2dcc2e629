//! Rewriting a file, so that nothing of what was deleted is left in it or beside it.
//!
//! Overwriting what is deleted is not enough: when rows move between pages, old copies stay in the
//! slack of pages, free pages keep theirs, and the write-ahead log keeps pages as they were. Only
//! a file that is written anew from what lives, with its log emptied, holds nothing else.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _};

use super::WATCH_PERIOD;

/// How often emptying the log is tried, each time after waiting for readers as long as for writers.
const CHECKPOINTS_MAX: u32 = 5;

/// Writes the file anew and empties its log, on a connection of its own.
pub(super) async fn rewrite(options: &SqliteConnectOptions) -> Result<(), sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let rewritten = async {
        connection.execute("VACUUM").await?;
        for _ in 0..CHECKPOINTS_MAX {
            // A reader of before keeps the log; it ends within its statement.
            let (is_busy, ..): (i64, i64, i64) = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)")
                .fetch_one(&mut connection)
                .await?;
            if is_busy == 0 {
                return Ok(());
            }
            tokio::time::sleep(WATCH_PERIOD).await;
        }
        Err(sqlx::Error::Protocol(
            "readers kept the write-ahead log from being emptied".to_owned(),
        ))
    }
    .await;
    connection.close().await?;
    rewritten
}
