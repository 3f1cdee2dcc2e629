//! One SQLite file: a writer that groups requests into transactions, and a pool of readers.
//!
//! Every write is a closure over the writer's connection. Up to [`GROUP_MAX`] waiting ones share a
//! transaction (one fsync), each in its own savepoint, so a failed one undoes only itself. Nothing
//! is acknowledged before the commit. WAL with `synchronous=FULL`: an acknowledged write survives
//! kill −9 and power loss.

mod schema;
mod scrub;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{Connection, Executor};
use tokio::sync::{mpsc, oneshot};

use crate::domain::clock::Clock;
use crate::store::{StoreError, StoreErrorKind};
use crate::tasks::Tasks;

/// Requests that share one transaction at most.
pub const GROUP_MAX: usize = 50;
/// Requests that may wait for the writer; more are refused as unavailable.
const QUEUE_MAX: usize = 4_096;
/// Reading connections.
const READERS_MAX: u32 = 8;
/// Rows that a statement may be ahead of its reader. A page and its replies fit, so the thread that
/// runs it never waits; the driver's own 50 is one less than a page of 50 reads.
const ROWS_AHEAD: usize = 1_024;
/// How long a writer waits for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an idle writer looks whether another process wrote.
const WATCH_PERIOD: Duration = Duration::from_millis(250);

type Reply = Box<dyn FnOnce(Result<(), String>) + Send>;
/// A wish to rewrite the file, and whom to tell.
type Scrub = oneshot::Sender<Result<(), sqlx::Error>>;

/// A request to the writer.
trait Job: Send {
    /// Does the work; says whether to keep it, and how to answer once that is settled.
    fn run(self: Box<Self>, connection: &mut SqliteConnection) -> BoxFuture<'_, (bool, Reply)>;
    /// Answers that nothing was done.
    fn refuse(self: Box<Self>, cause: String);
}

struct Request<T, F> {
    op: &'static str,
    settled: Option<Box<dyn FnOnce() + Send>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
    work: F,
}

impl<T, F> Job for Request<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>>
        + Send
        + 'static,
{
    fn run(self: Box<Self>, connection: &mut SqliteConnection) -> BoxFuture<'_, (bool, Reply)> {
        Box::pin(async move {
            let Self {
                op,
                settled,
                answer,
                work,
            } = *self;
            // A panic undoes its own request; the writer lives on for the others.
            let result = AssertUnwindSafe(work(connection)).catch_unwind().await;
            let result = result.unwrap_or_else(|_| {
                Err(StoreError::new(
                    op,
                    StoreErrorKind::Unavailable,
                    "the write panicked",
                ))
            });
            let keep = result.is_ok();
            let reply: Reply = Box::new(move |committed| {
                if let Some(settled) = settled {
                    settled();
                }
                let answered = match (result, committed) {
                    (Ok(_), Err(cause)) => Err(StoreError::new(op, StoreErrorKind::Timeout, cause)),
                    (result, _) => result,
                };
                // The caller may have gone away; what was written stands all the same.
                drop(answer.send(answered));
            });
            (keep, reply)
        })
    }

    fn refuse(self: Box<Self>, cause: String) {
        drop(self.answer.send(Err(StoreError::new(
            self.op,
            StoreErrorKind::Unavailable,
            cause,
        ))));
    }
}

/// A schema step; the number of steps applied is kept in `PRAGMA user_version`.
pub type Migration = &'static str;

/// An open file: cheap to clone.
#[derive(Clone)]
pub struct SqliteGroup {
    jobs: mpsc::Sender<Box<dyn Job>>,
    scrubs: mpsc::Sender<Scrub>,
    readers: SqlitePool,
    clock: Clock,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    statements: AtomicU64,
    foreign_writes: AtomicU64,
}

impl std::fmt::Debug for SqliteGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteGroup")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}

