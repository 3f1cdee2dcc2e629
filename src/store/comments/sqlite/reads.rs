//! The reading side. Range reads go through the cache; the rest are single rows.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Row as _;

use super::cache::Epoch;
use super::rows::{self, comment_columns, discussion_columns, lane_key};
use super::{SqliteComments, listing, origins};
use crate::domain::comment::{Comment, CommentState};
use crate::domain::counts::{CountedRow, Run, Tally};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId, EventId, UserId};
use crate::domain::page::Slice;
use crate::store::StoreError;
use crate::store::comments::{CommentReads, Lane, LogEntry, LogKind, Origin, Rows};
use crate::store::driver::sqlite::DuringOp as _;

macro_rules! linear_sql {
    ($direction:literal) => {
        concat!(
            "SELECT ",
            comment_columns!(),
            ", c.parent_id, c.ancestors FROM comments c \
             WHERE c.discussion_id = ?1 AND c.comment_id > ?2 AND c.comment_id < ?3 \
             ORDER BY c.comment_id ",
            $direction,
            " LIMIT ?4"
        )
    };
}

// Branches asked with the same range are one statement; CROSS JOIN keeps the planner on this order.
macro_rules! tree_sql {
    ($direction:literal) => {
        concat!(
            "SELECT h.value, ",
            comment_columns!(),
            ", t.parent_id, t.ancestors FROM json_each(?5) h \
             CROSS JOIN comment_tree t CROSS JOIN comments c \
             WHERE t.discussion_id = ?1 AND t.layout = ?6 AND t.branch_id = h.value \
             AND t.comment_id IN (SELECT i.comment_id FROM comment_tree i \
               WHERE i.discussion_id = ?1 AND i.layout = ?6 AND i.branch_id = h.value \
               AND i.comment_id > ?2 AND i.comment_id < ?3 \
               ORDER BY i.comment_id ",
            $direction,
            " LIMIT ?4) AND c.discussion_id = ?1 AND c.comment_id = t.comment_id \
             ORDER BY h.key, t.comment_id ",
            $direction
        )
    };
}

pub(super) const LINEAR_ASC: &str = linear_sql!("ASC");
pub(super) const LINEAR_DESC: &str = linear_sql!("DESC");
pub(super) const TREE_ASC: &str = tree_sql!("ASC");
pub(super) const TREE_DESC: &str = tree_sql!("DESC");

pub(super) const DISCUSSIONS: &str = concat!(
    "SELECT ",
    discussion_columns!(),
    " FROM discussions WHERE discussion_id IN (SELECT value FROM json_each(?))"
);

pub(super) const DISCUSSION_BY_KEY: &str =
    "SELECT discussion_id FROM discussion_by_key WHERE key = ?";

pub(super) const BRANCH_SUMS: &str = "SELECT b.branch_id, sum(b.total), sum(b.published), \
     sum(b.visible), sum(b.shown) FROM json_each(?1) h CROSS JOIN branch_counts b \
     WHERE b.discussion_id = ?2 AND b.layout = ?3 AND b.branch_id = h.value GROUP BY b.branch_id";

macro_rules! linear_facts_sql {
    ($direction:literal) => {
        concat!(
            "SELECT c.comment_id, c.ancestors, c.state, c.live_below FROM comments c \
             WHERE c.discussion_id = ?1 AND c.comment_id > ?2 AND c.comment_id < ?3 \
             ORDER BY c.comment_id ",
            $direction,
            " LIMIT ?4"
        )
    };
}

macro_rules! tree_facts_sql {
    ($direction:literal) => {
        concat!(
            "SELECT c.comment_id, t.ancestors, c.state, c.live_below \
             FROM comment_tree t CROSS JOIN comments c \
             WHERE t.discussion_id = ?1 AND t.comment_id > ?2 AND t.comment_id < ?3 \
             AND t.layout = ?5 AND t.branch_id = ?6 \
             AND c.discussion_id = ?1 AND c.comment_id = t.comment_id ORDER BY t.comment_id ",
            $direction,
            " LIMIT ?4"
        )
    };
}

impl SqliteComments {
    fn epoch(&self, discussion: DiscussionId) -> Epoch {
        self.cache.epoch(discussion, self.group.foreign_writes())
    }

