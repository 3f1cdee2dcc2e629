//! What moderators do to a discussion as a whole: state, premoderation, pins.

use sqlx::SqliteConnection;

use super::audit;
use super::create::{append_log, load_comment, states_of};
use super::discussions::load_discussion;
use super::rows;
use crate::domain::comment::CommentState;
use crate::domain::discussion::DiscussionState;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::moderation::AuditAct;
use crate::store::StoreError;
use crate::store::comments::{
    AuditEntry, DiscussionAct, DiscussionChange, DiscussionOutcome, LogKind,
};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.change_discussion";

/// The whole change, inside the writer's transaction.
pub(super) async fn change_discussion(
    db: &mut SqliteConnection,
    change: DiscussionChange,
) -> Result<DiscussionOutcome, StoreError> {
    let id = change.discussion_id;
    let Some(old) = load_discussion(db, id).await? else {
        return Ok(DiscussionOutcome::NotFound);
    };
    let is_so = match &change.act {
        DiscussionAct::SetState(state) => old.state == *state,
        DiscussionAct::SetPremoderated(premoderated) => old.premoderated == *premoderated,
        DiscussionAct::Pin(comments) => old.pinned.as_ref() == comments.as_slice(),
    };
    if is_so {
        return Ok(DiscussionOutcome::NoChange(old));
    }
    if let DiscussionAct::Pin(comments) = &change.act {
        for comment in comments {
            if !is_readable(db, id, *comment).await? {
                return Ok(DiscussionOutcome::NotReadable(*comment));
            }
        }
    }
    let update = match &change.act {
        DiscussionAct::SetState(state) => {
            sqlx::query("UPDATE discussions SET state = ? WHERE discussion_id = ?")
                .bind(state.code())
        }
        DiscussionAct::SetPremoderated(premoderated) => {
            sqlx::query("UPDATE discussions SET premoderated = ? WHERE discussion_id = ?")
                .bind(i64::from(*premoderated))
        }
        DiscussionAct::Pin(comments) => {
            sqlx::query("UPDATE discussions SET pinned = ? WHERE discussion_id = ?")
                .bind(rows::pack(comments))
        }
    };
    update.bind(id.get()).execute(&mut *db).await.during(OP)?;
    append_log(db, id, change.event_id, LogKind::DiscussionChanged, None).await?;
    audit::append(db, &entry(&change)).await?;
    let row = load_discussion(db, id).await?;
    row.map(DiscussionOutcome::Changed)
        .ok_or_else(|| StoreError::corrupt("discussions", id, "discussion_id"))
}

fn entry(change: &DiscussionChange) -> AuditEntry {
    let (act, detail) = match &change.act {
        DiscussionAct::SetState(DiscussionState::Open) => (AuditAct::Reopen, String::new()),
        DiscussionAct::SetState(DiscussionState::Closed) => (AuditAct::Close, String::new()),
        DiscussionAct::SetPremoderated(true) => (AuditAct::Premoderate, String::new()),
        DiscussionAct::SetPremoderated(false) => (AuditAct::PublishAtOnce, String::new()),
        DiscussionAct::Pin(comments) => (AuditAct::Pin, format!("{} pinned", comments.len())),
    };
    AuditEntry {
        event_id: change.event_id,
        actor_id: change.by,
        act,
        discussion_id: Some(change.discussion_id),
        comment_id: None,
        user_id: None,
        detail,
    }
}

/// Whether anybody can read a comment of the discussion.
pub(super) async fn is_readable(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
) -> Result<bool, StoreError> {
    let Some(row) = load_comment(db, discussion, comment).await? else {
        return Ok(false);
    };
    if row.state != CommentState::Published {
        return Ok(false);
    }
    let above = states_of(db, discussion, &row.ancestors).await?;
    Ok(!above.iter().any(|above| above.state.hides_below()))
}
