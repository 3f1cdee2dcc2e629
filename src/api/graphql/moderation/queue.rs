//! The moderation queue: items with their comments and reports, loaded a page at a time.

use std::collections::HashMap;

use async_graphql::{Context, Object, Result, SimpleObject};

use super::{QueueKind, ReportNode, ReportReason};
use crate::api::graphql::comment::{CommentNode, Loaded};
use crate::api::graphql::connection::PageInfo;
use crate::api::graphql::failure::{bad_input, failure, not_loaded};
use crate::api::graphql::lists::edges;
use crate::api::graphql::load::Loader;
use crate::api::graphql::loader_of;
use crate::api::graphql::scalars::{DateTime, int};
use crate::api::graphql::user::UserNode;
use crate::api::graphql::want::{Want, WantField};
use crate::domain::ids::opaque::{EntryOf, decode_entry};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::moderation::QueueKind as DomainKind;
use crate::domain::page::{Order, PageArgs};
use crate::domain::user::User;
use crate::service::pages::ListPage;
use crate::service::reports::queue_list;
use crate::store::comments::{QueueFilter, QueueItem};

/// Reports of an item when the client does not say how many.
const REPORTS_DEFAULT: i32 = 20;
/// Reports of an item at most.
const REPORTS_MAX: i64 = 100;

type Place = (DiscussionId, CommentId);

/// The arguments of an item's reports: what a loaded list is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReportArgs {
    first: i64,
    after: Option<String>,
}

impl ReportArgs {
    fn of(field: &WantField) -> Self {
        Self {
            first: field.integer("first").unwrap_or(REPORTS_DEFAULT.into()),
            after: field.text("after"),
        }
    }
}

/// A comment that waits for a moderator.
#[derive(Clone, Debug)]
pub(super) struct ItemNode {
    item: QueueItem,
    comment: CommentNode,
    reports: Vec<(ReportArgs, Loaded<Vec<ReportNode>>)>,
}

/// A comment that waits for a moderator, and why.
#[Object(name = "ModerationItem")]
impl ItemNode {
    /// The comment.
    async fn comment(&self) -> &CommentNode {
        &self.comment
    }

    /// Why it is here.
    async fn kinds(&self) -> Vec<QueueKind> {
        let pending = self.item.is_pending.then_some(DomainKind::Pending);
        let reported = (self.item.report_count > 0).then_some(DomainKind::Reported);
        [pending, reported]
            .into_iter()
            .flatten()
            .map(QueueKind::from)
            .collect()
    }

    /// Since when.
    async fn since(&self) -> DateTime {
        DateTime(self.item.since_ms)
    }

    /// How many people reported it and have no answer yet.
    async fn report_count(&self) -> i32 {
        int(i64::from(self.item.report_count))
    }

    /// Their reasons, each once.
    async fn reasons(&self) -> Vec<ReportReason> {
        let reasons = self.item.reasons.iter();
        reasons.map(|reason| ReportReason::from(*reason)).collect()
    }

    /// Reports without an answer, oldest first, at most 100. `after`: the id of the last one seen.
    #[expect(clippy::unused_async, reason = "the executor awaits every field")]
    async fn reports(
        &self,
        #[graphql(default = 20)] first: i32,
        after: Option<String>,
    ) -> Result<Vec<ReportNode>> {
        let args = ReportArgs {
            first: first.into(),
            after,
        };
        match self.reports.iter().find(|(loaded, _)| *loaded == args) {
            Some((_, reports)) => reports.clone(),
            None => Err(not_loaded("reports")),
        }
    }
}

/// A page of the moderation queue.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct ModerationQueueConnection {
    /// The comments, longest waiting first.
    edges: Vec<Option<ModerationQueueEdge>>,
    /// Where the page lies.
    page_info: PageInfo,
    /// How many comments wait, of those that the arguments let through.
    total_count: i32,
}

/// A comment's place in the moderation queue.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct ModerationQueueEdge {
    /// The place, to page from.
    cursor: String,
    /// The comment, and why it waits.
    node: ItemNode,
}

