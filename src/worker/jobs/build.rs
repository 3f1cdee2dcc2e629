//! Building indexes: of every discussion that lacks one, or a second layout beside the first.

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::discussion::{Discussion, Layout};
use crate::domain::ids::DiscussionId;
use crate::service::Service;
use crate::service::pace::{Pace, PacedError};
use crate::worker::walker::{WalkJob, WalkTally};

/// Which layouts to build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildSettings {
    /// Build a layout with this depth limit beside the one in use; `None`: the layouts there are.
    pub depth_limit: Option<u16>,
    /// Build also what is complete: rows that are there stay as they are.
    pub all: bool,
}

/// Builds the index of each discussion, oldest comment first.
#[derive(Clone, Debug)]
pub struct BuildJob {
    /// The rules.
    pub service: Service,
    /// What to build.
    pub settings: BuildSettings,
}

impl BuildJob {
    /// The layouts of a discussion to build now; `Err`: why there is none.
    async fn due(
        &self,
        discussion: &Discussion,
        again: bool,
    ) -> Result<Result<Vec<Layout>, &str>, PacedError> {
        let all = self.settings.all || again;
        let there = [Some(discussion.layout), discussion.other_layout];
        let there: Vec<Layout> = there.into_iter().flatten().collect();
        let Some(limit) = self.settings.depth_limit else {
            let due = there.into_iter().filter(|layout| all || !layout.complete);
            return Ok(Ok(due.collect()));
        };
        if let Some(same) = there.iter().find(|layout| layout.depth_limit == limit) {
            let is_due = all || !same.complete;
            return Ok(Ok(is_due.then_some(*same).into_iter().collect()));
        }
        if discussion.other_layout.is_some() {
            return Ok(Err("has another second layout"));
        }
        let comments = &self.service.ports().comments;
        let added = comments.add_layout(discussion.id, limit).await?;
        Ok(added
            .map(|layout| vec![layout])
            .ok_or("has another second layout"))
    }

    /// Builds one discussion; `again`: also if it is complete, because nobody counted it.
    pub async fn build(
        &self,
        id: DiscussionId,
        again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        // As it is now, not as it was when its page was read.
        let Some(discussion) = self.service.discussions(&[id]).await?.pop() else {
            return Ok(WalkTally::of_item("gone", 0));
        };
        let layouts = match self.due(&discussion, again).await? {
            Ok(layouts) => layouts,
            Err(outcome) => return Ok(WalkTally::of_item(outcome, 0)),
        };
        if layouts.is_empty() {
            return Ok(WalkTally::of_item("complete before", 0));
        }
        let mut found = WalkTally::default();
        let mut complete = true;
        for layout in layouts {
            let report = self.service.build_paced(id, layout, pace).await?;
            complete &= report.complete;
            found.rows += report.rows;
            found.add("roots without their parent", report.parents_missing);
            found.add("flattened", report.flattened);
            found.branches = report.branches;
        }
        let outcome = if complete {
            "built"
        } else {
            "overtaken by writes"
        };
        found.merge(WalkTally::of_item(outcome, 0));
        Ok(found)
    }
}

#[async_trait]
impl WalkJob for BuildJob {
    type Item = Arc<Discussion>;

    fn name(&self) -> &'static str {
        "index-build"
    }

    fn settings(&self) -> String {
        let all = if self.settings.all {
            "all"
        } else {
            "incomplete"
        };
        match self.settings.depth_limit {
            Some(limit) => format!("{all}, depth {limit}"),
            None => all.to_owned(),
        }
    }

    fn label(&self, item: &Self::Item) -> String {
        format!("discussion {}", item.id)
    }

    async fn work(
        &self,
        item: &Self::Item,
        again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        self.build(item.id, again, pace).await
    }
}
