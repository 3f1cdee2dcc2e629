//! Building the tree index of one discussion, oldest to newest.
//!
//! Safe while people write and safe to repeat (T4): rows that are there stay, and whether the
//! result is complete is decided by the store from what was written meanwhile.

use std::sync::Arc;

use moka::future::Cache;

use super::pace::{Pace, PacedError, Unpaced};
use super::{Service, ServiceError, ServiceResult};
use crate::domain::branches::BranchHistogram;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::mode::Servable;
use crate::domain::tree::{Oddity, TreeResolver};
use crate::store::comments::{IndexRow, ScanRow};

/// Rows read and written at a time: one short transaction.
const BATCH_ROWS: u32 = 500;
/// How often a build begins anew because a row appeared behind it.
const PASSES_MAX: u32 = 5;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Rows placed.
    pub rows: u64,
    /// Rows whose parent is missing, foreign, newer or in a cycle: now roots.
    pub parents_missing: u64,
    /// Rows below the deepest level: now beside their parent.
    pub flattened: u64,
    /// Whether the layout is complete now.
    pub complete: bool,
    /// How long the branches under its roots are.
    pub branches: BranchHistogram,
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
        match self.build_paced(id, layout, &mut Unpaced).await {
            Ok(report) => Ok(report),
            Err(PacedError::Service(error)) => Err(error),
            // Nobody interrupts an unpaced build, and it writes nowhere else.
            Err(PacedError::Interrupted | PacedError::Output(_)) => Ok(BuildReport::default()),
        }
    }

    /// As [`Service::build`], at a pace: what was written when it is interrupted stays, and the next
    /// build goes over it quickly.
    pub async fn build_paced(
        &self,
        id: DiscussionId,
        layout: Layout,
        pace: &mut dyn Pace,
    ) -> Result<BuildReport, PacedError> {
        for _ in 0..PASSES_MAX {
            if let Some(report) = self.build_pass(id, layout, pace).await? {
                return Ok(report);
            }
        }
        // Rows kept appearing behind the reader; the discussion stays incomplete and is built later.
        Ok(BuildReport::default())
    }

    /// One pass over the rows; `None` when one appeared behind it, so that it has to begin anew.
    async fn build_pass(
        &self,
        id: DiscussionId,
        layout: Layout,
        pace: &mut dyn Pace,
    ) -> Result<Option<BuildReport>, PacedError> {
        let comments = &self.ports.comments;
        let built_from = self.ports.ids.mint()?;
        comments.begin_build(id, layout.number, built_from).await?;
        let mut tree = TreeResolver::new();
        let mut report = BuildReport::default();
        let mut scanned = comments.scan(id, None, BATCH_ROWS).await?;
        while let Some(last) = scanned.last() {
            let asked = self.ports.clock.monotonic();
            let after = last.id;
            // Behind a short batch there is nothing: what comes later indexes itself, or makes this
            // build incomplete.
            let is_last = u32::try_from(scanned.len()).is_ok_and(|rows| rows < BATCH_ROWS);
            let (index, missing) = resolve(&mut tree, &scanned, &mut report);
            if self.any_exists(id, &missing).await? {
                return Ok(None);
            }
            let rows = u64::try_from(index.len()).unwrap_or(0);
            // The next rows are read while these are written.
            let next = async {
                if is_last {
                    return Ok(Vec::new());
                }
                comments.scan(id, Some(after), BATCH_ROWS).await
            };
            let put = comments.put_index(id, layout, index);
            let (put, next) = futures_util::future::join(put, next).await;
            put?;
            scanned = next?;
            report.rows += rows;
            let took = self.ports.clock.monotonic().saturating_sub(asked);
            pace.step(rows, took).await?;
        }
        report.complete = comments.finish_build(id, layout.number, built_from).await?;
        report.branches = tree.branches();
        if report.parents_missing > 0 || report.flattened > 0 {
            tracing::info!(
                discussion = %id,
                parents_missing = report.parents_missing,
                flattened = report.flattened,
                "index built with oddities"
            );
        }
        Ok(Some(report))
    }

    /// Whether one of these comments is there after all: it was minted before others and written
    /// after them, and its replies would become roots.
    async fn any_exists(
        &self,
        id: DiscussionId,
        comments: &[CommentId],
    ) -> Result<bool, PacedError> {
        if comments.is_empty() {
            return Ok(false);
        }
        let ids: Vec<_> = comments.iter().map(|comment| (id, *comment)).collect();
        Ok(!self.ports.comments.comments(&ids).await?.is_empty())
    }
}

/// Where rows belong, oldest first; and the older parents that none of the rows so far is.
fn resolve(
    tree: &mut TreeResolver,
    scanned: &[ScanRow],
    report: &mut BuildReport,
) -> (Vec<IndexRow>, Vec<CommentId>) {
    let mut index = Vec::with_capacity(scanned.len());
    let mut missing = Vec::new();
    for row in scanned {
        let place = tree.place(row.id, row.parent_id);
        match place.oddity {
            Some(Oddity::ParentNotBefore) => {
                report.parents_missing += 1;
                missing.extend(row.parent_id.filter(|parent| *parent < row.id));
            }
            Some(Oddity::TooDeep) => report.flattened += 1,
            None => {}
        }
        index.push(IndexRow {
            id: row.id,
            parent_id: place.parent_id,
            ancestors: place.ancestors,
        });
    }
    (index, missing)
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
