//! What an import did, row by row in numbers and for the first oddities in words.
//!
//! Invariant: every row read is imported, already there, skipped, rejected or (only when the import
//! stopped early) not written, exactly one of them. Notes count what was changed about rows that
//! are written; they are no part of the sum.

use std::collections::BTreeMap;

use serde::Serialize;

/// Oddities kept with their row; the counts go on beyond.
pub const ODDITIES_MAX: usize = 10_000;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A discussion.
    Discussion,
    /// A comment.
    Comment,
}

/// Why a row is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A newer version of it stands elsewhere in the file.
    Duplicate,
    /// The source had deleted it, and nothing that is kept hangs below.
    Deleted,
    /// The source held it to be spam.
    Spam,
    /// Readers would see nothing, and nothing that is kept hangs below.
    Empty,
    /// The source had deleted its discussion.
    DiscussionDeleted,
    /// A message of another site's program that links here, not a person's comment.
    Ping,
    /// A note of a program that keeps its own rows among the comments.
    NotAComment,
    /// Its page was not for everyone to read: a draft, private, or behind a password.
    NotPublic,
    /// Nothing that people discuss (a picture, a menu), and nobody did.
    NotDiscussed,
    /// It has no id.
    NoId,
    /// Its id is too long.
    BadId,
    /// It names no discussion.
    NoDiscussion,
    /// The discussion it names is not in the file.
    DiscussionMissing,
    /// Its text is too long.
    TooLong,
    /// Its text breaks another rule.
    TextRefused,
    /// The discussion holds as many comments as it may.
    DiscussionFull,
}

impl Reason {
    /// Whether something is lost that the source still showed; the rest is skipped as it should be.
    #[must_use]
    pub const fn is_rejection(self) -> bool {
        match self {
            Self::Duplicate
            | Self::Deleted
            | Self::Spam
            | Self::Empty
            | Self::DiscussionDeleted
            | Self::Ping
            | Self::NotAComment
            | Self::NotPublic
            | Self::NotDiscussed => false,
            Self::NoId
            | Self::BadId
            | Self::NoDiscussion
            | Self::DiscussionMissing
            | Self::TooLong
            | Self::TextRefused
            | Self::DiscussionFull => true,
        }
    }

    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Duplicate => "an older version of a row with the same id",
            Self::Deleted => "deleted, with nothing left below",
            Self::Spam => "spam",
            Self::Empty => "nothing to see, with nothing left below",
            Self::DiscussionDeleted => "in a deleted discussion",
            Self::Ping => "pingbacks and trackbacks",
            Self::NotAComment => "notes of programs, no comments",
            Self::NotPublic => "page not public (draft, private, password)",
            Self::NotDiscussed => "no pages (pictures, menus), no comments",
            Self::NoId => "no id",
            Self::BadId => "id too long",
            Self::NoDiscussion => "names no discussion",
            Self::DiscussionMissing => "its discussion is not in the file",
            Self::TooLong => "text too long",
            Self::TextRefused => "text against the rules",
            Self::DiscussionFull => "the discussion is full",
        }
    }
}

/// What was changed about a row that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// Made a root: its parent is neither in the file nor of an earlier run.
    OrphanMissingParent,
    /// Made a root: its parent is in another discussion.
    OrphanForeignParent,
    /// Made a root: its parent is spam and not written.
    OrphanParentSkipped,
    /// Made a root: it was the oldest of comments that answer each other in a circle.
    CycleBroken,
    /// Dated before what it answers; it is placed just behind it.
    ClockInversion,
    /// Its time was missing, unreadable, in the future or before 1990 and was replaced.
    DateClamped,
    /// Its local time did not exist: clocks were put forward over it. It is read as if they had
    /// not been, so it lies behind the gap.
    TimeGap,
    /// Its local time came twice, because clocks were put back. The first one is taken.
    TimeFold,
    /// It has only a local time and its zone was not told; read as UTC.
    ZoneAssumed,
    /// Deleted or empty; a tombstone keeps its place for the replies.
    Tombstone,
    /// Its text was refused; a tombstone keeps its place for the replies.
    TextLost,
    /// Hung one level higher: its parent lies on the deepest level.
    Flattened,
    /// Its address belongs to another discussion; it stays its own discussion without it.
    UrlTaken,
    /// Its address is not one of the web and was dropped.
    UrlUnusable,
    /// Its entity belongs to another discussion; it stays its own discussion without it.
    EntityTaken,
    /// Its entity cannot be one and was dropped.
    EntityUnusable,
    /// The id it had belongs to another discussion; it got one of its own.
    IdTaken,
    /// Its title was against the rules and was dropped.
    TitleDropped,
    /// Its author's name was an address of mail or against the rules and is not shown.
    NameDropped,
}

