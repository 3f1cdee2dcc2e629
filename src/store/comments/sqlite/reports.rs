//! Reports, and reading the queue that they and pending comments make.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};

use super::create::load_comment;
use super::reads::json;
use super::{SqliteComments, audit, moderating, moderation_queue};
use crate::domain::comment::CommentState;
use crate::domain::ids::{CommentId, DiscussionId, EventId, QueueId, UserId};
use crate::domain::moderation::{AuditAct, QueueKind, ReportReason};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::comments::{
    AuditEntry, CommentReports, DismissOutcome, Dismissal, NewReport, QueueFilter, QueueItem,
    Report, ReportOutcome,
};
use crate::store::driver::sqlite::DuringOp as _;

const OP: &str = "comments.reports";

/// The columns of a report, in the order [`read_report`] reads them.
macro_rules! report_columns {
    () => {
        "r.report_id, r.discussion_id, r.comment_id, r.reporter_id, r.reason, r.text, r.is_answered"
    };
}

fn read_report(row: &SqliteRow) -> Result<Report, StoreError> {
    let id: i64 = row.try_get(0).during(OP)?;
    let reporter: i64 = row.try_get(3).during(OP)?;
    let reason: i64 = row.try_get(4).during(OP)?;
    Ok(Report {
        id: EventId::new(id),
        discussion_id: DiscussionId::new(row.try_get(1).during(OP)?),
        comment_id: CommentId::new(row.try_get(2).during(OP)?),
        // Numbers below zero stand for people who were forgotten.
        reporter_id: UserId::new(reporter.max(UserId::NOBODY.get())),
        reason: ReportReason::from_code(reason)
            .ok_or_else(|| StoreError::corrupt("comment_reports", id, "reason"))?,
        text: row.try_get(5).during(OP)?,
        is_answered: row.try_get::<i64, _>(6).during(OP)? != 0,
    })
}

