//! Writes the comments of discussions: several discussions at once, each in its own order.
//!
//! A store that groups what waits for it into one commit is kept busy so, and a discussion's
//! batches still come one after the other, parents before replies. What became of the rows is
//! handed back discussion by discussion, so that the report does not depend on who was faster.

use std::io;
use std::sync::Arc;

use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use super::authors::{AuthorError, Authors};
use super::lots::Lot;
use super::outgoing::{self, Author, Name, Outgoing};
use super::pipeline::ImportOptions;
use super::report::{Note, ODDITIES_MAX, Reason, What};
use super::retry::Patience;
use super::rows::Key;
use super::scan::Scanned;
use crate::domain::discussion::Discussion;
use crate::domain::ids::generator::{IdGenerator, MintError};
use crate::domain::ids::{DiscussionId, UserId};
use crate::store::StoreError;
use crate::store::comments::{
    CommentStore, IMPORT_BATCH_MAX, ImportComment, ImportDiscussion, ImportOutcome,
};
use crate::tasks::Tasks;

/// Why writing stopped early.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("interrupted")]
    Asked,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Mint(#[from] MintError),
    #[error("the temporary file: {0}")]
    Spool(#[from] io::Error),
    #[error("the store answered for {answered} of {sent} rows")]
    Answers { sent: usize, answered: usize },
}

impl From<AuthorError> for Stop {
    fn from(error: AuthorError) -> Self {
        match error {
            AuthorError::Store(error) => Self::Store(error),
            AuthorError::Mint(error) => Self::Mint(error),
        }
    }
}

/// Everything that writing needs; shared by what is written at once.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) comments: Arc<dyn CommentStore>,
    pub(super) ids: Arc<IdGenerator>,
    pub(super) tasks: Tasks,
    pub(super) options: ImportOptions,
    pub(super) scanned: Arc<Scanned>,
    pub(super) now_ms: i64,
    pub(super) authors: Authors,
    pub(super) patience: Patience,
    /// Set when the import is told to stop, or when anything failed.
    pub(super) halt: CancellationToken,
    pub(super) progress: ProgressBar,
}

/// What became of a discussion's comments.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) imported: u64,
    pub(super) already_there: u64,
    pub(super) odd: Vec<Odd>,
}

/// A row of which more is to be said than that it is there.
#[derive(Debug)]
pub(super) struct Odd {
    /// `None`: only its absent parent may turn out to be odd.
    pub(super) what: Option<What>,
    pub(super) detail: String,
    /// Its id and line, unless there are too many to be named.
    pub(super) name: Option<(String, u64)>,
    pub(super) absent_parent: Option<String>,
}

impl Writer {
    /// Does `work`, which blocks, where that holds up nothing.
    pub(super) async fn aside<T, W>(&self, work: W) -> Result<T, Stop>
    where
        T: Send + 'static,
        W: FnOnce() -> io::Result<T> + Send + 'static,
    {
        let done = self.tasks.spawn_blocking(work).await;
        Ok(done.map_err(io::Error::other)??)
    }

    /// Opens discussions in the order given.
    pub(super) async fn open(
        &self,
        batch: Vec<ImportDiscussion>,
    ) -> Result<Vec<(Arc<Discussion>, bool)>, Stop> {
        let sent = batch.len();
        let opened = self
            .patience
            .with(async || Ok(self.comments.import_discussions(batch.clone()).await?))
            .await?;
        if opened.len() == sent {
            Ok(opened)
        } else {
            Err(Stop::Answers {
                sent,
                answered: opened.len(),
            })
        }
    }

    /// Makes users of the authors of a lot.
    pub(super) async fn introduce(self: &Arc<Self>, lot: &Arc<Lot>) -> Result<(), Stop> {
        for firsts in lot.firsts.chunks(IMPORT_BATCH_MAX) {
            if self.halt.is_cancelled() {
                return Err(Stop::Asked);
            }
            let outgoing = self.outgoing(lot, firsts.to_vec()).await?;
            let (mut authors, mut kept) = (Vec::new(), Vec::new());
            for author in outgoing.into_iter().filter_map(|one| one.author) {
                match author {
                    Author::Source(key, name) => authors.push((key, name)),
                    Author::Kept(id, name) => kept.push((id, name)),
                }
            }
            self.users(authors).await?;
            self.patience
                .with(async || Ok(self.authors.keep(kept.clone()).await?))
                .await?;
        }
        Ok(())
    }