impl Note {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OrphanMissingParent => "made roots: parent not in the file nor imported before",
            Self::OrphanForeignParent => "made roots: parent in another discussion",
            Self::OrphanParentSkipped => "made roots: parent is spam",
            Self::CycleBroken => "made roots: answered each other in a circle",
            Self::ClockInversion => "dated before what they answer",
            Self::DateClamped => "dates that cannot be, replaced",
            Self::TimeGap => "local times that did not exist, moved past the gap",
            Self::TimeFold => "local times that came twice, the first one taken",
            Self::ZoneAssumed => "local times of an unknown zone, taken as UTC",
            Self::Tombstone => "tombstones kept for their replies",
            Self::TextLost => "texts refused; tombstones kept for their replies",
            Self::Flattened => "hung higher: too deep",
            Self::UrlTaken => "addresses that belong to another discussion",
            Self::UrlUnusable => "addresses that are none, dropped",
            Self::EntityTaken => "entities that belong to another discussion",
            Self::EntityUnusable => "entities that are none, dropped",
            Self::IdTaken => "ids that belong to another discussion",
            Self::TitleDropped => "titles against the rules, dropped",
            Self::NameDropped => "names that cannot be shown, dropped",
        }
    }
}

/// What became of the rows of one kind. In a dry run `imported` is what would be sent to the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rows read.
    pub read: u64,
    /// Rows written.
    pub imported: u64,
    /// Rows an earlier run had written.
    pub already_there: u64,
    /// Rows not reached, because the import stopped early.
    pub not_written: u64,
    /// Rows left out as they should be.
    pub skipped: BTreeMap<Reason, u64>,
    /// Rows left out although the source showed them.
    pub rejected: BTreeMap<Reason, u64>,
}

impl Tally {
    /// Counts one row left out.
    pub fn leave_out(&mut self, reason: Reason) {
        let kind = if reason.is_rejection() {
            &mut self.rejected
        } else {
            &mut self.skipped
        };
        *kind.entry(reason).or_default() += 1;
    }

    /// Rows skipped, whatever the reason.
    #[must_use]
    pub fn skipped_total(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Rows rejected, whatever the reason.
    #[must_use]
    pub fn rejected_total(&self) -> u64 {
        self.rejected.values().sum()
    }

    fn accounted(&self) -> u64 {
        self.imported + self.already_there + self.skipped_total() + self.rejected_total()
    }
}

/// How an import ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "how", content = "why")]
pub enum Outcome {
    /// To its end.
    Complete,
    /// The file cannot be read to its end; nothing was written.
    InputBroken(String),
    /// The store failed; what was written before stays and is found again by the next run.
    StoreFailed(String),
    /// It was told to stop; the next run goes on.
    Interrupted,
}

/// One odd row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// What it is.
    pub kind: RowKind,
    /// Its id in the source; may be empty.
    pub source_id: String,
    /// Its line in the export, from 1; 0 when it has none.
    pub line: u64,
    /// Why it was left out or changed.
    #[serde(flatten)]
    pub what: What,
    /// More about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What is odd about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It is left out.
    LeftOut(Reason),
    /// It is changed.
    Changed(Note),
}

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The name the rows are known under.
    pub source: String,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// What became of the discussions.
    pub discussions: Tally,
    /// What became of the comments.
    pub comments: Tally,
    /// What was changed about rows.
    pub notes: BTreeMap<Note, u64>,
    /// The first odd rows.
    pub oddities: Vec<Oddity>,
    /// Odd rows that found no place in the list.
    pub oddities_left_out: u64,
    /// How often the store failed for a while and was asked again.
    pub retries: u64,
}

impl Report {
    /// An empty report.
    pub fn new(source: &str, dry_run: bool) -> Self {
        Self {
            source: source.to_owned(),
            dry_run,
            outcome: Outcome::Complete,
            discussions: Tally::default(),
            comments: Tally::default(),
            notes: BTreeMap::new(),
            oddities: Vec::new(),
            oddities_left_out: 0,
            retries: 0,
        }
    }

    /// The numbers of one kind.
    pub fn tally(&mut self, kind: RowKind) -> &mut Tally {
        match kind {
            RowKind::Discussion => &mut self.discussions,
            RowKind::Comment => &mut self.comments,
        }
    }

    /// Whether the list of oddities has room: only then is it worth fetching a row's words.
    pub fn has_room(&self) -> bool {
        self.oddities.len() < ODDITIES_MAX
    }

    /// Counts what is odd about a row, and keeps the row while there is room; returns its place.
    pub fn odd(&mut self, oddity: Oddity) -> Option<usize> {
        self.count(oddity.kind, oddity.what);
        if self.has_room() {
            self.oddities.push(oddity);
            self.oddities.len().checked_sub(1)
        } else {
            self.oddities_left_out += 1;
            None
        }
    }

