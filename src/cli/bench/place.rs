//! A temporary folder with two gateways over the same files: one with a page cache, one without.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::shape::{PAGE_ROWS, PageShape, REPLIES};
use super::{Failure, Fallible};
use crate::app::{App, AppBuilder};
use crate::config::Config;
use crate::domain::clock::Clock;
use crate::domain::discussion::{Discussion, entity_key};
use crate::domain::ids::{CommentId, UserId};
use crate::domain::mode::Mode;
use crate::import::synthetic::{BULK_ENTITY_TYPE, bulk};
use crate::store::comments::sqlite::{BarePage, MIGRATIONS, SqliteComments, SqliteOptions};
use crate::store::driver::sqlite::SqliteGroup;
use crate::store::users::sqlite::{MIGRATIONS as STATES, SqliteUsers};
use crate::tasks::Tasks;

/// Threads for known clients, as it is shipped.
const THREADED_FLAG: &str = include_str!("../../../flags/comments-threaded.toml");

/// The usual filter, but for what is said of starting and stopping, which is no news here.
const QUIET: &str = "info,threadline::app=error,threadline::store::flags=warn,sqlx=error";

/// The settings of a gateway over a folder; `cache_bytes` is its page cache if not the default.
pub(super) fn config(folder: &Path, cache_bytes: Option<u64>) -> Result<Config, Failure> {
    let at = |scheme: &str, name: &str| format!("{scheme}:{}", folder.join(name).display());
    let mut settings = vec![
        ("SERVER__LISTEN", "127.0.0.1:0".to_owned()),
        ("STORES__COMMENTS", at("sqlite", "comments.db")),
        ("STORES__USERS", at("sqlite", "states.db")),
        ("STORES__FLAGS", at("folder", "flags")),
        ("TELEMETRY__LOG", QUIET.to_owned()),
    ];
    if let Some(bytes) = cache_bytes {
        settings.push(("COMMENTS__PAGE_CACHE_BYTES", bytes.to_string()));
    }
    let settings = settings
        .into_iter()
        .map(|(name, value)| (format!("THREADLINE_{name}").into(), value.into()));
    Ok(Config::load_from(None, settings)?.config)
}

/// Two gateways, and the bare stores beside them.
#[derive(Debug)]
pub struct Place {
    hot: App,
    cold: App,
    comments: SqliteComments,
    users: SqliteUsers,
    tasks: Tasks,
    // Last, so that the files outlive those who write them.
    _folder: TempDir,
}

/// The statements of one page.
#[derive(Clone, Debug)]
pub struct BareStatements {
    page: BarePage,
    authors: Vec<Vec<UserId>>,
}

impl BareStatements {
    /// The comments on the page that head a branch.
    #[must_use]
    pub fn roots(&self) -> &[CommentId] {
        &self.page.heads
    }
}

impl Place {
    /// An empty place. Both gateways listen on free ports of the loopback address.
    pub async fn open() -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let flags = folder.path().join("flags");
        std::fs::create_dir(&flags)?;
        std::fs::write(flags.join("comments-threaded.toml"), THREADED_FLAG)?;
        let hot = AppBuilder::new(config(folder.path(), None)?).start();
        let hot = Box::pin(hot).await?;
        let cold = AppBuilder::new(config(folder.path(), Some(0))?).start();
        let cold = Box::pin(cold).await?;
        let tasks = Tasks::new();
        let clock = Clock::system();
        let comments = folder.path().join("comments.db");
        let comments = SqliteGroup::open(&comments, MIGRATIONS, clock.clone(), &tasks).await?;
        let users = folder.path().join("states.db");
        let users = SqliteGroup::open(&users, STATES, clock, &tasks).await?;
        Ok(Self {
            hot,
            cold,
            comments: SqliteComments::new(comments, SqliteOptions { cache_bytes: 0 }),
            users: SqliteUsers::new(users),
            tasks,
            _folder: folder,
        })
    }

    /// What a discussion of `size` is called.
    #[must_use]
    pub fn name(size: u32) -> String {
        format!("of-{size}")
    }

    /// Writes a discussion of `size` comments and its index; `written` is told of each transaction.
    pub async fn fill(
        &self,
        size: u32,
        written: impl FnMut(usize) + Send,
    ) -> Fallible<Arc<Discussion>> {
        Ok(bulk(self.hot.service(), &Self::name(size), size, written).await?)
    }

    /// The gateway with a page cache.
    #[must_use]
    pub fn hot(&self) -> &App {
        &self.hot
    }

    /// The gateway without.
    #[must_use]
    pub fn cold(&self) -> &App {
        &self.cold
    }

    /// The store alone.
    #[must_use]
    pub fn comments(&self) -> &SqliteComments {
        &self.comments
    }

    /// For what runs beside.
    #[must_use]
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// The statements of a page of the discussion of `size`.
    pub async fn statements(&self, shape: PageShape, size: u32) -> Fallible<BareStatements> {
        let name = Self::name(size);
        let seen = shape.look(self.cold.service(), &name).await?;
        let key = entity_key(BULK_ENTITY_TYPE, &name);
        let ports = self.cold.service().ports();
        let found = ports.comments.discussion_by_key(&key).await?;
        let discussion = found.ok_or("the discussion is not there")?;
        Ok(BareStatements {
            page: BarePage {
                key,
                discussion: discussion.id,
                layout: (shape.mode() == Mode::Threaded).then_some(discussion.layout.number),
                limit: PAGE_ROWS + 1,
                heads: seen.heads,
                replies: (shape == PageShape::Replies).then_some(REPLIES + 1),
            },
            authors: seen.authors,
        })
    }

    /// Runs them; returns how many rows they gave.
    pub async fn run(&self, statements: &BareStatements) -> Fallible<usize> {
        let mut rows = self.comments.bare_page(&statements.page).await?;
        for authors in &statements.authors {
            rows += self.users.bare_users(authors).await?;
        }
        Ok(rows)
    }

    /// Stops both gateways and closes the files.
    pub async fn close(self) -> Fallible<()> {
        let mut ended = self.cold.shutdown().await;
        ended &= self.hot.shutdown().await;
        ended &= self.tasks.shutdown(std::time::Duration::from_secs(5)).await;
        if ended {
            Ok(())
        } else {
            Err("something did not stop".into())
        }
    }
}
