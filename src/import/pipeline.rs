//! Takes an export through all steps: reads, opens discussions, and writes lot by lot.
//!
//! Nothing is written before the whole export was read. Every write may be repeated: what an
//! earlier run wrote is found by its source id, so an interrupted import is simply run again. The
//! import is told to stop between batches.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use super::authors::Authors;
use super::lots::{LOT_ROWS, Lot};
use super::orphans::{Orphan, Orphans};
use super::outgoing::{self, changed_discussion};
use super::record::ExportReader;
use super::report::{Note, Oddity, Outcome, Reason, Report, RowKind, What};
use super::resolve::wide;
use super::retry::Patience;
use super::rows::Standing;
use super::scan::{self, ScanError, ScanOptions, Scanned};
use super::writing::{Odd, Stop, Writer, Written, count, parent_words, wanted};
use crate::domain::clock::Clock;
use crate::domain::discussion::Discussion;
use crate::domain::ids::DiscussionId;
use crate::domain::ids::generator::IdGenerator;
use crate::domain::text::TextLimits;
use crate::store::comments::{CommentStore, IMPORT_BATCH_MAX, ImportDiscussion};
use crate::store::users::UserStore;
use crate::tasks::Tasks;

/// Discussions written at once.
const TOGETHER: usize = 16;
/// How long a reader that was told to stop may wait for its input before it is left alone with it.
const GRACE: Duration = Duration::from_secs(1);

/// How to import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The name the rows are known under; another name imports them again.
    pub source: String,
    /// Reads, decides and reports, but writes nothing.
    pub dry_run: bool,
    /// Rows that this service exported come back as they were: the file is believed.
    pub restore: bool,
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
    /// Where reading blocks.
    pub tasks: Tasks,
}

impl Importer {
    /// Reads `reader` to its end and writes what it holds. Whatever goes wrong is in the report.
    pub async fn run(
        &self,
        reader: Box<dyn ExportReader>,
        options: &ImportOptions,
        stop: &CancellationToken,
        progress: &ProgressBar,
    ) -> Report {
        let (scanned, report) = self.read(reader, options, stop).await;
        let scanned = match scanned {
            Ok(scanned) => Arc::new(scanned),
            Err(error @ (ScanError::Input(_) | ScanError::Clock { .. })) => {
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
        let orphans = match Orphans::new() {
            Ok(orphans) => orphans,
            Err(error) => {
                let error = ScanError::Spool(error);
                return report.ended(Outcome::StoreFailed(error.to_string()));
            }
        };
        progress.reset();
        progress.set_length(scanned.comments);
        let halt = stop.child_token();
        let import = Import {
            ids: vec![None; scanned.discussions.len()],
            writer: Arc::new(Writer {
                comments: Arc::clone(&self.comments),
                ids: Arc::clone(&self.ids),
                tasks: self.tasks.clone(),
                options: options.clone(),
                scanned,
                now_ms: self.clock.now_ms(),
                authors: Authors::new(
                    Arc::clone(&self.users),
                    Arc::clone(&self.ids),
                    &options.source,
                ),
                patience: Patience::new(halt.clone()),
                halt,
                progress: progress.clone(),
            }),
            pages: Arc::new(Mutex::new(Pages { report, orphans })),
        };
        import.run().await
    }

    /// Reads the export on a thread of its own: its input may block for as long as it likes.
    async fn read(
        &self,
        mut reader: Box<dyn ExportReader>,
        options: &ImportOptions,
        stop: &CancellationToken,
    ) -> (Result<Scanned, ScanError>, Report) {
        let stopping = stop.clone();
        let options_of_scan = ScanOptions {
            limits: options.limits,
            restore: options.restore,
            now_ms: self.clock.now_ms(),
        };
        let blank = Report::new(&options.source, options.dry_run);
        let mut report = blank.clone();
        let reading = self.tasks.spawn_blocking(move || {
            let scanned = scan::scan(&mut *reader, options_of_scan, &stopping, &mut report);
            (scanned, report)
        });
        let too_long = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            read = reading => read.unwrap_or_else(|error| {
                (Err(ScanError::Spool(io::Error::other(error))), blank)
            }),
            () = too_long => (Err(ScanError::Interrupted), blank.clone()),
        }
    }
}

/// An import whose file was read.
struct Import {
    writer: Arc<Writer>,
    /// Discussions as the store knows them, by their place in the list.
    ids: Vec<Option<DiscussionId>>,
    pages: Arc<Mutex<Pages>>,
}

/// What is said about rows, by whichever thread looks at them.
struct Pages {
    report: Report,
    orphans: Orphans,
}

impl Import {
    async fn run(mut self) -> Report {
        let ended = self.all().await;
        let scanned = Arc::clone(&self.writer.scanned);
        let settled =
            self.with_pages(move |pages| pages.orphans.settle(&scanned, &mut pages.report));
        let ended = ended.and(settled.await);
        let mut report = lock(&self.pages).report.clone();
        report.retries = self.writer.patience.retries();
        report.ended(match ended {
            Ok(()) => Outcome::Complete,
            Err(Stop::Asked) => Outcome::Interrupted,
            Err(error) => Outcome::StoreFailed(error.to_string()),
        })
    }

