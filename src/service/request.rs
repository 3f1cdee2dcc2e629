//! What belongs to one request: who asks, with which client, and one view of the flags.
//!
//! Flags are read from one snapshot and evaluated once, so a request never sees a ramp half done.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Service, ServiceError, ServiceResult};
use crate::domain::flags::{Context, Evaluation, FlagSet, evaluate};
use crate::domain::ids::{DiscussionId, EventId, UserId};
use crate::domain::viewer::{ClientInfo, Role, Viewer, role_of};
use crate::domain::visibility::CommentView;

/// The flag that lets readers see threads.
pub const THREADED_FLAG: &str = "comments-threaded";
/// The flag that writes index rows with new comments.
pub const INDEX_WRITE_FLAG: &str = "comments-index-write";

/// Comments that one request may load, over all its lists. A page of the largest size with the
/// largest page of replies under each of its roots is half of it; lists within lists within lists
/// pass it at once.
pub const COMMENTS_PER_REQUEST_MAX: usize = 20_000;
/// What a list counts for however little is in it: it costs a look all the same.
pub(super) const LIST_COST: usize = 10;

/// A request's frame.
#[derive(Debug)]
pub struct Request {
    /// Who asks; `None` is anonymous.
    pub viewer: Option<Viewer>,
    /// The application.
    pub client: ClientInfo,
    /// Whether the answer goes to many readers: then nothing in it is about one of them.
    pub is_shared: bool,
    /// The people whom the reader blocks, once they are known.
    pub(super) blocked: tokio::sync::Mutex<Option<Arc<HashSet<UserId>>>>,
    /// The authors whose text was shown, where somebody wants to know.
    shown_authors: Option<Mutex<HashSet<UserId>>>,
    flags: Arc<FlagSet>,
    threaded: OnceLock<Evaluation>,
    loaded: AtomicUsize,
}

impl Request {
    /// The reader's role.
    #[must_use]
    pub fn role(&self) -> Role {
        role_of(self.viewer.as_ref())
    }

    /// The authors whose text this request was shown so far. Only requests of events keep them
    /// ([`Service::event_request`]); others answer with nobody.
    #[must_use]
    pub fn shown_authors(&self) -> HashSet<UserId> {
        let shown = self.shown_authors.as_ref();
        shown.map_or_else(HashSet::new, |shown| {
            shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    }

    /// Notes whose text is about to be shown.
    pub(super) fn note_shown(&self, view: &CommentView) {
        if let (Some(shown), Some(content)) = (&self.shown_authors, &view.content) {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            shown.insert(content.author_id);
        }
    }

    /// What `comments-threaded` says for this request, evaluated once.
    pub fn threaded(&self) -> &Evaluation {
        self.threaded
            .get_or_init(|| evaluate(&self.flags, THREADED_FLAG, &self.context()))
    }

    /// Whether new comments get their index row; on when the flag is missing, because an index that
    /// silently falls behind is the worse fault.
    #[must_use]
    pub fn writes_index(&self) -> bool {
        self.flags.get(INDEX_WRITE_FLAG).is_none()
            || evaluate(&self.flags, INDEX_WRITE_FLAG, &self.context()).is_on()
    }

    /// Counts what is loaded for this request; past the limit, what asks for more is refused.
    pub(super) fn spend(&self, comments: usize) -> ServiceResult<()> {
        let before = self.loaded.fetch_add(comments, Ordering::Relaxed);
        if before.saturating_add(comments) > COMMENTS_PER_REQUEST_MAX {
            let limit = COMMENTS_PER_REQUEST_MAX;
            return Err(ServiceError::TooComplex { limit });
        }
        Ok(())
    }

    fn context(&self) -> Context {
        Context {
            unit: self.viewer.map(|viewer| viewer.user_id.to_string()),
            client: self.client.clone(),
            ..Context::default()
        }
    }
}

/// Says "I have seen this write": later reads must not be older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAfter {
    /// Where.
    pub discussion: DiscussionId,
    /// The write's event.
    pub event: EventId,
}

impl ReadAfter {
    /// The text for clients.
    #[must_use]
    pub fn encode(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}.{}", self.discussion, self.event))
    }

    /// Reads a client's text; `None` when it is not a token of this service.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        if text.len() > 64 {
            return None;
        }
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (discussion, event) = plain.split_once('.')?;
        Some(Self {
            discussion: DiscussionId::new(discussion.parse().ok()?),
            event: EventId::new(event.parse().ok()?),
        })
    }
}

impl Service {
    /// Frames a request. `read_after` makes this instance catch up first.
    pub async fn request(
        &self,
        viewer: Option<Viewer>,
        client: ClientInfo,
        read_after: Option<ReadAfter>,
    ) -> ServiceResult<Request> {
        if let Some(seen) = read_after {
            self.ports
                .comments
                .catch_up(seen.discussion, seen.event)
                .await?;
        }
        Ok(self.framed(viewer, client, None))
    }

    /// Frames what every reader of one role who blocks these people sees alike. Nobody in
    /// particular asks. The request notes whose text was shown
    /// ([`Request::shown_authors`]): only who blocks one of those needs another execution.
    #[must_use]
    pub fn event_request(&self, role: Role, blocked: Arc<HashSet<UserId>>) -> Request {
        // Nobody's id wrote nothing, so what an author alone may see stays out.
        let viewer = (role >= Role::Moderator).then_some(Viewer {
            user_id: UserId::NOBODY,
            role,
        });
        self.framed(viewer, ClientInfo::default(), Some(blocked))
    }

    fn framed(
        &self,
        viewer: Option<Viewer>,
        client: ClientInfo,
        shared_by: Option<Arc<HashSet<UserId>>>,
    ) -> Request {
        Request {
            viewer,
            client,
            is_shared: shared_by.is_some(),
            shown_authors: shared_by.is_some().then(Mutex::default),
            blocked: tokio::sync::Mutex::new(shared_by),
            flags: self.ports.flags.snapshot(),
            threaded: OnceLock::new(),
            loaded: AtomicUsize::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_and_garbage_does_not() {
        let token = ReadAfter {
            discussion: DiscussionId::new(5),
            event: EventId::new(9),
        };
        assert_eq!(ReadAfter::decode(&token.encode()), Some(token));
        for text in ["", "zz", "NQ", &"A".repeat(65)] {
            assert_eq!(ReadAfter::decode(text), None);
        }
    }
}
