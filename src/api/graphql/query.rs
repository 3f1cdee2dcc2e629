//! The roots of reading.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Interface, Object, Result};

use super::comment::CommentNode;
use super::discussion::DiscussionNode;
use super::failure::{bad_input, failure};
use super::lists::{self, DiscussionConnection};
use super::load::Loader;
use super::loader_of;
use super::scalars::{Role, Url};
use super::user::{UserNode, ViewerNode};
use super::want::{Want, page_args};
use crate::domain::ids::opaque::{GlobalId, decode_comment, decode_discussion, decode_user};
use crate::domain::ids::{DiscussionId, UserId};
use crate::domain::user::User;
use crate::service::reading::{DiscussionRef, LOOKUPS_MAX};

/// Anything with an id that can be fetched again by it.
#[derive(Clone, Debug, Interface)]
#[graphql(field(
    name = "id",
    ty = "ID",
    desc = "Opaque, and the same wherever it appears."
))]
pub(super) enum Node {
    /// A discussion.
    Discussion(DiscussionNode),
    /// A comment.
    Comment(CommentNode),
    /// A person.
    User(UserNode),
}

/// A thing of the product, as its own service names it.
#[derive(Clone, Debug, InputObject)]
pub(super) struct EntityInput {
    /// The kind of thing, for example `post`: `[a-z][a-z0-9_-]{0,31}`.
    #[graphql(name = "type")]
    pub(super) entity_type: String,
    /// Its id there, at most 128 characters.
    pub(super) id: String,
}

/// Reads how a client names a discussion: exactly one way.
pub(super) fn discussion_ref(
    id: Option<ID>,
    url: Option<Url>,
    entity: Option<EntityInput>,
) -> Result<DiscussionRef> {
    match (id, url, entity) {
        (Some(id), None, None) => {
            let id = decode_discussion(&id).map_err(|error| bad_input("id", error))?;
            Ok(DiscussionRef::Id(id))
        }
        (None, Some(url), None) => Ok(DiscussionRef::Url(url.0)),
        (None, None, Some(entity)) => Ok(DiscussionRef::Entity {
            entity_type: entity.entity_type,
            id: entity.id,
        }),
        _ => Err(bad_input(
            "discussion",
            "name it by exactly one of id, url and entity",
        )),
    }
}

/// Everything that can be read.
#[derive(Debug)]
pub(super) struct Query;

#[Object(name = "CommentsQuery")]
impl Query {
    /// Anything by its id. Null when there is nothing by that id, or the viewer may not see it.
    async fn node(&self, ctx: &Context<'_>, id: ID) -> Option<Result<Node>> {
        let nodes = match loader_of(ctx) {
            Ok(loader) => nodes(loader, ctx, &[id], "id").await,
            Err(error) => Err(error),
        };
        nodes.map(|mut found| found.pop().flatten()).transpose()
    }

    /// Several things by their ids, in the order asked; at most 100. What is missing is null.
    async fn nodes(&self, ctx: &Context<'_>, ids: Vec<ID>) -> Result<Vec<Option<Node>>> {
        nodes(loader_of(ctx)?, ctx, &ids, "ids").await
    }

    /// Who asks. Null when nobody is signed in.
    async fn viewer(&self, ctx: &Context<'_>) -> Option<Result<ViewerNode>> {
        viewer(ctx).await.transpose()
    }

    /// A discussion, named in exactly one way. Null when there is none.
    async fn discussion(
        &self,
        ctx: &Context<'_>,
        id: Option<ID>,
        url: Option<Url>,
        entity: Option<EntityInput>,
    ) -> Option<Result<DiscussionNode>> {
        let found = async {
            let loader = loader_of(ctx)?;
            let reference = discussion_ref(id, url, entity)?;
            loader.service.discussion(&reference).await.map_err(failure)
        };
        found.await.map(|row| row.map(DiscussionNode)).transpose()
    }

    /// Every discussion, newest opened first. A page is at most as large as the server's limit;
    /// without `first` and `last` it has the default size.
    async fn discussions(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<DiscussionConnection> {
        lists::discussions(ctx, page_args(first, after, last, before)).await
    }

    /// A comment. Null when there is none by that id, or the viewer may not see it.
    async fn comment(&self, ctx: &Context<'_>, id: ID) -> Option<Result<CommentNode>> {
        let found = async {
            let (place, id) = decode_comment(&id).map_err(|error| bad_input("id", error))?;
            let want = Want::of(ctx.field());
            let mut found = loader_of(ctx)?.by_ids(&[(place, id)], &want).await?;
            Ok(found.remove(&(place, id)))
        };
        found.await.transpose()
    }

    /// A person, by their id or by their decimal user id. Null when they never came here.
    async fn user(&self, ctx: &Context<'_>, id: ID) -> Option<Result<UserNode>> {
        let found = async {
            let id = decode_user(&id).map_err(|error| bad_input("id", error))?;
            let mut found = loader_of(ctx)?
                .service
                .users(&[id])
                .await
                .map_err(failure)?;
            Ok(found.remove(&id).map(UserNode::new))
        };
        found.await.transpose()
    }
}

async fn viewer(ctx: &Context<'_>) -> Result<Option<ViewerNode>> {
    let loader = loader_of(ctx)?;
    let Some(viewer) = loader.request.viewer else {
        return Ok(None);
    };
    let id = viewer.user_id;
    let mut found = loader.service.users(&[id]).await.map_err(failure)?;
    let user = found.remove(&id).unwrap_or(User {
        id,
        name: String::new(),
    });
    Ok(Some(ViewerNode {
        user: UserNode::new(user),
        role: Role::from(viewer.role),
    }))
}

/// Things of every kind by id: one load a kind.
async fn nodes(
    loader: &Loader,
    ctx: &Context<'_>,
    ids: &[ID],
    field: &'static str,
) -> Result<Vec<Option<Node>>> {
    if ids.len() > LOOKUPS_MAX {
        let message = format!("{} ids are more than {LOOKUPS_MAX}", ids.len());
        return Err(bad_input(field, message));
    }
    let wanted: Vec<GlobalId> = ids
        .iter()
        .map(|id| GlobalId::decode(id).map_err(|error| bad_input(field, error)))
        .collect::<Result<_>>()?;
    let mut comments = Vec::new();
    let mut users: Vec<UserId> = Vec::new();
    let mut discussions: Vec<DiscussionId> = Vec::new();
    for id in &wanted {
        match id {
            GlobalId::Comment(place, id) => comments.push((*place, *id)),
            GlobalId::User(id) => users.push(*id),
            GlobalId::Discussion(id) => discussions.push(*id),
        }
    }
    let want = Want::of(ctx.field());
    let comments = loader.by_ids(&comments, &want).await?;
    let users = loader.service.users(&users).await.map_err(failure)?;
    let discussions = loader
        .service
        .discussions(&discussions)
        .await
        .map_err(failure)?;
    let discussions: HashMap<DiscussionId, _> =
        discussions.into_iter().map(|row| (row.id, row)).collect();
    Ok(wanted
        .into_iter()
        .map(|id| match id {
            GlobalId::Comment(place, id) => {
                let node = comments.get(&(place, id));
                node.cloned().map(Node::Comment)
            }
            GlobalId::User(id) => users.get(&id).cloned().map(UserNode::new).map(Node::User),
            GlobalId::Discussion(id) => discussions
                .get(&id)
                .map(|row| Node::Discussion(DiscussionNode(Arc::clone(row)))),
        })
        .collect())
}
