//! Around a person: whom they block, who is banned, what was answered to them, what they have seen,
//! and what becomes of their data.

mod lists;

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject, Union};

use super::discussion::DiscussionNode;
use super::failure::{bad_input, failure};
use super::loader_of;
use super::scalars::{DateTime, int};
use super::user::UserNode;
use crate::domain::bans::Ban;
use crate::domain::ids::UserId;
use crate::domain::ids::opaque::{decode_comment, decode_discussion, decode_user};
use crate::domain::user::User;
use crate::service::blocks::PersonRefusal;
use crate::service::reading::DiscussionRef;
use crate::store::users::Erasure;

/// A ban that holds.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Ban")]
pub(super) struct BanNode {
    /// When it ends. Null when it does not.
    until: Option<DateTime>,
    /// Why; may be empty.
    reason: String,
}

impl From<Ban> for BanNode {
    fn from(ban: Ban) -> Self {
        Self {
            until: ban.until_ms.map(DateTime),
            reason: ban.reason,
        }
    }
}

/// How far an erasure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum ErasureState {
    /// It goes on; parts may still be read.
    Running,
    /// Nothing can be read any more. Slack parts of the store's files may hold texts until these
    /// are rewritten.
    Emptied,
    /// Nothing is left in the store's files.
    Done,
}

/// An erasure of the viewer's data.
#[derive(Clone, Copy, Debug, SimpleObject)]
#[graphql(name = "Erasure")]
pub(super) struct ErasureNode {
    /// How far it is.
    state: ErasureState,
    /// When it was asked for.
    asked_at: DateTime,
    /// Since when it is done. Null before.
    done_at: Option<DateTime>,
}

impl From<Erasure> for ErasureNode {
    fn from(erasure: Erasure) -> Self {
        Self {
            state: match (erasure.emptied_ms, erasure.done_ms) {
                (_, Some(_)) => ErasureState::Done,
                (Some(_), None) => ErasureState::Emptied,
                (None, None) => ErasureState::Running,
            },
            asked_at: DateTime(erasure.asked_ms),
            done_at: erasure.done_ms.map(DateTime),
        }
    }
}

/// Something was done to a person.
#[derive(Clone, Debug, SimpleObject)]
struct UserChanged {
    /// The person.
    user: UserNode,
}

/// Why nothing was done to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum UserRefusal {
    /// It is the viewer.
    Yourself,
    /// The viewer blocks as many people as they may; `limit` says how many.
    TooManyBlocked,
}

/// Nothing was done to a person.
#[derive(Clone, Debug, SimpleObject)]
struct UserRefused {
    /// Why.
    reason: UserRefusal,
    /// For people; may change.
    message: String,
    /// The limit that was reached. Null when it is not about a limit.
    limit: Option<i32>,
}

/// What `blockUser` and `unblockUser` gave.
#[derive(Clone, Debug, Union)]
enum BlockUserPayload {
    /// It was done.
    Changed(UserChanged),
    /// It was not done, and why.
    Refused(UserRefused),
}

/// What `banUser` and `unbanUser` gave.
#[derive(Clone, Debug, Union)]
enum BanUserPayload {
    /// It was done.
    Changed(UserChanged),
    /// It was not done, and why.
    Refused(UserRefused),
}

fn changed(
    done: std::result::Result<User, PersonRefusal>,
) -> std::result::Result<UserChanged, UserRefused> {
    match done {
        Ok(user) => Ok(UserChanged {
            user: UserNode::new(user),
        }),
        Err(PersonRefusal::Yourself) => Err(UserRefused {
            reason: UserRefusal::Yourself,
            message: "user: one cannot do this to oneself".to_owned(),
            limit: None,
        }),
        Err(PersonRefusal::TooManyBlocked { limit }) => Err(UserRefused {
            reason: UserRefusal::TooManyBlocked,
            message: format!("you block {limit} people, which is the limit"),
            limit: Some(int(i64::from(limit))),
        }),
    }
}

/// A person to ban.
#[derive(Clone, Debug, InputObject)]
struct BanUserInput {
    /// The person.
    user: ID,
    /// The first moment they may write again. Left out: never.
    until: Option<DateTime>,
    /// Why, for the person and the moderators; at most 300 characters.
    #[graphql(default)]
    reason: String,
}

/// A person to let write again.
#[derive(Clone, Debug, InputObject)]
struct UnbanUserInput {
    /// The person.
    user: ID,
    /// Why, for the moderators; at most 300 characters.
    #[graphql(default)]
    reason: String,
}

fn user_id(id: &ID) -> Result<UserId> {
    decode_user(id).map_err(|error| bad_input("user", error))
}

