//! Writing one comment: the row, its index rows, its log entry, its claim and its counts.

use sqlx::{Row as _, SqliteConnection};

use super::counting;
use super::discussions::load_discussion;
use super::moderation_queue;
use super::people;
use super::reads::json;
use super::rows::{self, comment_columns};
use crate::domain::comment::{Comment, CommentState, DEPTH_MAX, branch_of};
use crate::domain::counts::{CountedRow, Tally, contribution};
use crate::domain::discussion::{Discussion, DiscussionState};
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId, first_id_of_ms};
use crate::domain::live::LOG_KEPT_MS;
use crate::store::comments::{CREATE_LATE_MAX_MS, Claim, CreateOutcome, LogKind, NewComment};
use crate::store::driver::sqlite::DuringOp as _;
use crate::store::{StoreError, StoreErrorKind};

const OP: &str = "comments.create";

/// The whole create, inside the writer's transaction.
pub(super) async fn create(
    db: &mut SqliteConnection,
    new: NewComment,
    now_ms: i64,
) -> Result<CreateOutcome, StoreError> {
    if now_ms - new.id.time_ms() > CREATE_LATE_MAX_MS {
        let cause = "waited too long to be written; nothing was written";
        return Err(StoreError::new(OP, StoreErrorKind::Unavailable, cause));
    }
    if let Some(claim) = &new.claim
        && let Some(outcome) = claimed_before(db, new.author_id, claim, now_ms).await?
    {
        return Ok(outcome);
    }
    let Some(discussion) = load_discussion(db, new.discussion_id).await? else {
        return Ok(CreateOutcome::DiscussionMissing);
    };
    if discussion.state == DiscussionState::Closed {
        return Ok(CreateOutcome::DiscussionClosed);
    }
    if discussion.counts.all.total >= new.comments_max {
        return Ok(CreateOutcome::DiscussionFull);
    }
    let (ancestors, answered) = match new.parent_id {
        None => (Vec::new(), UserId::NOBODY),
        Some(parent) => match ancestors_under(db, discussion.id, parent).await? {
            Ok(above) => above,
            Err(refusal) => return Ok(refusal),
        },
    };
    let comment = Comment {
        id: new.id,
        discussion_id: new.discussion_id,
        author_id: new.author_id,
        body: new.body,
        format: new.format,
        parent_id: new.parent_id,
        ancestors,
        edited_at_ms: None,
        revision: 1,
        state: new.state,
        live_below: false,
    };
    insert_row(db, &comment).await?;
    if new.index {
        insert_index(db, &discussion, &comment).await?;
    } else {
        mark_unindexed(db, discussion.id, comment.id.get()).await?;
    }
    append_log(
        db,
        discussion.id,
        EventId::new(new.id.get()),
        LogKind::Created,
        Some(new.id),
    )
    .await?;
    if comment.state == CommentState::Pending {
        moderation_queue::wait(db, discussion.id, comment.id, comment.id.time_ms()).await?;
    }
    if let Some(claim) = &new.claim {
        insert_claim(db, &comment, claim, now_ms).await?;
    }
    count_new(db, &discussion, &comment).await?;
    people::note_reply(db, &comment, answered).await?;
    Ok(CreateOutcome::Created(comment))
}

/// What a posting key gives: its first comment, a refusal, or nothing when it is free.
async fn claimed_before(
    db: &mut SqliteConnection,
    author: UserId,
    claim: &Claim,
    now_ms: i64,
) -> Result<Option<CreateOutcome>, StoreError> {
    let found = sqlx::query(
        "SELECT discussion_id, comment_id, body_hash FROM comment_claims \
         WHERE author_id = ? AND key = ? AND expires_at > ?",
    )
    .bind(author.get())
    .bind(&claim.key)
    .bind(now_ms)
    .fetch_optional(&mut *db)
    .await
    .during(OP)?;
    let Some(row) = found else {
        return Ok(None);
    };
    let hash: &[u8] = row.try_get(2).during(OP)?;
    if hash != claim.body_hash {
        return Ok(Some(CreateOutcome::KeyReused));
    }
    let discussion = DiscussionId::new(row.try_get(0).during(OP)?);
    let id = CommentId::new(row.try_get(1).during(OP)?);
    // A claim and its comment are written together; one without the other is free to use again.
    Ok(load_comment(db, discussion, id)
        .await?
        .map(CreateOutcome::Replayed))
}