    /// Takes back a note about a row, which may have a place among the oddities, for another one.
    pub fn renote(&mut self, was: Note, is: Note, place: Option<usize>) {
        if let Some(count) = self.notes.get_mut(&was) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.notes.remove(&was);
            }
        }
        *self.notes.entry(is).or_default() += 1;
        if let Some(oddity) = place.and_then(|place| self.oddities.get_mut(place)) {
            oddity.what = What::Changed(is);
        }
    }

    /// Counts what is odd about a row whose words are not kept.
    pub fn odd_unnamed(&mut self, kind: RowKind, what: What) {
        self.count(kind, what);
        self.oddities_left_out += 1;
    }

    fn count(&mut self, kind: RowKind, what: What) {
        match what {
            What::LeftOut(reason) => self.tally(kind).leave_out(reason),
            What::Changed(note) => *self.notes.entry(note).or_default() += 1,
        }
    }

    /// Sets how it ended. What an early end left over counts as not written.
    #[must_use]
    pub fn ended(mut self, outcome: Outcome) -> Self {
        if outcome != Outcome::Complete {
            for tally in [&mut self.discussions, &mut self.comments] {
                tally.not_written = tally.read.saturating_sub(tally.accounted());
            }
        }
        self.outcome = outcome;
        debug_assert!(self.total_adds_up(), "{self:?}");
        self
    }

    /// Whether every row read is accounted for exactly once.
    #[must_use]
    pub fn total_adds_up(&self) -> bool {
        [&self.discussions, &self.comments]
            .iter()
            .all(|tally| tally.read == tally.accounted() + tally.not_written)
    }

    /// Whether there were comments, and not one of them is in the store now.
    fn came_to_nothing(&self) -> bool {
        let comments = &self.comments;
        comments.read > 0 && comments.imported + comments.already_there == 0
    }

    /// 0: all well, skipped rows included. 1: the input is broken or the store failed. 3: done, but
    /// rows were rejected or texts lost, or all comments were skipped. 130: interrupted.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let lost = self.notes.contains_key(&Note::TextLost)
            || self.discussions.rejected_total() + self.comments.rejected_total() > 0;
        match self.outcome {
            _ if !self.total_adds_up() => 1,
            Outcome::InputBroken(_) | Outcome::StoreFailed(_) => 1,
            Outcome::Interrupted => 130,
            Outcome::Complete if lost || self.came_to_nothing() => 3,
            Outcome::Complete => 0,
        }
    }

    /// The table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut lines = vec![format!(
            "{:<40} {:>12} {:>12}",
            format!("source {}", self.source),
            "discussions",
            "comments"
        )];
        let mut row = |name: &str, discussions: u64, comments: u64| {
            lines.push(format!("{name:<40} {discussions:>12} {comments:>12}"));
        };
        let (d, c) = (&self.discussions, &self.comments);
        row("read", d.read, c.read);
        let imported = if self.dry_run {
            "would be imported"
        } else {
            "imported"
        };
        row(imported, d.imported, c.imported);
        row("already there", d.already_there, c.already_there);
        row("skipped", d.skipped_total(), c.skipped_total());
        reasons(&d.skipped, &c.skipped, &mut row);
        row("rejected", d.rejected_total(), c.rejected_total());
        reasons(&d.rejected, &c.rejected, &mut row);
        if d.not_written + c.not_written > 0 {
            row("not written", d.not_written, c.not_written);
        }
        if !self.notes.is_empty() {
            lines.push("notes".to_owned());
        }
        for (note, count) in &self.notes {
            lines.push(format!("  {:<51} {count:>12}", note.words()));
        }
        if self.retries > 0 {
            lines.push(format!("{:<53} {:>12}", "store asked again", self.retries));
        }
        lines.push(self.last_line());
        lines.join("\n") + "\n"
    }

    fn last_line(&self) -> String {
        let sum = if self.total_adds_up() {
            "every row is accounted for"
        } else {
            "the numbers do not add up: this is a fault of the importer"
        };
        match &self.outcome {
            Outcome::Complete if self.came_to_nothing() => {
                format!("complete, but all comments were left out; {sum}")
            }
            Outcome::Complete if self.dry_run => format!("dry run, nothing was written; {sum}"),
            Outcome::Complete => format!("complete; {sum}"),
            Outcome::InputBroken(why) => {
                format!("the file cannot be read to its end, so nothing was written: {why}; {sum}")
            }
            Outcome::StoreFailed(why) => format!(
                "stopped: {why}; {sum}; run it again to go on, what was written is found again"
            ),
            Outcome::Interrupted => {
                format!(
                    "interrupted; {sum}; run it again to go on, what was written is found again"
                )
            }
        }
    }
}

fn reasons(
    discussions: &BTreeMap<Reason, u64>,
    comments: &BTreeMap<Reason, u64>,
    row: &mut impl FnMut(&str, u64, u64),
) {
    let count = |of: &BTreeMap<Reason, u64>, reason| of.get(reason).copied().unwrap_or(0);
    let mut all: Vec<&Reason> = discussions.keys().chain(comments.keys()).collect();
    all.sort_unstable();
    all.dedup();
    for reason in all {
        row(
            &format!("  {}", reason.words()),
            count(discussions, reason),
            count(comments, reason),
        );
    }
}
