//! Empty stores on disk, an importer over them, and ways to look at what it wrote.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use tempfile::TempDir;
use threadline::domain::clock::Clock;
use threadline::domain::comment::Comment;
use threadline::domain::discussion::{Discussion, url_key};
use threadline::domain::ids::generator::{IdGenerator, Lease};
use threadline::domain::page::Slice;
use threadline::domain::text::TextLimits;
use threadline::import::report::Note;
use threadline::import::{ExportReader, Format, ImportOptions, Importer, Report};
use threadline::store::comments::sqlite::{self, SqliteComments, SqliteOptions};
use threadline::store::comments::{ImportDiscussion, Lane};
use threadline::store::driver::sqlite::SqliteGroup;
use threadline::store::users::sqlite::{MIGRATIONS, SqliteUsers};
use threadline::tasks::Tasks;
use tokio_util::sync::CancellationToken;

/// 2026-09-21: later than everything in the exports.
pub(crate) const NOW_MS: i64 = 1_790_000_000_000;

pub(crate) struct World {
    pub(crate) importer: Importer,
    pub(crate) options: ImportOptions,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: Tasks,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn empty(source: &str) -> Self {
        let (folder, tasks) = (TempDir::new().unwrap(), Tasks::new());
        let clock = Clock::manual(NOW_MS);
        let open = async |name: &str, migrations| {
            SqliteGroup::open(&folder.path().join(name), migrations, clock.clone(), &tasks)
                .await
                .unwrap()
        };
        let comments = open("comments.db", sqlite::MIGRATIONS).await;
        let users = open("states.db", MIGRATIONS).await;
        let ids = IdGenerator::new(clock.clone());
        ids.set_lease(Some(Lease {
            worker: 1,
            deadline: Duration::from_hours(1),
            after_ms: 0,
        }));
        Self {
            importer: Importer {
                comments: Arc::new(SqliteComments::new(comments, SqliteOptions::default())),
                users: Arc::new(SqliteUsers::new(users)),
                ids: Arc::new(ids),
                clock,
                tasks: tasks.clone(),
            },
            options: ImportOptions {
                source: source.to_owned(),
                dry_run: false,
                restore: false,
                limits: TextLimits::default(),
                comments_max: 1_000_000,
                depth_limit: 1,
                kept_parameters: vec!["p".to_owned()],
            },
            stop: CancellationToken::new(),
            _folder: folder,
            tasks,
        }
    }

    pub(crate) async fn import(&self, reader: Box<dyn ExportReader>) -> Report {
        let bar = ProgressBar::hidden();
        let report = self
            .importer
            .run(reader, &self.options, &self.stop, &bar)
            .await;
        assert!(report.total_adds_up(), "{}", report.table());
        report
    }

    pub(crate) async fn disqus(&self, rows: &str) -> Report {
        let file = format!("<disqus xmlns:dsq=\"x\">{rows}</disqus>");
        let input = Box::new(Cursor::new(file.into_bytes()));
        self.import(Format::Disqus.reader(input)).await
    }

    pub(crate) async fn jsonl(&self, lines: &[serde_json::Value]) -> Report {
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let input = Box::new(Cursor::new(text.join("\n").into_bytes()));
        self.import(Format::Jsonl.reader(input)).await
    }

    /// An imported discussion; there must be one.
    pub(crate) async fn discussion(&self, source_id: &str) -> Arc<Discussion> {
        let asked = ImportDiscussion {
            source: self.options.source.clone(),
            source_id: source_id.to_owned(),
            created_ms: NOW_MS,
            title: String::new(),
            url: None,
            entity: None,
            closed: false,
            depth_limit: 1,
            kept: None,
        };
        let (found, is_new) = self
            .importer
            .comments
            .import_discussion(asked)
            .await
            .unwrap();
        assert!(!is_new, "discussion {source_id} was not imported");
        found
    }

    pub(crate) async fn discussion_by_url(&self, url: &str) -> Option<Arc<Discussion>> {
        let store = &self.importer.comments;
        store.discussion_by_key(&url_key(url)).await.unwrap()
    }

    /// The first thousand comments of a discussion, oldest first.
    pub(crate) async fn comments(&self, discussion: &Discussion) -> Vec<Comment> {
        let wanted = [(Lane::Linear, slice())];
        let store = &self.importer.comments;
        let rows = store
            .slices(discussion.id, discussion.layout.number, &wanted)
            .await
            .unwrap();
        rows.first().unwrap().to_vec()
    }

    pub(crate) async fn name_of(&self, comment: &Comment) -> String {
        let users = self.importer.users.users(&[comment.author_id]).await;
        users
            .unwrap()
            .pop()
            .map_or_else(|| "(none)".to_owned(), |user| user.name)
    }

    pub(crate) async fn close(self) {
        drop(self.importer);
        assert!(self.tasks.shutdown(Duration::from_secs(10)).await);
    }
}

fn slice() -> Slice {
    Slice {
        above: None,
        below: None,
        ascending: true,
        limit: 1_000,
    }
}

pub(crate) fn noted(report: &Report, note: Note) -> u64 {
    report.notes.get(&note).copied().unwrap_or(0)
}
