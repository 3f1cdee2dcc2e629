//! Edits, changes of state and recounts.

use async_trait::async_trait;
use sqlx::SqliteConnection;

use super::counting;
use super::create::{append_log, load_comment, mark_hidden};
use super::discussions::load_discussion;
use super::{
    SqliteComments, audit, moderating, moderation_queue, people, reports, revisions, rows,
};
use crate::domain::body::BodyFormat;
use crate::domain::comment::{Comment, CommentState, StateAct, StateRefusal};
use crate::domain::counts::{CountedRow, branch_tallies};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::store::StoreError;
use crate::store::comments::{
    ChangeOutcome, CommentModeration, CountCheck, DiscussionChange, DiscussionOutcome, EditComment,
    LogKind, Revision, StateChange,
};
use crate::store::driver::sqlite::DuringOp as _;

/// Changes a text, inside the writer's transaction.
pub(super) async fn edit(
    db: &mut SqliteConnection,
    edit: EditComment,
    now_ms: i64,
) -> Result<ChangeOutcome, StoreError> {
    const OP: &str = "comments.edit";
    let Some(old) = load_comment(db, edit.discussion_id, edit.comment_id).await? else {
        return Ok(ChangeOutcome::NotFound);
    };
    if old.state == CommentState::Buried {
        return Ok(ChangeOutcome::Gone(old));
    }
    if old.author_id != edit.author_id {
        return Ok(ChangeOutcome::NotAuthor);
    }
    let same_text = old.body == edit.body && old.format == edit.format;
    if same_text && old.revision == edit.expected_revision.saturating_add(1) {
        // The same edit again, its first answer lost on the way.
        return Ok(ChangeOutcome::Changed(old));
    }
    if old.revision != edit.expected_revision {
        return Ok(ChangeOutcome::Stale(old));
    }
    if same_text {
        return Ok(ChangeOutcome::NoChange(old));
    }
    sqlx::query("INSERT INTO comment_revisions VALUES (?, ?, ?, ?, ?)")
        .bind(old.discussion_id.get())
        .bind(old.id.get())
        .bind(i64::from(old.revision))
        .bind(&old.body)
        .bind(old.format.code())
        .execute(&mut *db)
        .await
        .during(OP)?;
    let old_state = old.state;
    let mut state = old_state;
    if edit.waits && state == CommentState::Published {
        let Some(discussion) = load_discussion(db, edit.discussion_id).await? else {
            return Ok(ChangeOutcome::NotFound);
        };
        // What hangs below it waits with it.
        state = CommentState::Pending;
        mark_hidden(db, discussion.id).await?;
        recount_branch(db, &discussion, &old, state).await?;
    }
    let new = Comment {
        body: edit.body,
        format: edit.format,
        edited_at_ms: Some(now_ms),
        revision: old.revision.saturating_add(1),
        state,
        ..old
    };
    store(db, &new).await?;
    if new.state == CommentState::Pending && old_state != new.state {
        moderation_queue::wait(db, new.discussion_id, new.id, edit.event_id.time_ms()).await?;
    }
    append_log(
        db,
        new.discussion_id,
        edit.event_id,
        LogKind::Edited,
        Some(new.id),
    )
    .await?;
    Ok(ChangeOutcome::Changed(new))
}

/// Writes the columns that changes may touch.
async fn store(db: &mut SqliteConnection, row: &Comment) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE comments SET author_id = ?, body = ?, format = ?, edited_at = ?, revision = ?, \
         state = ?, live_below = ? WHERE discussion_id = ? AND comment_id = ?",
    )
    .bind(row.author_id.get())
    .bind(&row.body)
    .bind(row.format.code())
    .bind(row.edited_at_ms)
    .bind(i64::from(row.revision))
    .bind(row.state.code())
    .bind(i64::from(row.live_below))
    .bind(row.discussion_id.get())
    .bind(row.id.get())
    .execute(db)
    .await
    .during("comments.change")?;
    Ok(())
}

/// Changes a state, inside the writer's transaction.
async fn change_state(
    db: &mut SqliteConnection,
    change: StateChange,
) -> Result<ChangeOutcome, StoreError> {
    let Some(old) = load_comment(db, change.discussion_id, change.comment_id).await? else {
        return Ok(ChangeOutcome::NotFound);
    };
    let Some(discussion) = load_discussion(db, change.discussion_id).await? else {
        return Ok(ChangeOutcome::NotFound);
    };
    let applied = old.state.apply(change.act);
    if applied == Err(StateRefusal::AlreadyDeleted) {
        // A buried row has no author any more, so this comes before the question who wrote it.
        return Ok(ChangeOutcome::Gone(old));
    }
    if change
        .only_author
        .is_some_and(|author| author != old.author_id)
    {
        return Ok(ChangeOutcome::NotAuthor);
    }
    let Ok(state) = applied else {
        return Ok(ChangeOutcome::NoChange(old));
    };
    if change
        .expected_revision
        .is_some_and(|seen| seen != old.revision)
    {
        return Ok(ChangeOutcome::Stale(old));
    }
    audit::state_changed(db, &change, old.author_id).await?;
    let live_below = recount_branch(db, &discussion, &old, state).await?;
    let revision = old.revision.saturating_add(1);
    let new = if change.act == StateAct::Bury {
        forget_texts(db, &old).await?;
        Comment {
            author_id: UserId::NOBODY,
            body: String::new(),
            format: BodyFormat::Plain,
            edited_at_ms: None,
            revision,
            state,
            live_below,
            ..old
        }
    } else {
        Comment {
            revision,
            state,
            live_below: false,
            ..old
        }
    };
    store(db, &new).await?;
    if state == CommentState::Published {
        people::let_through(db, &new, change.event_id).await?;
    }
    moderation_queue::decide(db, new.discussion_id, new.id).await?;
    if state == CommentState::Hidden && !discussion.has_hidden {
        mark_hidden(db, discussion.id).await?;
    }
    append_log(
        db,
        discussion.id,
        change.event_id,
        LogKind::StateChanged,
        Some(new.id),
    )
    .await?;
    Ok(ChangeOutcome::Changed(new))
}

