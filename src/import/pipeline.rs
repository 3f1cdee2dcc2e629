//! Writes what was read and decided: discussion by discussion, in batches, parents before replies.
//!
//! Nothing is written before the whole export was read. Every write may be repeated: what an
//! earlier run wrote is found by its source id, so an interrupted import is simply run again. The
//! import is told to stop between batches.

use std::io;
use std::sync::Arc;

use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use super::authors::{AuthorError, Authors};
use super::checks;
use super::record::ExportReader;
use super::report::{Note, Oddity, Outcome, Reason, Report, RowKind, What};
use super::resolve::{self, Place, Plan, Verdict, wide};
use super::scan::{self, DiscussionRow, Row, ScanError, Scanned, Standing};
use super::spool::{SpooledComment, SpooledDiscussion};
use crate::domain::body::BodyFormat;
use crate::domain::clock::Clock;
use crate::domain::comment::CommentState;
use crate::domain::ids::generator::{IdGenerator, MintError};
use crate::domain::ids::{DiscussionId, UserId};
use crate::domain::text::TextLimits;
use crate::store::StoreError;
use crate::store::comments::{CommentStore, ImportComment, ImportDiscussion, ImportOutcome};
use crate::store::users::UserStore;

/// Comments written at once.
pub const BATCH_MAX: usize = 500;

/// How to import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The name the rows are known under; another name imports them again.
    pub source: String,
    /// Reads, decides and reports, but writes nothing.
    pub dry_run: bool,
    /// What a text may be at most.
    pub limits: TextLimits,
    /// Comments a discussion may hold.
    pub comments_max: i64,
    /// Depth limit of the first layout of new discussions.
    pub depth_limit: u16,
    /// Query parameters that tell one address from another.
    pub kept_parameters: Vec<String>,
}

/// Imports exports.
#[derive(Clone, Debug)]
pub struct Importer {
    /// Where comments go.
    pub comments: Arc<dyn CommentStore>,
    /// Where authors go.
    pub users: Arc<dyn UserStore>,
    /// Mints ids for authors and markers; needs a lease for as long as the import runs.
    pub ids: Arc<IdGenerator>,
    /// Tells what lies in the future.
    pub clock: Clock,
}

