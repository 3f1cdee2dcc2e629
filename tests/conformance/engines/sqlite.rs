//! SQLite: a new folder for every trial, removed with it.

use std::sync::Arc;

use async_trait::async_trait;
use tempfile::TempDir;
use threadline::domain::clock::Clock;
use threadline::store::comments::{CommentStore, sqlite as comments};
use threadline::store::driver::sqlite::{Migration, SqliteGroup};
use threadline::store::states::{StateStore, sqlite as states};
use threadline::store::users::{UserStore, sqlite as users};
use threadline::store::walks::{WalkStore, sqlite as walks};
use threadline::store::workers::{WorkerStore, sqlite as workers};
use threadline::store::{StoreError, StoreErrorKind};
use threadline::tasks::Tasks;

use super::{Engine, Place, Port};

pub(crate) struct Sqlite;

#[derive(Debug)]
struct Folder(TempDir);

impl Folder {
    async fn group(
        &self,
        file: &str,
        migrations: &[Migration],
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<SqliteGroup, StoreError> {
        SqliteGroup::open(&self.0.path().join(file), migrations, clock, tasks).await
    }
}

#[async_trait]
impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn ports(&self) -> &'static [Port] {
        &[
            Port::Comments,
            Port::States,
            Port::Users,
            Port::Walks,
            Port::Workers,
        ]
    }

    fn url_variable(&self) -> Option<&'static str> {
        None
    }

    async fn place(&self, _url: Option<String>) -> Result<Arc<dyn Place>, StoreError> {
        let folder = tempfile::tempdir()
            .map_err(|e| StoreError::new("place", StoreErrorKind::Unavailable, e))?;
        Ok(Arc::new(Folder(folder)))
    }
}

#[async_trait]
impl Place for Folder {
    fn finds(&self, text: &str) -> bool {
        let files = std::fs::read_dir(self.0.path()).unwrap();
        files.into_iter().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        })
    }

    async fn comments(
        &self,
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Arc<dyn CommentStore>, StoreError> {
        let group = self
            .group("comments.db", comments::MIGRATIONS, clock, tasks)
            .await?;
        Ok(Arc::new(comments::SqliteComments::new(
            group,
            comments::SqliteOptions::default(),
        )))
    }

    async fn states(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn StateStore>, StoreError> {
        let group = self
            .group("states.db", users::MIGRATIONS, clock, tasks)
            .await?;
        Ok(Arc::new(states::SqliteStates::new(group, 1)))
    }

    async fn users(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn UserStore>, StoreError> {
        let group = self
            .group("states.db", users::MIGRATIONS, clock, tasks)
            .await?;
        Ok(Arc::new(users::SqliteUsers::new(group)))
    }

    async fn walks(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn WalkStore>, StoreError> {
        let group = self
            .group("comments.db", comments::MIGRATIONS, clock, tasks)
            .await?;
        Ok(Arc::new(walks::SqliteWalks::new(group)))
    }

    async fn workers(
        &self,
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Arc<dyn WorkerStore>, StoreError> {
        let group = self
            .group("comments.db", comments::MIGRATIONS, clock, tasks)
            .await?;
        Ok(Arc::new(workers::SqliteWorkers::new(group)))
    }
}