pub(super) async fn load(
    ctx: &Context<'_>,
    filter: QueueFilter,
    args: PageArgs<String>,
) -> Result<ModerationQueueConnection> {
    let loader = loader_of(ctx)?;
    let want = Want::of(ctx.field());
    let (service, request) = (&loader.service, &loader.request);
    let page = service.queue(request, filter, &args).await;
    let page = page.map_err(failure)?;
    let total_count = if want.has("totalCount") {
        let size = service.queue_size(request, filter).await;
        int(i64::try_from(size.map_err(failure)?).unwrap_or(i64::MAX))
    } else {
        0
    };
    let page = items(loader, page, &want.below("edges").below("node")).await?;
    let list = (queue_list(filter), Order::Oldest);
    let (edges, page_info) = edges(page, list, |node: &ItemNode| node.item.id.get());
    let edge = |(cursor, node)| Some(ModerationQueueEdge { cursor, node });
    Ok(ModerationQueueConnection {
        edges: edges.into_iter().map(edge).collect(),
        page_info,
        total_count,
    })
}

/// A page's items with everything that is wanted of them.
async fn items(
    loader: &Loader,
    page: ListPage<(QueueItem, crate::domain::visibility::CommentView)>,
    want: &Want,
) -> Result<ListPage<ItemNode>> {
    let (items, views): (Vec<QueueItem>, Vec<_>) = page.items.into_iter().unzip();
    let places: Vec<Place> = items
        .iter()
        .map(|item| (item.discussion_id, item.comment_id))
        .collect();
    let nodes = loader.views(views, &want.below("comment")).await?;
    let mut nodes: HashMap<Place, CommentNode> =
        nodes.into_iter().map(|node| (node.place(), node)).collect();
    let mut lists = Vec::new();
    for field in want.all("reports") {
        let args = ReportArgs::of(field);
        if !lists.iter().any(|(seen, _)| *seen == args) {
            let found = reports(loader, &places, &args).await;
            lists.push((args, found));
        }
    }
    let with_all = |(item, place): (QueueItem, Place)| {
        let reports = lists.iter().map(|(args, loaded)| {
            let here = match loaded {
                Ok(found) => Ok(found.get(&place).cloned().unwrap_or_default()),
                Err(error) => Err(error.clone()),
            };
            (args.clone(), here)
        });
        Some(ItemNode {
            item,
            comment: nodes.remove(&place)?,
            reports: reports.collect(),
        })
    };
    Ok(ListPage {
        items: items
            .into_iter()
            .zip(places.iter().copied())
            .filter_map(with_all)
            .collect(),
        has_previous: page.has_previous,
        has_next: page.has_next,
    })
}

/// One list of reports of all items: their rows in one call, who made them in another.
async fn reports(
    loader: &Loader,
    places: &[Place],
    args: &ReportArgs,
) -> Loaded<HashMap<Place, Vec<ReportNode>>> {
    let first = u32::try_from(args.first)
        .ok()
        .filter(|_| args.first <= REPORTS_MAX);
    let Some(first) = first else {
        let message = format!(
            "`first` is {}, it must be between 0 and {REPORTS_MAX}",
            args.first
        );
        return Err(bad_input("first", message));
    };
    let after = args.after.as_deref();
    let after = after.map(|id| decode_entry(EntryOf::Report, id));
    let after = after
        .transpose()
        .map_err(|error| bad_input("after", error))?;
    let found = loader
        .service
        .open_reports(&loader.request, places, after, first)
        .await
        .map_err(failure)?;
    let reporters: Vec<UserId> = found
        .values()
        .flatten()
        .map(|report| report.reporter_id)
        .filter(|reporter| *reporter != UserId::NOBODY)
        .collect();
    let people = loader.service.users(&reporters).await.map_err(failure)?;
    Ok(found
        .into_iter()
        .map(|(place, reports)| {
            let node = |report| super::mutation::with_reporter(report, &people);
            (place, reports.into_iter().map(node).collect())
        })
        .collect())
}

/// A person of some profiles that were loaded; one without a profile has an empty name.
pub(super) fn person(id: UserId, people: &HashMap<UserId, User>) -> UserNode {
    UserNode::new(people.get(&id).cloned().unwrap_or(User {
        id,
        name: String::new(),
    }))
}