/// Why writing stopped early.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("interrupted")]
    Asked,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Mint(#[from] MintError),
    #[error(transparent)]
    Author(#[from] AuthorError),
    #[error("the temporary file: {0}")]
    Spool(#[from] io::Error),
    #[error("the store answered for {answered} of {sent} comments")]
    Answers { sent: usize, answered: usize },
}

impl Importer {
    /// Reads `reader` to its end and writes what it holds. Whatever goes wrong is in the report.
    pub async fn run(
        &self,
        mut reader: Box<dyn ExportReader>,
        options: &ImportOptions,
        stop: &CancellationToken,
        progress: &ProgressBar,
    ) -> Report {
        let mut report = Report::new(&options.source, options.dry_run);
        let scanned = scan::scan(&mut *reader, &options.limits, stop, &mut report).await;
        drop(reader);
        let scanned = match scanned {
            Ok(scanned) => scanned,
            Err(ScanError::Input(error)) => {
                return report.ended(Outcome::InputBroken(error.to_string()));
            }
            Err(error @ ScanError::Spool(_)) => {
                return report.ended(Outcome::StoreFailed(error.to_string()));
            }
            Err(ScanError::Interrupted) => return report.ended(Outcome::Interrupted),
        };
        if report.discussions.read + report.comments.read == 0 {
            let why = "the file holds no discussions and no comments";
            return report.ended(Outcome::InputBroken(why.to_owned()));
        }
        let now_ms = self.clock.now_ms();
        let plan = resolve::resolve(&scanned.comments, &scanned.discussions, now_ms);
        let authors = Authors::new(
            Arc::clone(&self.users),
            Arc::clone(&self.ids),
            &options.source,
        );
        let mut writing = Writing {
            importer: self,
            options,
            plan,
            scanned,
            now_ms,
            authors,
            report,
        };
        progress.reset();
        progress.set_length(u64::try_from(writing.plan.order.len()).unwrap_or(u64::MAX));
        let outcome = match writing.all(stop, progress).await {
            Ok(()) => Outcome::Complete,
            Err(Stop::Asked) => Outcome::Interrupted,
            Err(error) => Outcome::StoreFailed(error.to_string()),
        };
        writing.report.ended(outcome)
    }
}

struct Writing<'a> {
    importer: &'a Importer,
    options: &'a ImportOptions,
    scanned: Scanned,
    plan: Plan,
    now_ms: i64,
    authors: Authors,
    report: Report,
}

/// A comment on its way, with what the report says about it.
struct Outgoing {
    comment: ImportComment,
    author: Option<(String, String)>,
    name: Name,
}

/// What the report calls a comment that was sent to the store.
struct Name {
    source_id: String,
    line: u64,
    /// Its parent, if that is not in the file.
    absent_parent: Option<String>,
}

impl Writing<'_> {
    async fn all(&mut self, stop: &CancellationToken, progress: &ProgressBar) -> Result<(), Stop> {
        self.report_comments()?;
        for at in 0..self.plan.groups.len() {
            if stop.is_cancelled() {
                return Err(Stop::Asked);
            }
            let Some(row) = self.scanned.discussions.get(at).copied() else {
                continue;
            };
            match row.standing {
                Standing::Undeclared => {}
                Standing::Deleted => {
                    let spooled: SpooledDiscussion = self.scanned.spool.get(row.offset)?;
                    self.report.odd(Oddity {
                        kind: RowKind::Discussion,
                        source_id: spooled.source_id,
                        line: spooled.line,
                        what: What::LeftOut(Reason::Deleted),
                        detail: String::new(),
                    });
                }
                Standing::Wanted => self.discussion(at, row, stop, progress).await?,
            }
        }
        Ok(())
    }

    /// Counts what the plan leaves out or changes, before anything is written.
    fn report_comments(&mut self) -> io::Result<()> {
        let places = self.plan.places.iter().zip(&self.scanned.comments);
        for (place, row) in places {
            let odd = oddities_of(place, row, self.options.dry_run);
            if odd.is_empty() {
                continue;
            }
            if !self.report.has_room() {
                for what in odd {
                    self.report.odd_unnamed(RowKind::Comment, what);
                }
                continue;
            }
            let spooled: SpooledComment = self.scanned.spool.get(row.offset)?;
            for what in odd {
                self.report.odd(Oddity {
                    kind: RowKind::Comment,
                    source_id: spooled.source_id.clone(),
                    line: spooled.line,
                    what,
                    detail: detail_of(what, &spooled),
                });
            }
        }
        Ok(())
    }

    async fn discussion(
        &mut self,
        at: usize,
        row: DiscussionRow,
        stop: &CancellationToken,
        progress: &ProgressBar,
    ) -> Result<(), Stop> {
        let spooled: SpooledDiscussion = self.scanned.spool.get(row.offset)?;
        let Some(group) = self.plan.groups.get(at).cloned() else {
            return Ok(());
        };
        let new = self.checked_discussion(spooled, group.time_ms, group.clamped);
        let id = self.open(new).await?;
        let rows: Vec<u32> = self.plan.order.get(group.rows).unwrap_or_default().to_vec();
        for batch in rows.chunks(BATCH_MAX) {
            if stop.is_cancelled() {
                return Err(Stop::Asked);
            }
            self.batch(id, batch).await?;
            progress.inc(u64::try_from(batch.len()).unwrap_or(0));
        }
        Ok(())
    }

    /// Drops from a discussion what this service cannot take, and reports it.
    fn checked_discussion(
        &mut self,
        spooled: SpooledDiscussion,
        created_ms: i64,
        clamped: bool,
    ) -> ImportDiscussion {
        let (title, title_dropped) = checks::title(&spooled.title);
        let kept = &self.options.kept_parameters;
        let url = spooled.url.as_deref();
        let canonical = url.and_then(|url| checks::canonical_url(url, kept));
        let entity = spooled.entity.as_ref().and_then(checks::entity);
        let notes = [
            (clamped && spooled.line > 0, Note::DateClamped),
            (title_dropped, Note::TitleDropped),
            (url.is_some() && canonical.is_none(), Note::UrlUnusable),
            (
                spooled.entity.is_some() && entity.is_none(),
                Note::EntityUnusable,
            ),
        ];
        for (_, note) in notes.iter().filter(|(applies, _)| *applies) {
            let source_id = spooled.source_id.clone();
            self.report.odd(changed_discussion(
                source_id,
                spooled.line,
                *note,
                String::new(),
            ));
        }
        ImportDiscussion {
            source: self.options.source.clone(),
            source_id: spooled.source_id,
            created_ms,
            title,
            url: canonical,
            entity,
            closed: spooled.closed,
            depth_limit: self.options.depth_limit,
        }
    }

    /// Opens a discussion or finds it again. In a dry run there is none.
    async fn open(&mut self, new: ImportDiscussion) -> Result<Option<DiscussionId>, Stop> {
        if self.options.dry_run {
            self.report.discussions.imported += 1;
            return Ok(None);
        }
        let wanted = (new.source_id.clone(), new.url.clone(), new.entity.clone());
        let (found, is_new) = self.importer.comments.import_discussion(new).await?;
        if is_new {
            self.report.discussions.imported += 1;
        } else {
            self.report.discussions.already_there += 1;
        }
        let (source_id, url, entity) = wanted;
        if let Some(url) = url.filter(|url| found.url.as_ref() != Some(url)) {
            self.report.odd(changed_discussion(
                source_id.clone(),
                0,
                Note::UrlTaken,
                url,
            ));
        }
        if let Some((kind, id)) = entity.filter(|entity| found.entity.as_ref() != Some(entity)) {
            let detail = format!("{kind} {id}");
            self.report
                .odd(changed_discussion(source_id, 0, Note::EntityTaken, detail));
        }
        Ok(Some(found.id))
    }

    async fn batch(&mut self, discussion: Option<DiscussionId>, rows: &[u32]) -> Result<(), Stop> {
        let Some(discussion) = discussion else {
            self.report.comments.imported += u64::try_from(rows.len()).unwrap_or(0);
            return Ok(());
        };
        let mut outgoing = Vec::with_capacity(rows.len());
        for row in rows {
            outgoing.extend(outgoing_of(
                *row,
                &self.plan,
                &mut self.scanned,
                self.now_ms,
            )?);
        }
        let authors = outgoing.iter().filter_map(|one| one.author.clone());
        let mut users = self.authors.users(authors.collect()).await?.into_iter();
        for one in outgoing.iter_mut().filter(|one| one.author.is_some()) {
            one.comment.author_id = users.next().unwrap_or(UserId::NOBODY);
        }
        let (batch, names): (Vec<ImportComment>, Vec<Name>) = outgoing
            .into_iter()
            .map(|one| (one.comment, one.name))
            .unzip();
        let marker = self.importer.ids.mint()?;
        let (store, options) = (&self.importer.comments, self.options);
        let outcomes = store
            .import_comments(
                discussion,
                &options.source,
                batch,
                marker,
                options.comments_max,
            )
            .await?;
        if outcomes.len() != names.len() {
            return Err(Stop::Answers {
                sent: names.len(),
                answered: outcomes.len(),
            });
        }
        for (outcome, name) in outcomes.into_iter().zip(names) {
            self.count(outcome, name);
        }
        Ok(())
    }

    fn count(&mut self, outcome: ImportOutcome, name: Name) {
        let (what, detail) = match (outcome, name.absent_parent) {
            (ImportOutcome::Imported(_), _) => {
                self.report.comments.imported += 1;
                return;
            }
            (ImportOutcome::AlreadyThere(_), _) => {
                self.report.comments.already_there += 1;
                return;
            }
            (ImportOutcome::ParentMissing(_), Some(parent)) => (
                What::Changed(Note::OrphanMissingParent),
                format!("parent {parent}"),
            ),
            // Its parent was left out because the discussion is full.
            (ImportOutcome::ParentMissing(_), None) => {
                (What::Changed(Note::OrphanParentSkipped), String::new())
            }
            (ImportOutcome::Flattened(_), _) => (What::Changed(Note::Flattened), String::new()),
            (ImportOutcome::DiscussionFull, _) => (
                What::LeftOut(Reason::DiscussionFull),
                format!("limit {}", self.options.comments_max),
            ),
        };
        if matches!(what, What::Changed(_)) {
            self.report.comments.imported += 1;
        }
        self.report.odd(Oddity {
            kind: RowKind::Comment,
            source_id: name.source_id,
            line: name.line,
            what,
            detail,
        });
    }
}

