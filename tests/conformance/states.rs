//! Cases of port `states`.

use std::collections::HashSet;

use libtest_mimic::Trial;
use threadline::domain::states::{
    Actor, ActorType, Entity, EntityType, Meaning, StateKey, StatePlace, StateRow, StateSlice,
};
use threadline::store::states::{Expected, SetOutcome, SetState, StateStore};

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env, cases};
use crate::states_property;

pub(crate) type States = Env<dyn StateStore>;

/// Types of the cases' own: what the product stores lies under small codes.
pub(crate) const VOTES: EntityType = EntityType::new(60_001, Meaning::Value);
pub(crate) const REACTIONS: EntityType = EntityType::new(60_002, Meaning::Bits);
const READER: ActorType = ActorType::new(60_001);

const CASES: &[Case<dyn StateStore>] = cases![
    s1_values_and_bits_are_counted_in_the_same_write,
    s1_parallel_changes_from_two_instances_leave_right_counts,
    s2_a_repeated_change_counts_once_and_moves_no_time,
    s2_twenty_equal_changes_at_once_are_one,
    s3_removing_twice_never_goes_below_zero,
    s3_a_recount_of_right_counts_finds_nothing,
    s4_an_expected_state_decides_and_a_repeat_is_not_refused,
    s5_states_are_read_one_by_one_and_many_at_once,
    s5_a_removed_state_is_gone_and_a_new_one_begins_anew,
    s6_lists_page_through_equal_times_in_both_directions,
    s6_a_change_moves_a_row_to_the_end_of_its_lists,
    s7_the_limit_holds_under_parallel_changes,
    s8_forgetting_an_actor_or_an_entity_leaves_nothing,
];

pub(crate) fn all_cases() -> impl Iterator<Item = &'static Case<dyn StateStore>> {
    CASES.iter().chain(states_property::CASES)
}

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::States,
        |place, clock, tasks| Box::pin(place.states(clock, tasks)),
        all_cases(),
    )
}

pub(crate) fn key(of: EntityType, entity: i64, actor: i64) -> StateKey {
    StateKey {
        entity: Entity { of, id: entity },
        actor: Actor {
            of: READER,
            id: actor,
        },
    }
}

pub(crate) fn to(key: StateKey, state: u16) -> SetState {
    SetState {
        key,
        state,
        amount: 0,
        expected: Expected::Anything,
        entities_max: None,
    }
}

pub(crate) const fn all(ascending: bool, limit: u32) -> StateSlice {
    StateSlice {
        above: None,
        below: None,
        ascending,
        limit,
    }
}

async fn set(env: &States, key: StateKey, state: u16) -> StateRow {
    match env.store.set(to(key, state)).await.unwrap() {
        SetOutcome::Changed(row) => row,
        other => panic!("not changed: {other:?}"),
    }
}

/// The counts of one entity, by state.
pub(crate) async fn counts(env: &States, entity: Entity) -> Vec<(u16, i64)> {
    let found = env.store.counts(&[entity]).await.unwrap();
    let mut counts: Vec<(u16, i64)> = found
        .into_iter()
        .map(|(of, state, count)| {
            assert_eq!(of, entity);
            (state, count)
        })
        .collect();
    counts.sort_unstable();
    counts
}

/// Everything of a list, page by page from one end.
pub(crate) async fn actors(env: &States, entity: Entity, ascending: bool) -> Vec<StateRow> {
    let mut slice = all(ascending, 3);
    let mut found = Vec::new();
    loop {
        let page = env.store.actors(entity, READER, slice).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else {
            return found;
        };
        let place = StatePlace {
            updated_ms: last.updated_ms,
            id: last.key.actor.id,
        };
        if ascending {
            slice.above = Some(place);
        } else {
            slice.below = Some(place);
        }
        found.extend(page);
    }
}

/// As [`actors`], of the other side.
pub(crate) async fn entities(
    env: &States,
    actor: Actor,
    of: EntityType,
    ascending: bool,
) -> Vec<StateRow> {
    let mut slice = all(ascending, 3);
    let mut found = Vec::new();
    loop {
        let page = env.store.entities(actor, of, slice).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else {
            return found;
        };
        let place = StatePlace {
            updated_ms: last.updated_ms,
            id: last.key.entity.id,
        };
        if ascending {
            slice.above = Some(place);
        } else {
            slice.below = Some(place);
        }
        found.extend(page);
    }
}

