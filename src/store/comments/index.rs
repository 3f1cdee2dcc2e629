//! The index side of the port: what the tree index builder needs.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::comment::CommentState;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::keys::KeyRange;
use crate::store::StoreError;

/// A main row without its text: what builders and checks read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRow {
    /// The row's id.
    pub id: CommentId,
    /// What it says it answers; may be missing, foreign or newer.
    pub parent_id: Option<CommentId>,
    /// What it says lies above it, root first.
    pub ancestors: Vec<CommentId>,
    /// Where it stands.
    pub state: CommentState,
    /// For a buried row: whether it is shown as a tombstone.
    pub live_below: bool,
}

/// A place in the index: the branch and the comment.
pub type IndexPlace = (i64, CommentId);

/// What the builder writes: immutable facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    /// The comment.
    pub id: CommentId,
    /// What it answers, once resolved.
    pub parent_id: Option<CommentId>,
    /// Everything above it, root first.
    pub ancestors: Vec<CommentId>,
}

/// Rows that one call may write: one short transaction.
pub const WRITE_ROWS_MAX: usize = 500;

/// Building, checking, flipping and dropping layouts.
#[async_trait]
pub trait CommentIndex: Send + Sync + Debug {
    /// Cuts the discussions into about `parts` ranges of keys with about as many each (T7).
    async fn split(&self, parts: u32) -> Result<Vec<KeyRange>, StoreError>;

    /// Discussions whose key lies in a range and above `after`, by rising key.
    async fn discussions_in(
        &self,
        range: KeyRange,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Arc<Discussion>)>, StoreError>;

    /// About how many comments there are, for a progress bar. `None`: it would cost too much.
    async fn size(&self) -> Result<Option<u64>, StoreError>;

    /// Says that a build of `layout` begins; `built_from` was minted just before.
    async fn begin_build(
        &self,
        discussion: DiscussionId,
        layout: u32,
        built_from: i64,
    ) -> Result<(), StoreError>;

    /// Main rows above `after`, oldest first.
    async fn scan(
        &self,
        discussion: DiscussionId,
        after: Option<CommentId>,
        limit: u32,
    ) -> Result<Vec<ScanRow>, StoreError>;

    /// Index rows of a layout behind `after`, by branch and id.
    async fn scan_index(
        &self,
        discussion: DiscussionId,
        layout: u32,
        after: Option<IndexPlace>,
        limit: u32,
    ) -> Result<Vec<(i64, IndexRow)>, StoreError>;

    /// Removes index rows, and makes the discussion incomplete until it is built; `marker` is a
    /// freshly minted id.
    async fn remove_index(
        &self,
        discussion: DiscussionId,
        layout: u32,
        places: Vec<IndexPlace>,
        marker: i64,
    ) -> Result<(), StoreError>;

    /// Sets what lies above main rows: for a repair, which recounts afterwards.
    async fn set_ancestors(
        &self,
        discussion: DiscussionId,
        rows: Vec<IndexRow>,
    ) -> Result<(), StoreError>;

    /// Writes index rows, oldest first and at most [`WRITE_ROWS_MAX`]; rows that are there stay as
    /// they are (T4).
    async fn put_index(
        &self,
        discussion: DiscussionId,
        layout: Layout,
        rows: Vec<IndexRow>,
    ) -> Result<(), StoreError>;

    /// Says that the build begun with `built_from` wrote every row. Returns whether the layout is
    /// complete now: it is not when somebody wrote without index meanwhile.
    async fn finish_build(
        &self,
        discussion: DiscussionId,
        layout: u32,
        built_from: i64,
    ) -> Result<bool, StoreError>;

    /// Asks for a build in the background; asking again changes nothing.
    async fn enqueue(&self, discussion: DiscussionId) -> Result<(), StoreError>;

    /// Discussions that wait for a build, longest first; they stay until [`Self::finish_build`].
    async fn queued(&self, limit: u32) -> Result<Vec<DiscussionId>, StoreError>;

    /// Leases queued discussions that nobody else builds for `ttl_ms`, longest waiting first.
    async fn lease_queued(
        &self,
        owner: &str,
        ttl_ms: i64,
        limit: u32,
    ) -> Result<Vec<DiscussionId>, StoreError>;

    /// Prolongs a lease to `ttl_ms` from now. `false`: it was lost, or the discussion is not queued
    /// any more.
    async fn hold_queued(
        &self,
        discussion: DiscussionId,
        owner: &str,
        ttl_ms: i64,
    ) -> Result<bool, StoreError>;

    /// Takes a discussion off the queue without a build.
    async fn dequeue(&self, discussion: DiscussionId) -> Result<(), StoreError>;

    /// Adds an empty second layout that writes fill from now on; its build counts its branches.
    /// `None`: there is no such discussion, or it has a second layout already.
    async fn add_layout(
        &self,
        discussion: DiscussionId,
        depth_limit: u16,
    ) -> Result<Option<Layout>, StoreError>;

    /// Makes reads use the other layout, and keeps the present one for going back (T6). `false`:
    /// there is none, or it is not complete.
    async fn flip_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError>;

    /// Gives up the layout that reads do not use; [`Self::sweep`] removes its rows. `false`: there
    /// is none.
    async fn drop_other_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError>;

    /// Removes up to [`WRITE_ROWS_MAX`] rows of dropped layouts of a discussion. `false`: none is
    /// left.
    async fn sweep(&self, discussion: DiscussionId) -> Result<bool, StoreError>;
}