    /// Writes a discussion of a lot: all of it, or what came before the stop. `id` is `None` in a
    /// dry run.
    pub(super) async fn discussion(
        self: Arc<Self>,
        lot: Arc<Lot>,
        at: usize,
        id: Option<DiscussionId>,
    ) -> (Written, Result<(), Stop>) {
        let mut written = Written::default();
        let rows = lot.plan.groups.get(at).cloned().unwrap_or_default();
        let rows: Vec<u32> = lot.plan.order.get(rows).unwrap_or_default().to_vec();
        for batch in rows.chunks(IMPORT_BATCH_MAX) {
            if self.halt.is_cancelled() {
                return (written, Err(Stop::Asked));
            }
            let done = if let Some(id) = id {
                self.batch(&lot, id, batch, &mut written).await
            } else {
                written.imported += count(batch.len());
                Ok(())
            };
            if done.is_err() {
                // Whatever else is under way ends after its batch.
                self.halt.cancel();
                return (written, done);
            }
            self.progress.inc(count(batch.len()));
        }
        (written, Ok(()))
    }

    async fn batch(
        &self,
        lot: &Arc<Lot>,
        discussion: DiscussionId,
        rows: &[u32],
        written: &mut Written,
    ) -> Result<(), Stop> {
        let mut outgoing = self.outgoing(lot, rows.to_vec()).await?;
        let is_of_source = |one: &&mut Outgoing| matches!(one.author, Some(Author::Source(..)));
        let authors = outgoing.iter().filter_map(|one| match &one.author {
            Some(Author::Source(key, name)) => Some((key.clone(), name.clone())),
            Some(Author::Kept(..)) | None => None,
        });
        let mut users = self.users(authors.collect()).await?.into_iter();
        for one in outgoing.iter_mut().filter(is_of_source) {
            one.comment.author_id = users.next().unwrap_or(UserId::NOBODY);
        }
        let (batch, names): (Vec<ImportComment>, Vec<Name>) = outgoing
            .into_iter()
            .map(|one| (one.comment, one.name))
            .unzip();
        let outcomes = self
            .patience
            .with(async || {
                let (source, marker) = (&self.options.source, self.ids.mint()?);
                let (batch, max) = (batch.clone(), self.options.comments_max);
                let store = &self.comments;
                Ok(store
                    .import_comments(discussion, source, batch, marker, max)
                    .await?)
            })
            .await?;
        if outcomes.len() != names.len() {
            return Err(Stop::Answers {
                sent: names.len(),
                answered: outcomes.len(),
            });
        }
        for (outcome, name) in outcomes.into_iter().zip(names) {
            written.count(outcome, name, self.options.comments_max);
        }
        Ok(())
    }

    async fn outgoing(&self, lot: &Arc<Lot>, rows: Vec<u32>) -> Result<Vec<Outgoing>, Stop> {
        let (scanned, lot, now_ms) = (Arc::clone(&self.scanned), Arc::clone(lot), self.now_ms);
        self.aside(move || {
            let rows = rows.into_iter();
            rows.filter_map(|row| outgoing::comment(&scanned, &lot, row, now_ms).transpose())
                .collect()
        })
        .await
    }

    async fn users(&self, authors: Vec<(String, String)>) -> Result<Vec<UserId>, Stop> {
        self.patience
            .with(async || Ok(self.authors.users(authors.clone()).await?))
            .await
    }
}

impl Written {
    fn count(&mut self, outcome: ImportOutcome, name: Name, comments_max: i64) {
        let absent = name.absent_parent.is_some();
        let (what, detail) = match outcome {
            ImportOutcome::Imported(_) => {
                self.imported += 1;
                return;
            }
            ImportOutcome::AlreadyThere(_) => {
                self.already_there += 1;
                if !absent {
                    return;
                }
                (None, String::new())
            }
            ImportOutcome::ParentMissing(_) if absent => (
                Some(What::Changed(Note::OrphanMissingParent)),
                String::new(),
            ),
            // Its parent was left out because the discussion is full.
            ImportOutcome::ParentMissing(_) => (
                Some(What::Changed(Note::OrphanParentSkipped)),
                String::new(),
            ),
            ImportOutcome::Flattened(_) => (Some(What::Changed(Note::Flattened)), String::new()),
            ImportOutcome::DiscussionFull => (
                Some(What::LeftOut(Reason::DiscussionFull)),
                format!("limit {comments_max}"),
            ),
        };
        if matches!(what, Some(What::Changed(_))) {
            self.imported += 1;
        }
        let is_named = self.odd.len() < ODDITIES_MAX;
        self.odd.push(Odd {
            what,
            detail,
            name: is_named.then_some((name.source_id, name.line)),
            absent_parent: name.absent_parent,
        });
    }
}

/// The parent of a row as the report words it.
pub(super) fn parent_words(parent: &str) -> String {
    format!("parent {parent}")
}

/// The key that an orphan looks for.
pub(super) fn wanted(parent: &str) -> Key {
    super::rows::key_of(parent)
}

pub(super) fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
