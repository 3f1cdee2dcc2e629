//! Rows of one table written together.
//!
//! Full pieces are one statement that the connection keeps; only the rest of a batch is put
//! together anew.

use sqlx::{QueryBuilder, SqliteConnection};

use super::super::rows;
use super::OP;
use crate::domain::comment::{Comment, CommentState};
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::store::StoreError;
use crate::store::comments::{Origin, Revision};
use crate::store::driver::sqlite::DuringOp as _;

/// Rows of a statement.
const PIECE: usize = 50;

/// Writes down under which ids rows of other systems are known.
pub(super) async fn map(
    db: &mut SqliteConnection,
    scope: i64,
    mapped: &[(Origin, i64)],
) -> Result<(), StoreError> {
    for piece in mapped.chunks(PIECE) {
        let mut insert =
            QueryBuilder::new("INSERT INTO import_map (source, scope, source_id, id) ");
        insert.push_values(piece, |mut row, (name, id)| {
            row.push_bind(&name.source);
            row.push_bind(scope);
            row.push_bind(&name.source_id);
            row.push_bind(*id);
        });
        run(db, &mut insert, piece.len()).await?;
    }
    Ok(())
}

/// The main rows, and their entries under their authors.
pub(super) async fn comments(
    db: &mut SqliteConnection,
    comments: &[Comment],
) -> Result<(), StoreError> {
    for piece in comments.chunks(PIECE) {
        let mut insert = QueryBuilder::new(
            "INSERT INTO comments (discussion_id, comment_id, author_id, body, format, parent_id, \
             ancestors, edited_at, revision, state, live_below) ",
        );
        insert.push_values(piece, |mut row, comment| {
            row.push_bind(comment.discussion_id.get());
            row.push_bind(comment.id.get());
            row.push_bind(comment.author_id.get());
            row.push_bind(&comment.body);
            row.push_bind(comment.format.code());
            row.push_bind(comment.parent_id.map(CommentId::get));
            row.push_bind(rows::pack(&comment.ancestors));
            row.push_bind(comment.edited_at_ms);
            row.push_bind(i64::from(comment.revision));
            row.push_bind(comment.state.code());
            row.push_bind(i64::from(comment.live_below));
        });
        run(db, &mut insert, piece.len()).await?;
    }
    let written: Vec<&Comment> = comments
        .iter()
        .filter(|comment| comment.author_id != UserId::NOBODY)
        .collect();
    for piece in written.chunks(PIECE) {
        let mut insert = QueryBuilder::new(
            "INSERT INTO comments_by_author (author_id, comment_id, discussion_id) ",
        );
        insert.push_values(piece, |mut row, comment| {
            row.push_bind(comment.author_id.get());
            row.push_bind(comment.id.get());
            row.push_bind(comment.discussion_id.get());
        });
        run(db, &mut insert, piece.len()).await?;
    }
    Ok(())
}

/// The places in the moderation queue of those that wait; `marker` was minted just now.
pub(super) async fn waiting(
    db: &mut SqliteConnection,
    comments: &[Comment],
    marker: i64,
) -> Result<(), StoreError> {
    let is_pending = |comment: &&Comment| comment.state == CommentState::Pending;
    let pending: Vec<&Comment> = comments.iter().filter(is_pending).collect();
    let since_ms = EventId::new(marker).time_ms();
    for piece in pending.chunks(PIECE) {
        let mut insert = QueryBuilder::new(
            "INSERT INTO moderation_queue (discussion_id, comment_id, since_ms, is_pending, \
             reports, reasons) ",
        );
        insert.push_values(piece, |mut row, comment| {
            row.push_bind(comment.discussion_id.get());
            row.push_bind(comment.id.get());
            row.push_bind(since_ms);
            row.push_bind(1_i64).push_bind(0_i64).push_bind(0_i64);
        });
        run(db, &mut insert, piece.len()).await?;
    }
    Ok(())
}

/// Earlier texts.
pub(super) async fn revisions(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    revisions: &[(CommentId, Revision)],
) -> Result<(), StoreError> {
    for piece in revisions.chunks(PIECE) {
        let mut insert = QueryBuilder::new(
            "INSERT OR REPLACE INTO comment_revisions (discussion_id, comment_id, revision, body, \
             format) ",
        );
        insert.push_values(piece, |mut row, (comment, revision)| {
            row.push_bind(discussion.get());
            row.push_bind(comment.get());
            row.push_bind(i64::from(revision.revision));
            row.push_bind(&revision.body);
            row.push_bind(revision.format.code());
        });
        run(db, &mut insert, piece.len()).await?;
    }
    Ok(())
}

/// Runs a statement of so many rows.
pub(super) async fn run(
    db: &mut SqliteConnection,
    statement: &mut QueryBuilder<sqlx::Sqlite>,
    rows: usize,
) -> Result<(), StoreError> {
    let is_usual = rows == PIECE;
    let done = statement.build().persistent(is_usual).execute(db).await;
    done.during(OP).map(drop)
}

/// Pieces as statements take them.
pub(super) fn pieces<T>(rows: &[T]) -> impl Iterator<Item = &[T]> {
    rows.chunks(PIECE)
}
