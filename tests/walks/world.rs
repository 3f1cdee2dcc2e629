//! A gateway's stores with discussions in them, and jobs to walk over them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use tempfile::TempDir;
use threadline::app::{App, AppBuilder};
use threadline::config::Config;
use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::discussion::Discussion;
use threadline::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use threadline::domain::page::Slice;
use threadline::service::Service;
use threadline::store::comments::{
    CommentStore, CreateOutcome, EditComment, Lane, NewComment, NewDiscussion, StateChange,
};
use threadline::worker::jobs::Discussions;
use threadline::worker::jobs::audit::{AuditJob, AuditKind};
use threadline::worker::jobs::build::{BuildJob, BuildSettings};
use threadline::worker::walker::{WalkEnd, WalkError, WalkJob, WalkOptions, WalkTally};
use tokio_util::sync::CancellationToken;

/// Stores in a folder, and a gateway over them.
pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) folder: TempDir,
}

async fn open(folder: &Path) -> App {
    let setting = |name: &str, value: String| (format!("THREADLINE_{name}").into(), value.into());
    let place = |name: &str| folder.join(name).display().to_string();
    let config = Config::load_from(
        None,
        [
            setting(
                "STORES__COMMENTS",
                format!("sqlite:{}", place("comments.db")),
            ),
            setting("STORES__USERS", format!("sqlite:{}", place("states.db"))),
            setting("STORES__FLAGS", format!("folder:{}", place("flags"))),
        ],
    );
    AppBuilder::new(config.unwrap().config)
        .build()
        .await
        .unwrap()
}

