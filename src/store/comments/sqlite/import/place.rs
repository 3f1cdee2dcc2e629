//! Which id each row of a batch gets and what it hangs under.
//!
//! An id is the first free place from one that its source id, time and parent name. Places are
//! given as if nobody held any; then those that are held are asked for at once, and the batch is
//! gone through again with what is known now, until all of them are free.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::{QueryBuilder, Row as _, SqliteConnection};

use super::super::reads::json;
use super::super::rows;
use super::OP;
use crate::domain::comment::{Comment, DEPTH_MAX};
use crate::domain::ids::imported::{first_place, next_place};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::{ImportComment, ImportOutcome, Origin, Revision};
use crate::store::driver::sqlite::DuringOp as _;

/// What a batch needs to know before it is placed.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    discussion: DiscussionId,
    source: &'a str,
    /// Ids of the batch's rows and parents that were imported before.
    known: HashMap<String, i64>,
    /// Ids of rows that were imported before from where the batch's own rows came from.
    origins: HashMap<Origin, i64>,
    /// The ids that rows of the batch keep.
    kept: HashSet<CommentId>,
    /// Those of them that a row has.
    there: HashSet<CommentId>,
    /// What those that are still there hang under.
    ancestors: HashMap<CommentId, Vec<CommentId>>,
    /// Rows that the discussion has room for.
    room: i64,
}

/// A batch with its ids.
#[derive(Debug)]
pub(super) struct Placed {
    /// One a row.
    pub(super) outcomes: Vec<ImportOutcome>,
    /// The rows that are new.
    pub(super) comments: Vec<Comment>,
    /// Where they came from.
    pub(super) mapped: Vec<(Origin, i64)>,
    /// Their earlier texts.
    pub(super) revisions: Vec<(CommentId, Revision)>,
}

/// What is decided about a row.
#[derive(Debug)]
struct Place {
    outcome: ImportOutcome,
    /// Everything above it, if it is new.
    new: Option<Vec<CommentId>>,
}

/// What a row hangs under.
#[derive(Debug, Default)]
struct Above {
    ancestors: Vec<CommentId>,
    missing: bool,
    flattened: bool,
}

impl<'a> Placing<'a> {
    pub(super) async fn load(
        db: &mut SqliteConnection,
        discussion: DiscussionId,
        source: &'a str,
        rows: &[ImportComment],
        room: i64,
    ) -> Result<Self, StoreError> {
        let parents = rows.iter().filter_map(|row| row.parent_source_id.as_ref());
        let wanted = rows.iter().map(|row| &row.source_id).chain(parents.clone());
        let known = known(db, source, discussion.get(), wanted.collect()).await?;
        let kept = rows.iter().filter_map(|row| row.kept.as_ref());
        let mut by_source: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for origin in kept.clone().filter_map(|kept| kept.origin.as_ref()) {
            let names = by_source.entry(&origin.source).or_default();
            names.push(&origin.source_id);
        }
        let mut origins = HashMap::new();
        for (source, names) in by_source {
            let found = self::known(db, source, discussion.get(), names).await?;
            origins.extend(found.into_iter().map(|(source_id, id)| {
                let source = source.to_owned();
                (Origin { source, source_id }, id)
            }));
        }
        let kept: HashSet<CommentId> = kept.map(|kept| kept.id).collect();
        let asked: Vec<i64> = kept.iter().map(|id| id.get()).collect();
        let there = held_among(db, discussion, &asked).await?;
        let parent_ids = rows.iter().filter_map(|row| row.parent_id);
        let mut above: Vec<i64> = parents
            .filter_map(|id| known.get(id).copied())
            .chain(parent_ids.map(CommentId::get))
            .collect();
        above.sort_unstable();
        above.dedup();
        Ok(Self {
            discussion,
            source,
            ancestors: ancestors_of(db, discussion, &above).await?,
            known,
            origins,
            kept,
            there: there.into_iter().map(CommentId::new).collect(),
            room,
        })
    }

