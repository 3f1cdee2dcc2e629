//! Reads the two tables of an Isso database, page by page, in one read transaction.
//!
//! Columns are cast, because SQLite keeps any value in any column; columns of newer versions are
//! not asked for. The file is opened read only and never created.

use std::path::Path;
use std::sync::mpsc::SyncSender;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _};
use tokio::runtime;

use crate::import::input::ReadError;

/// Rows fetched at once.
const PAGE_ROWS: i64 = 500;

const THREADS: &str = "SELECT id, CAST(uri AS TEXT) AS uri, CAST(title AS TEXT) AS title \
     FROM threads WHERE id > ? ORDER BY id LIMIT ?";
const COMMENTS: &str = "SELECT id, CAST(tid AS INTEGER) AS thread, CAST(parent AS INTEGER) AS parent, \
     CASE WHEN typeof(created) IN ('real', 'integer') \
        THEN CAST(ROUND(created * 1000.0) AS INTEGER) END AS created, \
     CASE WHEN typeof(modified) IN ('real', 'integer') \
        THEN CAST(ROUND(modified * 1000.0) AS INTEGER) END AS modified, \
     CAST(mode AS INTEGER) AS mode, CAST(text AS TEXT) AS text, \
     CAST(author AS TEXT) AS author, CAST(email AS TEXT) AS mail \
     FROM comments WHERE id > ? ORDER BY id LIMIT ?";

/// A row of either table.
#[derive(Debug)]
pub(super) enum Row {
    Thread(ThreadRow),
    Comment(CommentRow),
}

/// A row of `threads`.
#[derive(Debug)]
pub(super) struct ThreadRow {
    pub(super) id: i64,
    pub(super) uri: Option<String>,
    pub(super) title: Option<String>,
}

/// A row of `comments`. Times are ms since 1970.
#[derive(Debug)]
pub(super) struct CommentRow {
    pub(super) id: i64,
    pub(super) thread: Option<i64>,
    pub(super) parent: Option<i64>,
    pub(super) created: Option<i64>,
    pub(super) modified: Option<i64>,
    pub(super) mode: Option<i64>,
    pub(super) text: Option<String>,
    pub(super) author: Option<String>,
    pub(super) mail: Option<String>,
}

/// A page of rows; `None` when all were sent.
pub(super) type Page = Result<Option<Vec<Row>>, ReadError>;

/// Sends both tables, threads first, until all was sent or nobody listens any more.
pub(super) fn read(path: &Path, pages: &SyncSender<Page>) {
    let failed = |error: &dyn ToString| ReadError {
        line: 0,
        byte: 0,
        what: error.to_string(),
    };
    let done = runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| failed(&error))
        .and_then(|runtime| {
            let read = runtime.block_on(tables(path, pages));
            read.map_err(|error| failed(&error))
        });
    // Nobody listens to a reader that was dropped.
    drop(pages.send(done.map(|()| None)));
}

/// Makes a row of a table out of what the driver gives.
type Decode = fn(&SqliteRow) -> sqlx::Result<Row>;

async fn tables(path: &Path, pages: &SyncSender<Page>) -> Result<(), String> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .create_if_missing(false);
    let mut connection = SqliteConnection::connect_with(&options)
        .await
        .map_err(|error| explain(&error))?;
    let mut transaction = connection.begin().await.map_err(|error| explain(&error))?;
    let tables: [(&'static str, Decode); 2] = [(THREADS, thread), (COMMENTS, comment)];
    for (sql, row) in tables {
        let mut after = i64::MIN;
        loop {
            let found = sqlx::query(sql)
                .bind(after)
                .bind(PAGE_ROWS)
                .fetch_all(&mut *transaction)
                .await
                .map_err(|error| explain(&error))?;
            let Some(last) = found.last() else {
                break;
            };
            after = last.try_get("id").map_err(|error| explain(&error))?;
            let mut page = Vec::with_capacity(found.len());
            for one in &found {
                page.push(row(one).map_err(|error| in_row(sql, one, &error))?);
            }
            if pages.send(Ok(Some(page))).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn thread(row: &SqliteRow) -> sqlx::Result<Row> {
    Ok(Row::Thread(ThreadRow {
        id: row.try_get("id")?,
        uri: row.try_get("uri")?,
        title: row.try_get("title")?,
    }))
}

fn comment(row: &SqliteRow) -> sqlx::Result<Row> {
    Ok(Row::Comment(CommentRow {
        id: row.try_get("id")?,
        thread: row.try_get("thread")?,
        parent: row.try_get("parent")?,
        created: row.try_get("created")?,
        modified: row.try_get("modified")?,
        mode: row.try_get("mode")?,
        text: row.try_get("text")?,
        author: row.try_get("author")?,
        mail: row.try_get("mail")?,
    }))
}

fn in_row(sql: &str, row: &SqliteRow, error: &sqlx::Error) -> String {
    let table = if sql == THREADS { "thread" } else { "comment" };
    let id: i64 = row.try_get("id").unwrap_or_default();
    format!("{table} {id}: {error}")
}

/// What the driver says, in words of this format where they are known.
fn explain(error: &sqlx::Error) -> String {
    let said = error.to_string();
    if said.contains("not a database") {
        return format!("this is no SQLite file, so no Isso database: {said}");
    }
    if said.contains("no such table") || said.contains("no such column") {
        return format!("this is no Isso database: {said}");
    }
    format!("the database cannot be read: {said}")
}
