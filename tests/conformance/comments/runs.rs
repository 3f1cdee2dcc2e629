//! Runs of lists longer than one run: C9.

use threadline::domain::comment::{CommentState, StateAct};
use threadline::domain::counts::RUN_ROWS_MAX;
use threadline::domain::ids::{CommentId, DiscussionId};
use threadline::store::comments::{CreateOutcome, ImportComment, Lane};

use super::kit::{SOURCE_MS, changed, expect_outcome, imported, source_comment};
use super::{Cases, Comments};
use crate::audit::{Tallied, check_runs, head_of};
use crate::builder::Build;
use crate::builder::build;
use crate::env::cases;

pub(super) const CASES: Cases = cases![
    c9_runs_of_a_list_that_grows_at_its_end_cover_it,
    c9_runs_cover_a_list_that_imports_fill_from_the_middle,
    c9_runs_cover_a_list_that_imports_fill_from_its_end,
    c9_a_first_hidden_row_in_a_batch_hides_what_is_cut_after_it,
    c9_runs_of_a_long_branch_are_built_and_go_on_growing,
    c9_runs_of_long_branches_cover_them_in_both_layouts,
    c9_a_change_deep_inside_a_long_list_adjusts_its_run,
    c9_an_empty_list_has_no_runs,
];

/// Checks the runs of the lists named; a whole audit of thousands of rows would take too long.
async fn check(env: &Comments, discussion: DiscussionId, lanes: &[Lane]) {
    let rows = env.linear(discussion).await;
    let tallied = Tallied::of(&rows);
    let counts = env.counts(discussion).await;
    assert_eq!(counts.all, tallied.sum(|_| true));
    assert_eq!(counts.roots, tallied.sum(|row| row.ancestors.is_empty()));
    for lane in lanes {
        let list: Vec<CommentId> = rows
            .iter()
            .filter(|row| match lane {
                Lane::Linear => true,
                Lane::Roots => row.ancestors.is_empty(),
                Lane::Branch(head) => row.ancestors.first() == Some(head),
            })
            .map(|row| row.id)
            .collect();
        let runs = env.store.runs(discussion, 1, *lane).await.unwrap();
        check_runs(&runs, &list, &tallied, &format!("{lane:?}"));
        let least = list.len().div_ceil(usize::try_from(RUN_ROWS_MAX).unwrap());
        // Few runs are their whole point: skipping a run must skip many rows.
        assert!(
            runs.len() <= least * 3 + 1,
            "{} runs for {}",
            runs.len(),
            list.len()
        );
    }
    assert!(env.store.recount(discussion).await.unwrap().is_right());
}

async fn grow(env: &Comments, discussion: DiscussionId, parent: Option<CommentId>, count: usize) {
    for _ in 0..count / 100 {
        env.parallel(100, |_| {
            let env = env.clone();
            async move {
                let new = env.draft(discussion, parent);
                expect_outcome!(env.create(new).await, CreateOutcome::Created(_));
            }
        })
        .await;
        env.advance_ms(10);
    }
}

async fn c9_runs_of_a_list_that_grows_at_its_end_cover_it(env: Comments) {
    let discussion = env.open(1).await;
    let root = env.post(discussion).await;
    grow(&env, discussion, None, 1_300).await;
    grow(&env, discussion, Some(root.id), 1_200).await;
    let lanes = [Lane::Linear, Lane::Roots, Lane::Branch(root.id)];
    check(&env, discussion, &lanes).await;
    env.hide(&root).await;
    check(&env, discussion, &lanes).await;
}

/// Rows whose times interleave with those of other `part`s, the newest part first.
fn part(part: i64, parts: i64, count: i64) -> Vec<ImportComment> {
    (0..count)
        .map(|index| {
            let ms = SOURCE_MS + index * parts + part;
            source_comment(&format!("{part}-{index}"), ms, None)
        })
        .collect()
}

async fn c9_runs_cover_a_list_that_imports_fill_from_the_middle(env: Comments) {
    let discussion = env.open(1).await;
    for number in [2, 0, 3, 1] {
        for batch in part(number, 4, 650).chunks(325) {
            env.import(discussion, batch.to_vec()).await;
        }
    }
    // Below everything, above everything, and once more all into one gap.
    let early = source_comment("early", SOURCE_MS - 1_000, None);
    let late = source_comment("late", SOURCE_MS + 1_000_000, None);
    env.import(discussion, vec![late, early]).await;
    let gap = (0..400).map(|index| source_comment(&format!("gap-{index}"), SOURCE_MS + 800, None));
    env.import(discussion, gap.collect()).await;
    assert_eq!(env.counts(discussion).await.all.total, 3_002);
    check(&env, discussion, &[Lane::Linear]).await;
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    check(&env, discussion, &[Lane::Linear, Lane::Roots]).await;
}

async fn c9_runs_cover_a_list_that_imports_fill_from_its_end(env: Comments) {
    // Newest first, as many exports are; then all over the place.
    for step in [2_499, 1_009] {
        let discussion = env.open(1).await;
        let rows: Vec<ImportComment> = (1..=2_500)
            .map(|index| {
                let place = index * step % 2_500;
                let mut row = source_comment(&place.to_string(), SOURCE_MS + place, None);
                if place % 7 == 0 {
                    row.state = CommentState::Hidden;
                }
                row
            })
            .collect();
        for batch in rows.chunks(500) {
            env.import(discussion, batch.to_vec()).await;
        }
        assert_eq!(env.counts(discussion).await.all.total, 2_500);
        check(&env, discussion, &[Lane::Linear]).await;
        env.let_writes_settle();
        assert!(build(&env, discussion).await);
        check(&env, discussion, &[Lane::Linear, Lane::Roots]).await;
    }
}