    /// Gives each new row its id.
    pub(super) async fn place(
        &self,
        db: &mut SqliteConnection,
        rows: Vec<ImportComment>,
    ) -> Result<Placed, StoreError> {
        let (mut held, mut asked) = (HashSet::new(), HashSet::new());
        let found = loop {
            let tried = self.try_places(&rows, &held);
            let new = tried.iter().filter(|place| place.new.is_some());
            let unasked: Vec<i64> = new
                .filter_map(|place| id_of(place.outcome))
                .map(CommentId::get)
                .filter(|id| asked.insert(*id))
                .collect();
            let taken = held_among(db, self.discussion, &unasked).await?;
            if taken.is_empty() {
                break tried;
            }
            held.extend(taken);
        };
        let mut placed = Placed {
            outcomes: Vec::with_capacity(rows.len()),
            comments: Vec::new(),
            mapped: Vec::new(),
            revisions: Vec::new(),
        };
        for (place, row) in found.into_iter().zip(rows) {
            placed.outcomes.push(place.outcome);
            if let (Some(ancestors), Some(id)) = (place.new, id_of(place.outcome)) {
                self.add(&mut placed, id, ancestors, row);
            }
        }
        Ok(placed)
    }

    fn add(
        &self,
        placed: &mut Placed,
        id: CommentId,
        ancestors: Vec<CommentId>,
        row: ImportComment,
    ) {
        let mut revision = 1;
        let mut origin = Some(Origin {
            source: self.source.to_owned(),
            source_id: row.source_id,
        });
        if let Some(kept) = row.kept {
            revision = kept.revision;
            // It is found again by its id.
            origin = kept.origin;
            let revisions = kept.revisions.into_iter();
            placed
                .revisions
                .extend(revisions.map(|revision| (id, revision)));
        }
        placed
            .mapped
            .extend(origin.map(|origin| (origin, id.get())));
        placed.comments.push(Comment {
            id,
            discussion_id: self.discussion,
            author_id: row.author_id,
            body: row.body,
            format: row.format,
            parent_id: ancestors.last().copied(),
            ancestors,
            edited_at_ms: row.edited_at_ms,
            revision,
            state: row.state,
            live_below: false,
        });
    }

    fn try_places(&self, rows: &[ImportComment], held: &HashSet<i64>) -> Vec<Place> {
        let mut room = self.room;
        let mut given = Given::default();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            places.push(if let Some(id) = self.before(row, &given) {
                Place {
                    outcome: ImportOutcome::AlreadyThere(id),
                    new: None,
                }
            } else if room <= 0 {
                Place {
                    outcome: ImportOutcome::DiscussionFull,
                    new: None,
                }
            } else {
                room -= 1;
                self.new_place(row, &mut given, held)
            });
        }
        places
    }

    /// The row's id, if it was written by an earlier call or earlier in this one.
    fn before(&self, row: &ImportComment, given: &Given<'_>) -> Option<CommentId> {
        let by_name = self.known.get(&row.source_id).copied().map(CommentId::new);
        by_name
            .or_else(|| given.by_name.get(row.source_id.as_str()).copied())
            .or_else(|| {
                let kept = row.kept.as_ref()?;
                let origin = kept.origin.as_ref();
                let is_there = self.there.contains(&kept.id) || given.above.contains_key(&kept.id);
                let by_origin = origin.and_then(|origin| self.origins.get(origin));
                let by_origin = by_origin.copied().map(CommentId::new);
                if is_there { Some(kept.id) } else { by_origin }
            })
    }

    fn new_place<'r>(
        &self,
        row: &'r ImportComment,
        given: &mut Given<'r>,
        held: &HashSet<i64>,
    ) -> Place {
        let name = row.source_id.as_str();
        let kept_id = row.kept.as_ref().map(|kept| kept.id);
        let is_reply = row.parent_source_id.is_some() || row.parent_id.is_some();
        // A reply never sorts before what it answers.
        let is_before = |(id, _): &(CommentId, &[CommentId])| kept_id.is_none_or(|kept| *id < kept);
        let above = match self.parent(row, given).filter(is_before) {
            Some((id, ancestors)) => Above::under(id, ancestors),
            None => Above {
                missing: is_reply,
                ..Above::default()
            },
        };
        let id = kept_id.unwrap_or_else(|| {
            let parent = above.ancestors.last().copied().map(CommentId::get);
            let mut place = first_place(self.source, name, row.created_ms, parent);
            while held.contains(&place) || self.is_given(CommentId::new(place), given) {
                place = next_place(place);
            }
            CommentId::new(place)
        });
        given.by_name.insert(name, id);
        given.above.insert(id, above.ancestors.clone());
        above.place(id)
    }

    fn is_given(&self, id: CommentId, given: &Given<'_>) -> bool {
        given.above.contains_key(&id) || self.kept.contains(&id)
    }

    /// What a row answers, with what that hangs under.
    fn parent<'p>(
        &'p self,
        row: &ImportComment,
        given: &'p Given<'_>,
    ) -> Option<(CommentId, &'p [CommentId])> {
        let name = row.parent_source_id.as_deref();
        let by_name = name.and_then(|name| {
            let known = self.known.get(name).copied().map(CommentId::new);
            known.or_else(|| given.by_name.get(name).copied())
        });
        let id = by_name.or(row.parent_id)?;
        let above = given.above.get(&id).or_else(|| self.ancestors.get(&id))?;
        Some((id, above))
    }
}