/// A reply's ancestors and who is answered, or why there can be no reply.
async fn ancestors_under(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    parent: CommentId,
) -> Result<Result<(Vec<CommentId>, UserId), CreateOutcome>, StoreError> {
    let Some(parent) = load_comment(db, discussion, parent).await? else {
        return Ok(Err(CreateOutcome::ParentMissing));
    };
    if parent.state != CommentState::Published {
        return Ok(Err(CreateOutcome::ParentGone));
    }
    if parent.depth() >= DEPTH_MAX {
        return Ok(Err(CreateOutcome::TooDeep));
    }
    let above = states_of(db, discussion, &parent.ancestors).await?;
    if above.iter().any(|row| row.state.hides_below()) {
        return Ok(Err(CreateOutcome::ParentGone));
    }
    let mut ancestors = parent.ancestors;
    ancestors.push(parent.id);
    Ok(Ok((ancestors, parent.author_id)))
}

/// The counted facts of some rows, oldest first.
pub(super) async fn states_of(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    ids: &[CommentId],
) -> Result<Vec<CountedRow>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = sqlx::query(
        "SELECT c.comment_id, c.ancestors, c.state, c.live_below FROM json_each(?) h \
         CROSS JOIN comments c WHERE c.discussion_id = ? AND c.comment_id = h.value ORDER BY h.key",
    )
    .bind(json(ids))
    .bind(discussion.get())
    .fetch_all(db)
    .await
    .during(OP)?;
    found.iter().map(rows::counted).collect()
}

/// One comment's row, as the transaction sees it.
pub(super) async fn load_comment(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    id: CommentId,
) -> Result<Option<Comment>, StoreError> {
    let found = sqlx::query(concat!(
        "SELECT ",
        comment_columns!(),
        ", c.parent_id, c.ancestors FROM comments c WHERE c.discussion_id = ? AND c.comment_id = ?"
    ))
    .bind(discussion.get())
    .bind(id.get())
    .fetch_optional(db)
    .await
    .during(OP)?;
    found
        .map(|row| rows::comment(&row, 0, discussion))
        .transpose()
}

/// The main row, and its entry under its author.
pub(super) async fn insert_row(
    db: &mut SqliteConnection,
    comment: &Comment,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO comments (discussion_id, comment_id, author_id, body, format, parent_id, \
         ancestors, edited_at, revision, state, live_below) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(comment.discussion_id.get())
    .bind(comment.id.get())
    .bind(comment.author_id.get())
    .bind(&comment.body)
    .bind(comment.format.code())
    .bind(comment.parent_id.map(CommentId::get))
    .bind(rows::pack(&comment.ancestors))
    .bind(comment.edited_at_ms)
    .bind(i64::from(comment.revision))
    .bind(comment.state.code())
    .bind(i64::from(comment.live_below))
    .execute(&mut *db)
    .await
    .during(OP)?;
    if comment.author_id != UserId::NOBODY {
        sqlx::query(
            "INSERT INTO comments_by_author (author_id, comment_id, discussion_id) VALUES (?, ?, ?)",
        )
        .bind(comment.author_id.get())
        .bind(comment.id.get())
        .bind(comment.discussion_id.get())
        .execute(db)
        .await
        .during(OP)?;
    }
    Ok(())
}

/// The comment's place in each layout.
async fn insert_index(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    comment: &Comment,
) -> Result<(), StoreError> {
    for layout in [Some(discussion.layout), discussion.other_layout]
        .into_iter()
        .flatten()
    {
        sqlx::query("INSERT INTO comment_tree VALUES (?, ?, ?, ?, ?, ?)")
            .bind(discussion.id.get())
            .bind(i64::from(layout.number))
            .bind(branch_of(&comment.ancestors, layout.depth_limit))
            .bind(comment.id.get())
            .bind(comment.parent_id.map(CommentId::get))
            .bind(rows::pack(&comment.ancestors))
            .execute(&mut *db)
            .await
            .during(OP)?;
    }
    Ok(())
}