impl World {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("flags")).unwrap();
        let app = open(folder.path()).await;
        Self { app, folder }
    }

    /// A second process's view of the same stores.
    pub(crate) async fn sibling(&self) -> App {
        open(self.folder.path()).await
    }

    pub(crate) fn service(&self) -> &Service {
        self.app.service()
    }

    pub(crate) fn comments(&self) -> &Arc<dyn CommentStore> {
        &self.service().ports().comments
    }

    pub(crate) fn mint(&self) -> i64 {
        self.service().ports().ids.mint().unwrap()
    }

    pub(crate) async fn open_discussion(&self) -> DiscussionId {
        let id = DiscussionId::new(self.mint());
        let new = NewDiscussion {
            id,
            title: String::new(),
            url: None,
            entity: None,
            premoderated: false,
            depth_limit: 1,
            opened_by: None,
        };
        self.comments().open_discussion(new).await.unwrap();
        id
    }

    pub(crate) async fn post(
        &self,
        discussion_id: DiscussionId,
        parent_id: Option<CommentId>,
        index: bool,
    ) -> Option<Comment> {
        let new = NewComment {
            id: CommentId::new(self.mint()),
            discussion_id,
            author_id: UserId::new(7),
            body: "text".to_owned(),
            format: BodyFormat::Plain,
            parent_id,
            state: CommentState::Published,
            index,
            claim: None,
            comments_max: 1_000_000,
        };
        match self.comments().create(new).await.unwrap() {
            CreateOutcome::Created(comment) => Some(comment),
            // Hidden or buried meanwhile.
            CreateOutcome::ParentGone => None,
            CreateOutcome::Replayed(_)
            | CreateOutcome::KeyReused
            | CreateOutcome::DiscussionMissing
            | CreateOutcome::DiscussionClosed
            | CreateOutcome::DiscussionFull
            | CreateOutcome::ParentMissing
            | CreateOutcome::TooDeep => panic!("it was not written"),
        }
    }

    /// A discussion of `size` comments without index rows: every third one a root, the others below
    /// the one before.
    pub(crate) async fn unindexed(&self, size: usize) -> DiscussionId {
        let id = self.open_discussion().await;
        let mut last: Option<CommentId> = None;
        for at in 0..size {
            let parent = last.filter(|_| at % 3 != 0);
            last = self.post(id, parent, false).await.map(|comment| comment.id);
        }
        id
    }

    pub(crate) async fn act(&self, comment: &Comment, act: StateAct) {
        let change = StateChange {
            discussion_id: comment.discussion_id,
            comment_id: comment.id,
            act,
            only_author: None,
            expected_revision: None,
            by: UserId::new(9),
            reason: String::new(),
            event_id: EventId::new(self.mint()),
        };
        self.comments().change_state(change).await.unwrap();
    }

    pub(crate) async fn edit(&self, comment: &Comment) {
        let edit = EditComment {
            discussion_id: comment.discussion_id,
            comment_id: comment.id,
            author_id: comment.author_id,
            expected_revision: comment.revision,
            body: format!("edited {}", comment.id),
            format: BodyFormat::Plain,
            waits: false,
            event_id: EventId::new(self.mint()),
        };
        self.comments().edit(edit).await.unwrap();
    }

    pub(crate) async fn discussion(&self, id: DiscussionId) -> Arc<Discussion> {
        let found = self.comments().discussions(&[id]).await.unwrap();
        found.into_iter().next().unwrap()
    }

    async fn list(&self, id: DiscussionId, layout: u32, lane: Lane) -> Vec<CommentId> {
        let all = Slice {
            above: None,
            below: None,
            ascending: true,
            limit: 100_000,
        };
        let rows = self.comments().slices(id, layout, &[(lane, all)]).await;
        rows.unwrap()[0].iter().map(|row| row.id).collect()
    }

    /// Whether the linear list and the threads of the layout in use hold the same comments.
    pub(crate) async fn is_whole(&self, id: DiscussionId) -> bool {
        let discussion = self.discussion(id).await;
        let linear = self.list(id, 1, Lane::Linear).await;
        let layout = discussion.layout.number;
        let mut threaded = self.list(id, layout, Lane::Roots).await;
        for head in &linear {
            threaded.extend(self.list(id, layout, Lane::Branch(*head)).await);
        }
        threaded.sort_unstable();
        discussion.layout.complete && threaded == linear
    }

    pub(crate) fn build_job(&self, settings: BuildSettings) -> BuildJob {
        let service = self.service().clone();
        BuildJob { service, settings }
    }

    pub(crate) async fn build(&self) -> WalkTally {
        self.complete(self.build_job(BuildSettings::default()))
            .await
    }

    pub(crate) async fn audit(&self, kind: AuditKind) -> WalkTally {
        let service = self.service().clone();
        self.complete(AuditJob { service, kind }).await
    }

    /// Walks to the end.
    pub(crate) async fn complete<J>(&self, job: J) -> WalkTally
    where
        J: WalkJob<Item = Arc<Discussion>> + 'static,
    {
        let walked = walk(&self.app, job, quick(), &CancellationToken::new()).await;
        let end = walked.unwrap();
        assert!(end.complete);
        end.tally
    }

    /// Nothing is wrong anywhere.
    pub(crate) async fn assert_clean(&self) {
        let tally = self.audit(AuditKind::Verify).await;
        assert_eq!(tally.faults, [], "{:?}", tally.outcomes);
        assert_eq!(tally.found(), 0);
    }
}

/// Two workers, and leases short enough that a test may wait for one to run out.
pub(crate) fn quick() -> WalkOptions {
    WalkOptions {
        lease: Duration::from_secs(3),
        ..WalkOptions::default()
    }
}

/// Walks over all discussions.
pub(crate) async fn walk<J>(
    app: &App,
    job: J,
    options: WalkOptions,
    stop: &CancellationToken,
) -> Result<WalkEnd, WalkError>
where
    J: WalkJob<Item = Arc<Discussion>> + 'static,
{
    let table = Arc::new(Discussions(Arc::clone(&app.service().ports().comments)));
    let bar = ProgressBar::hidden();
    app.walker()
        .run(table, Arc::new(job), options, &bar, stop)
        .await
}
