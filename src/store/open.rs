//! Opens the stores that the settings name: the one place that chooses an engine by a URL.
//!
//! Everything that leaves here is a port. Relative paths start at the working directory, and what
//! is missing is created, except a folder of flags: an empty one would switch everything off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::StoreError;
use super::comments::CommentStore;
use super::comments::sqlite::{MIGRATIONS as COMMENTS_SCHEMA, SqliteComments, SqliteOptions};
use super::driver::sqlite::{Migration, SqliteGroup, path_of_url};
use super::flags::FlagStore;
use super::flags::folder::{FolderFlags, FolderOptions, OpenError as FlagsError};
use super::states::StateStore;
use super::states::sqlite::SqliteStates;
use super::users::UserStore;
use super::users::sqlite::{MIGRATIONS as STATES_SCHEMA, SqliteUsers};
use super::wake::WakeBus;
use super::wake::memory::MemoryWake;
use super::walks::WalkStore;
use super::walks::sqlite::SqliteWalks;
use super::workers::WorkerStore;
use super::workers::sqlite::SqliteWorkers;
use crate::config::{self, StoreUrl};
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

/// Profiles get this part of the memory for rows, on top of it.
const PROFILES_PART: u64 = 8;

/// The name of the file of flag states; it lies beside the comments.
const FLAG_STATES: &str = "flags.state.toml";

/// Every port, open.
#[derive(Clone, Debug)]
pub struct Stores {
    /// Discussions and comments.
    pub comments: Arc<dyn CommentStore>,
    /// People.
    pub users: Arc<dyn UserStore>,
    /// Who is in which state towards what, kept where people are.
    pub states: Arc<dyn StateStore>,
    /// The right to mint ids, kept where the comments are.
    pub workers: Arc<dyn WorkerStore>,
    /// Walks over tables, kept where the comments are.
    pub walks: Arc<dyn WalkStore>,
    /// Flags.
    pub flags: Arc<dyn FlagStore>,
    /// Wakes, within this process.
    pub wake: Arc<dyn WakeBus>,
    groups: [SqliteGroup; 2],
}

impl Stores {
    /// Reading statements that the stores were sent so far: what tests assert instead of times.
    pub fn statements(&self) -> u64 {
        self.groups.iter().map(SqliteGroup::statements).sum()
    }
}

/// Why a store could not be opened. Each message names the setting.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No engine has the URL's scheme for this port.
    #[error("stores.{port} = \"{url}\": no engine opens this")]
    Scheme {
        /// The setting's name.
        port: &'static str,
        /// Its value.
        url: StoreUrl,
    },
    /// SQLite would keep it in memory, where readers and the writer lock each other out.
    #[error(
        "stores.{port} = \"{url}\": only files are opened; name one in a temporary folder for data \
         that may be lost"
    )]
    InMemory {
        /// The setting's name.
        port: &'static str,
        /// Its value.
        url: StoreUrl,
    },
    /// Two ports whose tables differ would share a file.
    #[error(
        "stores.comments = \"{comments}\" and stores.users = \"{users}\" are the same file: give \
         each its own"
    )]
    SameFile {
        /// The one.
        comments: StoreUrl,
        /// The other.
        users: StoreUrl,
    },
    /// The engine could not open it.
    #[error("stores.{port} = \"{url}\" cannot be opened: {cause}")]
    Engine {
        /// The setting's name.
        port: &'static str,
        /// Its value.
        url: StoreUrl,
        /// The engine's reason.
        cause: Box<StoreError>,
    },
    /// The folder of flags, or the file of their states, cannot be served.
    #[error("stores.flags = \"{url}\": {cause} (a relative path starts at the working directory)")]
    Flags {
        /// The setting's value.
        url: StoreUrl,
        /// What is wrong.
        cause: FlagsError,
    },
}

/// Opens every store. `page_cache_bytes` is memory for rows that are read again and again. Must be
/// called within a runtime; `tasks` must go on until the last write is done.
pub async fn open(
    urls: &config::Stores,
    page_cache_bytes: usize,
    clock: &Clock,
    tasks: &Tasks,
) -> Result<Stores, OpenError> {
    let comments_file = file_of("comments", &urls.comments)?;
    let users_file = file_of("users", &urls.users)?;
    if place(&comments_file) == place(&users_file) {
        return Err(OpenError::SameFile {
            comments: urls.comments.clone(),
            users: urls.users.clone(),
        });
    }
    let opening = Opening { clock, tasks };
    let comments = (comments_file.as_path(), COMMENTS_SCHEMA);
    let comments = opening.group("comments", &urls.comments, comments).await?;
    let users = (users_file.as_path(), STATES_SCHEMA);
    let users = opening.group("users", &urls.users, users).await?;
    let states = comments_file.with_file_name(FLAG_STATES);
    let options = SqliteOptions {
        cache_bytes: u64::try_from(page_cache_bytes).unwrap_or(u64::MAX),
    };
    Ok(Stores {
        comments: Arc::new(SqliteComments::new(comments.clone(), options)),
        users: Arc::new(SqliteUsers::with_cache(
            users.clone(),
            options.cache_bytes.div_ceil(PROFILES_PART),
        )),
        states: Arc::new(SqliteStates::new(users.clone(), urls.app_id)),
        workers: Arc::new(SqliteWorkers::new(comments.clone())),
        walks: Arc::new(SqliteWalks::new(comments.clone())),
        flags: opening.flags(&urls.flags, states)?,
        wake: Arc::new(MemoryWake::default()),
        groups: [comments, users],
    })
}

