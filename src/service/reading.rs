//! Finding discussions and single comments, and making them readable for one viewer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::pages::{ListPage, list_page};
use super::request::LIST_COST;
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::comment::Comment;
use crate::domain::counts::Tally;
use crate::domain::cursor::CursorList;
use crate::domain::discussion::Discussion;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::page::{Order, PageArgs, Slice};
use crate::domain::urls::{CanonicalUrl, EntityRef};
use crate::domain::visibility::{CommentView, Reader, view};

/// Ids looked up in one call at most.
pub const LOOKUPS_MAX: usize = 100;

/// How a client names a discussion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscussionRef {
    /// By its id.
    Id(DiscussionId),
    /// By the address of what is discussed, as the client has it.
    Url(String),
    /// By the thing of the product that is discussed.
    Entity {
        /// Kind of thing, for example `post`.
        entity_type: String,
        /// Its id there.
        id: String,
    },
}

/// A discussion's keys, checked and canonical.
#[derive(Clone, Debug, Default)]
pub struct DiscussionKeys {
    /// Canonical address.
    pub url: Option<String>,
    /// Type and id.
    pub entity: Option<(String, String)>,
}

impl Service {
    /// Checks what a client sent to name a discussion that may not exist yet.
    pub fn keys_of(&self, reference: &DiscussionRef) -> ServiceResult<DiscussionKeys> {
        match reference {
            DiscussionRef::Id(_) => Ok(DiscussionKeys::default()),
            DiscussionRef::Url(url) => {
                let kept = &self.settings.url_query_parameters_kept;
                let canonical = CanonicalUrl::parse(url, kept)
                    .map_err(|error| ServiceError::bad_input("url", error))?;
                Ok(DiscussionKeys {
                    url: Some(canonical.as_str().to_owned()),
                    entity: None,
                })
            }
            DiscussionRef::Entity { entity_type, id } => {
                let entity = EntityRef::new(entity_type.clone(), id.clone())
                    .map_err(|error| ServiceError::bad_input("entity", error))?;
                let pair = (entity.entity_type().to_owned(), entity.id().to_owned());
                Ok(DiscussionKeys {
                    url: None,
                    entity: Some(pair),
                })
            }
        }
    }

    /// Finds a discussion.
    pub async fn discussion(
        &self,
        reference: &DiscussionRef,
    ) -> ServiceResult<Option<Arc<Discussion>>> {
        if let DiscussionRef::Id(id) = reference {
            return Ok(self.ports.comments.discussions(&[*id]).await?.pop());
        }
        let keys = self.keys_of(reference)?;
        let key = match (&keys.url, &keys.entity) {
            (Some(url), _) => crate::domain::discussion::url_key(url),
            (None, Some((kind, id))) => crate::domain::discussion::entity_key(kind, id),
            (None, None) => return Ok(None),
        };
        Ok(self.ports.comments.discussion_by_key(&key).await?)
    }

    /// Several discussions by id, in no particular order.
    pub async fn discussions(&self, ids: &[DiscussionId]) -> ServiceResult<Vec<Arc<Discussion>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.ports.comments.discussions(ids).await?)
    }

    /// A page of all discussions, newest opened first. Two store calls, and one more behind a
    /// cursor.
    pub async fn discussion_list(
        &self,
        request: &Request,
        args: &PageArgs<String>,
    ) -> ServiceResult<ListPage<Arc<Discussion>>> {
        let order = Order::Newest;
        let page = self.page_request(args, CursorList::Discussions, order)?;
        request.spend(LIST_COST + usize::try_from(page.limit).unwrap_or(usize::MAX))?;
        let ids = list_page(page, order, async |slice: Slice| {
            let slice = slice.map(|id| DiscussionId::new(id.get()));
            Ok(self.ports.comments.discussion_ids(slice).await?)
        })
        .await?;
        let rows = self.discussions(&ids.items).await?;
        let rows: HashMap<DiscussionId, Arc<Discussion>> =
            rows.into_iter().map(|row| (row.id, row)).collect();
        Ok(ListPage {
            items: ids
                .items
                .iter()
                .filter_map(|id| rows.get(id).map(Arc::clone))
                .collect(),
            has_previous: ids.has_previous,
            has_next: ids.has_next,
        })
    }

    /// Comments by id, each as the viewer may see it; those they may not see are left out.
    ///
    /// Three store calls, whatever is asked: rows, their discussions, hidden ancestors (one call a
    /// discussion where something is hidden); and once a request the people whom a viewer blocks. Imported comments of two discussions may have the same
    /// id, so only both together name one.
    pub async fn comments(
        &self,
        request: &Request,
        ids: &[(DiscussionId, CommentId)],
    ) -> ServiceResult<HashMap<(DiscussionId, CommentId), CommentView>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        request.spend(ids.len())?;
        let rows = self.ports.comments.comments(ids).await?;
        let places: HashSet<DiscussionId> = rows.iter().map(|row| row.discussion_id).collect();
        let places: Vec<DiscussionId> = places.into_iter().collect();
        let discussions = self.discussions(&places).await?;
        let mut hidden: HashMap<DiscussionId, HashSet<CommentId>> = HashMap::new();
        for discussion in &discussions {
            let here = rows.iter().filter(|row| row.discussion_id == discussion.id);
            hidden.insert(discussion.id, self.hidden_above(discussion, here).await?);
        }
        let reader = self.reader(request).await?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                let hidden = hidden.get(&row.discussion_id)?;
                view_for(request, &reader, row, hidden).map(|seen| (seen.place(), seen))
            })
            .collect())
    }

    /// The sums of the branches under some comments; zero where nothing hangs below.
    pub async fn branch_sums(
        &self,
        discussion: &Discussion,
        heads: &[CommentId],
    ) -> ServiceResult<HashMap<CommentId, Tally>> {
        if heads.is_empty() {
            return Ok(HashMap::new());
        }
        let layout = discussion.layout.number;
        Ok(self
            .ports
            .comments
            .branch_sums(discussion.id, layout, heads)
            .await?
            .into_iter()
            .collect())
    }
}

/// A stored row for the request's reader.
pub(super) fn view_for(
    request: &Request,
    reader: &Reader,
    row: &Comment,
    hidden: &HashSet<CommentId>,
) -> Option<CommentView> {
    let hidden_above = row.ancestors.iter().any(|id| hidden.contains(id));
    let seen = view(row, reader, hidden_above)?;
    request.note_shown(&seen);
    Some(seen)
}
