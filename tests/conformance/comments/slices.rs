//! Slices: C7. Every range, both directions, against a filter over the whole list.

use threadline::domain::comment::Comment;
use threadline::domain::counts::CountedRow;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::domain::page::Slice;
use threadline::store::comments::Lane;

use super::kit::{ANN, BOB, all, created, ids};
use super::{Cases, Comments};
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c7_every_range_gives_its_rows_in_order_up_to_the_limit,
    c7_bounds_need_not_exist_and_exclude_themselves,
    c7_pages_there_and_back_give_each_row_once,
    c7_comments_of_one_millisecond_are_neither_lost_nor_repeated,
    c7_several_ranges_are_answered_in_the_order_asked,
    c7_a_write_is_seen_by_the_next_slice,
    c7_an_authors_list_keeps_to_range_order_and_limit,
    c7_a_scan_gives_every_row_once_oldest_first,
];

/// A discussion of 3 roots and 4 replies each; returns it and every list with its rows.
async fn sample(env: &Comments) -> (DiscussionId, Vec<(Lane, Vec<CommentId>)>) {
    let discussion = env.open(1).await;
    let mut roots = Vec::new();
    for _ in 0..3 {
        roots.push(env.post(discussion).await);
        env.advance_ms(1);
    }
    let mut branches: Vec<Vec<Comment>> = vec![vec![]; 3];
    for index in 0..12 {
        // Interleaved, and some of them replies to replies.
        let branch = index % 3;
        let parent = branches[branch].last().unwrap_or(&roots[branch]).clone();
        let to = if index % 2 == 0 {
            &parent
        } else {
            &roots[branch]
        };
        let reply = env.reply(to).await;
        branches[branch].push(reply);
    }
    let mut linear = ids(&roots);
    linear.extend(branches.iter().flatten().map(|row| row.id));
    linear.sort();
    let mut lanes = vec![(Lane::Linear, linear), (Lane::Roots, ids(&roots))];
    for (root, rows) in roots.iter().zip(&branches) {
        let mut rows = ids(rows);
        rows.sort();
        lanes.push((Lane::Branch(root.id), rows));
    }
    (discussion, lanes)
}

fn pick(rows: &[CommentId], slice: Slice) -> Vec<CommentId> {
    let mut picked: Vec<CommentId> = rows
        .iter()
        .copied()
        .filter(|id| slice.above.is_none_or(|above| *id > above))
        .filter(|id| slice.below.is_none_or(|below| *id < below))
        .collect();
    picked.sort();
    if !slice.ascending {
        picked.reverse();
    }
    picked.truncate(usize::try_from(slice.limit).unwrap());
    picked
}

/// Every pair of bounds among the rows, in both directions, with small and large limits.
fn every_range(rows: &[CommentId]) -> Vec<Slice> {
    let mut bounds: Vec<Option<CommentId>> = rows.iter().copied().map(Some).collect();
    bounds.push(None);
    let mut ranges = Vec::new();
    for above in &bounds {
        for below in &bounds {
            for (ascending, limit) in [true, false]
                .map(|way| [0, 1, 2, 5, 100].map(|n| (way, n)))
                .concat()
            {
                ranges.push(Slice {
                    above: *above,
                    below: *below,
                    ascending,
                    limit,
                });
            }
        }
    }
    ranges
}

/// Reads a list in pages of `limit` until one is empty; the pages.
async fn pages(
    env: &Comments,
    discussion: DiscussionId,
    lane: Lane,
    start: Slice,
) -> Vec<Vec<CommentId>> {
    let (mut slice, mut pages) = (start, Vec::new());
    loop {
        let page = env.slice(discussion, 1, lane, slice).await;
        assert!(page.len() <= usize::try_from(start.limit).unwrap());
        let Some(last) = page.last() else {
            return pages;
        };
        slice = slice.beyond(last.id, start.limit);
        pages.push(ids(&page));
    }
}

