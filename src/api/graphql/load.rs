//! Loading rows before they are written: each level of a selection in a constant number of calls.
//!
//! For a set of comments: authors in one call, sums of their branches in one, each distinct
//! `replies(…)` of all of them together, parents and roots in one; then the same for the next level.
//! What cannot be loaded becomes the error of its own field, never of its neighbours.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_graphql::Error;
use futures_util::future::BoxFuture;

use super::comment::{CommentData, CommentNode, Loaded, REVISIONS_DEFAULT, REVISIONS_MAX};
use super::connection::{CommentConnection, CommentEdge};
use super::failure::failure;
use super::user::UserNode;
use super::want::{ListArgs, Want, WantField};
use crate::domain::counts::Tally;
use crate::domain::discussion::{Discussion, DiscussionState};
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::mode::Mode;
use crate::domain::user::User;
use crate::domain::viewer::Role;
use crate::domain::visibility::{CommentView, ShownState};
use crate::service::threads::{CommentsPage, RepliesAsk};
use crate::service::{Request, Service, ServiceError};
use crate::store::comments::Revision;

/// Loads for one request.
#[derive(Clone, Debug)]
pub(super) struct Loader {
    pub(super) service: Service,
    pub(super) request: Arc<Request>,
}

/// A comment to load the surroundings of.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) view: CommentView,
    pub(super) discussion: Arc<Discussion>,
}

/// What names a comment among all discussions' comments: imported ones may share their id.
type Place = (DiscussionId, CommentId);
type RepliesOf = HashMap<Place, Vec<(ListArgs, Loaded<Option<CommentConnection>>)>>;

impl Loader {
    /// A loaded page, with everything below it that is wanted.
    pub(super) async fn page(&self, page: CommentsPage, want: &Want) -> CommentConnection {
        self.pages(vec![page], want)
            .await
            .pop()
            .unwrap_or_else(CommentConnection::empty)
    }

    /// Several pages with the same selection, loaded together.
    async fn pages(&self, mut pages: Vec<CommentsPage>, want: &Want) -> Vec<CommentConnection> {
        let edges = want.below("edges");
        let node = edges.below("node");
        let on_edges: Vec<WantField> = edges.all("replies").cloned().collect();
        let is_paged = want.has("pageInfo");
        let mut shapes = Vec::with_capacity(pages.len());
        let mut rows = Vec::new();
        for page in &mut pages {
            let ends = if is_paged { page.ends() } else { (None, None) };
            shapes.push((ends, page.comments.len()));
            let discussion = &page.discussion;
            rows.extend(page.comments.drain(..).map(|view| Row {
                view,
                discussion: Arc::clone(discussion),
            }));
        }
        let mut nodes = self.rows(rows, &node, &on_edges).await.into_iter();
        pages
            .iter()
            .zip(shapes)
            .map(|(page, (ends, rows))| {
                let here = nodes.by_ref().take(rows);
                let edges = here.map(|node| CommentEdge::new(page, node)).collect();
                CommentConnection::new(page, ends, edges)
            })
            .collect()
    }

