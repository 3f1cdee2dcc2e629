//! A model of one discussion: a map of rows, a log, and which layouts are complete.
//!
//! Says what every operation must answer and what every row must be afterwards, from the contract
//! alone. What is derived from rows (counts, runs, tombstones) is worked out in `audit`.

use std::collections::{BTreeMap, HashMap};

use threadline::domain::comment::{CommentState, StateAct};
use threadline::domain::ids::imported::{first_place, next_place};
use threadline::domain::ids::{CommentId, EventId, UserId};
use threadline::store::comments::{
    ChangeOutcome, CreateOutcome, EditComment, ImportComment, ImportOutcome, LogKind, NewComment,
    StateChange,
};

/// The shape of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Created,
    Replayed,
    KeyReused,
    DiscussionMissing,
    DiscussionClosed,
    DiscussionFull,
    ParentMissing,
    ParentGone,
    TooDeep,
    Changed,
    NoChange,
    Stale,
    Gone,
    NotAuthor,
    NotFound,
}

impl From<&CreateOutcome> for Kind {
    fn from(outcome: &CreateOutcome) -> Self {
        match outcome {
            CreateOutcome::Created(_) => Self::Created,
            CreateOutcome::Replayed(_) => Self::Replayed,
            CreateOutcome::KeyReused => Self::KeyReused,
            CreateOutcome::DiscussionMissing => Self::DiscussionMissing,
            CreateOutcome::DiscussionClosed => Self::DiscussionClosed,
            CreateOutcome::DiscussionFull => Self::DiscussionFull,
            CreateOutcome::ParentMissing => Self::ParentMissing,
            CreateOutcome::ParentGone => Self::ParentGone,
            CreateOutcome::TooDeep => Self::TooDeep,
        }
    }
}

impl From<&ChangeOutcome> for Kind {
    fn from(outcome: &ChangeOutcome) -> Self {
        match outcome {
            ChangeOutcome::Changed(_) => Self::Changed,
            ChangeOutcome::NoChange(_) => Self::NoChange,
            ChangeOutcome::Stale(_) => Self::Stale,
            ChangeOutcome::Gone(_) => Self::Gone,
            ChangeOutcome::NotAuthor => Self::NotAuthor,
            ChangeOutcome::NotFound => Self::NotFound,
        }
    }
}

/// A row as it must be.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) author_id: UserId,
    pub(crate) body: String,
    pub(crate) parent_id: Option<CommentId>,
    pub(crate) ancestors: Vec<CommentId>,
    pub(crate) state: CommentState,
    /// Changes since it was written.
    pub(crate) changes: u32,
    pub(crate) edited: bool,
    /// Earlier texts, oldest first.
    pub(crate) texts: Vec<String>,
}

/// A layout as it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelLayout {
    pub(crate) number: u32,
    pub(crate) depth_limit: u16,
    pub(crate) complete: bool,
}

/// One discussion.
#[derive(Debug)]
pub(crate) struct Oracle {
    pub(crate) rows: BTreeMap<CommentId, Row>,
    pub(crate) log: BTreeMap<EventId, (LogKind, CommentId)>,
    pub(crate) layout: ModelLayout,
    pub(crate) other: Option<ModelLayout>,
    last_layout: u32,
    sources: HashMap<String, CommentId>,
    /// The revision a row is written with.
    pub(crate) first_revision: u32,
}

impl Oracle {
    /// A discussion just opened.
    pub(crate) fn new(depth_limit: u16) -> Self {
        Self {
            rows: BTreeMap::new(),
            log: BTreeMap::new(),
            layout: ModelLayout {
                number: 1,
                depth_limit,
                complete: true,
            },
            other: None,
            last_layout: 1,
            sources: HashMap::new(),
            first_revision: 0,
        }
    }

    /// The revision a row must have now.
    pub(crate) fn revision(&self, id: CommentId) -> u32 {
        self.first_revision + self.rows[&id].changes
    }

    /// A row by number, whichever number is given; `None` when there are none.
    pub(crate) fn pick(&self, number: u16) -> Option<CommentId> {
        let count = self.rows.len();
        let place = usize::from(number).checked_rem(count)?;
        self.rows.keys().nth(place).copied()
    }

    fn ancestors_below(&self, parent: Option<CommentId>) -> Vec<CommentId> {
        let Some(parent) = parent else {
            return Vec::new();
        };
        let mut ancestors = self.rows[&parent].ancestors.clone();
        ancestors.push(parent);
        ancestors
    }

    fn unindexed(&mut self) {
        self.layout.complete = false;
        if let Some(other) = &mut self.other {
            other.complete = false;
        }
    }

