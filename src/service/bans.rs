//! Bans: moderators keep a person from writing, until a moment or for ever.
//!
//! A banned person reads, deletes what they wrote, blocks and takes their data along. Nobody's role
//! is known but the asking person's, so only banning oneself is refused.

use super::blocks::PersonRefusal;
use super::writing::{Refusal, moderator, signed_in};
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::bans::{Ban, BanAct, BanEntry, REASON_SCALARS_MAX, ban_at};
use crate::domain::ids::{EventId, UserId};
use crate::domain::text::check_note;
use crate::domain::user::User;
use crate::domain::viewer::{Role, Viewer};

impl Service {
    /// The ban that holds for somebody now.
    pub async fn ban_of(&self, user: UserId) -> ServiceResult<Option<Ban>> {
        let now_ms = self.ports.clock.now_ms();
        let latest = self.ports.users.latest_bans(&[user]).await?.pop();
        Ok(latest.and_then(|latest| ban_at(&latest, now_ms)))
    }

    /// The ban that holds for somebody, where the request's viewer may know: their own, and for
    /// moderators anybody's.
    pub async fn ban_shown(&self, request: &Request, user: UserId) -> ServiceResult<Option<Ban>> {
        let is_own = request.viewer.is_some_and(|viewer| viewer.user_id == user);
        if !is_own && request.role() < Role::Moderator {
            return Ok(None);
        }
        self.ban_of(user).await
    }

    /// Why a viewer may not write now, if they may not. Asked before everything they write.
    pub async fn refuses(&self, viewer: &Viewer) -> ServiceResult<Option<Refusal>> {
        let ban = self.ban_of(viewer.user_id).await?;
        Ok(ban.map(|ban| Refusal::Banned {
            until_ms: ban.until_ms,
        }))
    }

    /// Bans somebody; moderators only. A later ban takes the place of an earlier one.
    pub async fn ban(
        &self,
        request: &Request,
        user: UserId,
        until_ms: Option<i64>,
        reason: String,
    ) -> ServiceResult<Result<User, PersonRefusal>> {
        moderator(request)?;
        if until_ms.is_some_and(|until_ms| until_ms <= self.ports.clock.now_ms()) {
            return Err(ServiceError::bad_input("until", "must be in the future"));
        }
        self.add_ban(request, user, BanAct::Ban { until_ms }, reason)
            .await
    }

    /// Lets a banned person write again; moderators only. Whoever is not banned stays so.
    pub async fn unban(
        &self,
        request: &Request,
        user: UserId,
        reason: String,
    ) -> ServiceResult<Result<User, PersonRefusal>> {
        let viewer = moderator(request)?;
        if viewer.user_id != user && self.ban_of(user).await?.is_none() {
            return Ok(Ok(self.person(user).await?));
        }
        self.add_ban(request, user, BanAct::Lift, reason).await
    }

    async fn add_ban(
        &self,
        request: &Request,
        user: UserId,
        act: BanAct,
        reason: String,
    ) -> ServiceResult<Result<User, PersonRefusal>> {
        let viewer = signed_in(request)?;
        if viewer.user_id == user {
            return Ok(Err(PersonRefusal::Yourself));
        }
        if user == UserId::NOBODY {
            return Err(ServiceError::bad_input("user", "there is no such user"));
        }
        check_note(&reason, REASON_SCALARS_MAX)
            .map_err(|error| ServiceError::bad_input("reason", error))?;
        let entry = BanEntry {
            event_id: EventId::new(self.ports.ids.mint()?),
            user_id: user,
            by: viewer.user_id,
            at_ms: self.ports.clock.now_ms(),
            act,
            reason,
        };
        self.ports.users.add_ban(entry).await?;
        Ok(Ok(self.person(user).await?))
    }
}
