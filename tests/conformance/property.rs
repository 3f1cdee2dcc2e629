//! Random histories of one discussion, told to a store and to the oracle; both must agree on every
//! answer, on every row, and on everything derived from rows.
//!
//! A failure names its seed; `THREADLINE_TEST_SEED=<seed>` runs the same histories again.

use std::hash::{BuildHasher, Hasher};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use threadline::domain::body::BodyFormat;
use threadline::domain::comment::{Comment, CommentState, StateAct};
use threadline::domain::discussion::Layout;
use threadline::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use threadline::store::comments::{
    EditComment, ImportComment, ImportOutcome, LogEntry, NewComment, StateChange,
};

use crate::builder::Build;
use crate::comments::kit::{PLENTY, SOURCE_MS, claim, source_comment};
use crate::comments::{Cases, Comments};
use crate::env::cases;
use crate::oracle::{Kind, ModelLayout, Oracle};

pub(crate) const CASES: Cases = cases![
    c8_any_history_agrees_with_a_model,
    c8_any_history_told_by_two_instances_agrees_with_a_model,
];

const HISTORIES: u32 = 64;
const STEPS_MAX: usize = 60;
const SHRINKS_MAX: u32 = 300;
const AUTHORS: [UserId; 3] = [UserId::new(11), UserId::new(12), UserId::new(13)];
const DAY_MS: i64 = 86_400_000;

/// One step. Rows are picked by number among those there are; `u16::MAX` picks one that is missing.
#[derive(Clone, Debug)]
enum Op {
    Create {
        parent: Option<u16>,
        author: usize,
        pending: bool,
        index: bool,
    },
    /// The last create once more, under its posting key.
    Retry,
    Edit {
        row: u16,
        own: bool,
        stale: bool,
    },
    /// The last edit that changed something once more, if its row is as it left it.
    RepeatEdit,
    Act {
        row: u16,
        act: StateAct,
        author: Option<bool>,
        stale: Option<bool>,
    },
    Import(Vec<(u8, Option<u8>, i64, CommentState)>),
    Build,
    BuildOther,
    AddLayout(u16),
    Flip,
    DropOther,
    Look,
}

fn state() -> impl Strategy<Value = CommentState> {
    prop_oneof![
        6 => Just(CommentState::Published),
        1 => Just(CommentState::Pending),
        1 => Just(CommentState::Hidden),
        2 => Just(CommentState::Buried),
    ]
}

fn row() -> impl Strategy<Value = u16> {
    prop_oneof![40 => 0_u16..1_000, 1 => Just(u16::MAX)]
}

fn op() -> impl Strategy<Value = Op> {
    let create = (
        prop::option::weighted(0.8, row()),
        0..AUTHORS.len(),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.9),
    )
        .prop_map(|(parent, author, pending, index)| Op::Create {
            parent,
            author,
            pending,
            index,
        });
    let edit = (row(), prop::bool::weighted(0.9), prop::bool::weighted(0.2))
        .prop_map(|(row, own, stale)| Op::Edit { row, own, stale });
    let act = prop_oneof![
        4 => Just(StateAct::Hide),
        4 => Just(StateAct::Restore),
        2 => Just(StateAct::Approve),
        4 => Just(StateAct::Bury),
    ];
    let act = (
        row(),
        act,
        prop::option::weighted(0.3, prop::bool::weighted(0.8)),
        prop::option::weighted(0.3, prop::bool::weighted(0.2)),
    )
        .prop_map(|(row, act, author, stale)| Op::Act {
            row,
            act,
            author,
            stale,
        });
    let imported = (
        0_u8..24,
        prop::option::weighted(0.7, 0_u8..24),
        0_i64..20,
        state(),
    );
    prop_oneof![
        14 => create,
        1 => Just(Op::Retry),
        3 => edit,
        1 => Just(Op::RepeatEdit),
        12 => act,
        4 => prop::collection::vec(imported, 1..12).prop_map(Op::Import),
        2 => Just(Op::Build),
        2 => Just(Op::BuildOther),
        1 => (1_u16..=3).prop_map(Op::AddLayout),
        1 => Just(Op::Flip),
        1 => Just(Op::DropOther),
        1 => Just(Op::Look),
    ]
}