/// Removes what a buried comment must no longer have anywhere. Reports may quote it.
async fn forget_texts(db: &mut SqliteConnection, old: &Comment) -> Result<(), StoreError> {
    const OP: &str = "comments.bury";
    people::unnote_reply(db, old).await?;
    reports::forget_words(db, old.discussion_id, old.id).await?;
    sqlx::query("DELETE FROM comment_revisions WHERE discussion_id = ? AND comment_id = ?")
        .bind(old.discussion_id.get())
        .bind(old.id.get())
        .execute(&mut *db)
        .await
        .during(OP)?;
    sqlx::query(
        "DELETE FROM comments_by_author WHERE author_id = ? AND comment_id = ? AND discussion_id = ?",
    )
    .bind(old.author_id.get())
    .bind(old.id.get())
    .bind(old.discussion_id.get())
    .execute(db)
    .await
    .during(OP)?;
    Ok(())
}

/// Adjusts every count for `old` taking `state`, and the tombstones of its branch. Returns the
/// row's own `live_below`.
///
/// Reads the whole branch once: what a change does to rows above and below depends on all of it.
async fn recount_branch(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    old: &Comment,
    state: CommentState,
) -> Result<bool, StoreError> {
    let mut branch = branch_rows(db, discussion, old.root_id()).await?;
    let before = branch_tallies(&branch);
    if let Some(row) = branch.iter_mut().find(|row| row.id == old.id) {
        row.state = state;
    }
    let after = branch_tallies(&branch);
    let mut changes = Vec::new();
    let mut own_live_below = false;
    for row in &branch {
        let (old_tally, _) = before.get(&row.id).copied().unwrap_or_default();
        let (tally, live_below) = after.get(&row.id).copied().unwrap_or_default();
        if tally != old_tally {
            changes.push((row, tally - old_tally));
        }
        if row.id == old.id {
            own_live_below = live_below;
        } else if row.state == CommentState::Buried && live_below != row.live_below {
            counting::set_live_below(db, discussion.id, row.id, live_below).await?;
        }
    }
    counting::adjust(db, discussion, &changes).await?;
    Ok(own_live_below)
}

/// A root and everything below it.
async fn branch_rows(
    db: &mut SqliteConnection,
    discussion: &Discussion,
    root: CommentId,
) -> Result<Vec<CountedRow>, StoreError> {
    const OP: &str = "comments.branch";
    let flat = discussion.layout.depth_limit == 1 && discussion.layout.complete;
    if !flat {
        // Without a complete flat index: the rows after the root, most of them of other branches.
        let last = CommentId::new(i64::MAX);
        let mut rows = counting::rows_between(db, discussion.id, root, last).await?;
        rows.retain(|row| row.id == root || row.ancestors.first() == Some(&root));
        return Ok(rows);
    }
    let found = sqlx::query(
        "SELECT c.comment_id, c.ancestors, c.state, c.live_below FROM comments c \
         WHERE c.discussion_id = ?1 AND c.comment_id = ?2 \
         UNION ALL SELECT c.comment_id, c.ancestors, c.state, c.live_below \
         FROM comment_tree t CROSS JOIN comments c \
         WHERE t.discussion_id = ?1 AND t.layout = ?3 AND t.branch_id = ?2 \
         AND c.discussion_id = ?1 AND c.comment_id = t.comment_id",
    )
    .bind(discussion.id.get())
    .bind(root.get())
    .bind(i64::from(discussion.layout.number))
    .fetch_all(db)
    .await
    .during(OP)?;
    found.iter().map(rows::counted).collect()
}

#[async_trait]
impl CommentModeration for SqliteComments {
    async fn change_state(&self, change: StateChange) -> Result<ChangeOutcome, StoreError> {
        self.change("comments.change_state", change.discussion_id, move |db| {
            Box::pin(change_state(db, change))
        })
        .await
    }

    async fn change_discussion(
        &self,
        change: DiscussionChange,
    ) -> Result<DiscussionOutcome, StoreError> {
        self.change(
            "comments.change_discussion",
            change.discussion_id,
            move |db| Box::pin(moderating::change_discussion(db, change)),
        )
        .await
    }

    async fn revisions(
        &self,
        discussion: DiscussionId,
        comment: CommentId,
    ) -> Result<Vec<Revision>, StoreError> {
        let at = [(discussion, comment)];
        let found = revisions::latest(&self.group, &at, u32::MAX).await?;
        Ok(found.into_iter().map(|(_, revision)| revision).collect())
    }

    async fn latest_revisions(
        &self,
        comments: &[(DiscussionId, CommentId)],
        limit: u32,
    ) -> Result<Vec<((DiscussionId, CommentId), Revision)>, StoreError> {
        revisions::latest(&self.group, comments, limit).await
    }

    async fn check_counts(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError> {
        self.count_check(discussion).await
    }

    async fn recount(&self, discussion: DiscussionId) -> Result<CountCheck, StoreError> {
        self.mend_counts(discussion).await
    }
}
