//! The engines under test. A new engine is one file here and one entry in [`ALL`].

mod sqlite;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use threadline::domain::clock::Clock;
use threadline::store::StoreError;
use threadline::store::comments::CommentStore;
use threadline::store::states::StateStore;
use threadline::store::users::UserStore;
use threadline::store::walks::WalkStore;
use threadline::store::workers::WorkerStore;
use threadline::tasks::Tasks;

/// Every engine; the order is that of the report.
pub(crate) const ALL: &[&dyn Engine] = &[&sqlite::Sqlite];

/// A port of the crate, as trials are named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    Comments,
    States,
    Users,
    Walks,
    Workers,
}

impl Port {
    pub(crate) const ALL: [Self; 5] = [
        Self::Comments,
        Self::States,
        Self::Users,
        Self::Walks,
        Self::Workers,
    ];

    /// The folder of the contract and the first part of a trial's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Comments => "comments",
            Self::States => "states",
            Self::Users => "users",
            Self::Walks => "walks",
            Self::Workers => "workers",
        }
    }
}

/// An implementation of one or more ports.
#[async_trait]
pub(crate) trait Engine: Sync {
    /// The second part of a trial's name; the file of the implementation is called the same.
    fn name(&self) -> &'static str;

    /// The ports it implements.
    fn ports(&self) -> &'static [Port];

    /// The environment variable that holds its URL; `None` when nothing has to run.
    fn url_variable(&self) -> Option<&'static str>;

    /// A fresh, empty place for one trial. A server that does not answer is an error.
    async fn place(&self, url: Option<String>) -> Result<Arc<dyn Place>, StoreError>;
}

/// Where one trial's data lies. Opening a port twice gives two instances over the same data.
#[async_trait]
pub(crate) trait Place: Send + Sync + Debug {
    /// Whether a text lies anywhere in the files of the data.
    fn finds(&self, text: &str) -> bool;

    async fn comments(
        &self,
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Arc<dyn CommentStore>, StoreError>;

    async fn states(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn StateStore>, StoreError>;

    async fn users(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn UserStore>, StoreError>;

    async fn walks(&self, clock: Clock, tasks: &Tasks) -> Result<Arc<dyn WalkStore>, StoreError>;

    async fn workers(
        &self,
        clock: Clock,
        tasks: &Tasks,
    ) -> Result<Arc<dyn WorkerStore>, StoreError>;
}