/// The file a `sqlite:PATH` URL names.
pub fn path_of_url(url: &str) -> Option<PathBuf> {
    url.strip_prefix("sqlite:")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

impl SqliteGroup {
    /// Opens or creates the file and brings its schema up to date.
    pub async fn open(
        path: &Path,
        migrations: &[Migration],
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Self, StoreError> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder)
                .map_err(|e| StoreError::new("sqlite.open", StoreErrorKind::Unavailable, e))?;
        }
        let options = SqliteConnectOptions::from_str("sqlite:")
            .map_err(|e| failed("sqlite.open", e))?
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(200)
            .row_buffer_size(ROWS_AHEAD)
            .pragma("cache_size", "-16384")
            // What is deleted or shortened within a page is overwritten; that costs no disk write.
            .pragma("secure_delete", "fast")
            .foreign_keys(false);
        // A file that is rewritten passes through the temporary store once: not through memory.
        let rewriting = options.clone();
        let options = options.pragma("temp_store", "memory");
        let mut writer = SqliteConnection::connect_with(&options)
            .await
            .map_err(|e| failed("sqlite.open", e))?;
        schema::migrate(&mut writer, migrations).await?;
        // Before anything is read or cached: what another process writes from now on is noticed.
        let version = data_version(&mut writer)
            .await
            .map_err(|e| failed("sqlite.open", e))?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS_MAX)
            .acquire_timeout(Duration::from_secs(5))
            .test_before_acquire(false)
            .connect_with(options.pragma("query_only", "on"))
            .await
            .map_err(|e| failed("sqlite.open", e))?;
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (scrubs, scrub_queue) = mpsc::channel(1);
        let shared = Arc::new(Shared::default());
        let run = Writer {
            connection: writer,
            queue,
            scrubs: scrub_queue,
            rewriting,
            shared: Arc::clone(&shared),
            version,
        };
        tasks.spawn(run.run(tasks.stopping()));
        Ok(Self {
            jobs,
            scrubs,
            readers,
            clock,
            shared,
        })
    }

    /// The readers' pool; count what you send with [`Self::count`].
    pub fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// The clock of this store.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Counts statements sent on the readers.
    pub fn count(&self, statements: u64) {
        self.shared
            .statements
            .fetch_add(statements, Ordering::Relaxed);
    }

    /// Reading statements sent so far: what tests assert instead of times.
    pub fn statements(&self) -> u64 {
        self.shared.statements.load(Ordering::Relaxed)
    }

    /// Grows whenever another process wrote to the file.
    pub fn foreign_writes(&self) -> u64 {
        self.shared.foreign_writes.load(Ordering::Acquire)
    }

    /// Runs `work` in the writer, in a transaction of its own or of a group. `Ok` is returned only
    /// after the commit; an error undoes everything `work` did.
    pub async fn write<T, F>(&self, op: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        self.send(op, work, None).await
    }

    /// As [`Self::write`]; `settled` runs once the outcome is settled, before the answer, even when
    /// the caller has gone away.
    pub async fn write_then<T, F>(
        &self,
        op: &'static str,
        settled: impl FnOnce() + Send + 'static,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        self.send(op, work, Some(Box::new(settled))).await
    }

    /// Notices, before it returns, what other processes wrote so far. Costs no disk write.
    pub async fn look(&self) -> Result<(), StoreError> {
        // The writer looks at the file's change counter before each group of requests.
        self.write("sqlite.look", |_| Box::pin(async { Ok(()) }))
            .await
    }

    /// Rewrites the file, so that nothing of what was deleted is left in it or beside it: free
    /// pages, the slack within pages and the write-ahead log all keep old texts otherwise.
    ///
    /// Takes as long as copying the file and its size again of free disk, and twice that while it
    /// runs; this process's writes wait meanwhile, another one's may be refused as busy. Readers
    /// read on. When a reader keeps the log from being emptied, it is an error; try again.
    pub async fn scrub(&self, op: &'static str) -> Result<(), StoreError> {
        let unavailable =
            |cause: &str| StoreError::new(op, StoreErrorKind::Unavailable, cause.to_owned());
        let (answer, receiver) = oneshot::channel();
        let sent = self.scrubs.send(answer).await;
        sent.map_err(|_closed| unavailable("the store is closing"))?;
        let done = receiver.await;
        let done = done.map_err(|_closed| unavailable("the store was closed"))?;
        done.map_err(|error| failed(op, error))
    }

    async fn send<T, F>(
        &self,
        op: &'static str,
        work: F,
        settled: Option<Box<dyn FnOnce() + Send>>,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let (answer, receiver) = oneshot::channel();
        let request: Box<dyn Job> = Box::new(Request {
            op,
            settled,
            answer,
            work,
        });
        if let Err(refused) = self.jobs.try_send(request) {
            refused
                .into_inner()
                .refuse("the writer's queue is full or closed".to_owned());
        }
        receiver
            .await
            .map_err(|gone| StoreError::new(op, StoreErrorKind::Timeout, gone))?
    }
}

struct Writer {
    connection: SqliteConnection,
    queue: mpsc::Receiver<Box<dyn Job>>,
    scrubs: mpsc::Receiver<Scrub>,
    rewriting: SqliteConnectOptions,
    shared: Arc<Shared>,
    version: i64,
}

