//! The index side of the port: what the tree index builder needs.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::domain::discussion::Layout;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;

/// What the builder reads of a main row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanRow {
    /// The row's id.
    pub id: CommentId,
    /// What it says it answers; may be missing, foreign or newer.
    pub parent_id: Option<CommentId>,
}

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

/// Building, flipping and dropping layouts.
#[async_trait]
pub trait CommentIndex: Send + Sync + Debug {
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

    /// Writes index rows; rows that are there stay as they are (T4).
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

    /// Adds an empty second layout that writes fill from now on. `None`: there is no such
    /// discussion, or it has a second layout already.
    async fn add_layout(
        &self,
        discussion: DiscussionId,
        depth_limit: u16,
    ) -> Result<Option<Layout>, StoreError>;

    /// Makes reads use the other layout, and keeps the present one for going back (T6). `false`:
    /// there is none, or it is not complete.
    async fn flip_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError>;

    /// Removes the layout that reads do not use. `false`: there is none.
    async fn drop_other_layout(&self, discussion: DiscussionId) -> Result<bool, StoreError>;
}