    pub(crate) fn create(&mut self, new: &NewComment) -> Kind {
        if let Some(parent) = new.parent_id {
            match self.rows.get(&parent).map(|row| row.state) {
                None => return Kind::ParentMissing,
                Some(CommentState::Published) => {}
                Some(_) => return Kind::ParentGone,
            }
            let above = &self.rows[&parent].ancestors;
            if above.iter().any(|id| self.rows[id].state.hides_below()) {
                return Kind::ParentGone;
            }
        }
        let row = Row {
            author_id: new.author_id,
            body: new.body.clone(),
            parent_id: new.parent_id,
            ancestors: self.ancestors_below(new.parent_id),
            state: new.state,
            changes: 0,
            edited: false,
            texts: Vec::new(),
        };
        self.rows.insert(new.id, row);
        let event = EventId::new(new.id.get());
        self.log.insert(event, (LogKind::Created, new.id));
        if !new.index {
            self.unindexed();
        }
        Kind::Created
    }

    pub(crate) fn edit(&mut self, edit: &EditComment) -> Kind {
        let first_revision = self.first_revision;
        let Some(row) = self.rows.get_mut(&edit.comment_id) else {
            return Kind::NotFound;
        };
        if row.state == CommentState::Buried {
            return Kind::Gone;
        }
        if row.author_id != edit.author_id {
            return Kind::NotAuthor;
        }
        if first_revision + row.changes != edit.expected_revision {
            return Kind::Stale;
        }
        let before = std::mem::replace(&mut row.body, edit.body.clone());
        row.texts.push(before);
        row.changes += 1;
        row.edited = true;
        if edit.waits && row.state == CommentState::Published {
            row.state = CommentState::Pending;
        }
        let entry = (LogKind::Edited, edit.comment_id);
        self.log.insert(edit.event_id, entry);
        Kind::Changed
    }

    pub(crate) fn change(&mut self, change: &StateChange) -> Kind {
        let first_revision = self.first_revision;
        let Some(row) = self.rows.get_mut(&change.comment_id) else {
            return Kind::NotFound;
        };
        if row.state == CommentState::Buried {
            return Kind::Gone;
        }
        if change.only_author.is_some_and(|only| only != row.author_id) {
            return Kind::NotAuthor;
        }
        let next = match (change.act, row.state) {
            (StateAct::Bury, _) => CommentState::Buried,
            (StateAct::Hide, CommentState::Published | CommentState::Pending) => {
                CommentState::Hidden
            }
            (StateAct::Restore, CommentState::Hidden)
            | (StateAct::Approve, CommentState::Pending) => CommentState::Published,
            _ => return Kind::NoChange,
        };
        let now = first_revision + row.changes;
        if change.expected_revision.is_some_and(|seen| seen != now) {
            return Kind::Stale;
        }
        row.state = next;
        row.changes += 1;
        if next == CommentState::Buried {
            row.author_id = UserId::NOBODY;
            row.body.clear();
            row.texts.clear();
        }
        let entry = (LogKind::StateChanged, change.comment_id);
        self.log.insert(change.event_id, entry);
        Kind::Changed
    }

    /// Exactly what an import must answer, ids included.
    pub(crate) fn import(&mut self, source: &str, batch: &[ImportComment]) -> Vec<ImportOutcome> {
        let outcomes: Vec<ImportOutcome> = batch
            .iter()
            .map(|row| self.import_row(source, row))
            .collect();
        let wrote = outcomes
            .iter()
            .any(|outcome| !matches!(outcome, ImportOutcome::AlreadyThere(_)));
        if wrote {
            self.unindexed();
        }
        outcomes
    }

    fn import_row(&mut self, source: &str, row: &ImportComment) -> ImportOutcome {
        if let Some(id) = self.sources.get(&row.source_id) {
            return ImportOutcome::AlreadyThere(*id);
        }
        let parent_source = row.parent_source_id.as_ref();
        let parent = parent_source.and_then(|parent| self.sources.get(parent).copied());
        let above = parent.map(CommentId::get);
        let mut place = first_place(source, &row.source_id, row.created_ms, above);
        while self.rows.contains_key(&CommentId::new(place)) {
            place = next_place(place);
        }
        let id = CommentId::new(place);
        let written = Row {
            author_id: row.author_id,
            body: row.body.clone(),
            parent_id: parent,
            ancestors: self.ancestors_below(parent),
            state: row.state,
            changes: 0,
            edited: row.edited_at_ms.is_some(),
            texts: Vec::new(),
        };
        self.rows.insert(id, written);
        self.sources.insert(row.source_id.clone(), id);
        if parent_source.is_some() && parent.is_none() {
            ImportOutcome::ParentMissing(id)
        } else {
            ImportOutcome::Imported(id)
        }
    }

    /// The number of a new second layout; `None` when there is one.
    pub(crate) fn add_layout(&mut self, depth_limit: u16) -> Option<u32> {
        if self.other.is_some() {
            return None;
        }
        self.last_layout += 1;
        self.other = Some(ModelLayout {
            number: self.last_layout,
            depth_limit,
            complete: false,
        });
        Some(self.last_layout)
    }

    pub(crate) fn flip(&mut self) -> bool {
        match &mut self.other {
            Some(other) if other.complete => {
                std::mem::swap(other, &mut self.layout);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn drop_other(&mut self) -> bool {
        self.other.take().is_some()
    }
}
