//! Ids as clients see them: base64url of `kind:…`, to be kept and sent back, never taken apart.
//!
//! A comment's id holds its discussion too, so one look-up finds it. `User` also takes the decimal
//! id, because tokens and flags use it. Exactly one text stands for each id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{CommentId, DiscussionId, EventId, UserId};

/// The longest text that can be an id; longer ones are refused unread.
pub const OPAQUE_ID_BYTES_MAX: usize = 128;

/// What an opaque id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobalId {
    /// `Discussion:<id>`
    Discussion(DiscussionId),
    /// `Comment:<discussion>:<comment>`
    Comment(DiscussionId, CommentId),
    /// `User:<id>`
    User(UserId),
}

/// The text is not an id of this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {expected} id")]
pub struct MalformedId {
    /// What was expected: `Comment`, `Discussion`, `User` or `Node`.
    pub expected: &'static str,
}

impl GlobalId {
    /// The text for clients.
    #[must_use]
    pub fn encode(self) -> String {
        let plain = match self {
            Self::Discussion(id) => format!("Discussion:{id}"),
            Self::Comment(discussion, id) => format!("Comment:{discussion}:{id}"),
            Self::User(id) => format!("User:{id}"),
        };
        URL_SAFE_NO_PAD.encode(plain)
    }

    /// Reads a client's text of any kind.
    pub fn decode(text: &str) -> Result<Self, MalformedId> {
        Self::read(text).ok_or(MalformedId { expected: "Node" })
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() > OPAQUE_ID_BYTES_MAX {
            return None;
        }
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let mut parts = plain.split(':');
        let (kind, first, second) = (parts.next()?, parts.next()?, parts.next());
        let id = match (kind, second) {
            ("Discussion", None) => Self::Discussion(DiscussionId::new(positive(first)?)),
            ("Comment", Some(comment)) => Self::Comment(
                DiscussionId::new(positive(first)?),
                CommentId::new(positive(comment)?),
            ),
            ("User", None) => Self::User(UserId::new(positive(first)?)),
            _ => return None,
        };
        // Anything but the one right text (leading zeros, more parts, loose bits) is refused.
        (id.encode() == text).then_some(id)
    }
}

/// What names a report or an entry of the audit log. It cannot be fetched by it.
#[must_use]
pub fn encode_entry(kind: EntryOf, id: EventId) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}:{id}", kind.name()))
}

/// Reads the id of a report or an entry of the audit log.
pub fn decode_entry(kind: EntryOf, text: &str) -> Result<EventId, MalformedId> {
    let malformed = || MalformedId {
        expected: kind.name(),
    };
    if text.len() > OPAQUE_ID_BYTES_MAX {
        return Err(malformed());
    }
    let plain = URL_SAFE_NO_PAD.decode(text).ok();
    plain
        .and_then(|plain| String::from_utf8(plain).ok())
        .and_then(|plain| {
            let (name, id) = plain.split_once(':')?;
            (name == kind.name()).then_some(EventId::new(positive(id)?))
        })
        .filter(|id| encode_entry(kind, *id) == text)
        .ok_or_else(malformed)
}

/// What such an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOf {
    /// A report of a comment.
    Report,
    /// An entry of the audit log.
    Audit,
}

impl EntryOf {
    const fn name(self) -> &'static str {
        match self {
            Self::Report => "CommentReport",
            Self::Audit => "AuditEntry",
        }
    }
}

/// Reads a comment's id.
pub fn decode_comment(text: &str) -> Result<(DiscussionId, CommentId), MalformedId> {
    match GlobalId::read(text) {
        Some(GlobalId::Comment(discussion, comment)) => Ok((discussion, comment)),
        _ => Err(MalformedId {
            expected: "Comment",
        }),
    }
}

/// An event's id for clients: `Event:<discussion>:<event>`. It names no thing that can be fetched,
/// only a place in a discussion's log.
#[must_use]
pub fn encode_event(discussion: DiscussionId, event: EventId) -> String {
    URL_SAFE_NO_PAD.encode(format!("Event:{discussion}:{event}"))
}

/// Reads an event's id.
pub fn decode_event(text: &str) -> Result<(DiscussionId, EventId), MalformedId> {
    let read = || {
        if text.len() > OPAQUE_ID_BYTES_MAX {
            return None;
        }
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (discussion, event) = plain.strip_prefix("Event:")?.split_once(':')?;
        let event = (
            DiscussionId::new(positive(discussion)?),
            EventId::new(positive(event)?),
        );
        (encode_event(event.0, event.1) == text).then_some(event)
    };
    read().ok_or(MalformedId { expected: "Event" })
}

/// Reads a discussion's id.
pub fn decode_discussion(text: &str) -> Result<DiscussionId, MalformedId> {
    match GlobalId::read(text) {
        Some(GlobalId::Discussion(discussion)) => Ok(discussion),
        _ => Err(MalformedId {
            expected: "Discussion",
        }),
    }
}

/// Reads a user's id: opaque, or decimal as tokens carry it.
pub fn decode_user(text: &str) -> Result<UserId, MalformedId> {
    if let Some(id) = positive(text) {
        return Ok(UserId::new(id));
    }
    match GlobalId::read(text) {
        Some(GlobalId::User(user)) => Ok(user),
        _ => Err(MalformedId { expected: "User" }),
    }
}

/// A positive decimal `i64` without sign or leading zero.
fn positive(digits: &str) -> Option<i64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_comes_back() {
        for id in [
            GlobalId::Discussion(DiscussionId::new(7)),
            GlobalId::Comment(DiscussionId::new(7), CommentId::new(i64::MAX)),
            GlobalId::User(UserId::new(42)),
        ] {
            assert_eq!(GlobalId::decode(&id.encode()), Ok(id));
        }
        assert_eq!(decode_user("42"), Ok(UserId::new(42)));
    }

    #[test]
    fn one_kind_is_not_another() {
        let user = GlobalId::User(UserId::new(1)).encode();
        assert_eq!(
            decode_comment(&user),
            Err(MalformedId {
                expected: "Comment"
            })
        );
        assert_eq!(
            decode_discussion(&user),
            Err(MalformedId {
                expected: "Discussion"
            })
        );
    }

    #[test]
    fn a_report_or_entry_comes_back_as_what_it_stands_for_and_as_nothing_else() {
        let id = EventId::new(12);
        let text = encode_entry(EntryOf::Report, id);
        assert_eq!(decode_entry(EntryOf::Report, &text), Ok(id));
        assert!(decode_entry(EntryOf::Audit, &text).is_err());
        assert!(GlobalId::decode(&text).is_err());
        assert!(decode_entry(EntryOf::Report, "").is_err());
    }

    #[test]
    fn only_the_one_right_text_is_an_id() {
        let loose = |plain: &str| URL_SAFE_NO_PAD.encode(plain);
        for text in [
            String::new(),
            "0".to_owned(),
            "-1".to_owned(),
            "not an id".to_owned(),
            loose("Comment:1"),
            loose("Comment:1:2:3"),
            loose("Comment:01:2"),
            loose("Comment:1:-2"),
            loose("Discussion:0"),
            loose("Discussion:9223372036854775808"),
            loose("Tag:1"),
            "A".repeat(OPAQUE_ID_BYTES_MAX + 1),
        ] {
            assert!(GlobalId::decode(&text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn decoding_never_panics_and_is_one_to_one(text in "\\PC{0,40}") {
            if let Ok(id) = GlobalId::decode(&text) {
                prop_assert_eq!(id.encode(), text);
            }
        }
    }
}
