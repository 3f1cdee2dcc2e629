//! What an item or a comment of a WordPress export is here.
//!
//! The words of the format and nothing else: which page was public, which row is a person's comment,
//! where it stood, when it was written. Invariant: what WordPress showed to nobody but its editors
//! (drafts, private pages, notes of shops) is never given as something to read, unless asked for.

use jiff::tz::TimeZone;

use super::texts::Texts;
use super::{WxrOptions, paragraphs};
use crate::domain::body::BodyFormat;
use crate::import::names;
use crate::import::record::{
    RejectedRow, SourceAuthor, SourceComment, SourceDiscussion, SourceItem, SourceState,
    SourceTime, check_id,
};
use crate::import::report::{Note, Oddity, Reason, RowKind, What};
use crate::import::resolve::EARLIEST_MS;
use crate::import::times;

/// The fields of an item that are read.
pub(super) const ITEM_FIELDS: [&str; 9] = [
    "title",
    "link",
    "post_id",
    "post_date",
    "post_date_gmt",
    "comment_status",
    "status",
    "post_type",
    "post_password",
];

/// The fields of a comment that are read. Its address of mail is kept only as a hash.
pub(super) const COMMENT_FIELDS: [&str; 10] = [
    "comment_id",
    "comment_author",
    "comment_author_email",
    "comment_date",
    "comment_date_gmt",
    "comment_content",
    "comment_approved",
    "comment_type",
    "comment_parent",
    "comment_user_id",
];

/// Types of items that are no pages; others of WordPress itself begin with `wp_`.
const NO_PAGES: [&str; 8] = [
    "attachment",
    "nav_menu_item",
    "revision",
    "custom_css",
    "customize_changeset",
    "oembed_cache",
    "user_request",
    "shop_order",
];

/// A row, and what had to be decided about it.
pub(super) struct Made {
    pub(super) item: SourceItem,
    pub(super) note: Option<Oddity>,
}

impl From<SourceItem> for Made {
    fn from(item: SourceItem) -> Self {
        Self { item, note: None }
    }
}

/// Whether everybody could read an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemState {
    Public,
    NotPublic,
    Trashed,
}

impl ItemState {
    pub(super) fn of(item: &Texts, options: &WxrOptions) -> Self {
        match item.get("status") {
            "trash" => Self::Trashed,
            _ if options.unpublished => Self::Public,
            // A picture inherits from its page; forums close their topics by this.
            "" | "publish" | "inherit" | "closed" if item.get("post_password").is_empty() => {
                Self::Public
            }
            // A status that a plug-in made up may mean anything.
            _ => Self::NotPublic,
        }
    }
}

/// Reads times. The GMT field counts when it is real; else the local one, in the site's zone.
#[derive(Debug)]
pub(super) struct Times<'a>(pub(super) Option<&'a TimeZone>);

impl Times<'_> {
    fn read(&self, gmt: &str, local: &str) -> (SourceTime, Option<(Note, String)>) {
        // Drafts and some importers leave it zero, or what software makes of zero.
        if let Ok(ms) = times::rfc3339_or_utc(gmt)
            && ms >= EARLIEST_MS
        {
            return (Ok(ms), None);
        }
        let (time, note) = times::local(local, self.0.unwrap_or(&TimeZone::UTC));
        let note = match note {
            None if self.0.is_none() && time.is_ok() => Some(Note::ZoneAssumed),
            note => note,
        };
        (time, note.map(|note| (note, format!("local {local}"))))
    }
}

/// Whether enough of an item is known to say what its comments are.
pub(super) fn is_known(item: &Texts) -> bool {
    ["post_id", "status", "post_type"]
        .iter()
        .all(|field| !item.get(field).is_empty())
}

fn id_of(item: &Texts) -> &str {
    match item.get("post_id") {
        "" | "0" => item.get("link"),
        id => id,
    }
}

