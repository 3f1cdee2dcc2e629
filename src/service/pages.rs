//! Pages of plain lists: rows that need no filter, ordered by a number of their own.
//!
//! Both ends are exact: what a page is not read towards is looked at too, because in lists that
//! things leave (a queue) the row a cursor was made from may be gone.

use std::future::Future;

use super::ServiceResult;
use crate::domain::ids::CommentId;
use crate::domain::page::{Order, PageRequest, Slice};

/// A page of a plain list, in the order asked.
#[derive(Clone, Debug)]
pub struct ListPage<T> {
    /// What is in it.
    pub items: Vec<T>,
    /// Whether something comes before.
    pub has_previous: bool,
    /// Whether something comes after.
    pub has_next: bool,
}

impl<T> ListPage<T> {
    /// A page without anything, of an empty list.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            items: Vec::new(),
            has_previous: false,
            has_next: false,
        }
    }
}

/// Reads a page: one call of `fetch`, and one more when the page begins at a cursor.
pub(super) async fn list_page<T, F, R>(
    page: PageRequest,
    order: Order,
    fetch: F,
) -> ServiceResult<ListPage<T>>
where
    F: Fn(Slice) -> R,
    R: Future<Output = ServiceResult<Vec<T>>>,
{
    let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let slice = page.slice(order, page.limit.saturating_add(1));
    let mut items = fetch(slice).await?;
    let more = items.len() > wanted;
    items.truncate(wanted);
    let behind = match behind(slice) {
        Some(behind) => !fetch(behind).await?.is_empty(),
        None => false,
    };
    let (mut has_previous, has_next) = if page.from_end {
        (more, behind)
    } else {
        (behind, more)
    };
    if page.from_end {
        items.reverse();
    } else if let Some(keep) = page.keep_last {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        let cut = items.len().saturating_sub(keep);
        items.drain(..cut);
        has_previous |= cut > 0;
    }
    Ok(ListPage {
        items,
        has_previous,
        has_next,
    })
}

/// One row before the place a slice begins at, that place's own row included; `None` for one that
/// begins at an end.
fn behind(slice: Slice) -> Option<Slice> {
    let (above, below) = if slice.ascending {
        (None, Some(slice.above?.get().saturating_add(1)))
    } else {
        (Some(slice.below?.get().saturating_sub(1)), None)
    };
    Some(Slice {
        above: above.map(CommentId::new),
        below: below.map(CommentId::new),
        ascending: !slice.ascending,
        limit: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a page of the list 1 to 9.
    async fn read(order: Order, page: PageRequest) -> (Vec<i64>, bool, bool) {
        let fetch = |slice: Slice| async move {
            let above = slice.above.map_or(0, CommentId::get);
            let below = slice.below.map_or(10, CommentId::get);
            let mut ids: Vec<i64> = (above + 1..below).collect();
            if !slice.ascending {
                ids.reverse();
            }
            ids.truncate(usize::try_from(slice.limit).unwrap());
            Ok(ids)
        };
        let page = list_page(page, order, fetch).await.unwrap();
        (page.items, page.has_previous, page.has_next)
    }

    fn page(limit: u32, from_end: bool, after: Option<i64>, before: Option<i64>) -> PageRequest {
        PageRequest {
            limit,
            from_end,
            keep_last: None,
            after: after.map(CommentId::new),
            before: before.map(CommentId::new),
        }
    }

    #[tokio::test]
    async fn pages_of_both_orders_and_ends_know_what_lies_around_them() {
        let (old, new) = (Order::Oldest, Order::Newest);
        for (order, asked, ids, around) in [
            (
                old,
                page(3, false, None, None),
                vec![1, 2, 3],
                (false, true),
            ),
            (
                old,
                page(3, false, Some(3), None),
                vec![4, 5, 6],
                (true, true),
            ),
            (old, page(3, false, Some(8), None), vec![9], (true, false)),
            (old, page(3, true, None, None), vec![7, 8, 9], (true, false)),
            (
                old,
                page(3, true, None, Some(4)),
                vec![1, 2, 3],
                (false, true),
            ),
            (
                new,
                page(3, false, None, None),
                vec![9, 8, 7],
                (false, true),
            ),
            (
                new,
                page(3, false, Some(4), None),
                vec![3, 2, 1],
                (true, false),
            ),
            (new, page(3, true, None, Some(7)), vec![9, 8], (false, true)),
            (
                new,
                page(9, false, None, None),
                (1..10).rev().collect(),
                (false, false),
            ),
        ] {
            let (items, previous, next) = read(order, asked).await;
            assert_eq!(
                (items, (previous, next)),
                (ids, around),
                "{order:?} {asked:?}"
            );
        }
    }

    #[tokio::test]
    async fn the_last_of_the_first_are_kept() {
        let asked = PageRequest {
            keep_last: Some(1),
            ..page(3, false, None, None)
        };
        assert_eq!(read(Order::Oldest, asked).await, (vec![3], true, true));
    }
}
