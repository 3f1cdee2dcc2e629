//! Cursors: positions in a list that outlive the comment they were made from.
//!
//! A cursor is versioned and bound to the list it was made for (discussion, mode or branch, and
//! order). It holds an id, not an offset, so nothing that is written or hidden moves it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::ids::{CommentId, DiscussionId, UserId};
use super::page::Order;

const VERSION: &str = "1";
/// The longest text that can be a cursor; longer ones are refused unread.
pub const CURSOR_BYTES_MAX: usize = 160;

/// The list a cursor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CursorList {
    /// All comments of a discussion by date.
    Linear(DiscussionId),
    /// The roots of a discussion by date.
    Threaded(DiscussionId),
    /// The replies of a comment that heads a branch.
    Replies(DiscussionId, CommentId),
    /// A person's comments.
    Author(UserId),
    /// What lies above a comment.
    Ancestors(DiscussionId, CommentId),
    /// The replies to a person; the id is that of the event that made one known.
    RepliesTo(UserId),
    /// Every discussion.
    Discussions,
    /// What waits for a moderator; a number for the filter, the same for the same filter.
    Queue(i64, i64),
    /// What moderators did: in a discussion and by a person, 0 where any.
    Audit(i64, i64),
}

/// A position in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Where it belongs.
    pub list: CursorList,
    /// The order it was made under.
    pub order: Order,
    /// The last comment seen; in a list of other things, the number of the last one.
    pub id: CommentId,
}

/// Why a cursor cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// Not a cursor of this service.
    #[error("is not a cursor of this service")]
    Malformed,
    /// Made for another discussion, branch, mode or person.
    #[error("belongs to another list")]
    Foreign,
    /// Made under the other order.
    #[error("was made under another order")]
    OtherOrder,
}

impl Cursor {
    /// The text for clients.
    #[must_use]
    pub fn encode(&self) -> String {
        let order = match self.order {
            Order::Oldest => 'o',
            Order::Newest => 'n',
        };
        let list = match self.list {
            CursorList::Linear(discussion) => format!("l.{discussion}.0"),
            CursorList::Threaded(discussion) => format!("t.{discussion}.0"),
            CursorList::Replies(discussion, head) => format!("r.{discussion}.{head}"),
            CursorList::Author(user) => format!("a.{user}.0"),
            CursorList::Ancestors(discussion, below) => format!("p.{discussion}.{below}"),
            CursorList::RepliesTo(user) => format!("n.{user}.0"),
            CursorList::Discussions => "d.0.0".to_owned(),
            CursorList::Queue(discussion, filter) => format!("q.{discussion}.{filter}"),
            CursorList::Audit(discussion, actor) => format!("m.{discussion}.{actor}"),
        };
        URL_SAFE_NO_PAD.encode(format!("{VERSION}.{order}.{list}.{}", self.id))
    }

    /// Reads a client's text.
    pub fn decode(text: &str) -> Result<Self, CursorError> {
        let cursor = Self::read(text).ok_or(CursorError::Malformed)?;
        if cursor.encode() == text {
            Ok(cursor)
        } else {
            Err(CursorError::Malformed)
        }
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() > CURSOR_BYTES_MAX {
            return None;
        }
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let parts: Vec<&str> = plain.split('.').collect();
        let [version, order, kind, owner, head, id] = parts.as_slice() else {
            return None;
        };
        if *version != VERSION {
            return None;
        }
        let order = match *order {
            "o" => Order::Oldest,
            "n" => Order::Newest,
            _ => return None,
        };
        let (owner, head) = (owner.parse().ok()?, head.parse().ok()?);
        let list = match *kind {
            "l" => CursorList::Linear(DiscussionId::new(owner)),
            "t" => CursorList::Threaded(DiscussionId::new(owner)),
            "r" => CursorList::Replies(DiscussionId::new(owner), CommentId::new(head)),
            "a" => CursorList::Author(UserId::new(owner)),
            "n" => CursorList::RepliesTo(UserId::new(owner)),
            "p" => CursorList::Ancestors(DiscussionId::new(owner), CommentId::new(head)),
            "d" => CursorList::Discussions,
            "q" => CursorList::Queue(owner, head),
            "m" => CursorList::Audit(owner, head),
            _ => return None,
        };
        Some(Self {
            list,
            order,
            id: CommentId::new(id.parse().ok()?),
        })
    }

    /// Checks that the cursor was made for this list and order.
    pub fn bound_to(&self, list: CursorList, order: Order) -> Result<CommentId, CursorError> {
        if self.list != list {
            return Err(CursorError::Foreign);
        }
        if self.order != order {
            return Err(CursorError::OtherOrder);
        }
        Ok(self.id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HERE: DiscussionId = DiscussionId::new(5);

    fn cursor(list: CursorList, order: Order) -> Cursor {
        Cursor {
            list,
            order,
            id: CommentId::new(77),
        }
    }

    #[test]
    fn every_list_comes_back() {
        for list in [
            CursorList::Linear(HERE),
            CursorList::Threaded(HERE),
            CursorList::Replies(HERE, CommentId::new(9)),
            CursorList::Author(UserId::new(3)),
            CursorList::Ancestors(HERE, CommentId::new(9)),
            CursorList::RepliesTo(UserId::new(3)),
            CursorList::Discussions,
            CursorList::Queue(0, 7),
            CursorList::Audit(5, 0),
        ] {
            for order in [Order::Oldest, Order::Newest] {
                let made = cursor(list, order);
                let read = Cursor::decode(&made.encode()).unwrap();
                assert_eq!(read, made);
                assert_eq!(read.bound_to(list, order), Ok(CommentId::new(77)));
            }
        }
    }

    #[test]
    fn a_cursor_of_another_list_or_order_is_named_as_such() {
        let made = cursor(CursorList::Replies(HERE, CommentId::new(9)), Order::Oldest);
        let other_branch = CursorList::Replies(HERE, CommentId::new(8));
        assert_eq!(
            made.bound_to(other_branch, Order::Oldest),
            Err(CursorError::Foreign)
        );
        assert_eq!(
            made.bound_to(CursorList::Linear(HERE), Order::Oldest),
            Err(CursorError::Foreign)
        );
        assert_eq!(
            made.bound_to(made.list, Order::Newest),
            Err(CursorError::OtherOrder)
        );
    }

    #[test]
    fn broken_text_is_malformed() {
        let good = cursor(CursorList::Linear(HERE), Order::Oldest).encode();
        let cut = good.get(..good.len() - 3).unwrap();
        let newer = URL_SAFE_NO_PAD.encode("2.o.l.5.0.77");
        let padded = URL_SAFE_NO_PAD.encode("1.o.l.05.0.77");
        let long = "A".repeat(CURSOR_BYTES_MAX + 1);
        for text in ["", "zzz", "77", cut, &newer, &padded, &long] {
            assert_eq!(
                Cursor::decode(text),
                Err(CursorError::Malformed),
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn decoding_never_panics(text in "\\PC{0,60}") {
            if let Ok(cursor) = Cursor::decode(&text) {
                prop_assert_eq!(cursor.encode(), text);
            }
        }
    }
}
