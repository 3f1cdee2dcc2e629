//! What part of an ordered list is asked for, and what that means in ids.
//!
//! A list is ordered by id, rising ([`Order::Oldest`]) or falling ([`Order::Newest`]). A page is
//! taken from one end of what lies between two cursors.

use super::ids::CommentId;

/// How a list of comments is ordered. Both are total: ids never tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Oldest first.
    #[default]
    Oldest,
    /// Newest first.
    Newest,
}

/// The arguments of a connection, before they are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageArgs<C> {
    /// Items from the front.
    pub first: Option<i64>,
    /// Only items after this one.
    pub after: Option<C>,
    /// Items from the back.
    pub last: Option<i64>,
    /// Only items before this one.
    pub before: Option<C>,
}

/// A checked page: at most `limit` items from one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// Items wanted; 0 is legal and answers only "is there more".
    pub limit: u32,
    /// Whether the page is taken from the back of the list.
    pub from_end: bool,
    /// With both `first` and `last`: keep this many from the back of the page.
    pub keep_last: Option<u32>,
    /// Exclusive bounds, in the list's own order.
    pub after: Option<CommentId>,
    /// See `after`.
    pub before: Option<CommentId>,
}

/// A size outside its limits. Names the argument and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{argument}` is {value}, it must be between 0 and {limit}")]
pub struct PageSizeError {
    /// `first` or `last`.
    pub argument: &'static str,
    /// What was asked.
    pub value: i64,
    /// The largest size allowed.
    pub limit: u32,
}

/// Checks sizes: each between 0 and `size_max`; none given means `size_default` from the front.
pub fn page_size(
    first: Option<i64>,
    last: Option<i64>,
    size_default: u32,
    size_max: u32,
) -> Result<(u32, bool, Option<u32>), PageSizeError> {
    let check = |argument, value: i64| {
        u32::try_from(value)
            .ok()
            .filter(|size| *size <= size_max)
            .ok_or(PageSizeError {
                argument,
                value,
                limit: size_max,
            })
    };
    let first = first.map(|value| check("first", value)).transpose()?;
    let last = last.map(|value| check("last", value)).transpose()?;
    Ok(match (first, last) {
        (Some(first), last) => (first, false, last),
        (None, Some(last)) => (last, true, None),
        (None, None) => (size_default, false, None),
    })
}

/// A range of ids to read in one go: what a store understands. Lists of other things than comments
/// are ranges of their own ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice<I = CommentId> {
    /// Only ids above this one.
    pub above: Option<I>,
    /// Only ids below this one.
    pub below: Option<I>,
    /// Rising or falling ids.
    pub ascending: bool,
    /// Rows at most.
    pub limit: u32,
}

impl PageRequest {
    /// The page's range in ids; rows come in reading direction, from the page's own end.
    #[must_use]
    pub fn slice(&self, order: Order, limit: u32) -> Slice {
        let (above, below) = match order {
            Order::Oldest => (self.after, self.before),
            Order::Newest => (self.before, self.after),
        };
        let ascending = (order == Order::Oldest) != self.from_end;
        Slice {
            above,
            below,
            ascending,
            limit,
        }
    }
}

impl<I> Slice<I> {
    /// The same range of another kind of id.
    #[must_use]
    pub fn map<J>(self, make: impl Fn(I) -> J) -> Slice<J> {
        Slice {
            above: self.above.map(&make),
            below: self.below.map(&make),
            ascending: self.ascending,
            limit: self.limit,
        }
    }

    /// The same range, going on beyond `id`.
    #[must_use]
    pub fn beyond(self, id: I, limit: u32) -> Self {
        if self.ascending {
            Self {
                above: Some(id),
                limit,
                ..self
            }
        } else {
            Self {
                below: Some(id),
                limit,
                ..self
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_and_named() {
        assert_eq!(page_size(None, None, 20, 100), Ok((20, false, None)));
        assert_eq!(page_size(Some(0), None, 20, 100), Ok((0, false, None)));
        assert_eq!(page_size(None, Some(7), 20, 100), Ok((7, true, None)));
        assert_eq!(
            page_size(Some(4), Some(2), 20, 100),
            Ok((4, false, Some(2)))
        );
        for (first, last, argument, value) in [
            (Some(-1), None, "first", -1),
            (Some(101), None, "first", 101),
            (None, Some(1_000_000_000), "last", 1_000_000_000),
            (Some(1), Some(i64::MIN), "last", i64::MIN),
        ] {
            let error = page_size(first, last, 20, 100).unwrap_err();
            assert_eq!(
                error,
                PageSizeError {
                    argument,
                    value,
                    limit: 100
                }
            );
        }
        assert_eq!(
            page_size(Some(-1), None, 20, 100).unwrap_err().to_string(),
            "`first` is -1, it must be between 0 and 100"
        );
    }

    #[test]
    fn both_orders_and_both_ends_map_to_ids() {
        let (low, high) = (Some(CommentId::new(1)), Some(CommentId::new(9)));
        let page = |from_end, after, before| PageRequest {
            limit: 5,
            from_end,
            keep_last: None,
            after,
            before,
        };
        let forward = page(false, low, high).slice(Order::Oldest, 6);
        assert_eq!(
            (forward.above, forward.below, forward.ascending),
            (low, high, true)
        );
        let backward = page(true, low, high).slice(Order::Oldest, 6);
        assert_eq!(
            (backward.above, backward.below, backward.ascending),
            (low, high, false)
        );
        let newest = page(false, high, low).slice(Order::Newest, 6);
        assert_eq!(
            (newest.above, newest.below, newest.ascending),
            (low, high, false)
        );
        assert_eq!(
            newest.beyond(CommentId::new(4), 3).below,
            Some(CommentId::new(4))
        );
    }
}
