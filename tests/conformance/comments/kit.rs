//! Short words for what cases do again and again: post, reply, hide, read a whole list.

use std::sync::Arc;

use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::counts::DiscussionCounts;
use threadline::domain::discussion::{Discussion, DiscussionState};
use threadline::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use threadline::domain::page::Slice;
use threadline::store::comments::{
    ChangeOutcome, Claim, CreateOutcome, DiscussionAct, DiscussionChange, DiscussionOutcome,
    EditComment, IMPORT_BATCH_MAX, ImportComment, ImportDiscussion, ImportOutcome, Lane, LogEntry,
    NewComment, NewDiscussion, Opened, StateChange,
};

use super::Comments;

pub(crate) const ANN: UserId = UserId::new(101);
pub(crate) const BOB: UserId = UserId::new(102);
/// Who acts where a case does not care.
pub(crate) const MODERATOR: UserId = UserId::new(109);
/// As many comments as a discussion may hold where a case does not care.
pub(crate) const PLENTY: i64 = 1_000_000;
/// A source's clock where a case does not care: two years before the trial.
pub(crate) const SOURCE_MS: i64 = crate::env::START_MS - 2 * 365 * 86_400_000;

/// The range of everything, oldest first.
pub(crate) const fn all(limit: u32) -> Slice {
    Slice {
        above: None,
        below: None,
        ascending: true,
        limit,
    }
}

pub(crate) fn ids(rows: &[Comment]) -> Vec<CommentId> {
    rows.iter().map(|row| row.id).collect()
}

pub(crate) fn created(outcome: CreateOutcome) -> Comment {
    match outcome {
        CreateOutcome::Created(comment) => comment,
        other => panic!("not created: {other:?}"),
    }
}

pub(crate) fn replayed(outcome: CreateOutcome) -> Comment {
    match outcome {
        CreateOutcome::Replayed(comment) => comment,
        other => panic!("not replayed: {other:?}"),
    }
}

pub(crate) fn changed(outcome: ChangeOutcome) -> Comment {
    match outcome {
        ChangeOutcome::Changed(comment) => comment,
        other => panic!("not changed: {other:?}"),
    }
}

/// Asserts the shape of an outcome and says what came instead.
macro_rules! expect_outcome {
    ($outcome:expr, $pattern:pat) => {{
        let outcome = $outcome;
        assert!(
            matches!(outcome, $pattern),
            "expected {}, got {outcome:?}",
            stringify!($pattern)
        );
    }};
}
pub(crate) use expect_outcome;

/// An imported comment's id, however it was taken in.
pub(crate) fn imported(outcome: ImportOutcome) -> CommentId {
    match outcome {
        ImportOutcome::Imported(id)
        | ImportOutcome::AlreadyThere(id)
        | ImportOutcome::ParentMissing(id)
        | ImportOutcome::Flattened(id) => id,
        ImportOutcome::DiscussionFull => panic!("the discussion is full"),
    }
}

/// A published comment of another system.
pub(crate) fn source_comment(id: &str, created_ms: i64, parent: Option<&str>) -> ImportComment {
    ImportComment {
        source_id: id.to_owned(),
        created_ms,
        parent_source_id: parent.map(str::to_owned),
        author_id: ANN,
        body: format!("imported {id}"),
        format: BodyFormat::Html,
        edited_at_ms: None,
        state: CommentState::Published,
        parent_id: None,
        kept: None,
    }
}

pub(crate) fn source_discussion(id: &str) -> ImportDiscussion {
    ImportDiscussion {
        source: "disqus".to_owned(),
        source_id: id.to_owned(),
        created_ms: SOURCE_MS,
        title: format!("thread {id}"),
        url: None,
        entity: None,
        closed: false,
        depth_limit: 1,
        kept: None,
    }
}

pub(crate) fn claim(key: &str, hash: u8, expires_at_ms: i64) -> Claim {
    Claim {
        key: key.to_owned(),
        body_hash: [hash; 32],
        expires_at_ms,
    }
}

