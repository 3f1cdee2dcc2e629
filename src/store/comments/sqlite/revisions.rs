//! Earlier texts.

use sqlx::Row as _;

use super::reads::json;
use crate::domain::body::BodyFormat;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::Revision;
use crate::store::driver::sqlite::{DuringOp as _, SqliteGroup};

/// The latest `limit` earlier texts of each comment, oldest first; one statement.
pub(super) async fn latest(
    group: &SqliteGroup,
    comments: &[(DiscussionId, CommentId)],
    limit: u32,
) -> Result<Vec<((DiscussionId, CommentId), Revision)>, StoreError> {
    const OP: &str = "comments.revisions";
    if comments.is_empty() {
        return Ok(Vec::new());
    }
    let pairs: Vec<(i64, i64)> = comments.iter().map(|(d, c)| (d.get(), c.get())).collect();
    group.count(1);
    let found = sqlx::query(
        "SELECT r.discussion_id, r.comment_id, r.revision, r.body, r.format \
         FROM json_each(?1) h CROSS JOIN comment_revisions r \
         WHERE r.discussion_id = json_extract(h.value, '$[0]') \
         AND r.comment_id = json_extract(h.value, '$[1]') \
         AND r.revision IN (SELECT i.revision FROM comment_revisions i \
           WHERE i.discussion_id = r.discussion_id AND i.comment_id = r.comment_id \
           ORDER BY i.revision DESC LIMIT ?2) \
         ORDER BY h.key, r.revision",
    )
    .bind(json(&pairs))
    .bind(i64::from(limit))
    .fetch_all(group.readers())
    .await
    .during(OP)?;
    found
        .iter()
        .map(|row| {
            let discussion = DiscussionId::new(row.try_get(0).during(OP)?);
            let comment = CommentId::new(row.try_get(1).during(OP)?);
            let corrupt = |column| StoreError::corrupt("comment_revisions", comment, column);
            let revision: i64 = row.try_get(2).during(OP)?;
            let format: i64 = row.try_get(4).during(OP)?;
            let revision = Revision {
                revision: u32::try_from(revision)
                    .ok()
                    .ok_or_else(|| corrupt("revision"))?,
                body: row.try_get(3).during(OP)?,
                format: BodyFormat::from_code(format).ok_or_else(|| corrupt("format"))?,
            };
            Ok(((discussion, comment), revision))
        })
        .collect()
}
