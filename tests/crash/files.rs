//! The stores' files, looked at from outside and never through the place itself: whoever opens a
//! store after a kill repairs it, and that is what the next server is to do by itself.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};
use tempfile::TempDir;

use crate::common::Place;

const STORES: [&str; 2] = ["comments.db", "states.db"];

/// A copy of the stores' files; only of use while no process has them open.
#[derive(Debug)]
pub(crate) struct Copy(TempDir);

impl Copy {
    pub(crate) fn of(place: &Place) -> Self {
        let copy = tempfile::tempdir().unwrap();
        for store in STORES {
            for part in ["", "-wal"] {
                let name = format!("{store}{part}");
                let from = place.path().join("data").join(&name);
                if from.exists() {
                    std::fs::copy(from, copy.path().join(name)).unwrap();
                }
            }
        }
        Self(copy)
    }

    /// Both files hold together.
    pub(crate) async fn is_sound(&self) {
        for store in STORES {
            let path = self.0.path().join(store);
            if path.exists() {
                let found: Vec<String> = texts(&path, "PRAGMA integrity_check").await;
                assert_eq!(found, ["ok"], "{store}");
            }
        }
    }

    /// The one text column of what `query` finds among the comments, with the other file as
    /// `states`; nothing when there are no tables yet.
    pub(crate) async fn texts(&self, query: &str) -> Vec<String> {
        let [comments, states] = STORES.map(|store| self.0.path().join(store));
        let is_there = "SELECT name FROM sqlite_schema WHERE name = 'import_map'";
        if !states.exists() || texts(&comments, is_there).await.is_empty() {
            return Vec::new();
        }
        let mut store = open(&comments).await;
        sqlx::query("ATTACH ? AS states")
            .bind(states.to_str().unwrap())
            .execute(&mut store)
            .await
            .unwrap();
        let found = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_all(&mut store)
            .await
            .unwrap();
        store.close().await.unwrap();
        found
    }
}

/// Looks on while an import runs, and may only read: so it repairs nothing when it is the last.
#[derive(Debug)]
pub(crate) struct Watch {
    path: PathBuf,
    store: Option<SqliteConnection>,
}

impl Watch {
    pub(crate) fn of(place: &Place) -> Self {
        Self {
            path: place.path().join("data").join(STORES[0]),
            store: None,
        }
    }

    /// Comments that are there; 0 while there is no store yet.
    pub(crate) async fn rows(&mut self) -> i64 {
        self.number("SELECT coalesce(sum(all_total), 0) FROM discussions")
            .await
    }

    /// Index rows that are there.
    pub(crate) async fn index_rows(&mut self) -> i64 {
        self.number("SELECT count(*) FROM comment_tree").await
    }

    async fn number(&mut self, query: &'static str) -> i64 {
        if self.store.is_none() {
            let options = SqliteConnectOptions::new().filename(&self.path);
            let opened = SqliteConnection::connect_with(&options.read_only(true)).await;
            self.store = opened.ok();
        }
        let Some(store) = &mut self.store else {
            return 0;
        };
        // Until the first import made them, there are no tables.
        let asked = sqlx::query_scalar(query).fetch_one(store);
        asked.await.unwrap_or(0)
    }

    pub(crate) async fn close(self) {
        if let Some(store) = self.store {
            store.close().await.unwrap();
        }
    }
}

async fn open(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn texts(path: &Path, query: &'static str) -> Vec<String> {
    let mut store = open(path).await;
    let found = sqlx::query_scalar(query).fetch_all(&mut store).await;
    store.close().await.unwrap();
    found.unwrap()
}
