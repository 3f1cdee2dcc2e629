//! What readers get of a body: text and html, made once for each revision.

use std::sync::Arc;

use moka::sync::Cache;

use super::Service;
use crate::domain::body::Body;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::visibility::CommentView;

/// Bytes of text and html kept.
const BYTES_MAX: u64 = 32 << 20;

type Key = (DiscussionId, CommentId, u32);

#[derive(Clone, Debug)]
pub(super) struct Bodies(Cache<Key, Arc<Body>>);

impl Default for Bodies {
    fn default() -> Self {
        let weigh = |_: &Key, body: &Arc<Body>| {
            u32::try_from(body.text.len() + body.html.len() + 100).unwrap_or(u32::MAX)
        };
        Self(
            Cache::builder()
                .max_capacity(BYTES_MAX)
                .weigher(weigh)
                .build(),
        )
    }
}

impl Service {
    /// The body of a comment a reader may see; `None` for a tombstone.
    #[must_use]
    pub fn body(&self, comment: &CommentView) -> Option<Arc<Body>> {
        let content = comment.content.as_ref()?;
        let key = (comment.discussion_id, comment.id, comment.revision);
        let made = self
            .bodies
            .0
            .get_with(key, || Arc::new(Body::read(&content.body, content.format)));
        Some(made)
    }
}
