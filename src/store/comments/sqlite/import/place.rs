//! Which id each row of a batch gets and what it hangs under.
//!
//! An id is the first free place from one that its source id, time and parent name. Places are
//! given as if nobody held any; then those that are held are asked for at once, and the batch is
//! gone through again with what is known now, until all of them are free.

use std::collections::{HashMap, HashSet};

use sqlx::{QueryBuilder, Row as _, SqliteConnection};

use super::super::reads::json;
use super::super::rows;
use super::OP;
use crate::domain::comment::{Comment, DEPTH_MAX};
use crate::domain::ids::imported::{first_place, next_place};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::store::StoreError;
use crate::store::comments::{ImportComment, ImportOutcome};
use crate::store::driver::sqlite::DuringOp as _;

/// What a batch needs to know before it is placed.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    discussion: DiscussionId,
    source: &'a str,
    /// Ids of the batch's rows and parents that were imported before.
    known: HashMap<String, i64>,
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
    /// Their source ids with their ids.
    pub(super) mapped: Vec<(String, i64)>,
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
        let mut wanted: Vec<&String> = rows.iter().map(|row| &row.source_id).collect();
        wanted.extend(parents.clone());
        wanted.sort_unstable();
        wanted.dedup();
        let known = known(db, source, discussion.get(), &wanted).await?;
        let mut above: Vec<i64> = parents.filter_map(|id| known.get(id)).copied().collect();
        above.sort_unstable();
        above.dedup();
        Ok(Self {
            discussion,
            source,
            ancestors: ancestors_of(db, discussion, &above).await?,
            known,
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
        let places = loop {
            let places = self.try_places(&rows, &held);
            let new = places.iter().filter(|place| place.new.is_some());
            let unasked: Vec<i64> = new
                .filter_map(|place| id_of(place.outcome))
                .map(CommentId::get)
                .filter(|id| asked.insert(*id))
                .collect();
            let found = held_among(db, self.discussion, &unasked).await?;
            if found.is_empty() {
                break places;
            }
            held.extend(found);
        };
        let mut placed = Placed {
            outcomes: Vec::with_capacity(rows.len()),
            comments: Vec::new(),
            mapped: Vec::new(),
        };
        for (place, row) in places.into_iter().zip(rows) {
            placed.outcomes.push(place.outcome);
            if let (Some(ancestors), Some(id)) = (place.new, id_of(place.outcome)) {
                placed.mapped.push((row.source_id, id.get()));
                placed.comments.push(Comment {
                    id,
                    discussion_id: self.discussion,
                    author_id: row.author_id,
                    body: row.body,
                    format: row.format,
                    parent_id: ancestors.last().copied(),
                    ancestors,
                    edited_at_ms: row.edited_at_ms,
                    revision: 1,
                    state: row.state,
                    live_below: false,
                });
            }
        }
        Ok(placed)
    }

    fn try_places(&self, rows: &[ImportComment], held: &HashSet<i64>) -> Vec<Place> {
        let mut room = self.room;
        let mut given: HashMap<&str, i64> = HashMap::new();
        let mut ancestors: HashMap<CommentId, Vec<CommentId>> = HashMap::new();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let name = row.source_id.as_str();
            let known = self.known.get(name).or_else(|| given.get(name));
            let place = if let Some(id) = known {
                Place {
                    outcome: ImportOutcome::AlreadyThere(CommentId::new(*id)),
                    new: None,
                }
            } else if room <= 0 {
                Place {
                    outcome: ImportOutcome::DiscussionFull,
                    new: None,
                }
            } else {
                room -= 1;
                let parent = row.parent_source_id.as_deref();
                let parent = parent.map(|parent| {
                    let id = self.known.get(parent).or_else(|| given.get(parent));
                    let id = id.copied().map(CommentId::new);
                    id.and_then(|id| {
                        let above = ancestors.get(&id).or_else(|| self.ancestors.get(&id));
                        above.map(|above| (id, above.as_slice()))
                    })
                });
                let above = above(parent);
                let parent = above.ancestors.last().copied().map(CommentId::get);
                let mut id = first_place(self.source, name, row.created_ms, parent);
                while held.contains(&id) || ancestors.contains_key(&CommentId::new(id)) {
                    id = next_place(id);
                }
                given.insert(name, id);
                ancestors.insert(CommentId::new(id), above.ancestors.clone());
                above.place(CommentId::new(id))
            };
            places.push(place);
        }
        places
    }
}

/// `parent`: what the row says it answers, with what that hangs under, if that is there.
fn above(parent: Option<Option<(CommentId, &[CommentId])>>) -> Above {
    let (id, ancestors) = match parent {
        None => return Above::default(),
        Some(None) => {
            return Above {
                missing: true,
                ..Above::default()
            };
        }
        Some(Some(parent)) => parent,
    };
    let mut ancestors = ancestors.to_vec();
    ancestors.push(id);
    let flattened = ancestors.len() > usize::from(DEPTH_MAX);
    ancestors.truncate(usize::from(DEPTH_MAX));
    Above {
        ancestors,
        missing: false,
        flattened,
    }
}

impl Above {
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
    wanted: &[&String],
) -> Result<HashMap<String, i64>, StoreError> {
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