async fn c7_every_range_gives_its_rows_in_order_up_to_the_limit(env: Comments) {
    let (discussion, lanes) = sample(&env).await;
    let mut wanted = Vec::new();
    for (lane, rows) in &lanes {
        for slice in every_range(rows) {
            wanted.push((*lane, slice, pick(rows, slice)));
        }
    }
    for chunk in wanted.chunks(40) {
        let asked: Vec<(Lane, Slice)> = chunk
            .iter()
            .map(|(lane, slice, _)| (*lane, *slice))
            .collect();
        let answered = env.store.slices(discussion, 1, &asked).await.unwrap();
        assert_eq!(answered.len(), asked.len());
        let facts = env.store.facts(discussion, 1, &asked).await.unwrap();
        assert_eq!(facts.len(), asked.len());
        for (((lane, slice, want), rows), facts) in chunk.iter().zip(answered).zip(facts) {
            assert_eq!(ids(&rows), *want, "{lane:?} {slice:?}");
            let counted: Vec<CountedRow> = rows.iter().map(CountedRow::from).collect();
            assert_eq!(facts, counted, "{lane:?} {slice:?}");
        }
    }
}

async fn c7_bounds_need_not_exist_and_exclude_themselves(env: Comments) {
    let (discussion, lanes) = sample(&env).await;
    for (lane, rows) in &lanes {
        let (first, last) = (rows[0].get(), rows[rows.len() - 1].get());
        for (above, below) in [
            (first - 1, last + 1),
            (first, last),
            (first + 1, last - 1),
            (last, first),
            (last, last),
            (0, i64::MAX),
        ] {
            for ascending in [true, false] {
                let slice = Slice {
                    above: Some(CommentId::new(above)),
                    below: Some(CommentId::new(below)),
                    ascending,
                    limit: 50,
                };
                let read = env.slice(discussion, 1, *lane, slice).await;
                assert_eq!(ids(&read), pick(rows, slice), "{lane:?} {slice:?}");
            }
        }
    }
    let nowhere = Lane::Branch(CommentId::new(env.mint()));
    assert_eq!(env.list(discussion, 1, nowhere).await, vec![]);
}

async fn c7_pages_there_and_back_give_each_row_once(env: Comments) {
    let (discussion, lanes) = sample(&env).await;
    for (lane, rows) in &lanes {
        for limit in 1..=6 {
            for ascending in [true, false] {
                let start = Slice {
                    ascending,
                    ..all(limit)
                };
                let seen = pages(&env, discussion, *lane, start).await.concat();
                let want = pick(
                    rows,
                    Slice {
                        limit: 1_000,
                        ..start
                    },
                );
                assert_eq!(seen, want, "{lane:?} by {limit}");
            }
        }
    }
}

async fn c7_comments_of_one_millisecond_are_neither_lost_nor_repeated(env: Comments) {
    let discussion = env.open(1).await;
    let mut posted = Vec::new();
    for _ in 0..25 {
        posted.push(env.post(discussion).await.id);
    }
    assert!(posted.iter().all(|id| id.time_ms() == posted[0].time_ms()));
    for ascending in [true, false] {
        let start = Slice {
            ascending,
            ..all(10)
        };
        let pages = pages(&env, discussion, Lane::Roots, start).await;
        let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(sizes, [10, 10, 5]);
        let mut read = pages.concat();
        if !ascending {
            read.reverse();
        }
        assert_eq!(read, posted);
    }
}