/// Says that a row without index row was written: no build that has begun covers it (T5).
pub(super) async fn mark_unindexed(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    id: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE discussions SET unindexed_id = \
         max(unindexed_id, ?, build_started, built_from, other_built_from) WHERE discussion_id = ?",
    )
    .bind(id)
    .bind(discussion.get())
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Says that the discussion has, or had, comments that hide what is below them.
pub(super) async fn mark_hidden(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE discussions SET has_hidden = 1 WHERE discussion_id = ?")
        .bind(discussion.get())
        .execute(db)
        .await
        .during("comments.mark_hidden")?;
    Ok(())
}

/// One entry of the discussion's log.
pub(super) async fn append_log(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    event: EventId,
    kind: LogKind,
    comment: Option<CommentId>,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO comment_log VALUES (?, ?, ?, ?)")
        .bind(discussion.get())
        .bind(event.get())
        .bind(kind.code())
        .bind(comment.map_or(0, CommentId::get))
        .execute(&mut *db)
        .await
        .during(OP)?;
    forget_log(db, discussion, event).await
}

/// A few entries that nobody may ask for any more go with each new one, so they never pile up.
async fn forget_log(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    newest: EventId,
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM comment_log WHERE discussion_id = ?1 AND event_id IN (SELECT event_id \
         FROM comment_log WHERE discussion_id = ?1 AND event_id < ?2 ORDER BY event_id LIMIT 4)",
    )
    .bind(discussion.get())
    .bind(first_id_of_ms(newest.time_ms().saturating_sub(LOG_KEPT_MS)))
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

async fn insert_claim(
    db: &mut SqliteConnection,
    comment: &Comment,
    claim: &Claim,
    now_ms: i64,
) -> Result<(), StoreError> {
    sqlx::query("INSERT OR REPLACE INTO comment_claims VALUES (?, ?, ?, ?, ?, ?)")
        .bind(comment.author_id.get())
        .bind(&claim.key)
        .bind(comment.discussion_id.get())
        .bind(comment.id.get())
        .bind(claim.body_hash.as_slice())
        .bind(claim.expires_at_ms)
        .execute(&mut *db)
        .await
        .during(OP)?;
    // A few expired claims go with each new one, so they never pile up.
    sqlx::query(
        "DELETE FROM comment_claims WHERE (author_id, key) IN \
         (SELECT author_id, key FROM comment_claims WHERE expires_at <= ? LIMIT 3)",
    )
    .bind(now_ms)
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Counts a row that was just written, and wakes the tombstones above it.
pub(super) async fn count_new(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    comment: &Comment,
) -> Result<(), StoreError> {
    let above = states_of(db, discussion.id, &comment.ancestors).await?;
    let hidden_above = above.iter().any(|row| row.state.hides_below());
    let tally = contribution(comment.state, comment.live_below, hidden_above);
    counting::add_row(db, discussion, comment.id, &comment.ancestors, tally).await?;
    if comment.state != CommentState::Published {
        return Ok(());
    }
    // Upwards, until something hidden cuts the new row off.
    let reached = above
        .iter()
        .rev()
        .take_while(|row| !row.state.hides_below());
    let woken: Vec<&CountedRow> = reached
        .filter(|row| row.state == CommentState::Buried && !row.live_below)
        .collect();
    let hidden: Vec<CommentId> = above
        .iter()
        .filter(|row| row.state.hides_below())
        .map(|row| row.id)
        .collect();
    let mut changes = Vec::with_capacity(woken.len());
    for row in woken {
        counting::set_live_below(db, discussion.id, row.id, true).await?;
        let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
        let shown = Tally {
            shown: i64::from(!hidden_above),
            ..Tally::default()
        };
        changes.push((row, shown));
    }
    if changes.is_empty() {
        Ok(())
    } else {
        counting::adjust(db, discussion, &changes).await
    }
}
