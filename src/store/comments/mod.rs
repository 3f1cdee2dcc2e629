//! Port `comments`: the linear rows, the tree index beside them, discussions, counts and the log.
//!
//! One port, because a comment, its index row and its log entry are written as one. Promises, each
//! a conformance case of the same name; every engine keeps all of them:
//!
//! - **C1** an acknowledged create is readable by id, in the linear list, under its author and in the log;
//! - **C2** with `index`, the comment and its index row appear together or not at all;
//! - **C3** a posting key returns its first comment, refuses another body, and frees itself when it expires;
//! - **C4** a reply's ancestors are its parent's and the parent; a missing or unreadable parent refuses it;
//! - **C5** an edit or change of state names the revision it saw; another revision changes nothing;
//! - **C6** bury is final, empties body, author and revisions, and keeps the row for what hangs below;
//! - **C7** a slice returns each row of its range once, in order, at most `limit`, in both directions;
//! - **C8** the counts equal a recount of the rows after any sequence of changes;
//! - **C9** runs cover every row of a list once, in order, in runs of bounded size;
//! - **C10** a discussion's key is claimed once; claiming it again finds the first discussion;
//! - **C11** a full or closed discussion refuses a create with a typed outcome;
//! - **C12** every change writes one log entry under the id it was given;
//! - **C13** the list of discussions holds each one once, in the order they were opened in, both ways;
//! - **C14** the log keeps its entries for an hour; older ones go, a few with each new one.
//!
//! The index (`comment_tree`) has promises of its own:
//!
//! - **T1** every comment of a complete discussion is in the index exactly once;
//! - **T2** a linear read and a whole threaded read return the same set;
//! - **T3** missing, foreign or newer parents and cycles never lose a comment: it becomes a root;
//! - **T4** building is idempotent and safe while people write;
//! - **T5** a create without index row makes the discussion incomplete in the same write;
//! - **T6** a second layout is built beside the first, flipped to and back, and dropped, under reads;
//! - **T7** a walk over the ranges of a split meets every discussion once;
//! - **T8** a queued discussion is leased to one builder at a time, until it is built.
//!
//! Moderation:
//!
//! - **Q1** a comment is in the queue once while it is pending or has unanswered reports, and not otherwise;
//! - **Q2** a comment comes into the queue and leaves it in the write that causes it, whoever else writes;
//! - **Q3** a person reports a comment once; again, the first report is the answer;
//! - **Q4** a moderator's decision on a comment, and a dismissal, answer all its reports;
//! - **Q5** the queue is read by place in both directions under any filter, and its size is its rows';
//! - **Q6** a forgotten reporter's reports stay without name and words;
//! - **A1** a moderator's act writes one audit entry with it; one that changes nothing writes none;
//! - **A2** the audit log is read by event in both directions under any filter;
//! - **P1** pins are set as a whole, in order, and only of comments that anybody can read.
//!
//! Around a person:
//!
//! - **N1** a reply to somebody else is noted with it, once however often it is retried;
//! - **N2** a reply that waits is listed once it is let through, a buried one never; imports note none;
//! - **N3** the replies to a person are listed by event, each once, in both directions;
//! - **N4** what is read of replies only moves forward, and never beyond the newest reply;
//! - **N5** what is seen of a discussion only moves forward, and never beyond its newest comment;
//! - **N6** the rows after one come in order and without their texts;
//! - **N7** a forgotten person has no replies, no marks and no posting keys left;
//! - **N8** after a scrub nothing of what was deleted is left in the store's files.
//!
//! Imports:
//!
//! - **I1** the same row imported twice is one comment with one id;
//! - **I2** ids depend on the source alone: another order or another run gives the same ids;
//! - **I3** two source ids never share an id; nothing is merged across discussions;
//! - **I4** imported rows write no log entry and leave the discussion without a complete index;
//! - **I5** a call that imports more than [`IMPORT_BATCH_MAX`] rows is refused as a whole;
//! - **I6** a row of our own export keeps id, author, revisions, state and origin; again, it changes nothing;
//! - **I7** a discussion whose kept id another one holds gets its own, the same on every run;
//! - **I8** where imported rows came from is told by their ids.

mod audit;
mod index;
mod moderation;
mod people;
mod reads;
mod reports;
pub mod sqlite;

mod writes;

pub use audit::{AuditEntry, AuditFilter, CommentAudit};
pub use index::{CommentIndex, IndexPlace, IndexRow, ScanRow, WRITE_ROWS_MAX};
pub use moderation::{
    ChangeOutcome, CommentModeration, CountCheck, DiscussionAct, DiscussionChange,
    DiscussionOutcome, Revision, StateChange, WrongCount,
};
pub use people::{CommentPeople, ReplyTo, RowFacts};
pub use reads::{CommentReads, Lane, LogEntry, LogKind, Rows};
pub use reports::{
    CommentReports, DismissOutcome, Dismissal, NewReport, QueueFilter, QueueItem, Report,
    ReportOutcome,
};
pub use writes::{
    Claim, CommentWrites, CreateOutcome, EditComment, ImportComment, ImportDiscussion,
    ImportOutcome, KeptComment, KeptDiscussion, NewComment, NewDiscussion, Opened, Origin,
};

/// How long after its id's time a create may still be written, in ms; later it fails unwritten.
pub const CREATE_LATE_MAX_MS: i64 = 10_000;

/// Rows of one call of an import at most; more are refused with
/// [`StoreErrorKind::Limit`](crate::store::StoreErrorKind::Limit).
pub const IMPORT_BATCH_MAX: usize = 500;

/// Everything the port can do; what the service holds as `Arc<dyn CommentStore>`.
pub trait CommentStore:
    CommentReads
    + CommentWrites
    + CommentModeration
    + CommentReports
    + CommentAudit
    + CommentIndex
    + CommentPeople
{
}

impl<T> CommentStore for T where
    T: CommentReads
        + CommentWrites
        + CommentModeration
        + CommentReports
        + CommentAudit
        + CommentIndex
        + CommentPeople
{
}
