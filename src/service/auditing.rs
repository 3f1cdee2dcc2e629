//! Checking one discussion against its promises (T1 to T3, C8), and mending it.
//!
//! The main rows are the truth. They are read once, oldest first, which gives each its place in the
//! tree (12 bytes a row); then the rows of each complete layout are read once and held against that.
//! People may write meanwhile: what they write is never reported.

use std::fmt;

use super::Service;
use super::pace::{Pace, PacedError};
use crate::domain::branches::BranchHistogram;
use crate::domain::comment::branch_of;
use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::tree::{Oddity as ParentOddity, TreeResolver};
use crate::store::comments::{IndexPlace, IndexRow, WRITE_ROWS_MAX, WrongCount};

/// Rows read at a time.
const BATCH_ROWS: u32 = 500;
/// Oddities of one discussion that are kept; beyond, they are counted.
const ODDITIES_MAX: usize = 1_000;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexFault {
    /// The index lacks the comment (T1).
    Missing,
    /// The index has it a second time (T1).
    Twice,
    /// The index has a row for a comment that is not there (T1).
    Stray,
    /// The index has it under another branch, parent or ancestors than its parents say (T1).
    Misplaced,
    /// The comment's own row names other ancestors than its parents say (T2).
    Ancestors,
}

impl IndexFault {
    /// For reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Missing => "missing from the index",
            Self::Twice => "in the index twice",
            Self::Stray => "in the index without a comment",
            Self::Misplaced => "misplaced in the index",
            Self::Ancestors => "wrong ancestors in its own row",
        }
    }
}

/// One wrong row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFault {
    /// Which comment.
    pub comment: CommentId,
    /// In which layout; 0: in the main table.
    pub layout: u32,
    /// Under which branch the index has it, if it has.
    pub branch: Option<i64>,
    /// What is wrong.
    pub fault: IndexFault,
}

impl fmt::Display for FoundFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "comment {}: {}", self.comment, self.fault.words())?;
        if self.layout > 0 {
            write!(f, " (layout {})", self.layout)?;
        }
        Ok(())
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Main rows read.
    pub rows: u64,
    /// Rows whose parent is missing, foreign, newer or in a cycle: they are roots (T3).
    pub parents_missing: u64,
    /// Wrong rows, the first of them.
    pub faults: Vec<FoundFault>,
    /// Wrong rows that found no place in the list.
    pub faults_left_out: u64,
    /// Stored counts that the rows contradict (C8).
    pub wrong_counts: Vec<WrongCount>,
    /// Layouts that were checked.
    pub layouts: u32,
    /// How long the branches are.
    pub branches: BranchHistogram,
    /// Whether writes without index rows came in between, so that the index is not judged.
    pub overtaken: bool,
}

impl Audit {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.wrong_counts.is_empty()
    }

    /// Wrong rows and counts.
    #[must_use]
    pub fn found(&self) -> u64 {
        let listed = self.faults.len() + self.wrong_counts.len();
        u64::try_from(listed).unwrap_or(u64::MAX) + self.faults_left_out
    }

    fn fault(&mut self, fault: FoundFault) {
        if self.faults.len() < ODDITIES_MAX {
            self.faults.push(fault);
        } else {
            self.faults_left_out += 1;
        }
    }
}

impl Service {
    /// Checks a discussion without a change.
    pub async fn audit(
        &self,
        discussion: &Discussion,
        pace: &mut dyn Pace,
    ) -> Result<Audit, PacedError> {
        let mut audit = Audit::default();
        let tree = self.audit_rows(discussion.id, &mut audit, pace).await?;
        for layout in complete_layouts(discussion) {
            audit.layouts += 1;
            self.audit_layout(discussion.id, layout, &tree, &mut audit, pace)
                .await?;
        }
        self.forgive_late_rows(discussion.id, &mut audit).await?;
        if !audit.faults.is_empty() && self.was_overtaken(discussion).await? {
            audit.overtaken = true;
            audit.faults.clear();
            audit.faults_left_out = 0;
        }
        audit.branches = tree.branches();
        drop(tree);
        let counts = self.ports.comments.check_counts(discussion.id).await?;
        audit.wrong_counts = counts.wrong;
        Ok(audit)
    }