async fn c8_any_history_agrees_with_a_model(env: Comments) {
    run(std::slice::from_ref(&env));
}

async fn c8_any_history_told_by_two_instances_agrees_with_a_model(env: Comments) {
    let other = env.another_instance(2).await;
    run(&[env, other]);
}

/// Runs random histories; the instances take turns.
fn run(instances: &[Comments]) {
    let seed = match std::env::var_os("THREADLINE_TEST_SEED") {
        Some(seed) => seed.to_str().unwrap().parse().expect("a seed is a number"),
        None => std::hash::RandomState::new().build_hasher().finish(),
    };
    let config = Config {
        cases: HISTORIES,
        max_shrink_iters: SHRINKS_MAX,
        failure_persistence: None,
        ..Config::default()
    };
    let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, random);
    let histories = (1_u16..=3, prop::collection::vec(op(), 1..STEPS_MAX));
    let result = runner.run(&histories, |(depth_limit, ops)| {
        tokio::task::block_in_place(|| {
            let history = history(instances, depth_limit, ops);
            tokio::runtime::Handle::current().block_on(history);
        });
        Ok(())
    });
    if let Err(failure) = result {
        panic!("THREADLINE_TEST_SEED={seed} repeats this:\n{failure}");
    }
}

async fn history(instances: &[Comments], depth_limit: u16, ops: Vec<Op>) {
    let mut story = Story {
        instances,
        discussion: instances[0].open(depth_limit).await,
        oracle: Oracle::new(depth_limit),
        last_create: None,
        last_edit: None,
    };
    let first = instances[0].draft(story.discussion, None);
    let first = story.create(&instances[0], first).await;
    story.oracle.first_revision = first.unwrap().revision;
    for (turn, op) in ops.into_iter().enumerate() {
        let env = &instances[turn % instances.len()];
        env.advance_ms(3);
        story.step(env, op).await;
    }
    for env in instances {
        story.look(env).await;
        story.look_closely(env).await;
    }
}

struct Story<'i> {
    instances: &'i [Comments],
    discussion: DiscussionId,
    oracle: Oracle,
    last_create: Option<NewComment>,
    last_edit: Option<EditComment>,
}

