//! The resolver against what real exports hold, and against random graphs.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const NOW_MS: i64 = 1_790_000_000_000;
const DAY_MS: i64 = 86_400_000;

fn discussions(count: usize) -> Vec<Home> {
    let home = Home {
        began_ms: NOW_MS - 100 * DAY_MS,
        standing: Standing::Wanted,
    };
    vec![home; count]
}

/// A comment of discussion 0, `day` days after its beginning.
fn row(key: Key, parent: Key, day: i64) -> Row {
    let created_ms = NOW_MS - (100 - day) * DAY_MS;
    Row {
        key,
        parent,
        created_ms,
        version_ms: created_ms,
        words: 0,
        discussion: 0,
        fate: Fate::Whole,
        name_dropped: false,
    }
}

fn keys(plan: &Plan, rows: &[Row]) -> Vec<Key> {
    plan.order.iter().map(|at| rows[wide(*at)].key).collect()
}

fn roots(plan: &Plan) -> Vec<Option<Note>> {
    plan.places.iter().map(|place| place.made_root).collect()
}

#[test]
fn a_reply_before_its_parent_in_the_file_is_written_after_it() {
    let rows = [row(3, 2, 3), row(2, 1, 2), row(1, 0, 1), row(9, 0, 0)];
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    assert_eq!(keys(&plan, &rows), [9, 1, 2, 3]);
    assert_eq!(plan.places[0].parent(), Some(1));
    assert!(roots(&plan).iter().all(Option::is_none));
}

#[test]
fn missing_and_skipped_parents_make_roots_and_say_so() {
    let mut rows = [
        row(1, 99, 1),
        row(2, 3, 1),
        row(3, 0, 1),
        row(4, 5, 1),
        row(5, 0, 1),
    ];
    rows[2].discussion = 1;
    rows[4].fate = Fate::Out(Reason::Spam);
    let plan = resolve(&rows, &discussions(2), NOW_MS);
    assert_eq!(
        roots(&plan),
        [
            Some(Note::OrphanMissingParent),
            Some(Note::OrphanMissingParent),
            None,
            Some(Note::OrphanParentSkipped),
            None
        ]
    );
    assert_eq!(plan.order.len(), 4);
    assert_eq!(plan.places[4].verdict, Verdict::LeftOut(Reason::Spam));
}

#[test]
fn the_same_id_in_two_discussions_is_two_comments() {
    let mut rows = [row(1, 0, 1), row(1, 0, 2), row(2, 1, 3)];
    rows[1].discussion = 1;
    rows[2].discussion = 1;
    let plan = resolve(&rows, &discussions(2), NOW_MS);
    assert_eq!(plan.order, [0, 1, 2]);
    assert_eq!(plan.places[2].parent(), Some(1));
}

#[test]
fn a_circle_is_broken_at_its_oldest_and_keeps_its_members() {
    let rows = [
        row(1, 2, 5),
        row(2, 3, 1),
        row(3, 1, 9),
        row(4, 4, 2),
        row(5, 1, 6),
    ];
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    let broken = Some(Note::CycleBroken);
    assert_eq!(roots(&plan), [None, broken, None, broken, None]);
    assert_eq!(keys(&plan, &rows), [2, 4, 1, 5, 3]);
}

#[test]
fn deleted_comments_stay_as_tombstones_only_above_something_kept() {
    let mut rows = [
        row(1, 0, 1),
        row(2, 1, 2),
        row(3, 2, 3),
        row(4, 2, 4),
        row(5, 1, 5),
    ];
    for dead in [0, 1, 3, 4] {
        rows[dead].fate = Fate::Dead(Reason::Deleted);
    }
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    let verdicts: Vec<Verdict> = plan.places.iter().map(|place| place.verdict).collect();
    let (tomb, out) = (
        Verdict::Tombstone(Reason::Deleted),
        Verdict::LeftOut(Reason::Deleted),
    );
    assert_eq!(verdicts, [tomb, tomb, Verdict::Whole, out, out]);
    assert_eq!(keys(&plan, &rows), [1, 2, 3]);
}