/// What every engine is opened with.
#[derive(Clone, Copy, Debug)]
struct Opening<'a> {
    clock: &'a Clock,
    tasks: &'a Tasks,
}

impl Opening<'_> {
    async fn group(
        self,
        port: &'static str,
        url: &StoreUrl,
        (file, schema): (&Path, &[Migration]),
    ) -> Result<SqliteGroup, OpenError> {
        SqliteGroup::open(file, schema, self.clock.clone(), self.tasks)
            .await
            .map_err(|cause| OpenError::Engine {
                port,
                url: url.clone(),
                cause: Box::new(cause),
            })
    }

    fn flags(self, url: &StoreUrl, states: PathBuf) -> Result<Arc<dyn FlagStore>, OpenError> {
        if url.scheme() != "folder" {
            return Err(OpenError::Scheme {
                port: "flags",
                url: url.clone(),
            });
        }
        let options = FolderOptions::new(url.rest(), states);
        match FolderFlags::open(options, self.clock, self.tasks) {
            Ok(flags) => Ok(Arc::new(flags)),
            Err(cause) => Err(OpenError::Flags {
                url: url.clone(),
                cause,
            }),
        }
    }
}

fn file_of(port: &'static str, url: &StoreUrl) -> Result<PathBuf, OpenError> {
    let url = url.clone();
    match path_of_url(url.reveal()) {
        None => Err(OpenError::Scheme { port, url }),
        Some(file) if file == Path::new(":memory:") => Err(OpenError::InMemory { port, url }),
        Some(file) => Ok(file),
    }
}

/// The file's real place, as far as its folder exists; two spellings of one file have one place.
fn place(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    if let Ok(real) = whole.canonicalize() {
        return real;
    }
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        (_, _) => whole,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn urls(root: &Path, comments: &str, users: &str, flags: &str) -> config::Stores {
        let url = |scheme: &str, name: &str| {
            let text = format!("{scheme}:{}", root.join(name).display());
            text.parse().unwrap()
        };
        config::Stores {
            comments: url("sqlite", comments),
            users: url("sqlite", users),
            flags: url("folder", flags),
            app_id: 1,
            scrub_interval: "24h".parse().unwrap(),
        }
    }

    async fn opened(urls: &config::Stores) -> Result<Stores, String> {
        let tasks = Tasks::new();
        let stores = open(urls, 1 << 20, &Clock::manual(1_800_000_000_000), &tasks).await;
        assert!(tasks.shutdown(Duration::from_mins(1)).await);
        stores.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn folders_of_data_are_made_and_a_missing_folder_of_flags_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let urls = urls(root.path(), "deep/data/c.db", "deep/data/u.db", "flags");
        let error = opened(&urls).await.unwrap_err();
        assert!(
            error.starts_with("stores.flags = \"folder:") && error.contains("flags"),
            "{error}"
        );
        std::fs::create_dir(root.path().join("flags")).unwrap();
        opened(&urls).await.unwrap();
        assert!(root.path().join("deep/data/c.db").exists());
    }

    #[tokio::test]
    async fn one_file_for_two_ports_is_an_error_however_it_is_written() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("data")).unwrap();
        for users in ["data/c.db", "./data/c.db", "data/../data/c.db"] {
            let urls = urls(root.path(), "data/c.db", users, "data");
            let error = opened(&urls).await.unwrap_err();
            for setting in ["stores.comments", "stores.users", "the same file"] {
                assert!(error.contains(setting), "{users}: {error}");
            }
        }
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named_with_its_setting() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(
            root.path().join("u.db"),
            "not a database, by far ".repeat(99),
        )
        .unwrap();
        let urls = urls(root.path(), "c.db", "u.db", ".");
        let error = opened(&urls).await.unwrap_err();
        assert!(error.starts_with("stores.users = \"sqlite:"), "{error}");
        assert!(error.contains("cannot be opened"), "{error}");
    }

    #[tokio::test]
    async fn a_scheme_without_an_engine_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let mut urls = urls(root.path(), "c.db", "u.db", ".");
        urls.users = "mysql://u:secret@host/db".parse().unwrap();
        let error = opened(&urls).await.unwrap_err();
        assert!(error.starts_with("stores.users"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn a_database_in_memory_is_refused_with_what_to_do_instead() {
        let root = tempfile::tempdir().unwrap();
        let mut urls = urls(root.path(), "c.db", "u.db", ".");
        urls.comments = "sqlite::memory:".parse().unwrap();
        let error = opened(&urls).await.unwrap_err();
        assert!(error.contains("stores.comments") && error.contains("temporary folder"));
    }

    #[tokio::test]
    async fn the_states_of_flags_lie_beside_the_comments() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("data")).unwrap();
        std::fs::create_dir_all(root.path().join("flags")).unwrap();
        std::fs::write(root.path().join("data/flags.state.toml"), "not = [toml").unwrap();
        let urls = urls(root.path(), "data/c.db", "data/u.db", "flags");
        let error = opened(&urls).await.unwrap_err();
        assert!(error.contains("flags.state.toml"), "{error}");
    }
}
