//! The queue of builds: who asked, and who builds.

use sqlx::SqliteConnection;

use crate::domain::ids::DiscussionId;
use crate::store::StoreError;
use crate::store::driver::sqlite::DuringOp as _;

pub(super) async fn enqueue(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    now_ms: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO index_queue (discussion_id, asked_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(discussion.get())
    .bind(now_ms)
    .execute(db)
    .await
    .during("comments.enqueue")?;
    Ok(())
}

pub(super) async fn lease(
    db: &mut SqliteConnection,
    owner: &str,
    now_ms: i64,
    ttl_ms: i64,
    limit: u32,
) -> Result<Vec<DiscussionId>, StoreError> {
    const OP: &str = "comments.lease_queued";
    let free: Vec<i64> = sqlx::query_scalar(
        "SELECT discussion_id FROM index_queue WHERE until_ms <= ? \
         ORDER BY asked_at, discussion_id LIMIT ?",
    )
    .bind(now_ms)
    .bind(i64::from(limit))
    .fetch_all(&mut *db)
    .await
    .during(OP)?;
    for id in &free {
        sqlx::query("UPDATE index_queue SET owner = ?, until_ms = ? WHERE discussion_id = ?")
            .bind(owner)
            .bind(now_ms.saturating_add(ttl_ms))
            .bind(id)
            .execute(&mut *db)
            .await
            .during(OP)?;
    }
    Ok(free.into_iter().map(DiscussionId::new).collect())
}

pub(super) async fn hold(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    owner: &str,
    until_ms: i64,
) -> Result<bool, StoreError> {
    let held =
        sqlx::query("UPDATE index_queue SET until_ms = ? WHERE discussion_id = ? AND owner = ?")
            .bind(until_ms)
            .bind(discussion.get())
            .bind(owner)
            .execute(db)
            .await
            .during("comments.hold_queued")?;
    Ok(held.rows_affected() == 1)
}

pub(super) async fn dequeue(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM index_queue WHERE discussion_id = ?")
        .bind(discussion.get())
        .execute(db)
        .await
        .during("comments.dequeue")?;
    Ok(())
}