    async fn all(&mut self) -> Result<(), Stop> {
        let count = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let places: Vec<u32> = (0..count).collect();
        for places in places.chunks(IMPORT_BATCH_MAX) {
            self.look()?;
            self.open(places.to_vec()).await?;
        }
        for partitions in self.writer.scanned.lots(LOT_ROWS) {
            self.look()?;
            let (scanned, now_ms) = (Arc::clone(&self.writer.scanned), self.writer.now_ms);
            let lot = self.with_pages(move |pages| {
                let lot = scanned.lot(partitions, now_ms)?;
                outgoing::report_lot(&scanned, &lot, &mut pages.report, &mut pages.orphans)?;
                Ok(lot)
            });
            let lot = Arc::new(lot.await?);
            if !self.writer.options.dry_run {
                self.writer.introduce(&lot).await?;
            }
            self.write(lot).await?;
        }
        Ok(())
    }

    /// Whether to go on.
    fn look(&self) -> Result<(), Stop> {
        if self.writer.halt.is_cancelled() {
            Err(Stop::Asked)
        } else {
            Ok(())
        }
    }

    async fn with_pages<T, W>(&self, work: W) -> Result<T, Stop>
    where
        T: Send + 'static,
        W: FnOnce(&mut Pages) -> io::Result<T> + Send + 'static,
    {
        let pages = Arc::clone(&self.pages);
        self.writer.aside(move || work(&mut lock(&pages))).await
    }

    /// Opens discussions, in the order of the file, so that of two with one address the first has
    /// it. In a dry run they are only counted.
    async fn open(&mut self, places: Vec<u32>) -> Result<(), Stop> {
        let writer = Arc::clone(&self.writer);
        let wanted = self.with_pages(move |pages| {
            let mut wanted = Vec::with_capacity(places.len());
            for place in places {
                if let Some(new) = to_open(&writer, place, &mut pages.report)? {
                    wanted.push((place, new));
                }
            }
            Ok(wanted)
        });
        let wanted = wanted.await?;
        if self.writer.options.dry_run {
            lock(&self.pages).report.discussions.imported += count(wanted.len());
            return Ok(());
        }
        let batch = wanted.iter().map(|(_, new)| new.clone()).collect();
        let opened = self.writer.open(batch).await?;
        let report = &mut lock(&self.pages).report;
        for ((place, new), (found, is_new)) in wanted.into_iter().zip(opened) {
            report_opened(new, &found, is_new, report);
            if let Some(id) = self.ids.get_mut(wide(place)) {
                *id = Some(found.id);
            }
        }
        Ok(())
    }