fn changed_discussion(source_id: String, line: u64, note: Note, detail: String) -> Oddity {
    Oddity {
        kind: RowKind::Discussion,
        source_id,
        line,
        what: What::Changed(note),
        detail,
    }
}

fn oddities_of(place: &Place, row: &Row, dry_run: bool) -> Vec<What> {
    let tombstone = match place.verdict {
        Verdict::LeftOut(reason) => return vec![What::LeftOut(reason)],
        Verdict::Tombstone(reason) if reason.is_rejection() => Some(Note::TextLost),
        Verdict::Tombstone(_) => Some(Note::Tombstone),
        Verdict::Whole => None,
    };
    let inverted = place.inverted.then_some(Note::ClockInversion);
    let clamped = place.clamped.then_some(Note::DateClamped);
    let nameless = row.name_dropped && place.verdict == Verdict::Whole;
    let nameless = nameless.then_some(Note::NameDropped);
    // A parent that is not in the file may be in the store, which tells when the row is written.
    let made_root = place
        .made_root
        .filter(|note| dry_run || *note != Note::OrphanMissingParent);
    [tombstone, made_root, inverted, clamped, nameless]
        .into_iter()
        .flatten()
        .map(What::Changed)
        .collect()
}

fn detail_of(what: What, spooled: &SpooledComment) -> String {
    match what {
        What::LeftOut(Reason::TooLong | Reason::TextRefused | Reason::Empty)
        | What::Changed(Note::TextLost | Note::Tombstone) => spooled.detail.clone(),
        What::Changed(
            Note::OrphanMissingParent
            | Note::OrphanForeignParent
            | Note::OrphanParentSkipped
            | Note::CycleBroken
            | Note::ClockInversion,
        ) => spooled
            .parent
            .as_ref()
            .map(|parent| format!("parent {parent}"))
            .unwrap_or_default(),
        What::LeftOut(_) | What::Changed(_) => String::new(),
    }
}