async fn set_block(ctx: &Context<'_>, user: &ID, is_blocked: bool) -> Result<BlockUserPayload> {
    let loader = loader_of(ctx)?;
    let done = loader
        .service
        .set_block(&loader.request, user_id(user)?, is_blocked)
        .await
        .map_err(failure)?;
    Ok(match changed(done) {
        Ok(changed) => BlockUserPayload::Changed(changed),
        Err(refused) => BlockUserPayload::Refused(refused),
    })
}

fn ban_payload(done: std::result::Result<User, PersonRefusal>) -> BanUserPayload {
    match changed(done) {
        Ok(changed) => BanUserPayload::Changed(changed),
        Err(refused) => BanUserPayload::Refused(refused),
    }
}

/// What `markRepliesRead` gave.
#[derive(Clone, Copy, Debug, SimpleObject)]
struct MarkRepliesReadPayload {
    /// How many replies the viewer has not read; exact below 1,000, and 1,000 for that many or more.
    unread_count: i32,
}

/// What people do about people and about themselves.
#[derive(Debug)]
pub(super) struct PersonMutation;

#[Object]
impl PersonMutation {
    /// Shows nothing that a person wrote to the viewer any more: their comments become placeholders
    /// and what hangs below stays. They are not told. At most 1,000 people. Needs a signed-in viewer.
    async fn block_user(&self, ctx: &Context<'_>, user: ID) -> Result<BlockUserPayload> {
        set_block(ctx, &user, true).await
    }

    /// Shows the viewer again what a person writes.
    async fn unblock_user(&self, ctx: &Context<'_>, user: ID) -> Result<BlockUserPayload> {
        set_block(ctx, &user, false).await
    }

    /// Keeps a person from posting, editing and reporting, until a moment or for ever. They still
    /// read, delete what they wrote and block people. Moderators only.
    async fn ban_user(&self, ctx: &Context<'_>, input: BanUserInput) -> Result<BanUserPayload> {
        let loader = loader_of(ctx)?;
        let user = user_id(&input.user)?;
        let until_ms = input.until.map(|until| until.0);
        let done = loader
            .service
            .ban(&loader.request, user, until_ms, input.reason)
            .await;
        Ok(ban_payload(done.map_err(failure)?))
    }

    /// Lets a banned person write again. Moderators only.
    async fn unban_user(&self, ctx: &Context<'_>, input: UnbanUserInput) -> Result<BanUserPayload> {
        let loader = loader_of(ctx)?;
        let user = user_id(&input.user)?;
        let done = loader
            .service
            .unban(&loader.request, user, input.reason)
            .await;
        Ok(ban_payload(done.map_err(failure)?))
    }

    /// Marks the replies to the viewer as read, up to this comment, which is one of them. Never
    /// marks one as unread.
    async fn mark_replies_read(
        &self,
        ctx: &Context<'_>,
        up_to: ID,
    ) -> Result<MarkRepliesReadPayload> {
        let loader = loader_of(ctx)?;
        let up_to = decode_comment(&up_to).map_err(|error| bad_input("upTo", error))?;
        let marked = loader
            .service
            .mark_replies_read(&loader.request, up_to)
            .await;
        marked.map_err(failure)?;
        let unread_count = lists::unread_count(ctx).await?;
        Ok(MarkRepliesReadPayload { unread_count })
    }

    /// Notes that the viewer has seen a discussion up to this comment. Only moves forward. Null when
    /// there is no such discussion.
    async fn mark_discussion_seen(
        &self,
        ctx: &Context<'_>,
        discussion: ID,
        up_to: ID,
    ) -> Option<Result<DiscussionNode>> {
        let done = async {
            let loader = loader_of(ctx)?;
            let id =
                decode_discussion(&discussion).map_err(|error| bad_input("discussion", error))?;
            let (place, up_to) =
                decode_comment(&up_to).map_err(|error| bad_input("upTo", error))?;
            if place != id {
                return Err(bad_input("upTo", "not a comment of this discussion"));
            }
            let marked = loader.service.mark_seen(&loader.request, id, up_to).await;
            marked.map_err(failure)?;
            let found = loader.service.discussion(&DiscussionRef::Id(id)).await;
            Ok(found.map_err(failure)?.map(DiscussionNode))
        };
        done.await.transpose()
    }

    /// Erases everything of the viewer: their comments become tombstones, name, sign-ins, blocks,
    /// marks and earlier texts go. It cannot be undone, and goes on when nobody waits for it.
    async fn erase_my_data(&self, ctx: &Context<'_>, confirm: ID) -> Result<ErasureNode> {
        let loader = loader_of(ctx)?;
        let confirm = decode_user(&confirm).map_err(|error| bad_input("confirm", error))?;
        let erasure = loader.service.erase_viewer(&loader.request, confirm).await;
        erasure.map(ErasureNode::from).map_err(failure)
    }
}
