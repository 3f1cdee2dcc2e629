//! Building the tree index of one discussion, oldest to newest.
//!
//! Safe while people write and safe to repeat (T4): rows that are there stay, and whether the
//! result is complete is decided by the store from what was written meanwhile.

use std::sync::Arc;

use moka::future::Cache;

use super::{Service, ServiceError, ServiceResult};
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::mode::Servable;
use crate::domain::tree::{Oddity, TreeResolver};
use crate::store::comments::IndexRow;

/// Rows read and written at a time: one short transaction.
const BATCH_ROWS: u32 = 500;

/// Builds under way in this process, so that equal ones are one.
#[derive(Clone, Debug)]
pub struct Builds(Cache<DiscussionId, BuildReport>);

impl Default for Builds {
    fn default() -> Self {
        // Results are kept for a moment only; the coalescing is what matters.
        Self(
            Cache::builder()
                .max_capacity(10_000)
                .time_to_live(std::time::Duration::from_millis(50))
                .build(),
        )
    }
}

/// What a build did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Rows placed.
    pub rows: u64,
    /// Rows whose parent is missing, foreign, newer or in a cycle: now roots.
    pub parents_missing: u64,
    /// Rows below the deepest level: now beside their parent.
    pub flattened: u64,
    /// Whether the layout is complete now.
    pub complete: bool,
}

impl Service {
    /// Whether threads of a discussion can be served now.
    #[must_use]
    pub fn servable(&self, discussion: &Discussion) -> Servable {
        if discussion.layout.complete {
            Servable::Yes
        } else if discussion.counts.all.total <= self.settings.index_on_read_max {
            Servable::AfterBuild
        } else {
            Servable::No
        }
    }

    /// Builds the layout that reads use; equal calls under way are one build.
    pub async fn build_for_read(&self, discussion: &Discussion) -> ServiceResult<BuildReport> {
        let built = self.build(discussion.id, discussion.layout);
        self.builds
            .0
            .try_get_with(discussion.id, built)
            .await
            .map_err(|error: Arc<ServiceError>| match Arc::try_unwrap(error) {
                Ok(error) => error,
                // Several readers waited for one build that failed: each gets the same kind.
                Err(shared) => shared_failure(&shared),
            })
    }

    /// Builds one layout of a discussion from its rows.
    pub async fn build(&self, id: DiscussionId, layout: Layout) -> ServiceResult<BuildReport> {
        let comments = &self.ports.comments;
        let built_from = self.ports.ids.mint()?;
        comments.begin_build(id, layout.number, built_from).await?;
        let mut tree = TreeResolver::new();
        let mut report = BuildReport::default();
        let mut after: Option<CommentId> = None;
        loop {
            let scanned = comments.scan(id, after, BATCH_ROWS).await?;
            let Some(last) = scanned.last() else {
                break;
            };
            after = Some(last.id);
            let mut index = Vec::with_capacity(scanned.len());
            for row in &scanned {
                let place = tree.place(row.id, row.parent_id);
                match place.oddity {
                    Some(Oddity::ParentNotBefore) => report.parents_missing += 1,
                    Some(Oddity::TooDeep) => report.flattened += 1,
                    None => {}
                }
                report.rows += 1;
                index.push(IndexRow {
                    id: row.id,
                    parent_id: place.parent_id,
                    ancestors: place.ancestors,
                });
            }
            comments.put_index(id, layout, index).await?;
        }
        report.complete = comments.finish_build(id, layout.number, built_from).await?;
        if report.parents_missing > 0 || report.flattened > 0 {
            tracing::info!(discussion = %id, ?report, "index built with oddities");
        }
        Ok(report)
    }
}

fn shared_failure(error: &ServiceError) -> ServiceError {
    match error {
        ServiceError::Mint(error) => ServiceError::Mint(*error),
        ServiceError::Store(error) => ServiceError::Store(crate::store::StoreError {
            op: error.op,
            kind: error.kind.clone(),
            source: None,
        }),
        ServiceError::BadInput { field, message } => ServiceError::BadInput {
            field,
            message: message.clone(),
        },
        ServiceError::Unauthenticated => ServiceError::Unauthenticated,
        ServiceError::Forbidden { needed } => ServiceError::Forbidden { needed },
        ServiceError::TooComplex { limit } => ServiceError::TooComplex { limit: *limit },
    }
}