async fn s1_values_and_bits_are_counted_in_the_same_write(env: States) {
    let (up, down) = (1, 2);
    for actor in 1..=5 {
        set(&env, key(VOTES, 7, actor), up).await;
    }
    set(&env, key(VOTES, 7, 1), down).await;
    assert_eq!(
        counts(&env, key(VOTES, 7, 0).entity).await,
        [(1, 4), (2, 1)]
    );
    set(&env, key(REACTIONS, 7, 1), 0b101).await;
    set(&env, key(REACTIONS, 7, 2), 0b110).await;
    set(&env, key(REACTIONS, 7, 1), 0b001).await;
    let entity = key(REACTIONS, 7, 0).entity;
    assert_eq!(counts(&env, entity).await, [(0, 1), (1, 1), (2, 1)]);
    // Two types are two worlds, and many entities are one call.
    let both = [entity, key(VOTES, 7, 0).entity, key(VOTES, 8, 0).entity];
    assert_eq!(env.store.counts(&both).await.unwrap().len(), 5);
    assert_eq!(env.store.counts(&[]).await.unwrap(), []);
}

async fn s1_parallel_changes_from_two_instances_leave_right_counts(env: States) {
    let second = env.another_instance(2).await;
    env.parallel(60, |index| {
        let env = if index % 2 == 0 { &env } else { &second }.clone();
        async move {
            let index = i64::try_from(index).unwrap();
            let at = key(VOTES, 1, index % 7);
            match index % 3 {
                0 => drop(env.store.remove(at).await.unwrap()),
                state => {
                    let state = u16::try_from(state).unwrap();
                    env.store.set(to(at, state)).await.unwrap();
                }
            }
        }
    })
    .await;
    let entity = key(VOTES, 1, 0).entity;
    let rows = actors(&env, entity, true).await;
    let of = |state| rows.iter().filter(|row| row.state == state).count();
    let mut want = vec![(1, of(1)), (2, of(2))];
    want.retain(|(_, rows)| *rows > 0);
    let want: Vec<(u16, i64)> = want
        .into_iter()
        .map(|(state, rows)| (state, i64::try_from(rows).unwrap()))
        .collect();
    assert_eq!(counts(&env, entity).await, want);
    assert_eq!(env.store.recount(entity).await.unwrap(), []);
}

async fn s2_a_repeated_change_counts_once_and_moves_no_time(env: States) {
    let at = key(VOTES, 1, 1);
    let first = set(&env, at, 1).await;
    env.advance_ms(5_000);
    let again = env.store.set(to(at, 1)).await.unwrap();
    assert_eq!(again, SetOutcome::Same(first));
    assert_eq!(counts(&env, at.entity).await, [(1, 1)]);
    let second = set(&env, at, 2).await;
    assert_eq!(second.created_ms, first.created_ms);
    assert_eq!(second.updated_ms, first.updated_ms + 5_000);
    // The amount is part of the state.
    let tip = SetState {
        amount: i64::MAX,
        ..to(at, 2)
    };
    assert!(matches!(
        env.store.set(tip).await.unwrap(),
        SetOutcome::Changed(row) if row.amount == i64::MAX
    ));
    assert!(matches!(
        env.store.set(tip).await.unwrap(),
        SetOutcome::Same(_)
    ));
    assert_eq!(counts(&env, at.entity).await, [(2, 1)]);
}

async fn s2_twenty_equal_changes_at_once_are_one(env: States) {
    let at = key(REACTIONS, 1, 1);
    let outcomes = env
        .parallel(20, |_| {
            let env = env.clone();
            async move { env.store.set(to(at, 0b11)).await.unwrap() }
        })
        .await;
    let changed = |outcome: &&SetOutcome| matches!(outcome, SetOutcome::Changed(_));
    assert_eq!(outcomes.iter().filter(changed).count(), 1);
    assert_eq!(counts(&env, at.entity).await, [(0, 1), (1, 1)]);
}

async fn s3_removing_twice_never_goes_below_zero(env: States) {
    let at = key(VOTES, 1, 1);
    assert_eq!(env.store.remove(at).await.unwrap(), None);
    let row = set(&env, at, 1).await;
    assert_eq!(env.store.remove(at).await.unwrap(), Some(row));
    assert_eq!(env.store.remove(at).await.unwrap(), None);
    assert_eq!(counts(&env, at.entity).await, []);
    set(&env, at, 1).await;
    assert_eq!(counts(&env, at.entity).await, [(1, 1)]);
}