    /// Audits, mends what is wrong, and audits again: what the second one finds could not be mended.
    /// Readers get one line of comments while rows of the index are replaced.
    pub async fn repair(
        &self,
        discussion: &Discussion,
        pace: &mut dyn Pace,
    ) -> Result<(Audit, Audit), PacedError> {
        let before = self.audit(discussion, pace).await?;
        if before.is_clean() {
            return Ok((before.clone(), before));
        }
        self.mend(discussion, &before, pace).await?;
        let after = match self.discussions(&[discussion.id]).await?.pop() {
            Some(now) => self.audit(&now, pace).await?,
            None => Audit::default(),
        };
        Ok((before, after))
    }

    async fn mend(
        &self,
        discussion: &Discussion,
        audit: &Audit,
        pace: &mut dyn Pace,
    ) -> Result<(), PacedError> {
        let faults = &audit.faults;
        if faults.iter().any(|one| one.fault == IndexFault::Ancestors) {
            self.mend_ancestors(discussion.id, pace).await?;
        }
        if faults.iter().any(|one| one.layout > 0) {
            for layout in complete_layouts(discussion) {
                self.remove_wrong(discussion.id, layout, audit, pace)
                    .await?;
            }
            for layout in complete_layouts(discussion) {
                self.build_paced(discussion.id, layout, pace).await?;
            }
        }
        self.ports.comments.recount(discussion.id).await?;
        Ok(())
    }