impl Writer {
    async fn run(mut self, stopping: tokio_util::sync::CancellationToken) {
        let mut group: Vec<Box<dyn Job>> = Vec::with_capacity(GROUP_MAX);
        loop {
            let received = tokio::select! {
                biased;
                Some(answer) = self.scrubs.recv() => {
                    // Nobody waiting for it any more does not matter: it is done.
                    drop(answer.send(scrub::rewrite(&self.rewriting).await));
                    continue;
                }
                received = self.queue.recv_many(&mut group, GROUP_MAX) => received,
                () = tokio::time::sleep(WATCH_PERIOD) => {
                    self.watch().await;
                    continue;
                }
                () = stopping.cancelled() => {
                    // What was accepted is still written.
                    self.queue.close();
                    self.queue.recv_many(&mut group, GROUP_MAX).await
                }
            };
            if received == 0 {
                break;
            }
            self.watch().await;
            self.run_group(&mut group).await;
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "closing the store's writer failed");
        }
    }

    /// Notices writes of other processes: their changes must empty this process's caches.
    async fn watch(&mut self) {
        match data_version(&mut self.connection).await {
            Ok(version) => {
                if version != self.version {
                    self.shared.foreign_writes.fetch_add(1, Ordering::AcqRel);
                }
                self.version = version;
            }
            Err(error) => {
                // Not knowing counts as "somebody wrote".
                self.shared.foreign_writes.fetch_add(1, Ordering::AcqRel);
                tracing::warn!(%error, "the store's change counter could not be read");
            }
        }
    }

    async fn run_group(&mut self, group: &mut Vec<Box<dyn Job>>) {
        if let Err(error) = self.connection.execute("BEGIN IMMEDIATE").await {
            tracing::warn!(%error, waiting = group.len(), "the store's writer could not begin");
            for job in group.drain(..) {
                job.refuse(error.to_string());
            }
            return;
        }
        let alone = group.len() == 1;
        let mut replies = Vec::with_capacity(group.len());
        for job in group.drain(..) {
            if !alone && let Err(error) = self.connection.execute("SAVEPOINT job").await {
                job.refuse(error.to_string());
                continue;
            }
            let (keep, reply) = job.run(&mut self.connection).await;
            let after = match (alone, keep) {
                (true, _) => None,
                (false, true) => Some("RELEASE job"),
                (false, false) => Some("ROLLBACK TO job; RELEASE job"),
            };
            if let Some(statement) = after
                && let Err(error) = self.connection.execute(statement).await
            {
                tracing::error!(%error, "a savepoint could not be closed");
            }
            replies.push((keep, reply));
        }
        let undo = alone && replies.iter().all(|(keep, _)| !keep);
        let end = if undo { "ROLLBACK" } else { "COMMIT" };
        let ended = self
            .connection
            .execute(end)
            .await
            .map(drop)
            .map_err(|error| error.to_string());
        if ended.is_err() && self.connection.execute("ROLLBACK").await.is_err() {
            tracing::error!("a transaction could neither be committed nor undone");
        }
        for (_, reply) in replies {
            reply(ended.clone());
        }
    }
}

/// Changes whenever another connection wrote to the file.
async fn data_version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("PRAGMA data_version")
        .fetch_one(connection)
        .await
}

/// Says in which operation a driver's error happened.
pub trait DuringOp<T> {
    /// The port's error for a driver's error.
    fn during(self, op: &'static str) -> Result<T, StoreError>;
}

impl<T> DuringOp<T> for Result<T, sqlx::Error> {
    fn during(self, op: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| failed(op, error))
    }
}

/// The port's error for a driver's error.
pub fn failed(op: &'static str, error: sqlx::Error) -> StoreError {
    let kind = if let sqlx::Error::ColumnDecode { index, .. } = &error {
        StoreErrorKind::Corrupt {
            table: op,
            key: "?".to_owned(),
            column: index.clone(),
        }
    } else if error.as_database_error().is_some_and(is_damage) {
        StoreErrorKind::Corrupt {
            table: op,
            key: "?".to_owned(),
            column: "file".to_owned(),
        }
    } else {
        StoreErrorKind::Unavailable
    };
    StoreError::new(op, kind, error)
}

/// `SQLITE_CORRUPT` and `SQLITE_NOTADB`: trying again cannot help.
fn is_damage(error: &dyn sqlx::error::DatabaseError) -> bool {
    // The low byte of an extended code is the code itself.
    let code = error.code().and_then(|code| code.parse::<i64>().ok());
    matches!(code.map(|code| code & 0xff), Some(11 | 26))
}