/// Takes a row's words from the spool and puts them as the plan has it.
fn outgoing_of(
    row: u32,
    plan: &Plan,
    scanned: &mut Scanned,
    now_ms: i64,
) -> io::Result<Option<Outgoing>> {
    let Scanned {
        comments, spool, ..
    } = scanned;
    let (Some(row), Some(place)) = (comments.get(wide(row)), plan.places.get(wide(row))) else {
        return Ok(None);
    };
    let spooled: SpooledComment = spool.get(row.offset)?;
    let is_whole = place.verdict == Verdict::Whole;
    let format = BodyFormat::from_code(spooled.format).unwrap_or_default();
    let state = CommentState::from_code(spooled.state).unwrap_or(CommentState::Buried);
    let edited_ms = spooled.edited_ms.map(|ms| ms.clamp(place.time_ms, now_ms));
    let is_absent = place.made_root == Some(Note::OrphanMissingParent);
    let parent = spooled
        .parent
        .filter(|_| is_absent || place.parent().is_some());
    Ok(Some(Outgoing {
        name: Name {
            source_id: spooled.source_id.clone(),
            line: spooled.line,
            absent_parent: parent.clone().filter(|_| is_absent),
        },
        author: is_whole.then_some((spooled.author_key, spooled.author_name)),
        comment: ImportComment {
            source_id: spooled.source_id,
            created_ms: place.time_ms,
            parent_source_id: parent,
            author_id: UserId::NOBODY,
            body: spooled.body,
            format,
            edited_at_ms: edited_ms.filter(|_| is_whole),
            state: if is_whole {
                state
            } else {
                CommentState::Buried
            },
        },
    }))
}