async fn c9_a_first_hidden_row_in_a_batch_hides_what_is_cut_after_it(env: Comments) {
    let discussion = env.open(1).await;
    // All into one gap, so that the run they lie in grows in its middle.
    let mut rows = vec![
        source_comment("first", SOURCE_MS, None),
        source_comment("last", SOURCE_MS + 9_000, None),
    ];
    rows.extend((0..1_900).map(|index| {
        let ms = SOURCE_MS + 1 + index * 1_009 % 1_900;
        source_comment(&format!("{index}"), ms, None)
    }));
    env.import(discussion, rows).await;
    let mut batch = vec![source_comment("root", SOURCE_MS + 1, None)];
    batch[0].state = CommentState::Hidden;
    batch.extend((0..400).map(|index| {
        let ms = SOURCE_MS + 2 + index * 101 % 2_000;
        source_comment(&format!("reply {index}"), ms, Some("root"))
    }));
    env.import(discussion, batch).await;
    assert_eq!(env.sums(discussion).await, (2_303, 2_302, 1_902, 1_902));
    check(&env, discussion, &[Lane::Linear, Lane::Roots]).await;
}

async fn c9_runs_of_a_long_branch_are_built_and_go_on_growing(env: Comments) {
    let discussion = env.open(1).await;
    let mut rows = vec![source_comment("root", SOURCE_MS, None)];
    rows.extend((0..2_499).map(|index| {
        let ms = SOURCE_MS + 1 + index;
        source_comment(&format!("reply-{index}"), ms, Some("root"))
    }));
    for batch in rows.chunks(500) {
        env.import(discussion, batch.to_vec()).await;
    }
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    let root = env
        .slice(discussion, 1, Lane::Roots, super::kit::all(1))
        .await;
    let root = &root[0];
    let lanes = [Lane::Linear, Lane::Roots, Lane::Branch(root.id)];
    check(&env, discussion, &lanes).await;
    // Building again, over rows that are there, counts nothing twice.
    env.let_writes_settle();
    assert!(build(&env, discussion).await);
    check(&env, discussion, &lanes).await;
    grow(&env, discussion, Some(root.id), 600).await;
    check(&env, discussion, &lanes).await;
}

async fn c9_runs_of_long_branches_cover_them_in_both_layouts(env: Comments) {
    for (first, second) in [(1, 2), (2, 1)] {
        let discussion = env.open(first).await;
        let layout = env.store.add_layout(discussion, second).await.unwrap();
        let mut batch = vec![
            source_comment("root", SOURCE_MS, None),
            source_comment("a", SOURCE_MS, Some("root")),
            source_comment("b", SOURCE_MS, Some("root")),
            source_comment("last a", SOURCE_MS + 9_000, Some("a")),
            source_comment("last b", SOURCE_MS + 9_000, Some("b")),
        ];
        // Below two replies in turns, and all over the place, so that runs grow in their middle.
        batch.extend((0..4_600).map(|index| {
            let parent = if index % 2 == 0 { "a" } else { "b" };
            let ms = SOURCE_MS + 10 + index * 1_009 % 4_600;
            source_comment(&index.to_string(), ms, Some(parent))
        }));
        let mut known = Vec::new();
        for (at, batch) in batch.chunks(1_000).enumerate() {
            known.extend(env.import(discussion, batch.to_vec()).await);
            if at == 1 {
                // Its build counts what is there; what comes later counts itself.
                let layout = env.discussion(discussion).await.other_layout.unwrap();
                Build::begin(&env, discussion, layout).await.run(500).await;
            }
        }
        let rows = env.linear(discussion).await;
        let tallied = Tallied::of(&rows);
        let heads: Vec<CommentId> = known[..3].iter().copied().map(imported).collect();
        for (number, limit) in [(1, first), (layout.unwrap().number, second)] {
            for head in &heads {
                let branch: Vec<CommentId> = rows
                    .iter()
                    .filter(|row| head_of(row, limit) == Some(*head))
                    .map(|row| row.id)
                    .collect();
                let lane = Lane::Branch(*head);
                let runs = env.store.runs(discussion, number, lane).await.unwrap();
                check_runs(
                    &runs,
                    &branch,
                    &tallied,
                    &format!("layout {number}, {lane:?}"),
                );
            }
        }
        assert!(env.store.recount(discussion).await.unwrap().is_right());
    }
}

async fn c9_a_change_deep_inside_a_long_list_adjusts_its_run(env: Comments) {
    let discussion = env.open(1).await;
    for number in [1, 0] {
        env.import(discussion, part(number, 2, 750)).await;
    }
    let rows = env.linear(discussion).await;
    for (place, act) in [
        (0, StateAct::Hide),
        (10, StateAct::Bury),
        (777, StateAct::Hide),
        (999, StateAct::Hide),
        (1_000, StateAct::Bury),
        (1_499, StateAct::Hide),
        (777, StateAct::Restore),
    ] {
        changed(env.act(&rows[place], act).await);
    }
    check(&env, discussion, &[Lane::Linear]).await;
}

async fn c9_an_empty_list_has_no_runs(env: Comments) {
    let discussion = env.open(1).await;
    let nowhere = Lane::Branch(CommentId::new(env.mint()));
    for lane in [Lane::Linear, Lane::Roots, nowhere] {
        assert_eq!(env.store.runs(discussion, 1, lane).await.unwrap(), vec![]);
    }
    let root = env.post(discussion).await;
    let sums = env.store.branch_sums(discussion, 1, &[root.id]).await;
    assert_eq!(sums.unwrap(), vec![], "a head without a branch is left out");
    let none = env.store.branch_sums(discussion, 1, &[]).await;
    assert_eq!(none.unwrap(), vec![]);
}
