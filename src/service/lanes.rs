//! Loading pages of ordered lists: read a slice, leave out what nobody may see, go on if too few.
//!
//! A page costs a constant number of store calls, whatever the discussion's size: two slices (and,
//! where something is hidden, a look at ancestors each), and for lists that came up short one look
//! at their runs. After a long stretch of removed rows the next slice starts where the runs say
//! that something is shown; a stretch that is longer still is read to its run's end without texts,
//! so that "there is more" is never said of a run whose shown rows all lie behind.

use std::collections::{HashMap, HashSet};

use super::{Service, ServiceResult};
use crate::domain::comment::Comment;
use crate::domain::counts::{CountedRow, Run};
use crate::domain::discussion::Discussion;
use crate::domain::ids::CommentId;
use crate::domain::page::{Order, PageRequest, Slice};
use crate::domain::visibility::is_listed;
use crate::store::comments::{Lane, Rows};

/// Reads of one list for one page at most; the last of them is without texts.
pub const ROUNDS_MAX: usize = 3;

/// A page of a list to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneQuery {
    /// Which list.
    pub lane: Lane,
    /// In which order it is read.
    pub order: Order,
    /// Which part of it.
    pub page: PageRequest,
    /// Whether the answer needs `has_behind`; it may cost a call.
    pub look_behind: bool,
}

/// A loaded page, in the list's order. Everything in it may be listed for every reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanePage {
    /// The rows.
    pub rows: Vec<Comment>,
    /// Whether something shown comes before the page, in the list's order.
    pub has_previous: bool,
    /// Whether something shown comes after the page, in the list's order.
    pub has_next: bool,
    /// Where a page that came up short stopped looking, at the end it was read towards.
    pub scanned_to: Option<CommentId>,
}

/// A page under way.
#[derive(Debug)]
struct Loading {
    query: LaneQuery,
    slice: Slice,
    wanted: usize,
    shown: Vec<Comment>,
    runs: Option<Vec<Run>>,
    scanned_to: Option<CommentId>,
    /// Where the run ends that is read to its end.
    run_end: Option<CommentId>,
    state: LoadState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadState {
    /// Needs another slice.
    Short,
    /// Has enough.
    Full,
    /// Nothing more is shown in this direction.
    Ended,
}

impl Loading {
    fn new(query: LaneQuery) -> Self {
        let limit = query.page.limit.saturating_add(1);
        Self {
            query,
            slice: query.page.slice(query.order, limit),
            wanted: usize::try_from(query.page.limit).unwrap_or(usize::MAX),
            shown: Vec::new(),
            runs: None,
            scanned_to: None,
            run_end: None,
            state: LoadState::Short,
        }
    }

    /// Takes a slice's rows.
    fn take(&mut self, rows: &Rows, hidden: &HashSet<CommentId>) {
        for row in rows.iter() {
            let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
            if is_listed(row.state, row.live_below, hidden_above) {
                self.shown.push(row.clone());
            }
        }
        self.scanned_to = rows.last().map(|row| row.id).or(self.scanned_to);
        let all_read = rows.len() < usize::try_from(self.slice.limit).unwrap_or(usize::MAX);
        self.state = if self.shown.len() > self.wanted {
            LoadState::Full
        } else if all_read {
            LoadState::Ended
        } else {
            LoadState::Short
        };
    }

    /// Points the next slice at the next run that shows something.
    fn aim(&mut self) {
        let (Some(runs), Some(last)) = (&self.runs, self.scanned_to) else {
            return;
        };
        let ascending = self.slice.ascending;
        let beyond = |run: &&Run| {
            if ascending {
                run.to_id > last
            } else {
                run.from_id < last
            }
        };
        let in_range = |run: &&Run| {
            self.slice.above.is_none_or(|above| run.to_id > above)
                && self.slice.below.is_none_or(|below| run.from_id < below)
        };
        let mut later = runs
            .iter()
            .filter(beyond)
            .filter(in_range)
            .filter(|run| run.tally.shown > 0);
        let next = if ascending {
            later.next()
        } else {
            later.next_back()
        };
        let Some(next) = next else {
            self.state = LoadState::Ended;
            return;
        };
        // Inside a run that is half read, go on from the row; otherwise jump to the run's edge.
        let from = if ascending {
            last.max(CommentId::new(next.from_id.get().saturating_sub(1)))
        } else {
            last.min(CommentId::new(next.to_id.get().saturating_add(1)))
        };
        self.slice = self.slice.beyond(
            from,
            self.query.page.limit.saturating_mul(2).saturating_add(1),
        );
    }

