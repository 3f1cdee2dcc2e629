//! Reading stored rows: columns in a fixed order, and a named error for each that does not parse.

use std::sync::Arc;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::domain::body::BodyFormat;
use crate::domain::comment::{Comment, CommentState};
use crate::domain::counts::{CountedRow, DiscussionCounts, Run, Tally};
use crate::domain::discussion::{Discussion, DiscussionState, Layout, index_complete};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::store::StoreError;
use crate::store::comments::Lane;
use crate::store::driver::sqlite::DuringOp as _;

/// SQLite orders builds against writes by transaction, so no margin is needed.
const MARGIN_MS: i64 = 0;

/// The columns of a comment, in the order [`comment`] reads them.
macro_rules! comment_columns {
    () => {
        "c.comment_id, c.author_id, c.body, c.format, c.edited_at, c.revision, c.state, c.live_below"
    };
}
pub(super) use comment_columns;

/// The columns of a discussion, in the order [`discussion`] reads them.
macro_rules! discussion_columns {
    () => {
        "discussion_id, title, url, entity_type, entity_id, state, premoderated, has_hidden, \
         layout, depth_limit, built_from, other_layout, other_depth_limit, other_built_from, \
         unindexed_id, all_total, all_published, all_visible, all_shown, \
         roots_total, roots_published, roots_visible, roots_shown, other_counted_to, pinned"
    };
}
pub(super) use discussion_columns;

/// Where a list's runs are kept: layout and branch.
pub(super) fn lane_key(layout: u32, lane: Lane) -> (i64, i64) {
    match lane {
        Lane::Linear => (0, -1),
        Lane::Roots => (0, 0),
        Lane::Branch(head) => (i64::from(layout), head.get()),
    }
}

pub(super) fn pack(ancestors: &[CommentId]) -> Vec<u8> {
    ancestors
        .iter()
        .flat_map(|id| id.get().to_be_bytes())
        .collect()
}

pub(super) fn unpack(packed: &[u8], key: i64) -> Result<Vec<CommentId>, StoreError> {
    let (ids, rest) = packed.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(StoreError::corrupt("comments", key, "ancestors"));
    }
    Ok(ids
        .iter()
        .map(|id| CommentId::new(i64::from_be_bytes(*id)))
        .collect())
}

fn small(row: &SqliteRow, at: usize, column: &'static str, key: i64) -> Result<u32, StoreError> {
    let value: i64 = row.try_get(at).during(column)?;
    u32::try_from(value)
        .ok()
        .ok_or_else(|| StoreError::corrupt("comments", key, column))
}

/// Reads a row of [`comment_columns`] followed by `parent_id, ancestors`, starting at `first`.
pub(super) fn comment(
    row: &SqliteRow,
    first: usize,
    discussion_id: DiscussionId,
) -> Result<Comment, StoreError> {
    const OP: &str = "comments.row";
    let id: i64 = row.try_get(first).during(OP)?;
    let corrupt = |column| StoreError::corrupt("comments", id, column);
    let format: i64 = row.try_get(first + 3).during(OP)?;
    let state: i64 = row.try_get(first + 6).during(OP)?;
    let parent: Option<i64> = row.try_get(first + 8).during(OP)?;
    let ancestors: &[u8] = row.try_get(first + 9).during(OP)?;
    Ok(Comment {
        id: CommentId::new(id),
        discussion_id,
        author_id: UserId::new(row.try_get(first + 1).during(OP)?),
        body: row.try_get(first + 2).during(OP)?,
        format: BodyFormat::from_code(format).ok_or_else(|| corrupt("format"))?,
        parent_id: parent.map(CommentId::new),
        ancestors: unpack(ancestors, id)?,
        edited_at_ms: row.try_get(first + 4).during(OP)?,
        revision: small(row, first + 5, "revision", id)?,
        state: CommentState::from_code(state).ok_or_else(|| corrupt("state"))?,
        live_below: row.try_get::<i64, _>(first + 7).during(OP)? != 0,
    })
}

