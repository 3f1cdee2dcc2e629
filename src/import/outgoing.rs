//! What is sent to the store, made of a row's words and what was decided about it.

use std::io;

use super::checks;
use super::lots::Lot;
use super::orphans::{Orphan, Orphans};
use super::pipeline::ImportOptions;
use super::report::{Note, Oddity, Reason, Report, RowKind, What};
use super::resolve::{Place, Verdict, wide};
use super::rows::{CommentWords, DiscussionWords, Row};
use super::scan::Scanned;
use crate::domain::body::BodyFormat;
use crate::domain::comment::CommentState;
use crate::domain::ids::{CommentId, UserId};
use crate::export::{Kept, URL_SCHEME};
use crate::store::comments::{ImportComment, ImportDiscussion, KeptDiscussion};

/// A comment on its way, with what the report says about it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) comment: ImportComment,
    pub(super) author: Option<Author>,
    pub(super) name: Name,
}

/// Who wrote a comment.
#[derive(Clone, Debug)]
pub(super) enum Author {
    /// Somebody of the source: a key and a name.
    Source(String, String),
    /// A user of this service, as a comment keeps them, and a name.
    Kept(UserId, String),
}

/// What the report calls a comment that was sent to the store.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) source_id: String,
    pub(super) line: u64,
    /// Its parent, if that is not in its discussion.
    pub(super) absent_parent: Option<String>,
}

/// Takes the words of a row from the spool and puts them as the plan has it.
pub(super) fn comment(
    scanned: &Scanned,
    lot: &Lot,
    row: u32,
    now_ms: i64,
) -> io::Result<Option<Outgoing>> {
    let restore = scanned.restore;
    let (Some(row), Some(place)) = (lot.rows.get(wide(row)), lot.plan.places.get(wide(row))) else {
        return Ok(None);
    };
    let words = scanned.comment_words(row)?;
    let is_whole = place.verdict == Verdict::Whole;
    let format = BodyFormat::from_code(words.format).unwrap_or_default();
    let state = CommentState::from_code(words.state).unwrap_or(CommentState::Buried);
    let kept = words.kept.map(Kept::from);
    let (kept, author_id) = match kept {
        Some(Kept::Comment(kept, author)) => (Some(kept), author),
        Some(Kept::Discussion(_)) | None => (None, UserId::NOBODY),
    };
    let is_kept = kept.is_some();
    let edited_ms = words.edited_ms.map(|ms| {
        if is_kept {
            ms
        } else {
            ms.clamp(place.time_ms, now_ms)
        }
    });
    let author = Some(if is_kept {
        Author::Kept(author_id, words.author_name)
    } else {
        Author::Source(words.author_key, words.author_name)
    });
    let is_absent = place.made_root == Some(Note::OrphanMissingParent);
    let parent = words
        .parent
        .filter(|_| is_absent || place.parent().is_some());
    Ok(Some(Outgoing {
        name: Name {
            source_id: words.source_id.clone(),
            line: words.line,
            absent_parent: parent.clone().filter(|_| is_absent),
        },
        author: author.filter(|_| is_whole),
        comment: ImportComment {
            source_id: words.source_id,
            created_ms: place.time_ms,
            // What kept its id is known by it, in our own exports also as the id of the line.
            parent_id: parent
                .as_deref()
                .filter(|_| restore)
                .and_then(|parent| parent.parse().ok())
                .map(CommentId::new),
            parent_source_id: parent,
            author_id,
            body: words.body,
            format,
            edited_at_ms: edited_ms.filter(|_| is_whole),
            state: if is_whole {
                state
            } else {
                CommentState::Buried
            },
            kept: kept.map(Box::new),
        },
    }))
}

/// Drops from a discussion what this service cannot take, and reports it.
pub(super) fn discussion(
    words: DiscussionWords,
    (created_ms, clamped): (i64, bool),
    options: &ImportOptions,
    report: &mut Report,
) -> ImportDiscussion {
    if let Some(Kept::Discussion(kept)) = words.kept.clone().map(Kept::from) {
        return kept_discussion(words, kept, created_ms, options);
    }
    let (title, title_dropped) = checks::title(&words.title);
    let url = words.url.as_deref();
    let canonical = url.and_then(|url| checks::canonical_url(url, &options.kept_parameters));
    let entity = words.entity.as_ref().and_then(checks::entity);
    let notes = [
        (clamped && words.line > 0, Note::DateClamped),
        (title_dropped, Note::TitleDropped),
        (url.is_some() && canonical.is_none(), Note::UrlUnusable),
        (
            words.entity.is_some() && entity.is_none(),
            Note::EntityUnusable,
        ),
    ];
    for (_, note) in notes.iter().filter(|(applies, _)| *applies) {
        report.odd(changed_discussion(
            words.source_id.clone(),
            words.line,
            *note,
            String::new(),
        ));
    }
    ImportDiscussion {
        source: options.source.clone(),
        source_id: words.source_id,
        created_ms,
        title,
        url: canonical,
        entity,
        closed: words.closed,
        depth_limit: options.depth_limit,
        kept: None,
    }
}