/// The discussion that an item is, if it is one. `comments` of it were given.
pub(super) fn discussion(item: &Texts, state: ItemState, comments: u64, times: &Times<'_>) -> Made {
    let (id, kind, link) = (id_of(item), item.get("post_type"), item.get("link"));
    let reject =
        |reason, detail: String| reject(RowKind::Discussion, id, item.line(), reason, detail);
    if let Err((reason, detail)) = check_id(id) {
        return reject(reason, detail);
    }
    let is_page = !(NO_PAGES.contains(&kind) || kind.starts_with("wp_"));
    if comments == 0 && !is_page {
        return reject(Reason::NotDiscussed, kind.to_owned());
    }
    if comments == 0 && state == ItemState::NotPublic {
        let status = item.get("status");
        return reject(Reason::NotPublic, format!("{kind}, {status}"));
    }
    let (created, note) = times.read(item.get("post_date_gmt"), item.get("post_date"));
    Made {
        note: note.map(|note| noted(RowKind::Discussion, id, item.line(), note)),
        item: SourceItem::Discussion(SourceDiscussion {
            source_id: id.to_owned(),
            title: names::without_markup(item.get("title")),
            url: (!link.is_empty()).then(|| link.to_owned()),
            entity: None,
            created,
            closed: item.get("comment_status") == "closed",
            // Comments were given before it was known that nobody may read them: take them back.
            deleted: state != ItemState::Public,
            line: item.line(),
        }),
    }
}

/// The comment that a row of `item` is, if it is one.
pub(super) fn comment(row: &Texts, item: &Texts, options: &WxrOptions, times: &Times<'_>) -> Made {
    let (id, line) = (row.get("comment_id"), row.line());
    let reject = |reason, detail| reject(RowKind::Comment, id, line, reason, detail);
    if let Err((reason, detail)) = check_id(id) {
        return reject(reason, detail);
    }
    if check_id(id_of(item)).is_err() {
        let detail = format!("the item on line {} has neither id nor link", item.line());
        return reject(Reason::NoDiscussion, detail);
    }
    let kind = row.get("comment_type");
    if let Some(reason) =
        no_comment(kind).filter(|reason| *reason != Reason::Ping || !options.pings)
    {
        return reject(reason, kind.to_owned());
    }
    if ItemState::of(item, options) == ItemState::NotPublic {
        return reject(Reason::NotPublic, format!("post {}", id_of(item)));
    }
    let (created, note) = times.read(row.get("comment_date_gmt"), row.get("comment_date"));
    let state = state_of(row.get("comment_approved"));
    Made {
        note: note
            .filter(|_| state != SourceState::Spam)
            .map(|note| noted(RowKind::Comment, id, line, note)),
        item: SourceItem::Comment(Box::new(SourceComment {
            source_id: id.to_owned(),
            discussion_source_id: id_of(item).to_owned(),
            parent_source_id: Some(row.get("comment_parent"))
                .filter(|parent| !matches!(*parent, "" | "0"))
                .map(str::to_owned),
            author: author(row),
            created,
            edited: None,
            body: paragraphs::shown(row.raw("comment_content")),
            format: BodyFormat::Html,
            state,
            line,
        })),
    }
}

/// Why a row of some type is no comment.
fn no_comment(kind: &str) -> Option<Reason> {
    match kind {
        "" | "comment" | "review" => None,
        "pingback" | "trackback" | "pings" | "webmention" | "mention" => Some(Reason::Ping),
        // Shops keep the notes of an order here, and WordPress those of editors about a draft.
        _ => Some(Reason::NotAComment),
    }
}

fn state_of(approved: &str) -> SourceState {
    match approved {
        // A program that writes no such field exports what was shown.
        "" | "1" | "approve" | "approved" => SourceState::Published,
        "spam" => SourceState::Spam,
        "trash" | "post-trashed" => SourceState::Deleted,
        // "0", "hold", and what a plug-in made up: a moderator should see it first.
        _ => SourceState::Pending,
    }
}

fn author(row: &Texts) -> SourceAuthor {
    let name = names::without_markup(row.get("comment_author"));
    match row.get("comment_user_id") {
        "" | "0" => names::author_by_mail(row.get("comment_author_email"), &name),
        user => SourceAuthor {
            key: format!("user:{user}"),
            name,
        },
    }
}

fn noted(kind: RowKind, id: &str, line: u64, (note, detail): (Note, String)) -> Oddity {
    Oddity {
        kind,
        source_id: id.to_owned(),
        line,
        what: What::Changed(note),
        detail,
    }
}

fn reject(kind: RowKind, id: &str, line: u64, reason: Reason, detail: String) -> Made {
    let row = RejectedRow {
        kind,
        source_id: id.to_owned(),
        line,
        reason,
        detail,
    };
    SourceItem::Rejected(row).into()
}
