//! The roots of writing.

use async_graphql::{Context, ID, InputObject, Object, Result, Union};

use super::discussion::DiscussionNode;
use super::failure::{bad_input, failure};
use super::loader_of;
use super::payload::{CommentRefused, CommentWritten, outcome};
use super::query::{EntityInput, discussion_ref};
use super::scalars::{BodyFormat, DiscussionState, Url};
use super::want::Want;
use crate::domain::comment::StateAct;
use crate::domain::ids::opaque::{decode_comment, decode_discussion};
use crate::domain::ids::{CommentId, DiscussionId};
use crate::service::writing::{Post, WriteOutcome};

/// A comment to write. Name the discussion in exactly one way; an address or entity that nobody
/// has talked about yet may open its discussion.
#[derive(Clone, Debug, InputObject)]
struct CreateCommentInput {
    /// The discussion's id.
    discussion: Option<ID>,
    /// The address of what is discussed.
    url: Option<Url>,
    /// The thing of the product that is discussed.
    entity: Option<EntityInput>,
    /// The comment that this one answers; without it, it is a root.
    parent: Option<ID>,
    /// The text, at most 10,000 characters and 40,000 bytes unless the server says otherwise.
    body: String,
    /// How the text is written.
    #[graphql(default)]
    format: BodyFormat,
    /// The client's own key for this comment, 1 to 64 visible ASCII characters. A repeated request
    /// with the same key gives the first one's comment, on any instance, for a day.
    key: Option<String>,
}

/// A new text for a comment.
#[derive(Clone, Debug, InputObject)]
struct EditCommentInput {
    /// The comment.
    comment: ID,
    /// The revision its author saw; when it moved on, nothing is changed.
    expected_revision: i32,
    /// The new text.
    body: String,
    /// How the text is written.
    #[graphql(default)]
    format: BodyFormat,
}

/// A comment to delete.
#[derive(Clone, Debug, InputObject)]
struct DeleteCommentInput {
    /// The comment.
    comment: ID,
    /// The revision the viewer saw; when it moved on, nothing is changed. Left out: whatever it is.
    expected_revision: Option<i32>,
    /// Why, for the audit log, when a moderator deletes somebody else's; at most 300 characters.
    #[graphql(default)]
    reason: String,
}

/// A comment to hide or restore.
#[derive(Clone, Debug, InputObject)]
struct ModerateCommentInput {
    /// The comment.
    comment: ID,
    /// The revision the moderator saw; when it moved on, nothing is changed. Left out: whatever it
    /// is.
    expected_revision: Option<i32>,
    /// Why, for the audit log; at most 300 characters.
    #[graphql(default)]
    reason: String,
}

/// A discussion to open. Name it in one way.
#[derive(Clone, Debug, InputObject)]
struct OpenDiscussionInput {
    /// The address of what is discussed.
    url: Option<Url>,
    /// The thing of the product that is discussed.
    entity: Option<EntityInput>,
    /// Shown to people, at most 300 characters.
    #[graphql(default)]
    title: String,
    /// Whether new comments wait for a moderator.
    #[graphql(default)]
    premoderated: bool,
}

macro_rules! payload {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Union)]
        enum $name {
            /// It was done.
            Written(CommentWritten),
            /// It was not done, and why.
            Refused(CommentRefused),
        }

        impl From<std::result::Result<CommentWritten, CommentRefused>> for $name {
            fn from(done: std::result::Result<CommentWritten, CommentRefused>) -> Self {
                match done {
                    Ok(written) => Self::Written(written),
                    Err(refused) => Self::Refused(refused),
                }
            }
        }
    };
}

payload! {
    /// What `createComment` gave.
    CreateCommentPayload
}
payload! {
    /// What `editComment` gave.
    EditCommentPayload
}
payload! {
    /// What `deleteComment` gave.
    DeleteCommentPayload
}
payload! {
    /// What `hideComment` and `restoreComment` gave.
    ModerateCommentPayload
}

fn revision(field: &'static str, revision: i32) -> Result<u32> {
    u32::try_from(revision)
        .ok()
        .ok_or_else(|| bad_input(field, format!("{revision} is less than 0")))
}

pub(super) fn place(comment: &ID) -> Result<(DiscussionId, CommentId)> {
    decode_comment(comment).map_err(|error| bad_input("comment", error))
}

/// What is done with comments and discussions.
#[derive(Debug)]
pub(super) struct Mutation;