#[test]
fn of_several_versions_the_newest_wins_and_of_equal_ones_the_last() {
    let mut rows = [row(1, 0, 5), row(1, 0, 1), row(2, 0, 1), row(2, 0, 1)];
    rows[1].version_ms = NOW_MS;
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    assert_eq!(plan.order, [1, 3]);
    assert_eq!(plan.places[0].verdict, Verdict::LeftOut(Reason::Duplicate));
}

#[test]
fn dates_that_cannot_be_take_the_parents_or_the_discussions_and_are_never_1970() {
    let mut rows = [
        row(1, 0, 1),
        row(2, 1, 7),
        row(3, 2, 8),
        row(4, 0, 200),
        row(5, 2, 3),
    ];
    rows[0].created_ms = 0;
    rows[2].created_ms = NO_TIME;
    let began_ms = NOW_MS - 100 * DAY_MS;
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    let times: Vec<i64> = plan.places.iter().map(|place| place.time_ms).collect();
    let second_ms = rows[1].created_ms;
    assert_eq!(
        times,
        [began_ms, second_ms, second_ms, NOW_MS, rows[4].created_ms]
    );
    let clamped: Vec<bool> = plan.places.iter().map(|place| place.clamped).collect();
    assert_eq!(clamped, [true, false, true, true, false]);
    let inverted: Vec<bool> = plan.places.iter().map(|place| place.inverted).collect();
    assert_eq!(inverted, [false, false, false, false, true]);
}

#[test]
fn a_chain_of_a_hundred_thousand_does_not_overflow() {
    let rows: Vec<Row> = (0..100_000_u32)
        .rev()
        .map(|n| row(Key::from(n) + 1, Key::from(n), 1))
        .collect();
    let plan = resolve(&rows, &discussions(1), NOW_MS);
    assert_eq!(plan.order.len(), rows.len());
}

fn any_row() -> impl Strategy<Value = Row> {
    let fate = prop_oneof![
        4 => Just(Fate::Whole),
        1 => Just(Fate::Dead(Reason::Deleted)),
        1 => Just(Fate::Out(Reason::Spam)),
    ];
    let time = prop_oneof![5 => 0_i64..90, 1 => Just(-100_000), 1 => Just(500)];
    (1_u8..30, 0_u8..30, time, 0_u32..3, fate).prop_map(|(key, parent, day, discussion, fate)| {
        Row {
            discussion,
            fate,
            ..row(Key::from(key), Key::from(parent), day)
        }
    })
}

proptest! {
    #[test]
    fn no_graph_loses_a_comment_and_parents_come_first(rows in prop::collection::vec(any_row(), 0..60)) {
        let plan = resolve(&rows, &discussions(3), NOW_MS);
        let mut written = HashSet::new();
        for (group, number) in plan.groups.iter().zip(0_u32..) {
            for at in &plan.order[group.clone()] {
                let (row, place) = (&rows[wide(*at)], &plan.places[wide(*at)]);
                prop_assert_eq!(row.discussion, number);
                prop_assert!(written.insert(wide(*at)), "written twice");
                if let Some(parent) = place.parent() {
                    prop_assert!(written.contains(&parent), "before its parent");
                    prop_assert_eq!(rows[parent].key, row.parent);
                    prop_assert_eq!(rows[parent].discussion, row.discussion);
                } else {
                    prop_assert!(row.parent == 0 || place.made_root.is_some(), "orphaned unsaid");
                }
                prop_assert!((EARLIEST_MS..=NOW_MS).contains(&place.time_ms));
            }
        }
        for (at, place) in plan.places.iter().enumerate() {
            let left_out = matches!(place.verdict, Verdict::LeftOut(_));
            prop_assert_eq!(written.contains(&at), !left_out);
        }
        // The newest version of every id that is neither spam nor deleted is there.
        for row in &rows {
            let newest = rows.iter().enumerate()
                .filter(|(_, other)| (other.key, other.discussion) == (row.key, row.discussion))
                .max_by_key(|(at, other)| (other.version_ms, *at))
                .unwrap();
            if newest.1.fate == Fate::Whole {
                prop_assert!(written.contains(&newest.0));
            }
        }
    }
}