    async fn linear(&self, discussion: DiscussionId, slice: Slice) -> Result<Rows, StoreError> {
        const OP: &str = "comments.slices";
        let sql = if slice.ascending {
            LINEAR_ASC
        } else {
            LINEAR_DESC
        };
        self.group.count(1);
        let found = sqlx::query(sql)
            .bind(discussion.get())
            .bind(slice.above.map_or(i64::MIN, CommentId::get))
            .bind(slice.below.map_or(i64::MAX, CommentId::get))
            .bind(i64::from(slice.limit))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        found
            .iter()
            .map(|row| rows::comment(row, 0, discussion))
            .collect()
    }

    /// The same range of several branches (0 for roots), by branch.
    async fn branches(
        &self,
        discussion: DiscussionId,
        layout: u32,
        branches: &[i64],
        slice: Slice,
    ) -> Result<HashMap<i64, Vec<Comment>>, StoreError> {
        const OP: &str = "comments.slices";
        let sql = if slice.ascending { TREE_ASC } else { TREE_DESC };
        self.group.count(1);
        let found = sqlx::query(sql)
            .bind(discussion.get())
            .bind(slice.above.map_or(i64::MIN, CommentId::get))
            .bind(slice.below.map_or(i64::MAX, CommentId::get))
            .bind(i64::from(slice.limit))
            .bind(json(branches))
            .bind(i64::from(layout))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        let mut by_branch: HashMap<i64, Vec<Comment>> = HashMap::new();
        for row in &found {
            let branch: i64 = row.try_get(0).during(OP)?;
            by_branch
                .entry(branch)
                .or_default()
                .push(rows::comment(row, 1, discussion)?);
        }
        Ok(by_branch)
    }
}

/// Ids as a JSON list, for `json_each`.
pub(super) fn json<T: serde::Serialize>(ids: &[T]) -> String {
    // A list of integers always serialises.
    serde_json::to_string(ids).unwrap_or_else(|_| "[]".to_owned())
}