    async fn write(&self, lot: Arc<Lot>) -> Result<(), Stop> {
        let writing = lot.places.iter().enumerate().map(|(at, place)| {
            let id = self.ids.get(wide(*place)).copied().flatten();
            Arc::clone(&self.writer).discussion(Arc::clone(&lot), at, id)
        });
        let writing: Vec<_> = writing.collect();
        let mut writing = stream::iter(writing).buffered(TOGETHER);
        let mut ended = Ok(());
        while let Some((written, end)) = writing.next().await {
            self.report_written(written)?;
            ended = match (ended, end) {
                // The others only stopped because of it.
                (Ok(()) | Err(Stop::Asked), Err(cause)) => Err(cause),
                (ended, _) => ended,
            };
        }
        ended
    }

    fn report_written(&self, written: Written) -> io::Result<()> {
        let mut pages = lock(&self.pages);
        let Pages { report, orphans } = &mut *pages;
        report.comments.imported += written.imported;
        report.comments.already_there += written.already_there;
        written
            .odd
            .into_iter()
            .try_for_each(|odd| report_odd(odd, report, orphans))
    }
}

fn lock(pages: &Mutex<Pages>) -> MutexGuard<'_, Pages> {
    pages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The discussion at a place of the list, if it is to be opened.
fn to_open(
    writer: &Writer,
    place: u32,
    report: &mut Report,
) -> io::Result<Option<ImportDiscussion>> {
    let scanned = &writer.scanned;
    let Some(row) = scanned.discussions.get(wide(place)) else {
        return Ok(None);
    };
    match row.standing {
        Standing::Undeclared => Ok(None),
        Standing::Deleted => {
            let words = scanned.discussion_words(row)?;
            report.odd(Oddity {
                kind: RowKind::Discussion,
                source_id: words.source_id,
                line: words.line,
                what: What::LeftOut(Reason::Deleted),
                detail: String::new(),
            });
            Ok(None)
        }
        Standing::Wanted => {
            let words = scanned.discussion_words(row)?;
            let began = scanned.began(row, writer.now_ms);
            let new = outgoing::discussion(words, began, &writer.options, report);
            Ok(Some(new))
        }
    }
}

fn report_opened(new: ImportDiscussion, found: &Discussion, is_new: bool, report: &mut Report) {
    if is_new {
        report.discussions.imported += 1;
    } else {
        report.discussions.already_there += 1;
    }
    let source_id = new.source_id;
    if let Some(kept) = new.kept.filter(|kept| kept.id != found.id) {
        let detail = format!("id {}, now {}", kept.id, found.id);
        let taken = changed_discussion(source_id.clone(), 0, Note::IdTaken, detail);
        report.odd(taken);
    }
    if let Some(url) = new.url.filter(|url| found.url.as_ref() != Some(url)) {
        let taken = changed_discussion(source_id.clone(), 0, Note::UrlTaken, url);
        report.odd(taken);
    }
    let entity = new
        .entity
        .filter(|entity| found.entity.as_ref() != Some(entity));
    if let Some((kind, id)) = entity {
        let detail = format!("{kind} {id}");
        report.odd(changed_discussion(source_id, 0, Note::EntityTaken, detail));
    }
}

fn report_odd(odd: Odd, report: &mut Report, orphans: &mut Orphans) -> io::Result<()> {
    let is_orphan = odd.what == Some(What::Changed(Note::OrphanMissingParent));
    let mut place = None;
    match (odd.what, &odd.name) {
        (Some(what), Some((source_id, line))) => {
            let detail = match &odd.absent_parent {
                Some(parent) if is_orphan => parent_words(parent),
                _ => odd.detail,
            };
            place = report.odd(Oddity {
                kind: RowKind::Comment,
                source_id: source_id.clone(),
                line: *line,
                what,
                detail,
            });
        }
        (Some(what), None) => report.odd_unnamed(RowKind::Comment, what),
        (None, _) => {}
    }
    let Some(parent) = odd.absent_parent else {
        return Ok(());
    };
    let name = odd.name.filter(|_| !is_orphan && report.has_room());
    orphans.add(&Orphan {
        parent: wanted(&parent),
        counted: is_orphan,
        oddity: place,
        name: name.map(|(source_id, line)| (source_id, line, parent_words(&parent))),
    })
}
