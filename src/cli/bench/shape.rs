//! The pages that are measured: as a GraphQL request, and as the service's calls for it.

use serde_json::json;

use super::Fallible;
use crate::domain::ids::{CommentId, UserId};
use crate::domain::mode::Mode;
use crate::domain::page::{Order, PageArgs};
use crate::domain::viewer::{ClientInfo, Role, Viewer};
use crate::domain::visibility::CommentView;
use crate::import::synthetic::BULK_ENTITY_TYPE;
use crate::service::Service;
use crate::service::reading::DiscussionRef;
use crate::service::threads::{CommentsAsk, RepliesAsk};

/// Comments on a page.
pub const PAGE_ROWS: u32 = 50;
/// Replies under each root, where there are any.
pub const REPLIES: u32 = 3;
/// Who reads threads.
pub const VIEWER: i64 = 7;

const CLIENT: (&str, &str) = ("web", "2.0.0");
const NODE: &str = "id body { text } createdAt state revision counts { visible total } \
                    viewerCan { edit delete } author { id name }";

/// A page to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageShape {
    /// By date, for nobody in particular.
    Linear,
    /// Roots, for a signed-in reader.
    Threads,
    /// Roots, each with its first replies, for a signed-in reader.
    Replies,
}

impl PageShape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Threads, Self::Replies];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Threads => "threads",
            Self::Replies => "replies",
        }
    }

    pub(super) const fn mode(self) -> Mode {
        match self {
            Self::Linear => Mode::Linear,
            Self::Threads | Self::Replies => Mode::Threaded,
        }
    }

    /// The comments that a page shows of a discussion of `size`.
    #[must_use]
    pub fn rows(self, size: u32) -> u32 {
        match self {
            Self::Linear => size.min(PAGE_ROWS),
            Self::Threads | Self::Replies => size.div_ceil(10).min(PAGE_ROWS),
        }
    }

    /// The GraphQL document.
    #[must_use]
    pub fn document(self) -> String {
        let (mode, replies) = match self {
            Self::Linear => ("LINEAR", String::new()),
            Self::Threads => ("THREADED", String::new()),
            Self::Replies => (
                "THREADED",
                format!("replies(first: {REPLIES}) {{ edges {{ node {{ {NODE} }} }} }}"),
            ),
        };
        format!(
            "query Page($id: String!) {{ discussion(entity: {{type: \"{BULK_ENTITY_TYPE}\", \
             id: $id}}) {{ comments(mode: {mode}, first: {PAGE_ROWS}) {{ mode \
             edges {{ node {{ {NODE} }} {replies} }} }} }} }}"
        )
    }

    /// The body of the request for a discussion.
    #[must_use]
    pub fn body(self, name: &str) -> String {
        json!({"query": self.document(), "variables": {"id": name}}).to_string()
    }

    /// The request's headers beside those of any request.
    #[must_use]
    pub fn headers(self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("x-client-name", CLIENT.0.to_owned()),
            ("x-client-version", CLIENT.1.to_owned()),
        ];
        if self != Self::Linear {
            headers.push(("x-dev-user", VIEWER.to_string()));
        }
        headers
    }

    /// Does what the schema's resolvers ask of the service for this page. Returns how many comments
    /// were loaded.
    pub async fn load(self, service: &Service, name: &str) -> Fallible<usize> {
        Ok(self.look(service, name).await?.rows)
    }

    pub(super) async fn look(self, service: &Service, name: &str) -> Fallible<Seen> {
        let viewer = (self != Self::Linear).then_some(Viewer {
            user_id: UserId::new(VIEWER),
            role: Role::Member,
        });
        let client = ClientInfo {
            name: Some(CLIENT.0.to_owned()),
            version: Some(CLIENT.1.to_owned()),
        };
        let request = service.request(viewer, client, None).await?;
        let reference = DiscussionRef::Entity {
            entity_type: BULK_ENTITY_TYPE.to_owned(),
            id: name.to_owned(),
        };
        let found = service.discussion(&reference).await?;
        let discussion = found.ok_or("the discussion is not there")?;
        let ask = CommentsAsk {
            mode: Some(self.mode()),
            order: Order::Oldest,
            page: first(PAGE_ROWS),
            look_behind: false,
        };
        let page = service.comments_page(&request, &discussion, &ask).await?;
        let mut seen = Seen {
            rows: page.comments.len(),
            ..Seen::default()
        };
        seen.authors.push(surround(service, &page.comments).await?);
        let is_head = |view: &&CommentView| service.heads_branch(&discussion, view);
        let heads = page.comments.iter().filter(is_head).map(|view| view.id);
        seen.heads = heads.collect();
        let sums = service.branch_sums(&discussion, &seen.heads).await?;
        if self == Self::Replies {
            let ask = RepliesAsk {
                order: Order::Oldest,
                page: first(REPLIES),
                look_behind: false,
            };
            let shown = |id| sums.get(id).map_or(0, |tally| tally.shown);
            let heads: Vec<_> = seen.heads.iter().map(|id| (*id, shown(id))).collect();
            let replies = service
                .replies(&request, &discussion, page.choice, &heads, &ask)
                .await?;
            let replies: Vec<CommentView> =
                replies.into_iter().flat_map(|page| page.comments).collect();
            seen.rows += replies.len();
            seen.authors.push(surround(service, &replies).await?);
        }
        Ok(seen)
    }
}

/// What a loaded page held.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) rows: usize,
    pub(super) heads: Vec<CommentId>,
    /// Whose names were looked up, one list a look-up.
    pub(super) authors: Vec<Vec<UserId>>,
}

fn first(rows: u32) -> PageArgs<String> {
    PageArgs {
        first: Some(i64::from(rows)),
        ..PageArgs::default()
    }
}

/// Names and bodies of some comments; returns whose names.
async fn surround(service: &Service, comments: &[CommentView]) -> Fallible<Vec<UserId>> {
    let contents = comments.iter().filter_map(|view| view.content.as_ref());
    let mut authors: Vec<UserId> = contents.map(|content| content.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    std::hint::black_box(service.users(&authors).await?);
    for view in comments {
        std::hint::black_box(service.body(view));
    }
    Ok(authors)
}