#[Object(name = "CommentsMutation")]
impl Mutation {
    /// Writes a comment or a reply. Needs a signed-in viewer.
    async fn create_comment(
        &self,
        ctx: &Context<'_>,
        input: CreateCommentInput,
    ) -> Result<CreateCommentPayload> {
        let loader = loader_of(ctx)?;
        let discussion = discussion_ref(input.discussion, input.url, input.entity)?;
        let parent = input
            .parent
            .map(|id| decode_comment(&id).map_err(|error| bad_input("parent", error)))
            .transpose()?;
        let post = Post {
            discussion,
            parent,
            body: input.body,
            format: input.format.into(),
            key: input.key,
        };
        let done = loader
            .service
            .post(&loader.request, post)
            .await
            .map_err(failure)?;
        Ok(outcome(loader, done, &Want::of(ctx.field())).await.into())
    }

    /// Changes the text of one's own comment, if it still is as one saw it.
    async fn edit_comment(
        &self,
        ctx: &Context<'_>,
        input: EditCommentInput,
    ) -> Result<EditCommentPayload> {
        let loader = loader_of(ctx)?;
        let at = place(&input.comment)?;
        let seen = revision("expectedRevision", input.expected_revision)?;
        let text = (input.body, input.format.into());
        let done = loader
            .service
            .edit(&loader.request, at, seen, text)
            .await
            .map_err(failure)?;
        Ok(outcome(loader, done, &Want::of(ctx.field())).await.into())
    }

    /// Deletes one's own comment; moderators delete anybody's. Final: text and author are gone,
    /// and a tombstone stays while something readable hangs below.
    async fn delete_comment(
        &self,
        ctx: &Context<'_>,
        input: DeleteCommentInput,
    ) -> Result<DeleteCommentPayload> {
        let loader = loader_of(ctx)?;
        let at = place(&input.comment)?;
        let seen = input
            .expected_revision
            .map(|seen| revision("expectedRevision", seen))
            .transpose()?;
        let done = loader
            .service
            .delete(&loader.request, at, seen, input.reason)
            .await
            .map_err(failure)?;
        Ok(outcome(loader, done, &Want::of(ctx.field())).await.into())
    }

    /// Takes a comment and all below it out of sight. Moderators only; can be undone.
    async fn hide_comment(
        &self,
        ctx: &Context<'_>,
        input: ModerateCommentInput,
    ) -> Result<ModerateCommentPayload> {
        let done = moderate(ctx, input, StateAct::Hide).await?;
        Ok(outcome(loader_of(ctx)?, done, &Want::of(ctx.field()))
            .await
            .into())
    }

    /// Brings a hidden comment back. Moderators only.
    async fn restore_comment(
        &self,
        ctx: &Context<'_>,
        input: ModerateCommentInput,
    ) -> Result<ModerateCommentPayload> {
        let done = moderate(ctx, input, StateAct::Restore).await?;
        Ok(outcome(loader_of(ctx)?, done, &Want::of(ctx.field()))
            .await
            .into())
    }

    /// Lets a waiting comment through. Moderators only.
    async fn approve_comment(
        &self,
        ctx: &Context<'_>,
        input: ModerateCommentInput,
    ) -> Result<ModerateCommentPayload> {
        let done = moderate(ctx, input, StateAct::Approve).await?;
        Ok(outcome(loader_of(ctx)?, done, &Want::of(ctx.field()))
            .await
            .into())
    }

    /// Opens a discussion, or gives the one that is there. Moderators only.
    async fn open_discussion(
        &self,
        ctx: &Context<'_>,
        input: OpenDiscussionInput,
    ) -> Result<DiscussionNode> {
        let loader = loader_of(ctx)?;
        let reference = discussion_ref(None, input.url, input.entity)?;
        let (row, _) = loader
            .service
            .open_discussion(&loader.request, &reference, input.title, input.premoderated)
            .await
            .map_err(failure)?;
        Ok(DiscussionNode(row))
    }

    /// Opens or closes a discussion for new comments. Moderators only. Null when there is none.
    async fn set_discussion_state(
        &self,
        ctx: &Context<'_>,
        discussion: ID,
        state: DiscussionState,
    ) -> Option<Result<DiscussionNode>> {
        let done = async {
            let loader = loader_of(ctx)?;
            let id =
                decode_discussion(&discussion).map_err(|error| bad_input("discussion", error))?;
            loader
                .service
                .set_discussion_state(&loader.request, id, state.into())
                .await
                .map_err(failure)
        };
        done.await.map(|row| row.map(DiscussionNode)).transpose()
    }
}

async fn moderate(
    ctx: &Context<'_>,
    input: ModerateCommentInput,
    act: StateAct,
) -> Result<WriteOutcome> {
    let loader = loader_of(ctx)?;
    let at = place(&input.comment)?;
    let seen = input.expected_revision;
    let seen = seen
        .map(|seen| revision("expectedRevision", seen))
        .transpose()?;
    loader
        .service
        .moderate(&loader.request, at, act, seen, input.reason)
        .await
        .map_err(failure)
}
