//! A small index builder over the port's own methods: oldest to newest, parents resolved before their
//! replies. What cannot be resolved becomes a root (T3).

use std::collections::HashMap;

use threadline::domain::discussion::Layout;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::store::comments::{IndexRow, ScanRow};

use crate::comments::Comments;

/// A build in steps, so that a case can write between them.
pub(crate) struct Build<'e> {
    env: &'e Comments,
    discussion: DiscussionId,
    layout: Layout,
    built_from: i64,
    after: Option<CommentId>,
    ancestors: HashMap<CommentId, Vec<CommentId>>,
}

impl<'e> Build<'e> {
    /// Mints and begins.
    pub(crate) async fn begin(env: &'e Comments, discussion: DiscussionId, layout: Layout) -> Self {
        let built_from = env.mint();
        env.store
            .begin_build(discussion, layout.number, built_from)
            .await
            .unwrap();
        Self {
            env,
            discussion,
            layout,
            built_from,
            after: None,
            ancestors: HashMap::new(),
        }
    }

    /// Scans and writes at most `limit` rows; `false` when there were none left.
    pub(crate) async fn step(&mut self, limit: u32) -> bool {
        let scanned = self
            .env
            .store
            .scan(self.discussion, self.after, limit)
            .await
            .unwrap();
        assert!(scanned.len() <= usize::try_from(limit).unwrap());
        assert!(scanned.is_sorted_by(|a, b| a.id < b.id), "{scanned:?}");
        let Some(last) = scanned.last() else {
            return false;
        };
        assert!(Some(last.id) > self.after);
        self.after = Some(last.id);
        let rows = scanned.iter().map(|row| self.resolve(row)).collect();
        self.env
            .store
            .put_index(self.discussion, self.layout, rows)
            .await
            .unwrap();
        true
    }

    fn resolve(&mut self, row: &ScanRow) -> IndexRow {
        let above = row
            .parent_id
            .and_then(|parent| Some((parent, self.ancestors.get(&parent)?.clone())));
        let (parent_id, ancestors) = match above {
            None => (None, Vec::new()),
            Some((parent, mut ancestors)) => {
                ancestors.push(parent);
                (Some(parent), ancestors)
            }
        };
        self.ancestors.insert(row.id, ancestors.clone());
        IndexRow {
            id: row.id,
            parent_id,
            ancestors,
        }
    }

    /// Ends the build; whether the layout is complete.
    pub(crate) async fn finish(self) -> bool {
        self.env
            .store
            .finish_build(self.discussion, self.layout.number, self.built_from)
            .await
            .unwrap()
    }

    /// Every step and the end.
    pub(crate) async fn run(mut self, limit: u32) -> bool {
        while self.step(limit).await {}
        self.finish().await
    }
}

/// Builds the layout that reads use; whether it is complete afterwards.
pub(crate) async fn build(env: &Comments, discussion: DiscussionId) -> bool {
    let layout = env.discussion(discussion).await.layout;
    Build::begin(env, discussion, layout).await.run(500).await
}