impl Comments {
    pub(crate) fn event(&self) -> EventId {
        EventId::new(self.mint())
    }

    pub(crate) fn new_discussion(&self, depth_limit: u16) -> NewDiscussion {
        NewDiscussion {
            id: DiscussionId::new(self.mint()),
            title: "a title".to_owned(),
            url: None,
            entity: None,
            premoderated: false,
            depth_limit,
            opened_by: None,
        }
    }

    /// A new discussion without keys.
    pub(crate) async fn open(&self, depth_limit: u16) -> DiscussionId {
        let new = self.new_discussion(depth_limit);
        match self.store.open_discussion(new).await.unwrap() {
            Opened::New(discussion) => discussion.id,
            Opened::Existing(other) => panic!("{other:?} has none of its keys"),
        }
    }

    /// A comment by Ann, to be changed by the case before it is created.
    pub(crate) fn draft(&self, discussion: DiscussionId, parent: Option<CommentId>) -> NewComment {
        let id = match parent {
            None => self.mint(),
            Some(parent) => self.ids.mint_reply(parent.get()).unwrap(),
        };
        NewComment {
            id: CommentId::new(id),
            discussion_id: discussion,
            author_id: ANN,
            body: format!("text of {id}"),
            format: BodyFormat::Plain,
            parent_id: parent,
            state: CommentState::Published,
            index: true,
            claim: None,
            comments_max: PLENTY,
        }
    }

    pub(crate) async fn create(&self, new: NewComment) -> CreateOutcome {
        self.store.create(new).await.unwrap()
    }

    /// A root by Ann.
    pub(crate) async fn post(&self, discussion: DiscussionId) -> Comment {
        created(self.create(self.draft(discussion, None)).await)
    }

    /// A reply by Ann.
    pub(crate) async fn reply(&self, to: &Comment) -> Comment {
        created(self.create(self.draft(to.discussion_id, Some(to.id))).await)
    }

    /// A comment by Ann without index row.
    pub(crate) async fn post_unindexed(
        &self,
        discussion: DiscussionId,
        parent: Option<CommentId>,
    ) -> Comment {
        let mut new = self.draft(discussion, parent);
        new.index = false;
        created(self.create(new).await)
    }

    pub(crate) fn edit_of(&self, row: &Comment, body: &str) -> EditComment {
        EditComment {
            discussion_id: row.discussion_id,
            comment_id: row.id,
            author_id: row.author_id,
            expected_revision: row.revision,
            body: body.to_owned(),
            format: BodyFormat::Markdown,
            waits: false,
            event_id: self.event(),
        }
    }

    pub(crate) fn change_of(&self, row: &Comment, act: StateAct) -> StateChange {
        StateChange {
            discussion_id: row.discussion_id,
            comment_id: row.id,
            act,
            only_author: None,
            expected_revision: None,
            by: MODERATOR,
            reason: String::new(),
            event_id: self.event(),
        }
    }

    pub(crate) async fn change(&self, change: StateChange) -> ChangeOutcome {
        self.store.change_state(change).await.unwrap()
    }

    pub(crate) async fn act(&self, row: &Comment, act: StateAct) -> ChangeOutcome {
        self.change(self.change_of(row, act)).await
    }

    pub(crate) async fn hide(&self, row: &Comment) -> Comment {
        changed(self.act(row, StateAct::Hide).await)
    }

    pub(crate) async fn restore(&self, row: &Comment) -> Comment {
        changed(self.act(row, StateAct::Restore).await)
    }

    pub(crate) async fn bury(&self, row: &Comment) -> Comment {
        changed(self.act(row, StateAct::Bury).await)
    }

    pub(crate) async fn change_discussion(
        &self,
        discussion_id: DiscussionId,
        act: DiscussionAct,
    ) -> DiscussionOutcome {
        let change = DiscussionChange {
            discussion_id,
            act,
            by: MODERATOR,
            event_id: self.event(),
        };
        self.store.change_discussion(change).await.unwrap()
    }

