//! Everything that is kept of one person, for that person: lines of JSON.
//!
//! Pending and hidden comments and earlier texts too, and what the person reported; not what others
//! wrote or reported about them, nor who blocks them. Pages are read as they are written, so memory
//! does not grow with what somebody wrote.

use std::collections::HashMap;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::kept::{Decimal, FormatName};
use super::state_name;
use crate::domain::bans::BanAct;
use crate::domain::comment::Comment;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::moderation::ReportReason;
use crate::domain::page::Slice;
use crate::domain::states::{Actor, BLOCKS, StatePlace, StateSlice};
use crate::service::Ports;
use crate::service::pace::PacedError;
use crate::store::StoreError;
use crate::store::comments::Revision;
use crate::store::users::BanFilter;

/// Rows read and written at once.
const PAGE_ROWS: u32 = 100;

/// One line. Times are in milliseconds since 1970, ids decimal text.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Profile {
        id: Decimal,
        name: &'a str,
    },
    SignIn {
        issuer: &'a str,
        subject: &'a str,
    },
    Comment {
        id: Decimal,
        discussion: Decimal,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<Decimal>,
        created_at: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        edited_at: Option<i64>,
        state: &'static str,
        revision: u32,
        format: FormatName,
        body: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        revisions: Vec<RevisionLine<'a>>,
    },
    Report {
        discussion: Decimal,
        comment: Decimal,
        at: i64,
        reason: &'static str,
        text: &'a str,
    },
    Block {
        user: Decimal,
        since: i64,
    },
    Ban {
        at: i64,
        until: Option<i64>,
        reason: &'a str,
    },
    Unban {
        at: i64,
        reason: &'a str,
    },
    Seen {
        discussion: Decimal,
        up_to: Decimal,
    },
    RepliesRead {
        up_to: Decimal,
    },
    Erasure {
        asked_at: i64,
    },
}

#[derive(Serialize)]
struct RevisionLine<'a> {
    revision: u32,
    format: FormatName,
    body: &'a str,
}

/// Writes everything that is kept of a person. Returns the lines written.
pub async fn export_person<W>(ports: &Ports, user: UserId, out: &mut W) -> Result<u64, PacedError>
where
    W: AsyncWrite + Unpin + Send,
{
    let mut export = PersonExport {
        ports,
        user,
        out,
        lines: 0,
    };
    export.profile().await?;
    export.comments().await?;
    export.reports().await?;
    export.blocks().await?;
    export.bans().await?;
    export.marks().await?;
    export.out.flush().await?;
    Ok(export.lines)
}

struct PersonExport<'a, W> {
    ports: &'a Ports,
    user: UserId,
    out: &'a mut W,
    lines: u64,
}

fn store(error: StoreError) -> PacedError {
    PacedError::Service(error.into())
}