/// The whole report, inside the writer's transaction.
async fn report(db: &mut SqliteConnection, new: NewReport) -> Result<ReportOutcome, StoreError> {
    let Some(row) = load_comment(db, new.discussion_id, new.comment_id).await? else {
        return Ok(ReportOutcome::NotFound);
    };
    if row.state == CommentState::Buried {
        return Ok(ReportOutcome::Gone);
    }
    if row.author_id == new.reporter_id {
        return Ok(ReportOutcome::Own);
    }
    if let Some(before) = report_by(db, &new).await? {
        return Ok(ReportOutcome::Repeated(before));
    }
    if !moderating::is_readable(db, new.discussion_id, new.comment_id).await? {
        return Ok(ReportOutcome::NotPublic);
    }
    sqlx::query(
        "INSERT INTO comment_reports (discussion_id, comment_id, reporter_id, report_id, reason, \
         text) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(new.discussion_id.get())
    .bind(new.comment_id.get())
    .bind(new.reporter_id.get())
    .bind(new.event_id.get())
    .bind(new.reason.code())
    .bind(&new.text)
    .execute(&mut *db)
    .await
    .during(OP)?;
    let place = (new.discussion_id, new.comment_id);
    moderation_queue::reported(db, place, new.event_id.time_ms(), new.reason).await?;
    Ok(ReportOutcome::Reported(Report {
        id: new.event_id,
        discussion_id: new.discussion_id,
        comment_id: new.comment_id,
        reporter_id: new.reporter_id,
        reason: new.reason,
        text: new.text,
        is_answered: false,
    }))
}

/// The report this person made of this comment before.
async fn report_by(
    db: &mut SqliteConnection,
    new: &NewReport,
) -> Result<Option<Report>, StoreError> {
    let found = sqlx::query(concat!(
        "SELECT ",
        report_columns!(),
        " FROM comment_reports r WHERE r.discussion_id = ? AND r.comment_id = ? \
         AND r.reporter_id = ?"
    ))
    .bind(new.discussion_id.get())
    .bind(new.comment_id.get())
    .bind(new.reporter_id.get())
    .fetch_optional(db)
    .await
    .during(OP)?;
    found.as_ref().map(read_report).transpose()
}

/// Marks a comment's reports as answered. Returns how many were not.
pub(super) async fn answer(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
) -> Result<u64, StoreError> {
    let answered = sqlx::query(
        "UPDATE comment_reports SET is_answered = 1 \
         WHERE discussion_id = ? AND comment_id = ? AND is_answered = 0",
    )
    .bind(discussion.get())
    .bind(comment.get())
    .execute(db)
    .await
    .during(OP)?;
    Ok(answered.rows_affected())
}

/// Empties the words of a comment's reports.
pub(super) async fn forget_words(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    comment: CommentId,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE comment_reports SET text = '' WHERE discussion_id = ? AND comment_id = ?")
        .bind(discussion.get())
        .bind(comment.get())
        .execute(db)
        .await
        .during(OP)?;
    Ok(())
}

async fn dismiss(
    db: &mut SqliteConnection,
    dismissal: Dismissal,
) -> Result<DismissOutcome, StoreError> {
    let (discussion, comment) = (dismissal.discussion_id, dismissal.comment_id);
    let Some(row) = load_comment(db, discussion, comment).await? else {
        return Ok(DismissOutcome::NotFound);
    };
    let answered = moderation_queue::dismiss(db, discussion, comment).await?;
    if answered == 0 {
        return Ok(DismissOutcome::NoChange);
    }
    let entry = AuditEntry {
        event_id: dismissal.event_id,
        actor_id: dismissal.by,
        act: AuditAct::DismissReports,
        discussion_id: Some(discussion),
        comment_id: Some(comment),
        user_id: Some(row.author_id),
        detail: dismissal.reason,
    };
    audit::append(db, &entry).await?;
    let answered = u32::try_from(answered).unwrap_or(u32::MAX);
    Ok(DismissOutcome::Dismissed(answered))
}

/// Takes a person off some of their reports; a number of its own keeps each row's key unique.
async fn forget(
    db: &mut SqliteConnection,
    reporter: UserId,
    limit: u32,
) -> Result<bool, StoreError> {
    let forgotten = sqlx::query(
        "UPDATE comment_reports SET reporter_id = -report_id, text = '' \
         WHERE (discussion_id, comment_id, reporter_id) IN \
         (SELECT discussion_id, comment_id, reporter_id FROM comment_reports \
          WHERE reporter_id = ? LIMIT ?)",
    )
    .bind(reporter.get())
    .bind(i64::from(limit))
    .execute(db)
    .await
    .during(OP)?;
    Ok(forgotten.rows_affected() > 0)
}

/// What a filter lets through, behind a statement that ends in its first condition.
fn narrow(select: &mut QueryBuilder<Sqlite>, filter: QueueFilter) {
    if let Some(discussion) = filter.discussion {
        select.push(" AND q.discussion_id = ");
        select.push_bind(discussion.get());
    }
    match filter.kind {
        Some(QueueKind::Pending) => {
            select.push(" AND q.is_pending = 1");
        }
        Some(QueueKind::Reported) => {
            select.push(" AND q.reports > 0");
        }
        None => {}
    }
    if let Some(reason) = filter.reason {
        select.push(" AND (q.reasons & ");
        select.push_bind(reason.bit());
        select.push(") != 0");
    }
}

fn queue_item(row: &SqliteRow) -> Result<QueueItem, StoreError> {
    let id: i64 = row.try_get(0).during(OP)?;
    let corrupt = |column| StoreError::corrupt("moderation_queue", id, column);
    let reports: i64 = row.try_get(5).during(OP)?;
    let reasons: i64 = row.try_get(6).during(OP)?;
    Ok(QueueItem {
        id: QueueId::new(id),
        discussion_id: DiscussionId::new(row.try_get(1).during(OP)?),
        comment_id: CommentId::new(row.try_get(2).during(OP)?),
        since_ms: row.try_get(3).during(OP)?,
        is_pending: row.try_get::<i64, _>(4).during(OP)? != 0,
        report_count: u32::try_from(reports)
            .ok()
            .ok_or_else(|| corrupt("reports"))?,
        reasons: ReportReason::of_bits(reasons).ok_or_else(|| corrupt("reasons"))?,
    })
}

#[async_trait]
impl CommentReports for SqliteComments {
    async fn report(&self, new: NewReport) -> Result<ReportOutcome, StoreError> {
        self.group
            .write("comments.report", move |db| Box::pin(report(db, new)))
            .await
    }

    async fn dismiss_reports(&self, dismissal: Dismissal) -> Result<DismissOutcome, StoreError> {
        self.group
            .write("comments.dismiss_reports", move |db| {
                Box::pin(dismiss(db, dismissal))
            })
            .await
    }

    async fn queue(
        &self,
        filter: QueueFilter,
        slice: Slice<QueueId>,
    ) -> Result<Vec<QueueItem>, StoreError> {
        let mut select = QueryBuilder::new(
            "SELECT q.item_id, q.discussion_id, q.comment_id, q.since_ms, q.is_pending, \
             q.reports, q.reasons FROM moderation_queue q WHERE q.item_id > ",
        );
        select.push_bind(slice.above.map_or(i64::MIN, QueueId::get));
        select.push(" AND q.item_id < ");
        select.push_bind(slice.below.map_or(i64::MAX, QueueId::get));
        narrow(&mut select, filter);
        select.push(if slice.ascending {
            " ORDER BY q.item_id ASC LIMIT "
        } else {
            " ORDER BY q.item_id DESC LIMIT "
        });
        select.push_bind(i64::from(slice.limit));
        self.group.count(1);
        let found = select
            .build()
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        found.iter().map(queue_item).collect()
    }

    async fn queue_size(&self, filter: QueueFilter) -> Result<u64, StoreError> {
        let mut select =
            QueryBuilder::new("SELECT count(*) FROM moderation_queue q WHERE q.item_id > 0");
        narrow(&mut select, filter);
        self.group.count(1);
        let size: i64 = select
            .build_query_scalar()
            .fetch_one(self.group.readers())
            .await
            .during(OP)?;
        Ok(size.unsigned_abs())
    }

    async fn open_reports(
        &self,
        comments: &[(DiscussionId, CommentId)],
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Report>, StoreError> {
        let pairs: Vec<(i64, i64)> = comments.iter().map(|(d, c)| (d.get(), c.get())).collect();
        self.group.count(1);
        let found = sqlx::query(concat!(
            "SELECT ",
            report_columns!(),
            " FROM json_each(?1) h CROSS JOIN comment_reports r \
             WHERE r.discussion_id = json_extract(h.value, '$[0]') \
             AND r.comment_id = json_extract(h.value, '$[1]') AND r.is_answered = 0 \
             AND r.report_id IN (SELECT i.report_id FROM comment_reports i \
               WHERE i.discussion_id = r.discussion_id AND i.comment_id = r.comment_id \
               AND i.is_answered = 0 AND i.report_id > ?2 ORDER BY i.report_id LIMIT ?3) \
             ORDER BY h.key, r.report_id"
        ))
        .bind(json(&pairs))
        .bind(after.map_or(i64::MIN, EventId::get))
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        found.iter().map(read_report).collect()
    }

    async fn reports_by(
        &self,
        reporter: UserId,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<Report>, StoreError> {
        self.group.count(1);
        let found = sqlx::query(concat!(
            "SELECT ",
            report_columns!(),
            " FROM comment_reports r WHERE r.reporter_id = ? AND r.report_id > ? \
             ORDER BY r.report_id LIMIT ?"
        ))
        .bind(reporter.get())
        .bind(after.map_or(i64::MIN, EventId::get))
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        found.iter().map(read_report).collect()
    }

    async fn forget_reporter(&self, reporter: UserId, limit: u32) -> Result<bool, StoreError> {
        self.group
            .write("comments.forget_reporter", move |db| {
                Box::pin(forget(db, reporter, limit))
            })
            .await
    }
}