    /// Opens or closes a discussion that is there.
    pub(crate) async fn set_state(&self, discussion: DiscussionId, state: DiscussionState) {
        let act = DiscussionAct::SetState(state);
        match self.change_discussion(discussion, act).await {
            DiscussionOutcome::Changed(now) | DiscussionOutcome::NoChange(now) => {
                assert_eq!(now.state, state);
            }
            other => panic!("{other:?}"),
        }
    }

    /// The row as it is now.
    pub(crate) async fn row(&self, row: &Comment) -> Comment {
        self.find(row.discussion_id, row.id).await.unwrap()
    }

    pub(crate) async fn find(&self, discussion: DiscussionId, id: CommentId) -> Option<Comment> {
        let mut found = self.store.comments(&[(discussion, id)]).await.unwrap();
        assert!(found.len() <= 1);
        found.pop()
    }

    pub(crate) async fn discussion(&self, id: DiscussionId) -> Arc<Discussion> {
        let mut found = self.store.discussions(&[id]).await.unwrap();
        assert_eq!(found.len(), 1);
        found.pop().unwrap()
    }

    pub(crate) async fn counts(&self, id: DiscussionId) -> DiscussionCounts {
        self.discussion(id).await.counts
    }

    /// (total, published, visible, shown) of the whole discussion.
    pub(crate) async fn sums(&self, id: DiscussionId) -> (i64, i64, i64, i64) {
        let all = self.counts(id).await.all;
        (all.total, all.published, all.visible, all.shown)
    }

    /// One slice of one list.
    pub(crate) async fn slice(
        &self,
        discussion: DiscussionId,
        layout: u32,
        lane: Lane,
        slice: Slice,
    ) -> Vec<Comment> {
        let mut rows = self
            .store
            .slices(discussion, layout, &[(lane, slice)])
            .await
            .unwrap();
        assert_eq!(rows.len(), 1, "one answer a range");
        rows.pop().unwrap().to_vec()
    }

    /// A whole list, oldest first, read in pages.
    pub(crate) async fn list(
        &self,
        discussion: DiscussionId,
        layout: u32,
        lane: Lane,
    ) -> Vec<Comment> {
        const PAGE: u32 = 1_000;
        let (mut rows, mut slice) = (Vec::new(), all(PAGE));
        loop {
            let page = self.slice(discussion, layout, lane, slice).await;
            let Some(last) = page.last() else {
                return rows;
            };
            slice = slice.beyond(last.id, PAGE);
            rows.extend(page);
        }
    }

    pub(crate) async fn linear(&self, discussion: DiscussionId) -> Vec<Comment> {
        self.list(discussion, 1, Lane::Linear).await
    }

    pub(crate) async fn log(&self, discussion: DiscussionId) -> Vec<LogEntry> {
        let from = EventId::new(0);
        self.store.log(discussion, from, 10_000).await.unwrap()
    }

    /// Where a person wrote, oldest first.
    pub(crate) async fn by_author(&self, author: UserId) -> Vec<(DiscussionId, CommentId)> {
        self.store.by_author(author, all(10_000)).await.unwrap()
    }

    /// Imports comments of `disqus` in the order given, in as few calls as may be.
    pub(crate) async fn import(
        &self,
        discussion: DiscussionId,
        batch: Vec<ImportComment>,
    ) -> Vec<ImportOutcome> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for rows in batch.chunks(IMPORT_BATCH_MAX) {
            let rows = rows.to_vec();
            let told = self
                .store
                .import_comments(discussion, "disqus", rows, self.mint(), PLENTY)
                .await;
            outcomes.extend(told.unwrap());
        }
        assert_eq!(outcomes.len(), batch.len(), "one outcome a row");
        outcomes
    }

    /// Lets every write of now lie further back than any engine's margin.
    pub(crate) fn let_writes_settle(&self) {
        self.advance_ms(61_000);
    }
}