#[async_trait]
impl CommentReads for SqliteComments {
    async fn discussions(&self, ids: &[DiscussionId]) -> Result<Vec<Arc<Discussion>>, StoreError> {
        const OP: &str = "comments.discussions";
        let mut found = Vec::with_capacity(ids.len());
        let mut missing = HashMap::new();
        for id in ids {
            let epoch = self.epoch(*id);
            match self.cache.discussion(epoch) {
                Some(row) => found.push(row),
                None => {
                    missing.insert(*id, epoch);
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let wanted: Vec<DiscussionId> = missing.keys().copied().collect();
        self.group.count(1);
        let read = sqlx::query(DISCUSSIONS)
            .bind(json(&wanted))
            .fetch_all(self.group.readers())
            .await
            .during(OP)?;
        for row in &read {
            let row = rows::discussion(row)?;
            if let Some(epoch) = missing.get(&row.id) {
                self.cache.keep_discussion(*epoch, &row);
            }
            found.push(row);
        }
        Ok(found)
    }

    async fn discussion_by_key(&self, key: &str) -> Result<Option<Arc<Discussion>>, StoreError> {
        const OP: &str = "comments.discussion_by_key";
        if let Some(id) = self.cache.holder(key) {
            return Ok(self.discussions(&[id]).await?.pop());
        }
        self.group.count(1);
        let id: Option<i64> = sqlx::query_scalar(DISCUSSION_BY_KEY)
            .bind(key)
            .fetch_optional(self.group.readers())
            .await
            .during(OP)?;
        let Some(id) = id.map(DiscussionId::new) else {
            return Ok(None);
        };
        self.cache.keep_holder(key, id);
        Ok(self.discussions(&[id]).await?.pop())
    }

    async fn discussion_ids(
        &self,
        slice: Slice<DiscussionId>,
    ) -> Result<Vec<DiscussionId>, StoreError> {
        listing::discussion_ids(&self.group, slice).await
    }

    async fn comments(
        &self,
        ids: &[(DiscussionId, CommentId)],
    ) -> Result<Vec<Comment>, StoreError> {
        const OP: &str = "comments.comments";
        let pairs: Vec<(i64, i64)> = ids.iter().map(|(d, c)| (d.get(), c.get())).collect();
        self.group.count(1);
        let found = sqlx::query(concat!(
            "SELECT c.discussion_id, ",
            comment_columns!(),
            ", c.parent_id, c.ancestors FROM json_each(?) h CROSS JOIN comments c \
             WHERE c.discussion_id = json_extract(h.value, '$[0]') \
             AND c.comment_id = json_extract(h.value, '$[1]')"
        ))
        .bind(json(&pairs))
        .fetch_all(self.group.readers())
        .await
        .during(OP)?;
        found
            .iter()
            .map(|row| {
                let discussion: i64 = row.try_get(0).during(OP)?;
                rows::comment(row, 1, DiscussionId::new(discussion))
            })
            .collect()
    }

    async fn slices(
        &self,
        discussion: DiscussionId,
        layout: u32,
        wanted: &[(Lane, Slice)],
    ) -> Result<Vec<Rows>, StoreError> {
        let epoch = self.epoch(discussion);
        let mut found: Vec<Option<Rows>> = wanted
            .iter()
            .map(|(lane, slice)| self.cache.slice(epoch, layout, *lane, *slice))
            .collect();
        let mut branches: HashMap<Slice, Vec<usize>> = HashMap::new();
        for (at, (lane, slice)) in wanted.iter().enumerate() {
            if found.get(at).is_some_and(Option::is_some) {
                continue;
            }
            match lane {
                Lane::Linear => {
                    let rows = self.linear(discussion, *slice).await?;
                    self.cache.keep_slice(epoch, layout, (*lane, *slice), &rows);
                    found.splice(at..=at, [Some(rows)]);
                }
                Lane::Roots | Lane::Branch(_) => branches.entry(*slice).or_default().push(at),
            }
        }
        for (slice, places) in branches {
            let lanes: Vec<(usize, Lane)> = places
                .iter()
                .filter_map(|at| wanted.get(*at).map(|(lane, _)| (*at, *lane)))
                .collect();
            let heads: Vec<i64> = lanes
                .iter()
                .map(|(_, lane)| lane_key(layout, *lane).1)
                .collect();
            let read = self.branches(discussion, layout, &heads, slice).await?;
            for (at, lane) in lanes {
                let rows = read
                    .get(&lane_key(layout, lane).1)
                    .cloned()
                    .unwrap_or_default();
                let rows: Rows = rows.into();
                self.cache.keep_slice(epoch, layout, (lane, slice), &rows);
                found.splice(at..=at, [Some(rows)]);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    async fn facts(
        &self,
        discussion: DiscussionId,
        layout: u32,
        wanted: &[(Lane, Slice)],
    ) -> Result<Vec<Vec<CountedRow>>, StoreError> {
        const OP: &str = "comments.facts";
        let mut found = Vec::with_capacity(wanted.len());
        for (lane, slice) in wanted {
            let sql = match (lane, slice.ascending) {
                (Lane::Linear, true) => linear_facts_sql!("ASC"),
                (Lane::Linear, false) => linear_facts_sql!("DESC"),
                (Lane::Roots | Lane::Branch(_), true) => tree_facts_sql!("ASC"),
                (Lane::Roots | Lane::Branch(_), false) => tree_facts_sql!("DESC"),
            };
            self.group.count(1);
            let mut query = sqlx::query(sql)
                .bind(discussion.get())
                .bind(slice.above.map_or(i64::MIN, CommentId::get))
                .bind(slice.below.map_or(i64::MAX, CommentId::get))
                .bind(i64::from(slice.limit));
            if *lane != Lane::Linear {
                let branch = lane_key(layout, *lane).1;
                query = query.bind(i64::from(layout)).bind(branch);
            }
            let rows = query.fetch_all(self.group.readers()).await.during(OP)?;
            found.push(rows.iter().map(rows::counted).collect::<Result<_, _>>()?);
        }
        Ok(found)
    }

    async fn hidden_among(
        &self,
        discussion: DiscussionId,
        ids: &[CommentId],
    ) -> Result<Vec<CommentId>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.group.count(1);
        let hidden: Vec<i64> = sqlx::query_scalar(
            "SELECT c.comment_id FROM json_each(?1) h CROSS JOIN comments c \
             WHERE c.discussion_id = ?2 AND c.comment_id = h.value AND c.state IN (?3, ?4)",
        )
        .bind(json(ids))
        .bind(discussion.get())
        .bind(CommentState::Hidden.code())
        .bind(CommentState::Pending.code())
        .fetch_all(self.group.readers())
        .await
        .during("comments.hidden_among")?;
        Ok(hidden.into_iter().map(CommentId::new).collect())
    }

    async fn runs(
        &self,
        discussion: DiscussionId,
        layout: u32,
        lane: Lane,
    ) -> Result<Vec<Run>, StoreError> {
        let (layout, branch) = lane_key(layout, lane);
        self.group.count(1);
        let found = sqlx::query(
            "SELECT from_id, to_id, total, published, visible, shown FROM branch_counts \
             WHERE discussion_id = ? AND layout = ? AND branch_id = ? ORDER BY from_id",
        )
        .bind(discussion.get())
        .bind(layout)
        .bind(branch)
        .fetch_all(self.group.readers())
        .await
        .during("comments.runs")?;
        found.iter().map(rows::run).collect()
    }

    async fn branch_sums(
        &self,
        discussion: DiscussionId,
        layout: u32,
        heads: &[CommentId],
    ) -> Result<Vec<(CommentId, Tally)>, StoreError> {
        const OP: &str = "comments.branch_sums";
        let epoch = self.epoch(discussion);
        let mut sums = Vec::with_capacity(heads.len());
        let mut missing = Vec::new();
        for head in heads {
            match self.cache.sum(epoch, layout, *head) {
                Some(tally) => sums.push((*head, tally)),
                None => missing.push(*head),
            }
        }
        if !missing.is_empty() {
            self.group.count(1);
            let found = sqlx::query(BRANCH_SUMS)
                .bind(json(&missing))
                .bind(discussion.get())
                .bind(i64::from(layout))
                .fetch_all(self.group.readers())
                .await
                .during(OP)?;
            let mut read = HashMap::with_capacity(found.len());
            for row in &found {
                let head: i64 = row.try_get(0).during(OP)?;
                read.insert(CommentId::new(head), rows::tally(row, 1)?);
            }
            for head in missing {
                // A branch without rows is kept as zero, so it is not asked for again.
                let tally = read.get(&head).copied().unwrap_or_default();
                self.cache.keep_sum(epoch, layout, head, tally);
                sums.push((head, tally));
            }
        }
        sums.retain(|(_, tally)| tally.total > 0);
        Ok(sums)
    }

    async fn by_author(
        &self,
        author: UserId,
        slice: Slice,
    ) -> Result<Vec<(DiscussionId, CommentId)>, StoreError> {
        listing::by_author(&self.group, author, slice).await
    }

    async fn is_claimed(&self, author: UserId, key: &str) -> Result<bool, StoreError> {
        listing::is_claimed(&self.group, author, key).await
    }

    async fn log(
        &self,
        discussion: DiscussionId,
        from: EventId,
        limit: u32,
    ) -> Result<Vec<LogEntry>, StoreError> {
        self.group.count(1);
        let found: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT event_id, kind, comment_id FROM comment_log \
             WHERE discussion_id = ? AND event_id >= ? ORDER BY event_id LIMIT ?",
        )
        .bind(discussion.get())
        .bind(from.get())
        .bind(i64::from(limit))
        .fetch_all(self.group.readers())
        .await
        .during("comments.log")?;
        found
            .into_iter()
            .map(|(event, kind, comment)| {
                Ok(LogEntry {
                    event_id: EventId::new(event),
                    kind: LogKind::from_code(kind)
                        .ok_or_else(|| StoreError::corrupt("comment_log", event, "kind"))?,
                    // Ids are positive; a change of the discussion has none.
                    comment_id: (comment != 0).then(|| CommentId::new(comment)),
                })
            })
            .collect()
    }

    async fn origin_of_discussion(
        &self,
        discussion: DiscussionId,
    ) -> Result<Option<Origin>, StoreError> {
        origins::of_discussion(&self.group, discussion).await
    }

    async fn origins(
        &self,
        discussion: DiscussionId,
        ids: &[CommentId],
    ) -> Result<Vec<(CommentId, Origin)>, StoreError> {
        origins::of_comments(&self.group, discussion, ids).await
    }

    async fn catch_up(&self, _: DiscussionId, _: EventId) -> Result<(), StoreError> {
        // What this process wrote emptied the cache before it was acknowledged; what another one
        // wrote is noticed by asking the file, whichever event the client has seen.
        self.group.look().await
    }
}