    /// Comments with what is wanted of each, in the order given. `on_edges`: lists of replies that
    /// the edges around them ask for.
    pub(super) fn rows<'a>(
        &'a self,
        rows: Vec<Row>,
        want: &'a Want,
        on_edges: &'a [WantField],
    ) -> BoxFuture<'a, Vec<CommentNode>> {
        Box::pin(async move {
            if rows.is_empty() {
                return Vec::new();
            }
            let authors = self.authors(&rows, want).await;
            let lists: Vec<&WantField> = want.all("replies").chain(on_edges).collect();
            let sums = self
                .sums(&rows, want.has("counts") || !lists.is_empty())
                .await;
            let mut replies = self.replies(&rows, &lists, &sums).await;
            let parents = self
                .related(&rows, want, "parent", |view| view.parent_id)
                .await;
            let root_of = |view: &CommentView| (view.depth() > 0).then(|| view.root_id());
            let roots = self.related(&rows, want, "root", root_of).await;
            let mut revisions = self.revisions(&rows, want).await;
            rows.into_iter()
                .map(|row| {
                    let place = row.view.place();
                    let take = |all: &Loaded<HashMap<Place, CommentNode>>, of| match all {
                        Ok(found) => {
                            Ok(of).map(|of: Option<CommentId>| found.get(&(place.0, of?)).cloned())
                        }
                        Err(error) => Err(error.clone()),
                    };
                    let parent = take(&parents, row.view.parent_id);
                    let root = take(&roots, root_of(&row.view));
                    let revisions = match &mut revisions {
                        Ok(found) => Ok(found.remove(&place).map(Arc::from)),
                        Err(error) => Err(error.clone()),
                    };
                    self.node(
                        row,
                        &authors,
                        &sums,
                        Related {
                            parent,
                            root,
                            replies: replies.remove(&place).unwrap_or_default(),
                            revisions,
                        },
                        want,
                    )
                })
                .collect()
        })
    }

    fn node(
        &self,
        row: Row,
        authors: &Loaded<HashMap<UserId, User>>,
        sums: &HashMap<DiscussionId, Loaded<HashMap<CommentId, Tally>>>,
        related: Related,
        want: &Want,
    ) -> CommentNode {
        let author_id = row.view.content.as_ref().map(|content| content.author_id);
        let author = match authors {
            Ok(found) => Ok(author_id.map(|id| {
                UserNode::new(found.get(&id).cloned().unwrap_or(User {
                    id,
                    name: String::new(),
                }))
            })),
            Err(error) => Err(error.clone()),
        };
        let counts = self
            .service
            .heads_branch(&row.discussion, &row.view)
            .then(|| match sums.get(&row.discussion.id) {
                Some(Ok(sums)) => Ok(sums.get(&row.view.id).copied().unwrap_or_default()),
                Some(Err(error)) => Err(error.clone()),
                None => Ok(Tally::default()),
            });
        let body = if want.has("body") {
            self.service.body(&row.view)
        } else {
            None
        };
        CommentNode::new(CommentData {
            can: (!self.request.is_shared).then(|| self.abilities(&row)),
            author,
            counts,
            body,
            parent: related.parent,
            root: related.root,
            replies: related.replies,
            revisions: related.revisions,
            view: row.view,
            discussion: row.discussion,
        })
    }

    async fn authors(&self, rows: &[Row], want: &Want) -> Loaded<HashMap<UserId, User>> {
        if !want.has("author") {
            return Ok(HashMap::new());
        }
        let ids: HashSet<UserId> = rows
            .iter()
            .filter_map(|row| row.view.content.as_ref())
            .map(|content| content.author_id)
            .collect();
        let ids: Vec<UserId> = ids.into_iter().collect();
        self.service.users(&ids).await.map_err(failure)
    }

    /// Earlier texts of the rows whose history the viewer may see, as many as any selection wants.
    async fn revisions(&self, rows: &[Row], want: &Want) -> Loaded<HashMap<Place, Vec<Revision>>> {
        let asked = want
            .all("revisions")
            .map(|field| field.integer("last").unwrap_or(REVISIONS_DEFAULT.into()));
        let Some(limit) = asked.max() else {
            return Ok(HashMap::new());
        };
        // What is out of range fails its own field.
        let limit = limit.clamp(0, REVISIONS_MAX.into());
        let views: Vec<&CommentView> = rows.iter().map(|row| &row.view).collect();
        self.service
            .revisions(&self.request, &views, u32::try_from(limit).unwrap_or(0))
            .await
            .map_err(failure)
    }

    async fn sums(
        &self,
        rows: &[Row],
        wanted: bool,
    ) -> HashMap<DiscussionId, Loaded<HashMap<CommentId, Tally>>> {
        let mut sums = HashMap::new();
        if !wanted {
            return sums;
        }
        for (discussion, rows) in by_discussion(rows) {
            let heads: Vec<CommentId> = rows
                .iter()
                .filter(|row| self.service.heads_branch(&discussion, &row.view))
                .map(|row| row.view.id)
                .collect();
            let found = self
                .service
                .branch_sums(&discussion, &heads)
                .await
                .map_err(failure);
            sums.insert(discussion.id, found);
        }
        sums
    }

    /// Every list of replies wanted of some rows: one load for each distinct set of arguments.
    async fn replies(
        &self,
        rows: &[Row],
        lists: &[&WantField],
        sums: &HashMap<DiscussionId, Loaded<HashMap<CommentId, Tally>>>,
    ) -> RepliesOf {
        let mut found: RepliesOf = HashMap::new();
        let mut distinct: Vec<(ListArgs, Vec<&WantField>)> = Vec::new();
        for field in lists {
            let args = field.list_args();
            match distinct.iter_mut().find(|(seen, _)| *seen == args) {
                Some((_, fields)) => fields.push(field),
                None => distinct.push((args, vec![field])),
            }
        }
        if distinct.is_empty() {
            return found;
        }
        for (discussion, rows) in by_discussion(rows) {
            for (args, fields) in &distinct {
                let want = Want::join(fields.iter().copied());
                let sums = sums.get(&discussion.id);
                let loaded = self.replies_in(&discussion, &rows, args, &want, sums).await;
                let mut loaded = loaded.map_err(failure);
                for row in &rows {
                    let list = match &mut loaded {
                        Ok(lists) => Ok(lists.remove(&row.view.id)),
                        Err(error) => Err(error.clone()),
                    };
                    found
                        .entry(row.view.place())
                        .or_default()
                        .push((args.clone(), list));
                }
            }
        }
        found
    }

    async fn replies_in(
        &self,
        discussion: &Arc<Discussion>,
        rows: &[&Row],
        args: &ListArgs,
        want: &Want,
        sums: Option<&Loaded<HashMap<CommentId, Tally>>>,
    ) -> Result<HashMap<CommentId, CommentConnection>, ServiceError> {
        let served = self
            .service
            .threads_served(&self.request, discussion)
            .await?;
        let Some((discussion, choice)) = served else {
            return Ok(HashMap::new());
        };
        let shown = |id| match sums {
            Some(Ok(sums)) => sums.get(&id).map_or(0, |tally: &Tally| tally.shown),
            Some(Err(_)) | None => 0,
        };
        let heads: Vec<(CommentId, i64)> = rows
            .iter()
            .filter(|row| self.service.heads_branch(&discussion, &row.view))
            .map(|row| (row.view.id, shown(row.view.id)))
            .collect();
        let ask = RepliesAsk {
            order: args.order,
            page: args.page.clone(),
            look_behind: want.has("pageInfo"),
        };
        let pages = self
            .service
            .replies(&self.request, &discussion, choice, &heads, &ask)
            .await?;
        let lists = self.pages(pages, want).await;
        Ok(heads.into_iter().map(|(head, _)| head).zip(lists).collect())
    }

    /// Comments that rows point at, by id, with what is wanted of them.
    async fn related(
        &self,
        rows: &[Row],
        want: &Want,
        field: &str,
        of: impl Fn(&CommentView) -> Option<CommentId>,
    ) -> Loaded<HashMap<Place, CommentNode>> {
        if !want.has(field) {
            return Ok(HashMap::new());
        }
        let mut places: HashMap<Place, Arc<Discussion>> = HashMap::new();
        for row in rows {
            if let Some(id) = of(&row.view) {
                places.insert((row.discussion.id, id), Arc::clone(&row.discussion));
            }
        }
        let ids: Vec<Place> = places.keys().copied().collect();
        let seen = self
            .service
            .comments(&self.request, &ids)
            .await
            .map_err(failure)?;
        let rows = seen
            .into_values()
            .filter_map(|view| {
                let discussion = places.get(&view.place()).map(Arc::clone)?;
                Some(Row { view, discussion })
            })
            .collect();
        let want = want.below(field);
        let nodes = self.rows(rows, &want, &[]).await;
        Ok(nodes.into_iter().map(|node| (node.place(), node)).collect())
    }

    /// What the viewer may do with a comment.
    fn abilities(&self, row: &Row) -> super::comment::CommentAbilities {
        let viewer = self.request.viewer.as_ref();
        let moderates = self.request.role() >= Role::Moderator;
        let author = row.view.content.as_ref().map(|content| content.author_id);
        let own = viewer.is_some_and(|viewer| author == Some(viewer.user_id));
        let buried = row.view.state == ShownState::Buried;
        super::comment::CommentAbilities {
            reply: viewer.is_some()
                && row.view.state == ShownState::Published
                && !row.view.is_cut_off
                && row.discussion.state == DiscussionState::Open,
            edit: own && !buried,
            delete: (own || moderates) && !buried,
            moderate: moderates && !buried,
        }
    }

    /// A single comment, with what is wanted of it.
    pub(super) async fn comment(
        &self,
        discussion: &Arc<Discussion>,
        view: CommentView,
        want: &Want,
    ) -> Option<CommentNode> {
        let row = Row {
            view,
            discussion: Arc::clone(discussion),
        };
        self.rows(vec![row], want, &[]).await.pop()
    }

    /// Comments by id, with what is wanted of each; those the viewer may not see are left out.
    pub(super) async fn by_ids(
        &self,
        ids: &[Place],
        want: &Want,
    ) -> Result<HashMap<Place, CommentNode>, Error> {
        let seen = self
            .service
            .comments(&self.request, ids)
            .await
            .map_err(failure)?;
        self.views(seen.into_values().collect(), want)
            .await
            .map(|nodes| nodes.into_iter().map(|node| (node.place(), node)).collect())
    }

    /// Views of any discussions, with what is wanted of each, in order.
    pub(super) async fn views(
        &self,
        views: Vec<CommentView>,
        want: &Want,
    ) -> Result<Vec<CommentNode>, Error> {
        let places: HashSet<DiscussionId> = views.iter().map(|view| view.discussion_id).collect();
        let places: Vec<DiscussionId> = places.into_iter().collect();
        let found = self.service.discussions(&places).await.map_err(failure)?;
        let found: HashMap<DiscussionId, Arc<Discussion>> =
            found.into_iter().map(|row| (row.id, row)).collect();
        let rows = views
            .into_iter()
            .filter_map(|view| {
                let discussion = found.get(&view.discussion_id).map(Arc::clone)?;
                Some(Row { view, discussion })
            })
            .collect();
        Ok(self.rows(rows, want, &[]).await)
    }
}

/// What was loaded beside a row.
struct Related {
    parent: Loaded<Option<CommentNode>>,
    root: Loaded<Option<CommentNode>>,
    replies: Vec<(ListArgs, Loaded<Option<CommentConnection>>)>,
    revisions: Loaded<Option<Arc<[Revision]>>>,
}

/// Rows by the discussion they lie in; nearly always one.
fn by_discussion(rows: &[Row]) -> Vec<(Arc<Discussion>, Vec<&Row>)> {
    let mut groups: Vec<(Arc<Discussion>, Vec<&Row>)> = Vec::new();
    for row in rows {
        match groups
            .iter_mut()
            .find(|(place, _)| place.id == row.discussion.id)
        {
            Some((_, group)) => group.push(row),
            None => groups.push((Arc::clone(&row.discussion), vec![row])),
        }
    }
    groups
}

/// Whether a page's edges carry replies: in a linear page, which lists them itself, they do not.
pub(super) fn edges_have_replies(mode: Mode) -> bool {
    mode == Mode::Threaded
}
