//! Where imported rows came from, asked by their ids.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::reads::json;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::Origin;
use crate::store::driver::sqlite::{DuringOp as _, SqliteGroup};

const OP: &str = "comments.origins";

pub(super) async fn of_discussion(
    group: &SqliteGroup,
    discussion: DiscussionId,
) -> Result<Option<Origin>, StoreError> {
    group.count(1);
    let found = sqlx::query("SELECT source, source_id FROM import_map WHERE scope = 0 AND id = ?")
        .bind(discussion.get())
        .fetch_optional(group.readers())
        .await
        .during(OP)?;
    found.as_ref().map(|row| origin(row, 0)).transpose()
}

pub(super) async fn of_comments(
    group: &SqliteGroup,
    discussion: DiscussionId,
    ids: &[CommentId],
) -> Result<Vec<(CommentId, Origin)>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    group.count(1);
    let found = sqlx::query(
        "SELECT m.id, m.source, m.source_id FROM json_each(?) h CROSS JOIN import_map m \
         WHERE m.scope = ? AND m.id = h.value",
    )
    .bind(json(ids))
    .bind(discussion.get())
    .fetch_all(group.readers())
    .await
    .during(OP)?;
    found
        .iter()
        .map(|row| {
            let id: i64 = row.try_get(0).during(OP)?;
            Ok((CommentId::new(id), origin(row, 1)?))
        })
        .collect()
}

/// Reads `source, source_id` starting at `first`.
fn origin(row: &SqliteRow, first: usize) -> Result<Origin, StoreError> {
    Ok(Origin {
        source: row.try_get(first).during(OP)?,
        source_id: row.try_get(first + 1).during(OP)?,
    })
}
