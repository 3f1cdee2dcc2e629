//! `Comment` and what hangs on it. Pure: everything was loaded before (see `load`).

use std::sync::Arc;

use async_graphql::{Error, ID, Object, Result, SimpleObject};

use super::connection::CommentConnection;
use super::discussion::DiscussionNode;
use super::failure::{bad_input, not_loaded};
use super::scalars::{BodyFormat, CommentState, DateTime, ReplyOrder, int};
use super::user::UserNode;
use super::want::{ListArgs, page_args};
use crate::domain::body::Body as DomainBody;
use crate::domain::counts::Tally;
use crate::domain::discussion::Discussion;
use crate::domain::ids::opaque::GlobalId;
use crate::domain::ids::{CommentId, DiscussionId};
use crate::domain::visibility::CommentView;
use crate::store::comments::Revision;

/// Something loaded for a field, or that field's error.
pub(super) type Loaded<T> = std::result::Result<T, Error>;

/// A comment and everything its selection asks for.
#[derive(Debug)]
pub(super) struct CommentData {
    pub(super) view: CommentView,
    pub(super) discussion: Arc<Discussion>,
    pub(super) author: Loaded<Option<UserNode>>,
    pub(super) counts: Option<Loaded<Tally>>,
    pub(super) body: Option<Arc<DomainBody>>,
    pub(super) parent: Loaded<Option<CommentNode>>,
    pub(super) root: Loaded<Option<CommentNode>>,
    pub(super) replies: Vec<(ListArgs, Loaded<Option<CommentConnection>>)>,
    /// Earlier texts, oldest first; `None` where the viewer may not see them.
    pub(super) revisions: Loaded<Option<Arc<[Revision]>>>,
    pub(super) can: Option<CommentAbilities>,
}

/// A comment in an answer.
#[derive(Clone, Debug)]
pub(super) struct CommentNode(Arc<CommentData>);

impl CommentNode {
    pub(super) fn new(data: CommentData) -> Self {
        Self(Arc::new(data))
    }

    pub(super) fn comment_id(&self) -> CommentId {
        self.0.view.id
    }

    /// What names it among all discussions' comments.
    pub(super) fn place(&self) -> (DiscussionId, CommentId) {
        self.0.view.place()
    }

    /// A list of replies that was loaded for these arguments.
    pub(super) fn replies_for(&self, args: &ListArgs) -> Option<Result<CommentConnection>> {
        match self.0.replies.iter().find(|(loaded, _)| loaded == args) {
            Some((_, Ok(list))) => list.clone().map(Ok),
            Some((_, Err(error))) => Some(Err(error.clone())),
            None => Some(Err(not_loaded("replies"))),
        }
    }
}

/// What the viewer may do with a comment.
#[derive(Clone, Copy, Debug, SimpleObject)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of its own in the schema"
)]
pub(super) struct CommentAbilities {
    /// Write a reply to it.
    pub(super) reply: bool,
    /// Change its text.
    pub(super) edit: bool,
    /// Delete it.
    pub(super) delete: bool,
    /// Hide or restore it.
    pub(super) moderate: bool,
}

/// A comment's text.
#[derive(Clone, Debug)]
pub(super) struct Body {
    made: Arc<DomainBody>,
    source: Source,
}

/// Where a body's source text lies.
#[derive(Clone, Debug)]
enum Source {
    Comment(CommentNode),
    /// A comment's earlier texts, and which of them.
    Revision(Arc<[Revision]>, usize),
}

/// A text that a comment had before.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CommentRevision {
    /// The revision it was.
    revision: i32,
    /// The text.
    body: Body,
    /// How its source was written.
    format: BodyFormat,
}

#[Object]
impl Body {
    /// The text without markup, for clients that draw it themselves.
    async fn text(&self) -> &str {
        &self.made.text
    }

    /// Sanitised HTML, ready to be put into a page.
    async fn html(&self) -> &str {
        &self.made.html
    }

    /// The text as its author wrote it, for editing.
    async fn source(&self) -> &str {
        match &self.source {
            Source::Comment(comment) => {
                let content = comment.0.view.content.as_ref();
                content.map_or("", |content| &content.body)
            }
            Source::Revision(texts, at) => texts.get(*at).map_or("", |text| &text.body),
        }
    }

    /// How the source is written.
    async fn format(&self) -> BodyFormat {
        self.made.format.into()
    }
}

/// The most earlier texts that are given at once.
pub(super) const REVISIONS_MAX: i32 = 100;
/// As many are given when the client does not say.
pub(super) const REVISIONS_DEFAULT: i32 = 10;