impl Story<'_> {
    async fn step(&mut self, env: &Comments, op: Op) {
        match op {
            Op::Create {
                parent,
                author,
                pending,
                index,
            } => {
                let parent = parent.map(|number| self.pick(env, number));
                let mut new = env.draft(self.discussion, parent);
                new.author_id = AUTHORS[author];
                new.index = index;
                if pending {
                    new.state = CommentState::Pending;
                }
                let expires_at_ms = env.clock.now_ms() + DAY_MS;
                new.claim = Some(claim(&new.id.to_string(), 1, expires_at_ms));
                self.create(env, new).await;
            }
            Op::Retry => self.retry(env).await,
            Op::Edit { row, own, stale } => self.edit(env, row, own, stale).await,
            Op::RepeatEdit => self.repeat_edit(env).await,
            Op::Act {
                row,
                act,
                author,
                stale,
            } => self.act(env, row, act, author, stale).await,
            Op::Import(rows) => self.import(env, &rows).await,
            Op::Build => {
                let layout = self.oracle.layout;
                assert!(self.build(env, layout).await);
                self.oracle.layout.complete = true;
            }
            Op::BuildOther => {
                if let Some(layout) = self.oracle.other {
                    assert!(self.build(env, layout).await);
                    self.oracle.other.as_mut().unwrap().complete = true;
                }
            }
            Op::AddLayout(depth_limit) => {
                let added = env.store.add_layout(self.discussion, depth_limit).await;
                let number = added.unwrap().map(|layout| layout.number);
                assert_eq!(number, self.oracle.add_layout(depth_limit));
            }
            Op::Flip => {
                let flipped = env.store.flip_layout(self.discussion).await.unwrap();
                assert_eq!(flipped, self.oracle.flip(), "flip");
            }
            Op::DropOther => {
                let dropped = env.store.drop_other_layout(self.discussion).await;
                assert_eq!(dropped.unwrap(), self.oracle.drop_other(), "drop");
            }
            Op::Look => self.look(env).await,
        }
    }

    fn pick(&self, env: &Comments, number: u16) -> CommentId {
        let found = self.oracle.pick(number).filter(|_| number != u16::MAX);
        found.unwrap_or_else(|| CommentId::new(env.mint()))
    }

    async fn create(&mut self, env: &Comments, new: NewComment) -> Option<Comment> {
        let outcome = env.create(new.clone()).await;
        assert_eq!(Kind::from(&outcome), self.oracle.create(&new), "{new:?}");
        let threadline::store::comments::CreateOutcome::Created(comment) = outcome else {
            return None;
        };
        self.last_create = new.claim.is_some().then_some(new);
        Some(comment)
    }

    async fn retry(&self, env: &Comments) {
        let Some(mut again) = self.last_create.clone() else {
            return;
        };
        let expires_at_ms = again.claim.as_ref().unwrap().expires_at_ms;
        if env.clock.now_ms() >= expires_at_ms {
            return;
        }
        let first = again.id;
        again.id = CommentId::new(env.mint());
        let comment = crate::comments::kit::replayed(env.create(again).await);
        assert_eq!(comment.id, first);
        self.compare(&comment);
    }

    async fn edit(&mut self, env: &Comments, row: u16, own: bool, stale: bool) {
        let id = self.pick(env, row);
        let known = self.oracle.rows.get(&id);
        let author = known.map_or(AUTHORS[0], |row| row.author_id);
        let revision = known.map_or(0, |_| self.oracle.revision(id));
        let event_id = env.event();
        let edit = EditComment {
            discussion_id: self.discussion,
            comment_id: id,
            author_id: if own { author } else { UserId::new(99) },
            expected_revision: if stale { revision + 1 } else { revision },
            body: format!("text of {event_id}"),
            format: BodyFormat::Plain,
            waits: row.is_multiple_of(4),
            event_id,
        };
        let outcome = env.store.edit(edit.clone()).await.unwrap();
        let want = self.oracle.edit(&edit);
        assert_eq!(Kind::from(&outcome), want, "{edit:?}");
        if want == Kind::Changed {
            self.last_edit = Some(edit);
        }
    }

    async fn repeat_edit(&mut self, env: &Comments) {
        let Some(mut again) = self.last_edit.clone() else {
            return;
        };
        if self.oracle.revision(again.comment_id) != again.expected_revision + 1 {
            return;
        }
        again.event_id = env.event();
        let outcome = env.store.edit(again).await.unwrap();
        self.compare(&crate::comments::kit::changed(outcome));
    }

    async fn act(
        &mut self,
        env: &Comments,
        row: u16,
        act: StateAct,
        author: Option<bool>,
        stale: Option<bool>,
    ) {
        let id = self.pick(env, row);
        let known = self.oracle.rows.get(&id);
        let wrote = known.map_or(AUTHORS[0], |row| row.author_id);
        let revision = known.map_or(0, |_| self.oracle.revision(id));
        let change = StateChange {
            discussion_id: self.discussion,
            comment_id: id,
            act,
            only_author: author.map(|own| if own { wrote } else { UserId::new(99) }),
            expected_revision: stale.map(|stale| revision + u32::from(stale)),
            by: UserId::new(99),
            reason: String::new(),
            event_id: env.event(),
        };
        let kind = Kind::from(&env.change(change.clone()).await);
        let want = self.oracle.change(&change);
        // What both is as wished and was changed since may be called either.
        let either = want == Kind::NoChange && stale == Some(true) && kind == Kind::Stale;
        assert!(kind == want || either, "{kind:?}, not {want:?}: {change:?}");
    }

    async fn import(&mut self, env: &Comments, rows: &[(u8, Option<u8>, i64, CommentState)]) {
        let batch: Vec<ImportComment> = rows
            .iter()
            .map(|(source, parent, ms, state)| {
                let parent = parent.map(|parent| parent.to_string());
                let ms = SOURCE_MS + ms;
                let mut row = source_comment(&source.to_string(), ms, parent.as_deref());
                row.author_id = AUTHORS[usize::from(*source) % AUTHORS.len()];
                row.state = *state;
                if *state == CommentState::Buried {
                    row.author_id = UserId::NOBODY;
                    row.body.clear();
                }
                row
            })
            .collect();
        let outcomes: Vec<ImportOutcome> = env.import(self.discussion, batch.clone()).await;
        assert_eq!(outcomes, self.oracle.import("disqus", &batch), "{batch:?}");
    }

    async fn build(&self, env: &Comments, layout: ModelLayout) -> bool {
        env.let_writes_settle();
        let layout = layout_of(layout);
        Build::begin(env, self.discussion, layout)
            .await
            .run(7)
            .await
    }

    /// Compares every row, in both directions, the log, the counts and the discussion.
    async fn look(&mut self, env: &Comments) {
        self.catch_up().await;
        let rows = env.linear(self.discussion).await;
        let ids: Vec<CommentId> = rows.iter().map(|row| row.id).collect();
        let want: Vec<CommentId> = self.oracle.rows.keys().copied().collect();
        assert_eq!(ids, want, "the rows there are");
        for row in &rows {
            self.compare(row);
        }
        let discussion = env.discussion(self.discussion).await;
        assert_eq!(discussion.layout, layout_of(self.oracle.layout));
        let other = self.oracle.other.map(layout_of);
        assert_eq!(discussion.other_layout, other);
        let log: Vec<LogEntry> = self
            .oracle
            .log
            .iter()
            .map(|(event_id, (kind, comment_id))| LogEntry {
                event_id: *event_id,
                kind: *kind,
                comment_id: Some(*comment_id),
            })
            .collect();
        assert_eq!(env.log(self.discussion).await, log);
    }

    /// Lets each instance see what the other one did. Not everything has an event, so each posts one
    /// that the others wait for.
    async fn catch_up(&mut self) {
        if self.instances.len() < 2 {
            return;
        }
        for writer in self.instances {
            let new = writer.draft(self.discussion, None);
            let event = EventId::new(new.id.get());
            self.create(writer, new).await;
            for reader in self.instances {
                reader.store.catch_up(self.discussion, event).await.unwrap();
            }
        }
    }

    fn compare(&self, row: &Comment) {
        let want = &self.oracle.rows[&row.id];
        assert_eq!(row.discussion_id, self.discussion);
        assert_eq!(row.author_id, want.author_id, "{row:?}");
        assert_eq!(row.body, want.body, "{row:?}");
        assert_eq!(row.parent_id, want.parent_id, "{row:?}");
        assert_eq!(row.ancestors, want.ancestors, "{row:?}");
        assert_eq!(row.state, want.state, "{row:?}");
        assert_eq!(row.revision, self.oracle.revision(row.id), "{row:?}");
        if row.state != CommentState::Buried {
            assert_eq!(row.edited_at_ms.is_some(), want.edited, "{row:?}");
        }
    }

    /// Everything derived: counts, runs, sums, both layouts, authors' lists, earlier texts.
    async fn look_closely(&self, env: &Comments) {
        env.audit(self.discussion).await;
        for (id, row) in &self.oracle.rows {
            let kept = env.store.revisions(self.discussion, *id).await.unwrap();
            let texts: Vec<String> = kept.into_iter().map(|kept| kept.body).collect();
            assert_eq!(texts, row.texts, "earlier texts of {id}");
        }
        for author in AUTHORS {
            let wrote: Vec<CommentId> = env
                .by_author(author)
                .await
                .into_iter()
                .filter(|(home, _)| *home == self.discussion)
                .map(|(_, id)| id)
                .collect();
            let rows = self.oracle.rows.iter();
            let want: Vec<CommentId> = rows
                .filter(|(_, row)| row.author_id == author)
                .map(|(id, _)| *id)
                .collect();
            assert_eq!(wrote, want, "what {author} wrote");
        }
        assert!(self.oracle.rows.len() < usize::try_from(PLENTY).unwrap());
    }
}

fn layout_of(layout: ModelLayout) -> Layout {
    Layout {
        number: layout.number,
        depth_limit: layout.depth_limit,
        complete: layout.complete,
    }
}
