//! People: from a token's subject to a viewer, names beside comments, and what somebody wrote.

use std::collections::HashMap;
use std::time::Duration;

use moka::sync::Cache;

use super::{Request, Service, ServiceResult};
use crate::domain::cursor::CursorList;
use crate::domain::ids::{CommentId, DiscussionId, UserId};
use crate::domain::page::{Order, PageArgs, PageRequest};
use crate::domain::text::clean_name;
use crate::domain::user::{User, numeric_subject};
use crate::domain::viewer::{Role, Viewer};
use crate::domain::visibility::CommentView;

use super::request::LIST_COST;
use super::scan::Scan;

/// People seen lately: (issuer, subject) to id and name, so that a request costs no look-up.
#[derive(Clone, Debug)]
pub(super) struct KnownPeople(Cache<(String, String), (UserId, String)>);

impl Default for KnownPeople {
    fn default() -> Self {
        Self(
            Cache::builder()
                .max_capacity(100_000)
                .time_to_live(KNOWN_FOR)
                .build(),
        )
    }
}

impl KnownPeople {
    /// Somebody's sign-in means nobody any more.
    pub(super) fn forget(&self, issuer: String, subject: String) {
        self.0.invalidate(&(issuer, subject));
    }
}

/// How long a profile is not looked at again; another instance may have changed the name.
const KNOWN_FOR: Duration = Duration::from_mins(10);

/// A page of what somebody wrote, across discussions.
#[derive(Clone, Debug, Default)]
pub struct AuthorPage {
    /// The comments this reader may see, in the order asked.
    pub comments: Vec<CommentView>,
    /// Whether something comes before.
    pub has_previous: bool,
    /// Whether something comes after.
    pub has_next: bool,
    /// Where a page that came up short stopped looking.
    pub scanned_to: Option<CommentId>,
}

/// A signed-in person as their token describes them.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Who vouches for them.
    pub issuer: &'a str,
    /// Their name there.
    pub subject: &'a str,
    /// What they may do.
    pub role: Role,
    /// What to call them.
    pub name: Option<&'a str>,
}

impl Service {
    /// The viewer behind a token. The first time somebody comes they get a profile; later, calls
    /// cost nothing while their name stays the same.
    pub async fn viewer(&self, who: Subject<'_>) -> ServiceResult<Viewer> {
        let name = who
            .name
            .and_then(|name| clean_name(name).ok())
            .unwrap_or_default();
        let key = (who.issuer.to_owned(), who.subject.to_owned());
        if let Some((user_id, known_name)) = self.people.0.get(&key)
            && (name.is_empty() || known_name == name)
        {
            return Ok(Viewer {
                user_id,
                role: who.role,
            });
        }
        let users = &self.ports.users;
        let user_id = if let Some(user_id) = numeric_subject(who.subject) {
            let profile = users.users(&[user_id]).await?.pop();
            let renamed = |user: &User| !name.is_empty() && user.name != name;
            if profile.as_ref().is_none_or(renamed) {
                users.set_name(user_id, &name).await?;
            }
            user_id
        } else {
            let candidate = UserId::new(self.ports.ids.mint()?);
            users
                .map_subject(who.issuer, who.subject, candidate, &name)
                .await?
        };
        self.people.0.insert(key, (user_id, name.into_owned()));
        Ok(Viewer {
            user_id,
            role: who.role,
        })
    }

    /// Profiles by id; somebody without a profile has an empty name. One store call.
    pub async fn users(&self, ids: &[UserId]) -> ServiceResult<HashMap<UserId, User>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self.ports.users.users(ids).await?;
        Ok(found.into_iter().map(|user| (user.id, user)).collect())
    }

    /// What somebody wrote, as far as this reader may see it.
    pub async fn comments_by(
        &self,
        request: &Request,
        author: UserId,
        order: Order,
        args: &PageArgs<String>,
    ) -> ServiceResult<AuthorPage> {
        let page = self.page_request(args, CursorList::Author(author), order)?;
        if self.reader(request).await?.hides(author) {
            // Nothing but placeholders: there is no use in a search for something to show.
            return Ok(AuthorPage::default());
        }
        self.author_page(request, author, order, page).await
    }

    async fn author_page(
        &self,
        request: &Request,
        author: UserId,
        order: Order,
        page: PageRequest,
    ) -> ServiceResult<AuthorPage> {
        request.spend(LIST_COST)?;
        let mut scan = Scan::new(page, order);
        loop {
            let entries = self.ports.comments.by_author(author, scan.slice()).await?;
            let last = entries.last().map(|(_, id)| *id);
            let seen = self.written_by(request, author, &entries).await?;
            if !scan.take(entries.len(), last, seen) {
                break;
            }
        }
        let scanned = scan.end();
        Ok(AuthorPage {
            comments: scanned.items,
            has_previous: scanned.has_previous,
            has_next: scanned.has_next,
            scanned_to: scanned.stopped_at,
        })
    }

    /// The entries' comments in their order; entries that outlived their comment are skipped.
    async fn written_by(
        &self,
        request: &Request,
        author: UserId,
        entries: &[(DiscussionId, CommentId)],
    ) -> ServiceResult<Vec<CommentView>> {
        let mut seen = self.comments(request, entries).await?;
        Ok(entries
            .iter()
            .filter_map(|at| seen.remove(at))
            .filter(|view| {
                view.content
                    .as_ref()
                    .is_some_and(|content| content.author_id == author)
            })
            .collect())
    }
}
