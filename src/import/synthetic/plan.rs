//! From a topic to its comments: who wrote what, when, and in answer to what.
//!
//! Everything is a function of the topic, so two runs agree. Parents come before their replies.

use super::catalogue::{Branch, Topic};
use super::people::PEOPLE;
use crate::domain::body::BodyFormat;
use crate::domain::comment::CommentState;
use crate::domain::hash::murmur3_32;
use crate::domain::ids::UserId;
use crate::store::comments::ImportComment;

/// 2026-01-05T08:00:00Z, when the first discussion began, in ms since 1970.
const EPOCH_MS: i64 = 1_767_600_000_000;
const MINUTE_MS: i64 = 60_000;
/// Between the beginnings of two discussions.
const TOPIC_GAP_MS: i64 = 17 * 60 * MINUTE_MS;
/// Between two roots of a discussion.
const ROOT_GAP_MS: i64 = 47 * MINUTE_MS;
/// Between two replies of a branch, at least.
const REPLY_GAP_MS: i64 = 11 * MINUTE_MS;
/// How much later than planned somebody may be; less than a gap, so the order stays.
const LATE_MAX_MS: u32 = 5 * 60_000;

/// When a discussion began.
pub(super) fn start_ms(number: usize) -> i64 {
    EPOCH_MS + TOPIC_GAP_MS * signed(number)
}

/// Every comment of a topic, oldest first.
pub(super) fn comments(number: usize, topic: &Topic) -> Vec<ImportComment> {
    let mut planned = Vec::new();
    for (place, branch) in topic.branches.iter().enumerate() {
        let root = Spot {
            number,
            branch: place,
            reply: None,
        };
        planned.push(comment(topic, root, None));
        for reply in 0..branch.replies() {
            let spot = Spot {
                reply: Some(reply),
                ..root
            };
            let parent = Spot {
                reply: parent_of(*branch, reply),
                ..root
            };
            planned.push(comment(topic, spot, Some(parent)));
        }
    }
    // A stable order: who wrote at the same moment stays as planned.
    planned.sort_by_key(|comment| comment.created_ms);
    planned
}

/// Which reply a reply answers; `None` is the root.
fn parent_of(branch: Branch, reply: usize) -> Option<usize> {
    match branch {
        Branch::Chain(_) => reply.checked_sub(1),
        Branch::Replies(_) => match reply % 3 {
            0 => None,
            step => reply.checked_sub(step),
        },
    }
}

/// The place of a comment: discussion, branch, and reply within it (`None`: the root).
#[derive(Clone, Copy, Debug)]
struct Spot {
    number: usize,
    branch: usize,
    reply: Option<usize>,
}

impl Spot {
    fn source_id(self, topic: &Topic) -> String {
        let (slug, branch) = (topic.slug, self.branch);
        match self.reply {
            None => format!("{slug}-{branch}"),
            Some(reply) => format!("{slug}-{branch}-{reply}"),
        }
    }

    /// Replies count from 1 here, the root is 0.
    fn step(self) -> usize {
        self.reply.map_or(0, |reply| reply + 1)
    }

    /// Nobody answers themselves: a reply never has the root's author, nor that of the two before.
    fn author(self) -> UserId {
        let others = PEOPLE.len() - 1;
        let beside = match self.step() {
            0 => 0,
            step => 1 + step * 17 % others,
        };
        let person = (self.number * 5 + self.branch * 7 + beside) % PEOPLE.len();
        UserId::new(signed(person) + 1)
    }

    /// Deleted ones: a root and replies that were answered leave a tombstone; others vanish.
    fn state(self, topic: &Topic) -> CommentState {
        let replies = topic.branches.get(self.branch).map_or(0, |b| b.replies());
        let is_buried = match self.reply {
            None => self.number == 0 && self.branch == 3,
            Some(0) => self.branch % 4 == 1 && replies > 2,
            Some(reply) => self.branch % 6 == 5 && reply + 1 == replies,
        };
        if is_buried {
            CommentState::Buried
        } else {
            CommentState::Published
        }
    }
}

fn comment(topic: &Topic, spot: Spot, parent: Option<Spot>) -> ImportComment {
    let source_id = spot.source_id(topic);
    let late_ms = chance(&source_id, "late") % LATE_MAX_MS;
    let created_ms = start_ms(spot.number)
        + ROOT_GAP_MS * signed(spot.branch)
        + REPLY_GAP_MS * signed(spot.step())
        + i64::from(late_ms);
    let state = spot.state(topic);
    let (author_id, (body, format)) = match state {
        CommentState::Buried => (UserId::NOBODY, (String::new(), BodyFormat::Plain)),
        CommentState::Published | CommentState::Pending | CommentState::Hidden => {
            (spot.author(), words(topic, spot, &source_id))
        }
    };
    let is_edited =
        state == CommentState::Published && chance(&source_id, "edited").is_multiple_of(12);
    ImportComment {
        parent_source_id: parent.map(|parent| parent.source_id(topic)),
        created_ms,
        author_id,
        body,
        format,
        edited_at_ms: is_edited.then_some(created_ms + 3 * MINUTE_MS),
        state,
        source_id,
        parent_id: None,
        kept: None,
    }
}

/// What a comment says, and how it is written.
fn words(topic: &Topic, spot: Spot, source_id: &str) -> (String, BodyFormat) {
    let voice = topic.voice;
    if chance(source_id, "rich").is_multiple_of(9) {
        let text = pick(voice.rich, source_id, "rich text");
        return (text.to_owned(), BodyFormat::Markdown);
    }
    let lead = match spot.reply {
        None => nth(voice.openers, spot.branch),
        Some(_) => pick(voice.replies, source_id, "reply"),
    };
    let body = if chance(source_id, "aside").is_multiple_of(3) {
        lead.to_owned()
    } else {
        let aside = pick(voice.asides, source_id, "which aside");
        format!("{lead}{}{aside}", voice.between)
    };
    (body, BodyFormat::Plain)
}

/// A number that depends on the comment and on what it is for, and on nothing else.
fn chance(source_id: &str, purpose: &str) -> u32 {
    murmur3_32(format!("{source_id}/{purpose}").as_bytes())
}

fn pick(texts: &[&'static str], source_id: &str, purpose: &str) -> &'static str {
    let number = usize::try_from(chance(source_id, purpose)).unwrap_or_default();
    nth(texts, number)
}

/// One of the texts, counting on from the start behind the end.
fn nth(texts: &[&'static str], number: usize) -> &'static str {
    let place = number.checked_rem(texts.len()).unwrap_or_default();
    texts.get(place).copied().unwrap_or_default()
}

/// A count as a number of the stored kind.
fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