async fn s3_a_recount_of_right_counts_finds_nothing(env: States) {
    for actor in 1..=4 {
        set(&env, key(REACTIONS, 1, actor), 0b1001).await;
    }
    env.store.remove(key(REACTIONS, 1, 2)).await.unwrap();
    let entity = key(REACTIONS, 1, 0).entity;
    assert_eq!(env.store.recount(entity).await.unwrap(), []);
    assert_eq!(counts(&env, entity).await, [(0, 3), (3, 3)]);
}

async fn s4_an_expected_state_decides_and_a_repeat_is_not_refused(env: States) {
    let at = key(VOTES, 1, 1);
    let when = |expected, state| SetState {
        expected,
        ..to(at, state)
    };
    let set = |change| env.store.set(change);
    let outcome = set(when(Expected::State(1), 2)).await.unwrap();
    assert_eq!(outcome, SetOutcome::Unexpected(None));
    let outcome = set(when(Expected::Nothing, 1)).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Changed(_)));
    let outcome = set(when(Expected::Nothing, 2)).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Unexpected(Some(row)) if row.state == 1));
    let outcome = set(when(Expected::State(1), 2)).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Changed(_)));
    // The same change again, its first answer lost on the way.
    let outcome = set(when(Expected::State(1), 2)).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Same(_)));
    env.store.remove(at).await.unwrap();
    let outcome = set(when(Expected::State(2), 1)).await.unwrap();
    assert_eq!(outcome, SetOutcome::Unexpected(None));
}

async fn s5_states_are_read_one_by_one_and_many_at_once(env: States) {
    let second = env.another_instance(2).await;
    let mut want = HashSet::new();
    for actor in 1..=200_i64 {
        if actor % 3 == 0 {
            let state = u16::MAX - u16::try_from(actor).unwrap();
            set(&env, key(VOTES, actor, actor), state).await;
            want.insert((actor, state));
        }
    }
    let keys: Vec<StateKey> = (1..=200).map(|id| key(VOTES, id, id)).collect();
    let found = second.store.states(&keys).await.unwrap();
    let found: HashSet<(i64, u16)> = found
        .iter()
        .map(|row| (row.key.actor.id, row.state))
        .collect();
    assert_eq!(found, want);
    assert_eq!(env.store.states(&[]).await.unwrap(), []);
    let twice = [key(VOTES, 3, 3), key(VOTES, 3, 3)];
    assert_eq!(env.store.states(&twice).await.unwrap().len(), 1);
    let row = env.store.state(key(VOTES, 3, 3)).await.unwrap().unwrap();
    assert_eq!((row.state, row.amount), (u16::MAX - 3, 0));
    // The other side's id and another type are other keys.
    assert_eq!(env.store.state(key(VOTES, 3, 4)).await.unwrap(), None);
    assert_eq!(env.store.state(key(REACTIONS, 3, 3)).await.unwrap(), None);
}

async fn s5_a_removed_state_is_gone_and_a_new_one_begins_anew(env: States) {
    let at = key(VOTES, 1, 1);
    let first = set(&env, at, 1).await;
    env.store.remove(at).await.unwrap();
    assert_eq!(env.store.state(at).await.unwrap(), None);
    assert_eq!(actors(&env, at.entity, true).await, []);
    env.advance_ms(1_000);
    let second = set(&env, at, 1).await;
    assert_eq!(second.created_ms, first.created_ms + 1_000);
    assert_eq!(env.store.state(at).await.unwrap(), Some(second));
}

async fn s6_lists_page_through_equal_times_in_both_directions(env: States) {
    let entity = key(VOTES, 9, 0).entity;
    for actor in [5, 3, 9, 1, 7, 8, 2, 6, 4, 10] {
        set(&env, key(VOTES, 9, actor), 1).await;
        if actor == 1 {
            env.advance_ms(1);
        }
    }
    env.store.remove(key(VOTES, 9, 9)).await.unwrap();
    let ids = |rows: &[StateRow]| rows.iter().map(|row| row.key.actor.id).collect::<Vec<_>>();
    let forward = actors(&env, entity, true).await;
    assert_eq!(ids(&forward), [1, 3, 5, 2, 4, 6, 7, 8, 10]);
    let mut backward = actors(&env, entity, false).await;
    backward.reverse();
    assert_eq!(backward, forward);
    // A range of both bounds holds what lies between them.
    let place = |row: &StateRow| StatePlace {
        updated_ms: row.updated_ms,
        id: row.key.actor.id,
    };
    let between = StateSlice {
        above: Some(place(&forward[1])),
        below: Some(place(&forward[5])),
        ..all(false, 10)
    };
    let found = env.store.actors(entity, READER, between).await.unwrap();
    assert_eq!(ids(&found), [4, 2, 5]);
    // The other side, of one type only.
    let actor = key(VOTES, 0, 77).actor;
    for id in 1..=8 {
        set(&env, key(VOTES, id, 77), 1).await;
        set(&env, key(REACTIONS, id, 77), 1).await;
    }
    let mine = entities(&env, actor, VOTES, true).await;
    let found: Vec<i64> = mine.iter().map(|row| row.key.entity.id).collect();
    assert_eq!(found, (1..=8).collect::<Vec<_>>());
    let mut backward = entities(&env, actor, VOTES, false).await;
    backward.reverse();
    assert_eq!(backward, mine);
}