async fn c7_several_ranges_are_answered_in_the_order_asked(env: Comments) {
    let (discussion, lanes) = sample(&env).await;
    let none: &[(Lane, Slice)] = &[];
    assert_eq!(
        env.store.slices(discussion, 1, none).await.unwrap().len(),
        0
    );
    let mut asked: Vec<(Lane, Slice)> = lanes.iter().map(|(lane, _)| (*lane, all(100))).collect();
    asked.reverse();
    // The same list twice, with different ranges, and one that is empty.
    asked.push((Lane::Linear, all(1)));
    asked.push((Lane::Branch(CommentId::new(1)), all(9)));
    asked.push((Lane::Linear, all(3)));
    let answered = env.store.slices(discussion, 1, &asked).await.unwrap();
    assert_eq!(answered.len(), asked.len());
    for ((lane, slice), rows) in asked.iter().zip(&answered) {
        let known = lanes.iter().find(|(known, _)| known == lane);
        let want = known.map_or(vec![], |(_, rows)| pick(rows, *slice));
        assert_eq!(ids(rows), want, "{lane:?}");
    }
    let missing = DiscussionId::new(env.mint());
    let nothing = env.store.slices(missing, 1, &asked).await.unwrap();
    assert_eq!(nothing.len(), asked.len());
    assert!(nothing.iter().all(|rows| rows.is_empty()));
}

async fn c7_a_write_is_seen_by_the_next_slice(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    let read = async |lane| ids(&env.slice(discussion, 1, lane, all(10)).await);
    for lane in [Lane::Linear, Lane::Roots, Lane::Branch(root.id)] {
        read(lane).await;
    }
    let reply = env.reply(&root).await;
    assert_eq!(read(Lane::Branch(root.id)).await, [reply.id]);
    assert_eq!(read(Lane::Linear).await, [root.id, reply.id]);
    let second = env.post(discussion).await;
    assert_eq!(read(Lane::Roots).await, [root.id, second.id]);
    // A changed row is read as it is now, in every list that it is in.
    let hidden = env.hide(&reply).await;
    let branch = env
        .slice(discussion, 1, Lane::Branch(root.id), all(10))
        .await;
    assert_eq!(branch, std::slice::from_ref(&hidden));
    let linear = env.slice(discussion, 1, Lane::Linear, all(10)).await;
    assert_eq!(linear[1], hidden);
    env.bury(&root).await;
    let roots = env.slice(discussion, 1, Lane::Roots, all(1)).await;
    assert_eq!(roots[0].body, "");
}

async fn c7_an_authors_list_keeps_to_range_order_and_limit(env: Comments) {
    let (one, two) = (env.open(1).await, env.open(1).await);
    let mut wrote = Vec::new();
    for index in 0..9 {
        let home = if index % 2 == 0 { one } else { two };
        wrote.push((home, env.post(home).await.id));
        let mut new = env.draft(one, None);
        new.author_id = BOB;
        created(env.create(new).await);
        env.advance_ms(86_400_000);
    }
    let own: Vec<CommentId> = wrote.iter().map(|(_, id)| *id).collect();
    for ascending in [true, false] {
        for (above, below) in [
            (None, None),
            (Some(own[2]), None),
            (None, Some(own[6])),
            (Some(own[1]), Some(own[7])),
        ] {
            for limit in [0, 3, 100] {
                let slice = Slice {
                    above,
                    below,
                    ascending,
                    limit,
                };
                let read = env.store.by_author(ANN, slice).await.unwrap();
                let read_ids: Vec<CommentId> = read.iter().map(|(_, id)| *id).collect();
                assert_eq!(read_ids, pick(&own, slice), "{slice:?}");
                assert!(read.iter().all(|entry| wrote.contains(entry)));
            }
        }
    }
}

async fn c7_a_scan_gives_every_row_once_oldest_first(env: Comments) {
    let (discussion, lanes) = sample(&env).await;
    let hidden = env.find(discussion, lanes[1].1[0]).await.unwrap();
    env.hide(&hidden).await;
    for limit in [1, 4, 100] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let page = env.store.scan(discussion, after, limit).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for row in page {
                let main = env.find(discussion, row.id).await.unwrap();
                assert_eq!(row.parent_id, main.parent_id);
                seen.push(row.id);
            }
        }
        assert_eq!(seen, lanes[0].1);
    }
}
