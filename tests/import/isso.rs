//! Isso databases, as Isso and time have left them.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};
use tempfile::TempDir;
use threadline::domain::body::plain_text;
use threadline::domain::comment::CommentState;
use threadline::import::isso::{IssoReader, is_database};
use threadline::import::report::{Note, Reason};
use threadline::import::{Outcome, Report, input};

use super::packed::{gzip, zstd};
use super::world::{World, noted};

const THREADS: &str = "CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, \
     title VARCHAR(256));";
const COMMENTS: &str = "CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY, \
     parent INTEGER, created FLOAT NOT NULL, modified FLOAT, mode INTEGER, remote_addr VARCHAR, \
     text VARCHAR NOT NULL, author VARCHAR, email VARCHAR, website VARCHAR, \
     likes INTEGER DEFAULT 0, dislikes INTEGER DEFAULT 0, voters BLOB NOT NULL, \
     notification INTEGER DEFAULT 0);";

pub(crate) struct Database {
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

impl Database {
    pub(crate) async fn with(sql: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("comments.db");
        let mut connection = connect(&path).await;
        let sql = format!("{THREADS}{COMMENTS}{sql}");
        run(&mut connection, sql).await;
        connection.close().await.unwrap();
        Self {
            path,
            _folder: folder,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(false);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn run(connection: &mut SqliteConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(connection)
        .await
        .unwrap();
}

pub(crate) fn thread(id: u32, uri: &str) -> String {
    format!("INSERT INTO threads VALUES ({id}, '{uri}', 'Thread {id}');")
}

/// Parent, mode, author and mail as SQL.
pub(crate) fn comment(id: u32, parent: &str, mode: &str, who: (&str, &str)) -> String {
    let (author, mail) = who;
    format!(
        "INSERT INTO comments VALUES (1, {id}, {parent}, 1500000000.25 + {id}, NULL, {mode}, \
         '192.0.2.0', 'text {id}' || char(10) || 'more', {author}, {mail}, NULL, 0, 0, x'00', 0);"
    )
}

pub(crate) const ANN: (&str, &str) = ("'Ann'", "'ann@mail.example'");

fn site() -> url::Url {
    "https://blog.example".parse().unwrap()
}

async fn import(world: &World, path: &Path) -> Report {
    let reader = IssoReader::open(path.to_owned(), site(), &world.tasks);
    world.import(Box::new(reader)).await
}

async fn import_stream(world: &World, bytes: Vec<u8>) -> Report {
    let input = input::plain(Cursor::new(bytes)).unwrap();
    let reader = IssoReader::copied(input, site(), &world.tasks).unwrap();
    world.import(Box::new(reader)).await
}

#[tokio::test]
async fn a_database_is_on_the_pages_of_the_site_and_stays_as_it_is() {
    let world = World::empty("isso").await;
    let rows = [
        thread(1, "/hello/"),
        thread(2, "/quiet/"),
        comment(1, "NULL", "1", ANN),
        comment(2, "1", "1", ANN),
        "UPDATE comments SET modified = 1500000100.5 WHERE id = 1;".to_owned(),
    ];
    let database = Database::with(&rows.concat()).await;
    let before = database.bytes();
    assert!(is_database(&database.path).unwrap());
    let report = import(&world, &database.path).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert!(report.notes.is_empty(), "{}", report.table());
    assert_eq!(
        (report.discussions.imported, report.comments.imported),
        (2, 2)
    );
    let found = world
        .discussion_by_url("blog.example/hello/")
        .await
        .unwrap();
    assert_eq!(
        (found.title.as_str(), found.counts.all.visible),
        ("Thread 1", 2)
    );
    let rows = world.comments(&found).await;
    assert_eq!(rows[1].parent_id, Some(rows[0].id));
    assert_eq!(rows[0].id.time_ms(), 1_500_000_001_250);
    assert_eq!(rows[0].edited_at_ms, Some(1_500_000_100_500));
    assert_eq!(plain_text(&rows[0].body, rows[0].format), "text 1\nmore");
    assert_eq!(rows[0].author_id, rows[1].author_id);
    let again = import(&world, &database.path).await;
    assert_eq!(
        (again.discussions.imported, again.comments.imported),
        (0, 0)
    );
    assert_eq!(database.bytes(), before);
    world.close().await;
}

#[tokio::test]
async fn people_without_mail_or_name_are_fine() {
    let world = World::empty("isso").await;
    let rows = [
        thread(1, "/a"),
        comment(1, "NULL", "1", ("'Ann'", "NULL")),
        comment(2, "NULL", "1", ("NULL", "NULL")),
        comment(3, "NULL", "1", ("x'416e6e'", "''")),
        comment(4, "NULL", "1", ANN),
    ];
    let database = Database::with(&rows.concat()).await;
    let report = import(&world, &database.path).await;
    assert_eq!((report.exit_code(), report.comments.imported), (0, 4));
    let rows = world.comments(&*world.discussion("1").await).await;
    let names = [
        world.name_of(&rows[0]).await,
        world.name_of(&rows[1]).await,
        world.name_of(&rows[2]).await,
    ];
    assert_eq!(names, ["Ann", "", "Ann"]);
    assert_eq!(rows[0].author_id, rows[2].author_id);
    assert_ne!(
        rows[0].author_id, rows[3].author_id,
        "a name alone is somebody else"
    );
    world.close().await;
}

#[tokio::test]
async fn what_waits_goes_on_waiting_and_deleted_ones_are_markers_above_replies() {
    let world = World::empty("isso").await;
    let rows = [
        thread(1, "/a"),
        comment(1, "NULL", "4", ("NULL", "NULL")),
        comment(2, "1", "1", ANN),
        comment(3, "NULL", "4", ("NULL", "NULL")),
        comment(4, "NULL", "2", ANN),
        comment(5, "NULL", "NULL", ANN),
        comment(6, "77", "1", ANN),
        "UPDATE comments SET text = '' WHERE mode = 4;".to_owned(),
        "UPDATE comments SET created = 'long ago' WHERE id = 6;".to_owned(),
    ];
    let database = Database::with(&rows.concat()).await;
    let report = import(&world, &database.path).await;
    assert_eq!(report.comments.skipped.get(&Reason::Deleted), Some(&1));
    for note in [
        Note::Tombstone,
        Note::OrphanMissingParent,
        Note::DateClamped,
    ] {
        assert_eq!(noted(&report, note), 1, "{}", report.table());
    }
    let rows = world.comments(&*world.discussion("1").await).await;
    let in_state = |state| rows.iter().filter(|row| row.state == state).count();
    assert_eq!(in_state(CommentState::Buried), 1);
    assert_eq!(in_state(CommentState::Pending), 2);
    assert_eq!(
        in_state(CommentState::Published),
        2,
        "also the one whose parent is gone"
    );
    world.close().await;
}

#[tokio::test]
async fn a_thread_that_is_no_path_is_imported_and_reported() {
    let world = World::empty("isso").await;
    let rows = thread(1, "mt_1949") + &comment(1, "NULL", "1", ANN);
    let stray = comment(2, "NULL", "1", ANN).replace("VALUES (1,", "VALUES (9,");
    let nowhere = comment(3, "NULL", "1", ANN).replace("VALUES (1,", "VALUES (NULL,");
    let database = Database::with(&(rows + &stray + &nowhere)).await;
    let report = import(&world, &database.path).await;
    assert_eq!(noted(&report, Note::UrlUnusable), 1);
    assert_eq!(
        report.comments.rejected.get(&Reason::DiscussionMissing),
        Some(&1)
    );
    assert_eq!(
        report.comments.rejected.get(&Reason::NoDiscussion),
        Some(&1)
    );
    assert_eq!((report.exit_code(), report.comments.imported), (3, 1));
    assert_eq!(world.discussion("1").await.url, None);
    world.close().await;
}

#[tokio::test]
async fn a_large_database_comes_in_pages_and_packed_ones_by_way_of_a_copy() {
    let world = World::empty("isso").await;
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700) \
         INSERT INTO comments SELECT 1, i * 3, CASE WHEN i > 1 THEN 3 END, 1500000000 + i, NULL, 1, \
         '', 'text ' || i, 'Ann', NULL, NULL, 0, 0, x'00', 0 FROM n;";
    let database = Database::with(&(thread(1, "/a") + many)).await;
    let report = import_stream(&world, gzip(&database.bytes())).await;
    assert_eq!((report.exit_code(), report.comments.imported), (0, 1_700));
    let found = world.discussion_by_url("blog.example/a").await.unwrap();
    assert_eq!(
        (found.counts.all.visible, found.counts.roots.visible),
        (1_700, 1)
    );
    for bytes in [database.bytes(), zstd(&database.bytes())] {
        let again = import_stream(&world, bytes).await;
        assert_eq!(
            (again.comments.imported, again.comments.already_there),
            (0, 1_700)
        );
    }
    world.close().await;
}

#[tokio::test]
async fn a_database_that_isso_is_writing_to_is_read_as_it_is() {
    let world = World::empty("isso").await;
    let database = Database::with(&thread(1, "/a")).await;
    let mut isso = connect(&database.path).await;
    run(&mut isso, "PRAGMA journal_mode = WAL;".to_owned()).await;
    run(&mut isso, comment(1, "NULL", "1", ANN)).await;
    run(
        &mut isso,
        "BEGIN IMMEDIATE;".to_owned() + &comment(2, "1", "1", ANN),
    )
    .await;
    let report = import(&world, &database.path).await;
    assert_eq!(
        (report.exit_code(), report.comments.imported),
        (0, 1),
        "{report:?}"
    );
    run(&mut isso, "COMMIT;".to_owned()).await;
    let report = import(&world, &database.path).await;
    assert_eq!(
        (report.comments.imported, report.comments.already_there),
        (1, 1)
    );
    world.close().await;
}

#[tokio::test]
async fn what_is_no_isso_database_or_holds_nothing_is_no_success() {
    let world = World::empty("isso").await;
    let database = Database::with("").await;
    let rows = thread(1, "/a") + &comment(1, "NULL", "1", ANN);
    let bytes = Database::with(&rows).await.bytes();
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other.db");
    let mut connection = connect(&other).await;
    run(&mut connection, THREADS.to_owned()).await;
    connection.close().await.unwrap();
    for (report, why) in [
        (import(&world, &database.path).await, "no discussions"),
        (import(&world, &other).await, "no Isso database"),
        (
            import(&world, &folder.path().join("absent.db")).await,
            "cannot be read",
        ),
        (
            import_stream(&world, b"<disqus/>".repeat(500)).await,
            "no SQLite file",
        ),
        (
            import_stream(&world, bytes[..bytes.len() / 2].to_vec()).await,
            "",
        ),
    ] {
        let Outcome::InputBroken(said) = &report.outcome else {
            panic!("{report:?}");
        };
        assert!(said.contains(why), "{said}");
        assert_eq!((report.exit_code(), report.comments.imported), (1, 0));
    }
    assert!(!folder.path().join("absent.db").exists());
    assert!(world.discussion_by_url("blog.example/a").await.is_none());
    world.close().await;
}