async fn s6_a_change_moves_a_row_to_the_end_of_its_lists(env: States) {
    for actor in 1..=3 {
        set(&env, key(VOTES, 1, actor), 1).await;
        env.advance_ms(1);
    }
    set(&env, key(VOTES, 1, 1), 2).await;
    env.clock.step_back(std::time::Duration::from_mins(1));
    let stepped = set(&env, key(VOTES, 1, 1), 1).await;
    let rows = actors(&env, key(VOTES, 1, 0).entity, true).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.key.actor.id).collect();
    assert_eq!(ids, [2, 3, 1], "a clock that stepped back moves nothing");
    assert_eq!(rows[2], stepped);
}

async fn s7_the_limit_holds_under_parallel_changes(env: States) {
    let second = env.another_instance(2).await;
    let limited = |entity| SetState {
        entities_max: Some(10),
        ..to(key(VOTES, entity, 1), 1)
    };
    let outcomes = env
        .parallel(40, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            let change = limited(i64::try_from(index).unwrap());
            async move { env.store.set(change).await.unwrap() }
        })
        .await;
    let full = |outcome: &&SetOutcome| **outcome == SetOutcome::Full;
    assert_eq!(outcomes.iter().filter(full).count(), 30);
    let mine = entities(&env, key(VOTES, 0, 1).actor, VOTES, true).await;
    assert_eq!(mine.len(), 10);
    // What is there may change; what goes makes room; others have their own.
    let there = mine[0].key;
    let change = SetState {
        entities_max: Some(10),
        ..to(there, 2)
    };
    assert!(matches!(
        env.store.set(change).await.unwrap(),
        SetOutcome::Changed(_)
    ));
    env.store.remove(there).await.unwrap();
    let outcome = env.store.set(limited(1_000)).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Changed(_)));
    assert_eq!(
        env.store.set(limited(1_001)).await.unwrap(),
        SetOutcome::Full
    );
    let other = SetState {
        entities_max: Some(10),
        ..to(key(VOTES, 1_001, 2), 1)
    };
    let outcome = env.store.set(other).await.unwrap();
    assert!(matches!(outcome, SetOutcome::Changed(_)));
}

async fn s8_forgetting_an_actor_or_an_entity_leaves_nothing(env: States) {
    for entity in 1..=5 {
        for actor in 1..=3 {
            set(&env, key(REACTIONS, entity, actor), 0b11).await;
        }
    }
    env.store.remove(key(REACTIONS, 1, 1)).await.unwrap();
    set(&env, key(VOTES, 1, 1), 1).await;
    let actor = key(REACTIONS, 0, 1).actor;
    let mut steps = Vec::new();
    loop {
        let gone = env.store.forget_actor(actor, REACTIONS, 2).await.unwrap();
        steps.push(gone);
        if gone == 0 {
            break;
        }
    }
    assert_eq!(steps, [2, 2, 1, 0], "removed rows are forgotten too");
    assert_eq!(entities(&env, actor, REACTIONS, true).await, []);
    assert_eq!(entities(&env, actor, VOTES, true).await.len(), 1);
    for entity in 1..=5 {
        let entity = key(REACTIONS, entity, 0).entity;
        assert_eq!(counts(&env, entity).await, [(0, 2), (1, 2)]);
    }
    let entity = key(REACTIONS, 2, 0).entity;
    assert_eq!(env.store.forget_entity(entity, 100).await.unwrap(), 2);
    assert_eq!(env.store.forget_entity(entity, 100).await.unwrap(), 0);
    assert_eq!(counts(&env, entity).await, []);
    assert_eq!(actors(&env, entity, true).await, []);
    let other = key(REACTIONS, 0, 2).actor;
    assert_eq!(entities(&env, other, REACTIONS, true).await.len(), 4);
}