/// Reads `comment_id, ancestors, state, live_below`.
pub(super) fn counted(row: &SqliteRow) -> Result<CountedRow, StoreError> {
    const OP: &str = "comments.row";
    let id: i64 = row.try_get(0).during(OP)?;
    let state: i64 = row.try_get(2).during(OP)?;
    Ok(CountedRow {
        id: CommentId::new(id),
        ancestors: unpack(row.try_get(1).during(OP)?, id)?,
        state: CommentState::from_code(state)
            .ok_or_else(|| StoreError::corrupt("comments", id, "state"))?,
        live_below: row.try_get::<i64, _>(3).during(OP)? != 0,
    })
}

/// Reads four sums starting at `first`.
pub(super) fn tally(row: &SqliteRow, first: usize) -> Result<Tally, StoreError> {
    const OP: &str = "comments.counts";
    Ok(Tally {
        total: row.try_get(first).during(OP)?,
        published: row.try_get(first + 1).during(OP)?,
        visible: row.try_get(first + 2).during(OP)?,
        shown: row.try_get(first + 3).during(OP)?,
    })
}

/// Reads `from_id, to_id` and four sums.
pub(super) fn run(row: &SqliteRow) -> Result<Run, StoreError> {
    const OP: &str = "comments.runs";
    Ok(Run {
        from_id: CommentId::new(row.try_get(0).during(OP)?),
        to_id: CommentId::new(row.try_get(1).during(OP)?),
        tally: tally(row, 2)?,
    })
}

/// Reads a row of [`discussion_columns`].
pub(super) fn discussion(row: &SqliteRow) -> Result<Arc<Discussion>, StoreError> {
    const OP: &str = "comments.discussion";
    let id: i64 = row.try_get(0).during(OP)?;
    let corrupt = |column| StoreError::corrupt("discussions", id, column);
    let state: i64 = row.try_get(5).during(OP)?;
    let unindexed_id: i64 = row.try_get(14).during(OP)?;
    let layout = |first: usize| -> Result<Option<Layout>, StoreError> {
        let number: i64 = row.try_get(first).during(OP)?;
        let depth_limit: i64 = row.try_get(first + 1).during(OP)?;
        let built_from: i64 = row.try_get(first + 2).during(OP)?;
        if number == 0 {
            return Ok(None);
        }
        let number = u32::try_from(number)
            .ok()
            .ok_or_else(|| corrupt("layout"))?;
        Ok(Some(Layout {
            number,
            depth_limit: u16::try_from(depth_limit)
                .ok()
                .ok_or_else(|| corrupt("depth_limit"))?,
            complete: index_complete(number, built_from, unindexed_id, MARGIN_MS),
        }))
    };
    let entity_type: Option<String> = row.try_get(3).during(OP)?;
    let entity_id: Option<String> = row.try_get(4).during(OP)?;
    Ok(Arc::new(Discussion {
        id: DiscussionId::new(id),
        title: row.try_get(1).during(OP)?,
        url: row.try_get(2).during(OP)?,
        entity: entity_type.zip(entity_id),
        state: DiscussionState::from_code(state).ok_or_else(|| corrupt("state"))?,
        premoderated: row.try_get::<i64, _>(6).during(OP)? != 0,
        has_hidden: row.try_get::<i64, _>(7).during(OP)? != 0,
        layout: layout(8)?.ok_or_else(|| corrupt("layout"))?,
        other_layout: layout(11)?,
        other_counted_to: CommentId::new(row.try_get(23).during(OP)?),
        pinned: unpack(row.try_get(24).during(OP)?, id)?.into(),
        counts: DiscussionCounts {
            all: tally(row, 15)?,
            roots: tally(row, 19)?,
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_come_back_and_a_cut_one_is_named() {
        let ids = [CommentId::new(1), CommentId::new(i64::MAX)];
        let packed = pack(&ids);
        assert_eq!(unpack(&packed, 9).unwrap(), ids);
        let error = unpack(&packed[..15], 9).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("row 9 of comments has an unreadable ancestors")
        );
    }
}
