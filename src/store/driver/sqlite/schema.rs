//! Bringing a file's schema up to date, step by step, in one transaction.

use sqlx::Executor as _;
use sqlx::sqlite::SqliteConnection;

use super::{Migration, failed};
use crate::store::{StoreError, StoreErrorKind};

/// Applies the steps that the file does not have yet.
pub(super) async fn migrate(
    connection: &mut SqliteConnection,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    const OP: &str = "sqlite.migrate";
    connection
        .execute("BEGIN IMMEDIATE")
        .await
        .map_err(|e| failed(OP, e))?;
    let applied: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await
        .map_err(|e| failed(OP, e))?;
    let applied = usize::try_from(applied).unwrap_or(usize::MAX);
    if applied > migrations.len() {
        let cause = "the file was written by a newer version of threadline";
        return Err(StoreError::new(OP, StoreErrorKind::Limit, cause));
    }
    for step in migrations.iter().skip(applied) {
        connection.execute(*step).await.map_err(|e| failed(OP, e))?;
    }
    let set = format!("PRAGMA user_version = {}", migrations.len());
    connection
        .execute(sqlx::AssertSqlSafe(set))
        .await
        .map_err(|e| failed(OP, e))?;
    connection
        .execute("COMMIT")
        .await
        .map_err(|e| failed(OP, e))?;
    Ok(())
}