    /// The rest of the run that [`Self::aim`] pointed at, to be read without texts.
    fn rest_of_run(&mut self) -> Option<Slice> {
        let (runs, slice) = (self.runs.as_ref()?, self.slice);
        let next = runs.iter().filter(|run| run.tally.shown > 0);
        let inside = |run: &&Run| {
            if slice.ascending {
                slice.above.is_none_or(|above| run.to_id > above)
            } else {
                slice.below.is_none_or(|below| run.from_id < below)
            }
        };
        let mut next = next.filter(inside);
        let run = if slice.ascending {
            next.next()
        } else {
            next.next_back()
        }?;
        let limit = u32::try_from(run.tally.total).unwrap_or(u32::MAX);
        self.run_end = Some(if slice.ascending {
            run.to_id
        } else {
            run.from_id
        });
        let past = CommentId::new(run.to_id.get().saturating_add(1));
        let before = CommentId::new(run.from_id.get().saturating_sub(1));
        Some(if slice.ascending {
            Slice {
                below: Some(slice.below.map_or(past, |below| below.min(past))),
                limit,
                ..slice
            }
        } else {
            Slice {
                above: Some(slice.above.map_or(before, |above| above.max(before))),
                limit,
                ..slice
            }
        })
    }

    /// The ids among some facts that this page still lacks.
    fn lacking(&self, facts: &[CountedRow], hidden: &HashSet<CommentId>) -> Vec<CommentId> {
        let lacking = (self.wanted + 1).saturating_sub(self.shown.len());
        facts
            .iter()
            .filter(|row| {
                let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
                is_listed(row.state, row.live_below, hidden_above)
            })
            .map(|row| row.id)
            .take(lacking)
            .collect()
    }

    /// Takes the last rows of a page, those of a run that is now read to its end.
    fn take_last(&mut self, rows: impl Iterator<Item = Comment>) {
        let mut rows: Vec<Comment> = rows.collect();
        rows.sort_unstable_by_key(|row| row.id);
        if !self.slice.ascending {
            rows.reverse();
        }
        self.shown.extend(rows);
        self.scanned_to = self.run_end.or(self.scanned_to);
        if self.shown.len() > self.wanted {
            self.state = LoadState::Full;
        }
    }

    /// Whether the runs say that something is shown beyond what was read.
    fn more_beyond(&self) -> bool {
        let (Some(runs), Some(last)) = (&self.runs, self.scanned_to) else {
            return false;
        };
        runs.iter().any(|run| {
            let (above, below) = (self.slice.above, self.slice.below);
            let beyond = if self.slice.ascending {
                run.to_id > last && below.is_none_or(|below| run.from_id < below)
            } else {
                run.from_id < last && above.is_none_or(|above| run.to_id > above)
            };
            beyond && run.tally.shown > 0
        })
    }

    fn finish(mut self) -> (LanePage, LaneQuery) {
        let more = match self.state {
            LoadState::Full => true,
            LoadState::Ended => false,
            LoadState::Short => self.more_beyond(),
        };
        self.shown.truncate(self.wanted);
        let short = more && self.shown.len() < self.wanted;
        let mut page = LanePage {
            rows: self.shown,
            scanned_to: if short { self.scanned_to } else { None },
            ..LanePage::default()
        };
        if self.query.page.from_end {
            page.rows.reverse();
            page.has_previous = more;
        } else {
            page.has_next = more;
            if let Some(keep) = self.query.page.keep_last {
                let keep = usize::try_from(keep).unwrap_or(usize::MAX);
                let cut = page.rows.len().saturating_sub(keep);
                page.rows.drain(..cut);
                page.has_previous = cut > 0;
            }
        }
        (page, self.query)
    }
}

impl Service {
    /// Loads pages of several lists of one discussion together.
    pub async fn load_lanes(
        &self,
        discussion: &Discussion,
        queries: &[LaneQuery],
    ) -> ServiceResult<Vec<LanePage>> {
        let mut loading: Vec<Loading> = queries.iter().copied().map(Loading::new).collect();
        self.read(discussion, &mut loading).await?;
        let mut pages = Vec::with_capacity(loading.len());
        for page in loading {
            let (mut page, query) = page.finish();
            if query.look_behind {
                self.look_behind(discussion, &query, &mut page).await?;
            }
            pages.push(page);
        }
        Ok(pages)
    }

    /// Reads until each page has enough, its list ended, or all rounds are done.
    async fn read(&self, discussion: &Discussion, loading: &mut [Loading]) -> ServiceResult<()> {
        for round in 1..=ROUNDS_MAX {
            let mut short: Vec<&mut Loading> = loading
                .iter_mut()
                .filter(|page| page.state == LoadState::Short)
                .collect();
            if round > 1 {
                self.aim_all(discussion, &mut short).await?;
                short.retain(|page| page.state == LoadState::Short);
            }
            if short.is_empty() {
                break;
            }
            if round < ROUNDS_MAX {
                self.read_round(discussion, short).await?;
            } else {
                self.read_runs(discussion, short).await?;
            }
        }
        Ok(())
    }

