//! The engines under test. A new engine is one file here and one entry in [`ALL`].

mod memory;
mod sqlite;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use threadline::domain::clock::Clock;
use threadline::store::comments::CommentStore;
use threadline::store::states::StateStore;
use threadline::store::users::UserStore;
use threadline::store::wake::WakeBus;
use threadline::store::walks::WalkStore;
use threadline::store::workers::WorkerStore;
use threadline::store::{StoreError, StoreErrorKind};
use threadline::tasks::Tasks;

/// Every engine; the order is that of the report.
pub(crate) const ALL: &[&dyn Engine] = &[&sqlite::Sqlite, &memory::Memory];

/// A port of the crate, as trials are named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    Comments,
    States,
    Users,
    Wake,
    Walks,
    Workers,
}

impl Port {
    /// The folder of the contract and the first part of a trial's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Comments => "comments",
            Self::States => "states",
            Self::Users => "users",
            Self::Wake => "wake",
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

/// An engine was asked for a port that it does not list.
fn no_such_port<T>() -> Result<T, StoreError> {
    Err(StoreError::new(
        "place",
        StoreErrorKind::Unavailable,
        "the engine has no such port",
    ))
}

/// Where one trial's data lies. Opening a port twice gives two instances over the same data. An
/// engine has the ports it lists.
#[async_trait]
pub(crate) trait Place: Send + Sync + Debug {
    /// Whether a text lies anywhere in the files of the data.
    fn finds(&self, _text: &str) -> bool {
        false
    }

    async fn comments(&self, _: Clock, _: &Tasks) -> Result<Arc<dyn CommentStore>, StoreError> {
        no_such_port()
    }

    async fn states(&self, _: Clock, _: &Tasks) -> Result<Arc<dyn StateStore>, StoreError> {
        no_such_port()
    }

    async fn users(&self, _: Clock, _: &Tasks) -> Result<Arc<dyn UserStore>, StoreError> {
        no_such_port()
    }

    async fn wake(&self) -> Result<Arc<dyn WakeBus>, StoreError> {
        no_such_port()
    }

    async fn walks(&self, _: Clock, _: &Tasks) -> Result<Arc<dyn WalkStore>, StoreError> {
        no_such_port()
    }

    async fn workers(&self, _: Clock, _: &Tasks) -> Result<Arc<dyn WorkerStore>, StoreError> {
        no_such_port()
    }
}
