//! Damages a SQLite file behind the gateway's back.

use std::path::Path;
use std::str::FromStr as _;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

/// Runs `sql` on the file of comments; returns how many rows it changed.
pub(crate) async fn damage(folder: &Path, sql: &str) -> u64 {
    let options = SqliteConnectOptions::from_str("sqlite:")
        .unwrap()
        .filename(folder.join("comments.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let done = connection
        .execute(AssertSqlSafe(sql.to_owned()))
        .await
        .unwrap();
    connection.close().await.unwrap();
    done.rows_affected()
}