    /// Reads the runs that the pages are in to their ends: facts of all rows, texts of the few that
    /// are shown.
    async fn read_runs(
        &self,
        discussion: &Discussion,
        short: Vec<&mut Loading>,
    ) -> ServiceResult<()> {
        let (pages, wanted): (Vec<&mut Loading>, Vec<(Lane, Slice)>) = short
            .into_iter()
            .filter_map(|page| {
                let slice = page.rest_of_run()?;
                let lane = page.query.lane;
                Some((page, (lane, slice)))
            })
            .unzip();
        let (comments, layout) = (&self.ports.comments, discussion.layout.number);
        let facts = comments.facts(discussion.id, layout, &wanted).await?;
        let above = facts.iter().flatten().map(|row| row.ancestors.as_slice());
        let hidden = self.hidden_among(discussion, above).await?;
        let lacking: Vec<Vec<CommentId>> = pages
            .iter()
            .zip(&facts)
            .map(|(page, facts)| page.lacking(facts, &hidden))
            .collect();
        let ids: Vec<_> = lacking
            .iter()
            .flatten()
            .map(|id| (discussion.id, *id))
            .collect();
        let rows = if ids.is_empty() {
            Vec::new()
        } else {
            comments.comments(&ids).await?
        };
        // Something may have been taken away since the facts were read.
        let hidden = self.hidden_above(discussion, rows.iter()).await?;
        let mut rows: HashMap<CommentId, Comment> = rows
            .into_iter()
            .filter(|row| {
                let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
                is_listed(row.state, row.live_below, hidden_above)
            })
            .map(|row| (row.id, row))
            .collect();
        for (page, lacking) in pages.into_iter().zip(lacking) {
            page.take_last(lacking.iter().filter_map(|id| rows.remove(id)));
        }
        Ok(())
    }

    async fn aim_all(
        &self,
        discussion: &Discussion,
        short: &mut [&mut Loading],
    ) -> ServiceResult<()> {
        for page in short {
            if page.runs.is_none() {
                let lane = page.query.lane;
                let runs = self
                    .ports
                    .comments
                    .runs(discussion.id, discussion.layout.number, lane)
                    .await?;
                page.runs = Some(runs);
            }
            page.aim();
        }
        Ok(())
    }

    async fn read_round(
        &self,
        discussion: &Discussion,
        short: Vec<&mut Loading>,
    ) -> ServiceResult<()> {
        let wanted: Vec<(Lane, Slice)> = short
            .iter()
            .map(|page| (page.query.lane, page.slice))
            .collect();
        let layout = discussion.layout.number;
        let slices = self
            .ports
            .comments
            .slices(discussion.id, layout, &wanted)
            .await?;
        let hidden = self
            .hidden_above(discussion, slices.iter().flat_map(|rows| rows.iter()))
            .await?;
        for (page, rows) in short.into_iter().zip(&slices) {
            page.take(rows, &hidden);
        }
        Ok(())
    }

    /// The hidden ones among the ancestors of some rows; costs a call only where something was
    /// ever hidden.
    pub(super) async fn hidden_above(
        &self,
        discussion: &Discussion,
        rows: impl Iterator<Item = &Comment> + Send,
    ) -> ServiceResult<HashSet<CommentId>> {
        self.hidden_among(discussion, rows.map(|row| row.ancestors.as_slice()))
            .await
    }

    async fn hidden_among(
        &self,
        discussion: &Discussion,
        above: impl Iterator<Item = &[CommentId]> + Send,
    ) -> ServiceResult<HashSet<CommentId>> {
        if !discussion.has_hidden {
            return Ok(HashSet::new());
        }
        let above: HashSet<CommentId> = above.flatten().copied().collect();
        let above: Vec<CommentId> = above.into_iter().collect();
        Ok(self
            .ports
            .comments
            .hidden_among(discussion.id, &above)
            .await?
            .into_iter()
            .collect())
    }

    /// Whether something shown lies on the side the page was not read towards.
    async fn look_behind(
        &self,
        discussion: &Discussion,
        query: &LaneQuery,
        page: &mut LanePage,
    ) -> ServiceResult<()> {
        let bound = if query.page.from_end {
            query.page.before
        } else {
            query.page.after
        };
        let already = page.has_previous && !query.page.from_end;
        let Some(bound) = bound.filter(|_| !already) else {
            return Ok(());
        };
        // The bound itself counts: it was on the page before.
        let reading = query.page.slice(query.order, 1);
        let edge = bound
            .get()
            .saturating_add(if reading.ascending { 1 } else { -1 });
        let edge = Some(CommentId::new(edge));
        let back = PageRequest {
            limit: 0,
            from_end: !query.page.from_end,
            keep_last: None,
            after: if query.page.from_end { edge } else { None },
            before: if query.page.from_end { None } else { edge },
        };
        let probe = LaneQuery {
            page: back,
            look_behind: false,
            ..*query
        };
        let mut probing = [Loading::new(probe)];
        self.read(discussion, &mut probing).await?;
        let [probing] = probing;
        let (probed, _) = probing.finish();
        if query.page.from_end {
            page.has_next = probed.has_next;
        } else {
            page.has_previous = probed.has_previous;
        }
        Ok(())
    }
}
