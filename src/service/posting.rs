//! What a post needs before it is written: its discussion, its claim, what the gate is asked.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::reading::DiscussionRef;
use super::writing::Post;
use super::{Request, Service, ServiceResult};
use crate::domain::discussion::Discussion;
use crate::domain::ids::{DiscussionId, UserId};
use crate::domain::viewer::{Role, Viewer};
use crate::hooks::spam::Suspect;
use crate::store::comments::{Claim, NewDiscussion, Opened};

impl Service {
    /// The claim that makes a post with this key safe to repeat.
    pub(super) fn claim(&self, key: String, discussion: DiscussionId, post: &Post) -> Claim {
        let mut hash = Sha256::new();
        hash.update(discussion.get().to_be_bytes());
        hash.update(post.parent.map_or(0, |(_, id)| id.get()).to_be_bytes());
        hash.update(post.format.code().to_be_bytes());
        hash.update(post.body.as_bytes());
        let life_ms = i64::try_from(self.settings.posting_key_ttl.as_millis()).unwrap_or(i64::MAX);
        Claim {
            key,
            body_hash: hash.finalize().into(),
            expires_at_ms: self.ports.clock.now_ms().saturating_add(life_ms),
        }
    }

    /// Whether a post may open the discussion it names.
    pub(super) fn may_open(&self, request: &Request, post: &Post) -> bool {
        let may_open =
            self.settings.first_comment_opens_discussion || request.role() >= Role::Moderator;
        let is_keyed = !matches!(post.discussion, DiscussionRef::Id(_));
        may_open && is_keyed && post.parent.is_none()
    }

    /// Whether the post's key was used: asked only where a post must not be judged or open a
    /// discussion a second time.
    pub(super) async fn is_retry(
        &self,
        viewer: &Viewer,
        post: &Post,
        opens: bool,
    ) -> ServiceResult<bool> {
        match &post.key {
            Some(key) if opens || self.gate_may_waver(viewer) => {
                Ok(self.ports.comments.is_claimed(viewer.user_id, key).await?)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// What the gate is asked about a post.
    pub(super) fn suspect(
        &self,
        viewer: &Viewer,
        post: &Post,
        found: Option<&Discussion>,
    ) -> ServiceResult<Suspect> {
        let (url, entity) = if let Some(found) = found {
            (found.url.clone(), found.entity.clone())
        } else {
            let keys = self.keys_of(&post.discussion)?;
            (keys.url, keys.entity)
        };
        Ok(Suspect {
            author_id: viewer.user_id,
            author_name: String::new(),
            discussion: found.map(|found| found.id),
            url,
            entity,
            parent: post.parent,
            text: post.body.clone(),
            format: post.format,
            is_edit: false,
        })
    }

    /// Opens a discussion, or finds it. `true`: it is new.
    pub(super) async fn open(
        &self,
        reference: &DiscussionRef,
        (title, premoderated): (String, bool),
        opened_by: Option<UserId>,
    ) -> ServiceResult<(Arc<Discussion>, bool)> {
        let keys = self.keys_of(reference)?;
        let new = NewDiscussion {
            id: DiscussionId::new(self.ports.ids.mint()?),
            title,
            url: keys.url,
            entity: keys.entity,
            premoderated,
            depth_limit: self.settings.depth_limit,
            opened_by,
        };
        Ok(match self.ports.comments.open_discussion(new).await? {
            Opened::New(row) => (row, true),
            Opened::Existing(row) => (row, false),
        })
    }
}
