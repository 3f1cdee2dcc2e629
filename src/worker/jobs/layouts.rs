//! Having two layouts: flipping to the other one, back, and dropping the one that is not used.

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::discussion::Discussion;
use crate::service::Service;
use crate::service::pace::{Pace, PacedError};
use crate::worker::walker::{WalkJob, WalkTally};

/// What to do with the second layout of each discussion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutAct {
    /// Let reads use the layout with this depth limit; the other one is kept for going back.
    Flip(u16),
    /// Remove the layout that reads do not use.
    Drop,
}

/// Flips or drops layouts.
#[derive(Clone, Debug)]
pub struct LayoutJob {
    /// The rules.
    pub service: Service,
    /// What to do.
    pub act: LayoutAct,
}

impl LayoutJob {
    async fn flip(&self, discussion: &Discussion, limit: u16) -> Result<WalkTally, PacedError> {
        if discussion.layout.depth_limit == limit {
            return Ok(WalkTally::of_item("used it before", 0));
        }
        let has_it = discussion
            .other_layout
            .is_some_and(|other| other.depth_limit == limit);
        if !has_it {
            return Ok(WalkTally::of_item("without such a layout", 0));
        }
        let comments = &self.service.ports().comments;
        let flipped = comments.flip_layout(discussion.id).await?;
        if flipped {
            return Ok(WalkTally::of_item("flipped", 0));
        }
        let mut found = WalkTally::of_item("not complete yet", 0);
        found.fault(
            &discussion.id,
            "the layout is not complete yet: build it first",
        );
        Ok(found)
    }

    async fn remove(
        &self,
        discussion: &Discussion,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        let comments = &self.service.ports().comments;
        let clock = &self.service.ports().clock;
        let mut dropped = comments.drop_other_layout(discussion.id).await?;
        loop {
            let asked = clock.monotonic();
            // Also what an earlier, interrupted drop has left.
            if !comments.sweep(discussion.id).await? {
                break;
            }
            dropped = true;
            pace.step(0, clock.monotonic().saturating_sub(asked))
                .await?;
        }
        let outcome = if dropped {
            "dropped"
        } else {
            "with one layout"
        };
        Ok(WalkTally::of_item(outcome, 0))
    }
}

#[async_trait]
impl WalkJob for LayoutJob {
    type Item = Arc<Discussion>;

    fn name(&self) -> &'static str {
        match self.act {
            LayoutAct::Flip(_) => "index-flip",
            LayoutAct::Drop => "index-drop",
        }
    }

    fn settings(&self) -> String {
        match self.act {
            LayoutAct::Flip(limit) => format!("depth {limit}"),
            LayoutAct::Drop => String::new(),
        }
    }

    fn label(&self, item: &Self::Item) -> String {
        format!("discussion {}", item.id)
    }

    async fn work(
        &self,
        item: &Self::Item,
        _again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        let Some(now) = self.service.discussions(&[item.id]).await?.pop() else {
            return Ok(WalkTally::of_item("gone", 0));
        };
        match self.act {
            LayoutAct::Flip(limit) => self.flip(&now, limit).await,
            LayoutAct::Drop => self.remove(&now, pace).await,
        }
    }
}