    /// Takes wrong rows out of a layout, or all of them when there are too many to list. The
    /// discussion is incomplete from the first of them on, until a build puts them back.
    async fn remove_wrong(
        &self,
        id: DiscussionId,
        layout: Layout,
        audit: &Audit,
        pace: &mut dyn Pace,
    ) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        let marker = self.ports.ids.mint()?;
        let of_layout = audit
            .faults
            .iter()
            .filter(|one| one.layout == layout.number);
        let places = of_layout.filter_map(|one| Some((one.branch?, one.comment)));
        let places: Vec<IndexPlace> = places.collect();
        // Also without a row to remove: a row that is missing makes the layout incomplete as well.
        let first = places.chunks(WRITE_ROWS_MAX).next().unwrap_or_default();
        comments
            .remove_index(id, layout.number, first.to_vec(), marker)
            .await?;
        for places in places.chunks(WRITE_ROWS_MAX).skip(1) {
            comments
                .remove_index(id, layout.number, places.to_vec(), marker)
                .await?;
        }
        if audit.faults_left_out > 0 {
            self.remove_all(id, layout, marker, pace).await?;
        }
        Ok(())
    }

    async fn remove_all(
        &self,
        id: DiscussionId,
        layout: Layout,
        marker: i64,
        pace: &mut dyn Pace,
    ) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        loop {
            let asked = self.ports.clock.monotonic();
            let read = comments
                .scan_index(id, layout.number, None, BATCH_ROWS)
                .await?;
            if read.is_empty() {
                return Ok(());
            }
            let rows = u64::try_from(read.len()).unwrap_or(0);
            let places = read.into_iter().map(|(branch, row)| (branch, row.id));
            comments
                .remove_index(id, layout.number, places.collect(), marker)
                .await?;
            let took = self.ports.clock.monotonic().saturating_sub(asked);
            pace.step(rows, took).await?;
        }
    }

    /// Gives main rows the ancestors that their parents say.
    async fn mend_ancestors(
        &self,
        id: DiscussionId,
        pace: &mut dyn Pace,
    ) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        let mut tree = TreeResolver::new();
        let mut after = None;
        loop {
            let asked = self.ports.clock.monotonic();
            let scanned = comments.scan(id, after, BATCH_ROWS).await?;
            let Some(last) = scanned.last() else {
                return Ok(());
            };
            after = Some(last.id);
            let rows = u64::try_from(scanned.len()).unwrap_or(0);
            let mut right = Vec::new();
            for row in scanned {
                let found = tree.place(row.id, row.parent_id);
                if found.ancestors != row.ancestors {
                    right.push(IndexRow {
                        id: row.id,
                        parent_id: found.parent_id,
                        ancestors: found.ancestors,
                    });
                }
            }
            if !right.is_empty() {
                comments.set_ancestors(id, right).await?;
            }
            let took = self.ports.clock.monotonic().saturating_sub(asked);
            pace.step(rows, took).await?;
        }
    }

    async fn audit_rows(
        &self,
        id: DiscussionId,
        audit: &mut Audit,
        pace: &mut dyn Pace,
    ) -> Result<TreeResolver, PacedError> {
        let mut tree = TreeResolver::new();
        let mut after = None;
        loop {
            let asked = self.ports.clock.monotonic();
            let scanned = self.ports.comments.scan(id, after, BATCH_ROWS).await?;
            let took = self.ports.clock.monotonic().saturating_sub(asked);
            let Some(last) = scanned.last() else {
                return Ok(tree);
            };
            after = Some(last.id);
            let rows = u64::try_from(scanned.len()).unwrap_or(0);
            for row in scanned {
                let found = tree.place(row.id, row.parent_id);
                if found.oddity == Some(ParentOddity::ParentNotBefore) {
                    audit.parents_missing += 1;
                }
                if found.ancestors != row.ancestors {
                    audit.fault(FoundFault {
                        comment: row.id,
                        layout: 0,
                        branch: None,
                        fault: IndexFault::Ancestors,
                    });
                }
            }
            audit.rows += rows;
            pace.step(rows, took).await?;
        }
    }

    async fn audit_layout(
        &self,
        id: DiscussionId,
        layout: Layout,
        tree: &TreeResolver,
        audit: &mut Audit,
        pace: &mut dyn Pace,
    ) -> Result<(), PacedError> {
        let comments = &self.ports.comments;
        let mut seen = vec![false; tree.len()];
        let mut after: Option<IndexPlace> = None;
        loop {
            let asked = self.ports.clock.monotonic();
            let read = comments
                .scan_index(id, layout.number, after, BATCH_ROWS)
                .await?;
            let took = self.ports.clock.monotonic().saturating_sub(asked);
            let Some((branch, last)) = read.last() else {
                break;
            };
            after = Some((*branch, last.id));
            let rows = u64::try_from(read.len()).unwrap_or(0);
            for (branch, row) in read {
                if let Some(fault) = judge(branch, &row, layout, tree, &mut seen) {
                    audit.fault(FoundFault {
                        comment: row.id,
                        layout: layout.number,
                        branch: Some(branch),
                        fault,
                    });
                }
            }
            pace.step(rows, took).await?;
        }
        let lacking = tree.ids().iter().zip(&seen).filter(|(_, seen)| !**seen);
        for (comment, _) in lacking {
            audit.fault(FoundFault {
                comment: *comment,
                layout: layout.number,
                branch: None,
                fault: IndexFault::Missing,
            });
        }
        Ok(())
    }

    /// A row written after the main rows were read looks stray; it is looked up once more.
    async fn forgive_late_rows(
        &self,
        id: DiscussionId,
        audit: &mut Audit,
    ) -> Result<(), PacedError> {
        let strays: Vec<_> = audit
            .faults
            .iter()
            .filter(|one| one.fault == IndexFault::Stray)
            .map(|one| (id, one.comment))
            .collect();
        if strays.is_empty() {
            return Ok(());
        }
        let there = self.ports.comments.comments(&strays).await?;
        audit.faults.retain(|one| {
            one.fault != IndexFault::Stray || !there.iter().any(|row| row.id == one.comment)
        });
        Ok(())
    }

    /// Whether a layout is gone, or complete no more, since the discussion was read.
    async fn was_overtaken(&self, before: &Discussion) -> Result<bool, PacedError> {
        let now = self.ports.comments.discussions(&[before.id]).await?;
        let Some(now) = now.first() else {
            return Ok(true);
        };
        Ok(complete_layouts(before).any(|layout| !complete_layouts(now).any(|one| one == layout)))
    }
}

/// What is wrong with an index row, if anything; marks its comment as seen.
fn judge(
    branch: i64,
    row: &IndexRow,
    layout: Layout,
    tree: &TreeResolver,
    seen: &mut [bool],
) -> Option<IndexFault> {
    let Some(at) = tree.position(row.id) else {
        return Some(IndexFault::Stray);
    };
    let ancestors = tree.ancestors(at);
    let is_right = branch == branch_of(&ancestors, layout.depth_limit)
        && row.parent_id == ancestors.last().copied()
        && row.ancestors == ancestors;
    let seen = seen.get_mut(at)?;
    if !is_right {
        // A second row elsewhere is one too many; the only one is misplaced. Both are removed.
        return Some(if *seen {
            IndexFault::Twice
        } else {
            IndexFault::Misplaced
        });
    }
    if std::mem::replace(seen, true) {
        return Some(IndexFault::Twice);
    }
    None
}

fn complete_layouts(discussion: &Discussion) -> impl Iterator<Item = Layout> + '_ {
    [Some(discussion.layout), discussion.other_layout]
        .into_iter()
        .flatten()
        .filter(|layout| layout.complete)
}