impl<W: AsyncWrite + Unpin + Send> PersonExport<'_, W> {
    async fn line(&mut self, line: &Line<'_>) -> Result<(), PacedError> {
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::other)?;
        text.push(b'\n');
        self.out.write_all(&text).await?;
        self.lines += 1;
        Ok(())
    }

    async fn profile(&mut self) -> Result<(), PacedError> {
        let users = &self.ports.users;
        let found = users.users(&[self.user]).await.map_err(store)?;
        let sign_ins = users.sign_ins(self.user).await.map_err(store)?;
        let erasure = users.erasure(self.user).await.map_err(store)?;
        for user in &found {
            let (id, name) = (Decimal(user.id.get()), user.name.as_str());
            self.line(&Line::Profile { id, name }).await?;
        }
        for sign_in in &sign_ins {
            let (issuer, subject) = (sign_in.issuer.as_str(), sign_in.subject.as_str());
            self.line(&Line::SignIn { issuer, subject }).await?;
        }
        if let Some(erasure) = erasure {
            let asked_at = erasure.asked_ms;
            self.line(&Line::Erasure { asked_at }).await?;
        }
        Ok(())
    }

    async fn comments(&mut self) -> Result<(), PacedError> {
        let mut slice = Slice {
            above: None,
            below: None,
            ascending: true,
            limit: PAGE_ROWS,
        };
        loop {
            let comments = &self.ports.comments;
            let page = comments.by_author(self.user, slice).await.map_err(store)?;
            let Some((_, last)) = page.last() else {
                return Ok(());
            };
            slice = slice.beyond(*last, PAGE_ROWS);
            let rows = comments.comments(&page).await.map_err(store)?;
            let rows: HashMap<(DiscussionId, CommentId), Comment> = rows
                .into_iter()
                .map(|row| ((row.discussion_id, row.id), row))
                .collect();
            for at in &page {
                // An entry may outlive its comment.
                let row = rows.get(at).filter(|row| row.author_id == self.user);
                if let Some(row) = row {
                    self.comment(row).await?;
                }
            }
        }
    }

    async fn comment(&mut self, row: &Comment) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        let earlier = comments.revisions(row.discussion_id, row.id);
        let earlier: Vec<Revision> = earlier.await.map_err(store)?;
        let revisions = earlier.iter().map(|earlier| RevisionLine {
            revision: earlier.revision,
            format: earlier.format.into(),
            body: &earlier.body,
        });
        let line = Line::Comment {
            id: Decimal(row.id.get()),
            discussion: Decimal(row.discussion_id.get()),
            parent: row.parent_id.map(|parent| Decimal(parent.get())),
            created_at: row.id.time_ms(),
            edited_at: row.edited_at_ms,
            state: state_name(row.state),
            revision: row.revision,
            format: row.format.into(),
            body: &row.body,
            revisions: revisions.collect(),
        };
        self.line(&line).await
    }

    async fn reports(&mut self) -> Result<(), PacedError> {
        let mut after: Option<EventId> = None;
        loop {
            let comments = &self.ports.comments;
            let page = comments.reports_by(self.user, after, PAGE_ROWS);
            let page = page.await.map_err(store)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.id);
            for report in &page {
                let line = Line::Report {
                    discussion: Decimal(report.discussion_id.get()),
                    comment: Decimal(report.comment_id.get()),
                    at: report.id.time_ms(),
                    reason: reason_name(report.reason),
                    text: &report.text,
                };
                self.line(&line).await?;
            }
        }
    }

    async fn blocks(&mut self) -> Result<(), PacedError> {
        let mut slice = StateSlice {
            above: None,
            below: None,
            ascending: true,
            limit: PAGE_ROWS,
        };
        loop {
            let states = &self.ports.states;
            let page = states.entities(Actor::person(self.user), BLOCKS, slice);
            let page = page.await.map_err(store)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            slice.above = Some(StatePlace {
                updated_ms: last.updated_ms,
                id: last.key.entity.id,
            });
            for row in &page {
                let (user, since) = (Decimal(row.key.entity.id), row.created_ms);
                self.line(&Line::Block { user, since }).await?;
            }
        }
    }

    async fn bans(&mut self) -> Result<(), PacedError> {
        let filter = BanFilter {
            user: Some(self.user),
            by: None,
        };
        let mut slice = Slice {
            above: None,
            below: None,
            ascending: true,
            limit: PAGE_ROWS,
        };
        loop {
            let page = self.ports.users.bans(filter, slice).await.map_err(store)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            slice = slice.beyond(CommentId::new(last.event_id.get()), PAGE_ROWS);
            for entry in &page {
                let (at, reason) = (entry.at_ms, entry.reason.as_str());
                let line = match entry.act {
                    BanAct::Ban { until_ms } => Line::Ban {
                        at,
                        until: until_ms,
                        reason,
                    },
                    BanAct::Lift => Line::Unban { at, reason },
                };
                self.line(&line).await?;
            }
        }
    }

    async fn marks(&mut self) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        let read_to = comments.replies_read(self.user).await.map_err(store)?;
        if read_to.get() != 0 {
            let up_to = Decimal(read_to.get());
            self.line(&Line::RepliesRead { up_to }).await?;
        }
        let mut after = None;
        loop {
            let page = comments.seen_marks_of(self.user, after, PAGE_ROWS);
            let page = page.await.map_err(store)?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = Some(*last);
            for (discussion, up_to) in &page {
                let (discussion, up_to) = (Decimal(discussion.get()), Decimal(up_to.get()));
                self.line(&Line::Seen { discussion, up_to }).await?;
            }
        }
    }
}

const fn reason_name(reason: ReportReason) -> &'static str {
    match reason {
        ReportReason::Spam => "spam",
        ReportReason::Abuse => "abuse",
        ReportReason::OffTopic => "off_topic",
        ReportReason::Illegal => "illegal",
        ReportReason::Other => "other",
    }
}