/// How many earlier texts an argument asks for.
pub(super) fn revisions_wanted(last: i32) -> Result<usize> {
    usize::try_from(last)
        .ok()
        .filter(|_| last <= REVISIONS_MAX)
        .ok_or_else(|| {
            let message = format!("`last` is {last}, it must be between 0 and {REVISIONS_MAX}");
            bad_input("last", message)
        })
}

/// How many comments hang below one that heads a branch.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct BranchCounts {
    /// Every reply, whatever its state.
    total: i32,
    /// Replies that are not hidden, deleted or pending themselves.
    published: i32,
    /// Published replies with nothing hidden above them: what people can read.
    visible: i32,
}

/// One comment of a discussion. What was deleted is a tombstone while something readable hangs
/// below it: it keeps its place and loses text and author.
#[Object(name = "Comment")]
impl CommentNode {
    /// Opaque, and the same wherever the comment appears.
    pub(super) async fn id(&self) -> ID {
        let view = &self.0.view;
        GlobalId::Comment(view.discussion_id, view.id)
            .encode()
            .into()
    }

    /// Where it was written.
    async fn discussion(&self) -> DiscussionNode {
        DiscussionNode(Arc::clone(&self.0.discussion))
    }

    /// Its text. Null for a tombstone, and when the viewer blocks its author.
    async fn body(&self) -> Option<Body> {
        let made = self.0.body.as_ref().map(Arc::clone)?;
        Some(Body {
            made,
            source: Source::Comment(self.clone()),
        })
    }

    /// Who wrote it. Null for a tombstone, when the viewer blocks them, and while profiles cannot be
    /// read.
    async fn author(&self) -> Option<Result<UserNode>> {
        self.0.author.clone().transpose()
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.view.id.time_ms())
    }

    /// When its text last changed. Null if it never did, for a tombstone, and when the viewer blocks
    /// its author.
    async fn edited_at(&self) -> Option<DateTime> {
        self.0
            .view
            .content
            .as_ref()
            .and_then(|content| content.edited_at_ms)
            .map(DateTime)
    }

    /// Grows with each change; `editComment` and `deleteComment` name the one the user saw.
    async fn revision(&self) -> i32 {
        int(i64::from(self.0.view.revision))
    }

    /// Where it stands.
    async fn state(&self) -> CommentState {
        self.0.view.state.into()
    }

    /// Levels below its root; 0 for a root.
    async fn depth(&self) -> i32 {
        i32::from(self.0.view.depth())
    }

    /// What it answers. Null for a root, and when the viewer may not see that comment.
    async fn parent(&self) -> Option<Result<CommentNode>> {
        self.0.parent.clone().transpose()
    }

    /// The root of its branch. Null for a root itself, and when the viewer may not see it.
    async fn root(&self) -> Option<Result<CommentNode>> {
        self.0.root.clone().transpose()
    }

    /// The whole branch below a comment that heads one, by date, however deep its replies nest.
    /// Null below that, and while threads cannot be read here.
    #[expect(clippy::too_many_arguments, reason = "they are the field's arguments")]
    async fn replies(
        &self,
        #[graphql(default_with = "Some(ReplyOrder::Oldest)")] order: Option<ReplyOrder>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Option<Result<CommentConnection>> {
        let page = page_args(first, after, last, before);
        self.replies_for(&ListArgs {
            order: order.unwrap_or_default().into(),
            page,
        })
    }

    /// How much hangs below it. Null for a comment that heads no branch.
    async fn counts(&self) -> Option<Result<BranchCounts>> {
        let counts = self.0.counts.clone()?;
        Some(counts.map(|tally| BranchCounts {
            total: int(tally.total),
            published: int(tally.published),
            visible: int(tally.visible),
        }))
    }

    /// The latest of its earlier texts, oldest first; at most 100. Null unless the viewer wrote the
    /// comment or moderates, and for a tombstone.
    async fn revisions(
        &self,
        #[graphql(default = 10)] last: i32,
    ) -> Option<Result<Vec<CommentRevision>>> {
        let texts = match self.0.revisions.clone() {
            Ok(texts) => texts?,
            Err(error) => return Some(Err(error)),
        };
        let wanted = match revisions_wanted(last) {
            Ok(wanted) => wanted,
            Err(error) => return Some(Err(error)),
        };
        let passed = texts.len().saturating_sub(wanted);
        let revision = |(at, text): (usize, &Revision)| CommentRevision {
            revision: int(i64::from(text.revision)),
            body: Body {
                made: Arc::new(DomainBody::read(&text.body, text.format)),
                source: Source::Revision(Arc::clone(&texts), at),
            },
            format: text.format.into(),
        };
        let latest = texts.iter().enumerate().skip(passed);
        Some(Ok(latest.map(revision).collect()))
    }

    /// What the viewer may do with it. Null in an event, which many viewers share.
    async fn viewer_can(&self) -> Option<CommentAbilities> {
        self.0.can
    }
}
