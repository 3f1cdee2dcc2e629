//! Erasure of a person's data: in small steps that may be repeated, so that it survives anything.
//!
//! Their comments are buried like any deleted one, with log events, so every reader sees them go;
//! earlier texts go with them. Their name, sign-ins, blocks, marks, replies to them and posting keys
//! go. What they reported stays with its reason, without them; what moderators did about them or
//! they did as a moderator stays under their id, which by then names nobody. Whoever comes back with
//! the same sign-in begins anew.
//!
//! "Emptied" means that nothing can be read any more, "done" that nothing is left in the stores'
//! files: that needs them rewritten, which is costly and serves all erasures since the last time.

use std::time::Duration;

use super::writing::signed_in;
use super::{Request, Service, ServiceError, ServiceResult};
use crate::domain::comment::StateAct;
use crate::domain::ids::{EventId, UserId};
use crate::domain::page::Slice;
use crate::domain::states::{Actor, BLOCKS, ENTITY_TYPES, Entity};
use crate::store::comments::{ChangeOutcome, StateChange};
use crate::store::users::{Erasure, ErasureStep};

/// Rows of one step.
const STEP_ROWS: u32 = 100;
/// Passes over what a person wrote: while they go on writing there is something left.
const PASSES_MAX: usize = 20;
/// How long a person who asked waits for the answer; the work goes on behind it.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// Erasures that are taken up at once.
const OPEN_MAX: u32 = 100;

impl Service {
    /// Erases the viewer's data. What was asked for is noted first, so it is done even when nobody
    /// waits for it and the process ends. `confirm` must be the viewer's own id.
    pub async fn erase_viewer(&self, request: &Request, confirm: UserId) -> ServiceResult<Erasure> {
        let viewer = signed_in(request)?;
        if confirm != viewer.user_id {
            let message = "must be your own user id: this cannot be undone";
            return Err(ServiceError::bad_input("confirm", message));
        }
        let asked = self.ports.users.ask_erasure(viewer.user_id).await?;
        let service = self.clone();
        let work = self.ports.tasks.spawn(async move {
            let emptied = service.empty_person(viewer.user_id).await;
            if let Err(error) = emptied {
                tracing::error!(user = %viewer.user_id, %error, "an erasure is taken up later");
            }
        });
        // Whether it ended in time shows in what is noted.
        drop(tokio::time::timeout(ANSWER_WITHIN, work).await);
        Ok(self
            .ports
            .users
            .erasure(viewer.user_id)
            .await?
            .unwrap_or(asked))
    }

    /// What is noted of an erasure of the viewer's data.
    pub async fn viewer_erasure(&self, request: &Request) -> ServiceResult<Option<Erasure>> {
        let viewer = signed_in(request)?;
        Ok(self.ports.users.erasure(viewer.user_id).await?)
    }

    /// Erases a person's data at once and rewrites the files. Returns how many comments it buried.
    pub async fn erase_person(&self, user: UserId) -> ServiceResult<u64> {
        self.ports.users.ask_erasure(user).await?;
        let buried = self.empty_person(user).await?;
        self.scrub().await?;
        self.ports
            .users
            .step_erasure(user, ErasureStep::Done)
            .await?;
        Ok(buried)
    }

    /// Takes up the erasures that are not done: empties what is left, and rewrites the files when
    /// the oldest one waits for longer than `interval`. Returns how many are done now.
    pub async fn go_on_erasing(&self, interval: Duration) -> ServiceResult<u64> {
        let users = &self.ports.users;
        for open in users.open_erasures(OPEN_MAX).await? {
            if open.emptied_ms.is_none() {
                self.empty_person(open.user_id).await?;
            }
        }
        let emptied: Vec<Erasure> = users
            .open_erasures(OPEN_MAX)
            .await?
            .into_iter()
            .filter(|open| open.emptied_ms.is_some())
            .collect();
        let wait_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        let due_ms = self.ports.clock.now_ms().saturating_sub(wait_ms);
        let is_due = |open: &Erasure| open.emptied_ms.is_some_and(|ms| ms <= due_ms);
        if !emptied.iter().any(is_due) {
            return Ok(0);
        }
        self.scrub().await?;
        let mut done = 0;
        for open in emptied {
            users.step_erasure(open.user_id, ErasureStep::Done).await?;
            done += 1;
        }
        Ok(done)
    }

    async fn scrub(&self) -> ServiceResult<()> {
        self.ports.comments.scrub().await?;
        self.ports.users.scrub().await?;
        Ok(())
    }

    /// Leaves nothing of a person's data to be read. Returns how many comments it buried.
    async fn empty_person(&self, user: UserId) -> ServiceResult<u64> {
        let mut buried = 0;
        for _ in 0..PASSES_MAX {
            let now = self.bury_all(user).await?;
            buried += now;
            self.forget_around(user).await?;
            if now == 0 {
                break;
            }
        }
        self.forget_profile(user).await?;
        let users = &self.ports.users;
        users.step_erasure(user, ErasureStep::Emptied).await?;
        tracing::info!(%user, buried, "a person's data is erased");
        Ok(buried)
    }

    /// One pass over what somebody wrote.
    async fn bury_all(&self, author: UserId) -> ServiceResult<u64> {
        let mut buried = 0;
        let mut slice = Slice {
            above: None,
            below: None,
            ascending: true,
            limit: STEP_ROWS,
        };
        loop {
            let page = self.ports.comments.by_author(author, slice).await?;
            for (discussion_id, comment_id) in &page {
                let change = StateChange {
                    discussion_id: *discussion_id,
                    comment_id: *comment_id,
                    act: StateAct::Bury,
                    only_author: Some(author),
                    expected_revision: None,
                    by: author,
                    reason: String::new(),
                    event_id: EventId::new(self.ports.ids.mint()?),
                };
                let outcome = self.ports.comments.change_state(change).await?;
                buried += u64::from(matches!(outcome, ChangeOutcome::Changed(_)));
            }
            match page.last() {
                Some((_, last)) => slice = slice.beyond(*last, STEP_ROWS),
                None => return Ok(buried),
            }
        }
    }

    /// What is kept around a person beside their comments.
    async fn forget_around(&self, user: UserId) -> ServiceResult<()> {
        let (comments, states) = (&self.ports.comments, &self.ports.states);
        while comments.forget_person(user, STEP_ROWS).await? > 0 {}
        while comments.forget_reporter(user, STEP_ROWS).await? {}
        for of in ENTITY_TYPES {
            while states
                .forget_actor(Actor::person(user), of, STEP_ROWS)
                .await?
                > 0
            {}
        }
        let blocked = Entity {
            of: BLOCKS,
            id: user.get(),
        };
        while states.forget_entity(blocked, STEP_ROWS).await? > 0 {}
        self.blocks.forget(user);
        Ok(())
    }

    async fn forget_profile(&self, user: UserId) -> ServiceResult<()> {
        let sign_ins = self.ports.users.sign_ins(user).await?;
        self.ports.users.forget(user).await?;
        for sign_in in sign_ins {
            self.people.forget(sign_in.issuer, sign_in.subject);
        }
        Ok(())
    }
}