/// A discussion as this service had it.
fn kept_discussion(
    words: DiscussionWords,
    kept: KeptDiscussion,
    created_ms: i64,
    options: &ImportOptions,
) -> ImportDiscussion {
    // An address is kept without its scheme.
    let url = words.url.map(|url| match url.strip_prefix(URL_SCHEME) {
        Some(canonical) => canonical.to_owned(),
        None => url,
    });
    ImportDiscussion {
        source: options.source.clone(),
        source_id: words.source_id,
        created_ms,
        title: words.title,
        url,
        entity: words.entity,
        closed: words.closed,
        depth_limit: options.depth_limit,
        kept: Some(kept),
    }
}

/// An oddity of a discussion that is written.
pub(super) fn changed_discussion(
    source_id: String,
    line: u64,
    note: Note,
    detail: String,
) -> Oddity {
    Oddity {
        kind: RowKind::Discussion,
        source_id,
        line,
        what: What::Changed(note),
        detail,
    }
}

/// Counts what the plan leaves out or changes, before any of the lot is written.
pub(super) fn report_lot(
    scanned: &Scanned,
    lot: &Lot,
    report: &mut Report,
    orphans: &mut Orphans,
) -> io::Result<()> {
    let dry_run = report.dry_run;
    for (place, row) in lot.plan.places.iter().zip(&lot.rows) {
        let odd = oddities_of(place, row, dry_run);
        if odd.is_empty() {
            continue;
        }
        let has_room = report.has_room();
        let words = has_room.then(|| scanned.comment_words(row)).transpose()?;
        for what in odd {
            let mut oddity = None;
            match &words {
                None => report.odd_unnamed(RowKind::Comment, what),
                Some(words) => {
                    oddity = report.odd(Oddity {
                        kind: RowKind::Comment,
                        source_id: words.source_id.clone(),
                        line: words.line,
                        what,
                        detail: detail_of(what, words),
                    });
                }
            }
            if what == What::Changed(Note::OrphanMissingParent) {
                orphans.add(&Orphan {
                    parent: row.parent,
                    counted: true,
                    oddity,
                    name: None,
                })?;
            }
        }
    }
    Ok(())
}

fn oddities_of(place: &Place, row: &Row, dry_run: bool) -> Vec<What> {
    let tombstone = match place.verdict {
        Verdict::LeftOut(reason) => return vec![What::LeftOut(reason)],
        Verdict::Tombstone(reason) if reason.is_rejection() => Some(Note::TextLost),
        Verdict::Tombstone(_) => Some(Note::Tombstone),
        Verdict::Whole => None,
    };
    let inverted = place.inverted.then_some(Note::ClockInversion);
    let clamped = place.clamped.then_some(Note::DateClamped);
    let nameless = row.name_dropped && place.verdict == Verdict::Whole;
    let nameless = nameless.then_some(Note::NameDropped);
    // A parent that is not in the file may be in the store, which tells when the row is written.
    let made_root = place
        .made_root
        .filter(|note| dry_run || *note != Note::OrphanMissingParent);
    [tombstone, made_root, inverted, clamped, nameless]
        .into_iter()
        .flatten()
        .map(What::Changed)
        .collect()
}

fn detail_of(what: What, words: &CommentWords) -> String {
    match what {
        What::LeftOut(Reason::TooLong | Reason::TextRefused | Reason::Empty)
        | What::Changed(Note::TextLost | Note::Tombstone) => words.detail.clone(),
        What::Changed(
            Note::OrphanMissingParent
            | Note::OrphanForeignParent
            | Note::OrphanParentSkipped
            | Note::CycleBroken
            | Note::ClockInversion,
        ) => words
            .parent
            .as_ref()
            .map(|parent| format!("parent {parent}"))
            .unwrap_or_default(),
        What::LeftOut(_) | What::Changed(_) => String::new(),
    }
}