/// What the rows of a batch were given so far.
#[derive(Debug, Default)]
struct Given<'r> {
    by_name: HashMap<&'r str, CommentId>,
    /// What each of them hangs under.
    above: HashMap<CommentId, Vec<CommentId>>,
}

impl Above {
    /// Below a comment, or below what that hangs under when the deepest level is reached.
    fn under(id: CommentId, ancestors: &[CommentId]) -> Self {
        let mut ancestors = ancestors.to_vec();
        ancestors.push(id);
        let flattened = ancestors.len() > usize::from(DEPTH_MAX);
        ancestors.truncate(usize::from(DEPTH_MAX));
        Self {
            ancestors,
            missing: false,
            flattened,
        }
    }

    fn place(self, id: CommentId) -> Place {
        Place {
            outcome: if self.missing {
                ImportOutcome::ParentMissing(id)
            } else if self.flattened {
                ImportOutcome::Flattened(id)
            } else {
                ImportOutcome::Imported(id)
            },
            new: Some(self.ancestors),
        }
    }
}

fn id_of(outcome: ImportOutcome) -> Option<CommentId> {
    match outcome {
        ImportOutcome::Imported(id)
        | ImportOutcome::AlreadyThere(id)
        | ImportOutcome::ParentMissing(id)
        | ImportOutcome::Flattened(id) => Some(id),
        ImportOutcome::DiscussionFull => None,
    }
}

/// Ids of rows that were imported before. Source ids may hold anything, so they are bound.
async fn known(
    db: &mut SqliteConnection,
    source: &str,
    scope: i64,
    mut wanted: Vec<&String>,
) -> Result<HashMap<String, i64>, StoreError> {
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let mut query = QueryBuilder::new("SELECT source_id, id FROM import_map WHERE source = ");
    query.push_bind(source);
    query.push(" AND scope = ").push_bind(scope);
    query.push(" AND source_id IN (");
    let mut names = query.separated(", ");
    for name in wanted {
        names.push_bind(name.as_str());
    }
    query.push(")");
    let found = query.build().persistent(false).fetch_all(db).await;
    found
        .during(OP)?
        .iter()
        .map(|row| Ok((row.try_get(0).during(OP)?, row.try_get(1).during(OP)?)))
        .collect()
}

async fn ancestors_of(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    ids: &[i64],
) -> Result<HashMap<CommentId, Vec<CommentId>>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = sqlx::query(
        "SELECT c.comment_id, c.ancestors FROM json_each(?) h CROSS JOIN comments c \
         WHERE c.discussion_id = ? AND c.comment_id = h.value",
    )
    .bind(json(ids))
    .bind(discussion.get())
    .fetch_all(db)
    .await
    .during(OP)?;
    found
        .iter()
        .map(|row| {
            let id: i64 = row.try_get(0).during(OP)?;
            let above = rows::unpack(row.try_get(1).during(OP)?, id)?;
            Ok((CommentId::new(id), above))
        })
        .collect()
}

/// Which places a comment holds already.
async fn held_among(
    db: &mut SqliteConnection,
    discussion: DiscussionId,
    ids: &[i64],
) -> Result<Vec<i64>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_scalar(
        "SELECT c.comment_id FROM json_each(?) h CROSS JOIN comments c \
         WHERE c.discussion_id = ? AND c.comment_id = h.value",
    )
    .bind(json(ids))
    .bind(discussion.get())
    .fetch_all(db)
    .await
    .during(OP)
}
