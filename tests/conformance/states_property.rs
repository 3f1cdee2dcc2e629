//! Random histories of states, told to a store by two instances and to a model; both must agree on
//! every answer, on both sides' lists and on every count.
//!
//! A failure prints its history; `PROPTEST_RNG_SEED` and the like run it again.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use threadline::domain::states::{EntityType, StateKey, StateRow};
use threadline::store::states::{Expected, SetOutcome, SetState, StateStore};

use crate::env::{Case, cases};
use crate::states::{REACTIONS, States, VOTES, actors, counts, entities, key, to};

pub(crate) const CASES: &[Case<dyn StateStore>] =
    cases![s1_any_history_told_by_two_instances_agrees_with_a_model];

const HISTORIES: u32 = 48;
const STEPS_MAX: usize = 50;
const ACTORS: std::ops::Range<i64> = 1..5;
const ENTITIES: std::ops::Range<i64> = 1..4;

#[derive(Clone, Debug)]
enum Op {
    Set {
        entity: i64,
        actor: i64,
        bits: bool,
        state: u16,
        amount: i64,
        expected: Expected,
        entities_max: Option<u32>,
    },
    Remove {
        entity: i64,
        actor: i64,
        bits: bool,
    },
    /// The last change once more.
    Repeat,
    Wait(u64),
    ForgetActor(i64, bool),
    ForgetEntity(i64, bool),
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        4 => Just(Expected::Anything),
        1 => Just(Expected::Nothing),
        1 => (0_u16..4).prop_map(Expected::State),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let set = (
        ENTITIES,
        ACTORS,
        any::<bool>(),
        0_u16..4,
        0_i64..2,
        expected(),
        prop::option::weighted(0.3, 1_u32..3),
    )
        .prop_map(
            |(entity, actor, bits, state, amount, expected, entities_max)| Op::Set {
                entity,
                actor,
                bits,
                state,
                amount,
                expected,
                entities_max,
            },
        );
    let remove = (ENTITIES, ACTORS, any::<bool>()).prop_map(|(entity, actor, bits)| Op::Remove {
        entity,
        actor,
        bits,
    });
    prop_oneof![
        10 => set,
        4 => remove,
        2 => Just(Op::Repeat),
        3 => (0_u64..3).prop_map(Op::Wait),
        1 => (ACTORS, any::<bool>()).prop_map(|(actor, bits)| Op::ForgetActor(actor, bits)),
        1 => (ENTITIES, any::<bool>()).prop_map(|(entity, bits)| Op::ForgetEntity(entity, bits)),
    ]
}

const fn of(bits: bool) -> EntityType {
    if bits { REACTIONS } else { VOTES }
}

/// What there should be: live rows by key, in the order of no list.
#[derive(Default)]
struct Model {
    live: HashMap<StateKey, StateRow>,
    /// When removed rows last changed: they come back no earlier.
    removed: HashMap<StateKey, i64>,
}

impl Model {
    fn set(&mut self, change: &SetState, now_ms: i64) -> SetOutcome {
        let live = self.live.get(&change.key).copied();
        if let Some(row) = live
            && (row.state, row.amount) == (change.state, change.amount)
        {
            return SetOutcome::Same(row);
        }
        let is_expected = match change.expected {
            Expected::Anything => true,
            Expected::Nothing => live.is_none(),
            Expected::State(state) => live.is_some_and(|row| row.state == state),
        };
        if !is_expected {
            return SetOutcome::Unexpected(live);
        }
        let (actor, of) = (change.key.actor, change.key.entity.of);
        let mine = self.live.keys();
        let mine = mine.filter(|key| key.actor == actor && key.entity.of == of);
        let most = change
            .entities_max
            .map(|most| usize::try_from(most).unwrap());
        if live.is_none() && most.is_some_and(|most| mine.count() >= most) {
            return SetOutcome::Full;
        }
        let removed = self.removed.remove(&change.key);
        let before = live.map(|row| row.updated_ms).or(removed);
        let updated_ms = before.map_or(now_ms, |before| before.max(now_ms));
        let row = StateRow {
            key: change.key,
            state: change.state,
            amount: change.amount,
            created_ms: live.map_or(updated_ms, |row| row.created_ms),
            updated_ms,
        };
        self.live.insert(change.key, row);
        SetOutcome::Changed(row)
    }

    fn remove(&mut self, key: StateKey, now_ms: i64) -> Option<StateRow> {
        let row = self.live.remove(&key)?;
        self.removed.insert(key, row.updated_ms.max(now_ms));
        Some(row)
    }

    fn forget(&mut self, is_gone: impl Fn(&StateKey) -> bool) -> u64 {
        let before = self.live.len() + self.removed.len();
        self.live.retain(|key, _| !is_gone(key));
        self.removed.retain(|key, _| !is_gone(key));
        u64::try_from(before - self.live.len() - self.removed.len()).unwrap()
    }

    async fn compare(&self, env: &States) {
        for bits in [false, true] {
            for id in ENTITIES {
                let entity = key(of(bits), id, 0).entity;
                let mut want: Vec<StateRow> = self.live.values().copied().collect();
                want.retain(|row| row.key.entity == entity);
                want.sort_by_key(|row| (row.updated_ms, row.key.actor.id));
                assert_eq!(actors(env, entity, true).await, want);
                let mut tally: BTreeMap<u16, i64> = BTreeMap::new();
                for state in want.iter().flat_map(|row| of(bits).counted(row.state)) {
                    *tally.entry(state).or_default() += 1;
                }
                let tally: Vec<(u16, i64)> = tally.into_iter().collect();
                assert_eq!(counts(env, entity).await, tally);
                assert_eq!(env.store.recount(entity).await.unwrap(), []);
            }
            for id in ACTORS {
                let actor = key(of(bits), 0, id).actor;
                let mut want: Vec<StateRow> = self.live.values().copied().collect();
                want.retain(|row| row.key.actor == actor && row.key.entity.of == of(bits));
                want.sort_by_key(|row| (row.updated_ms, row.key.entity.id));
                want.reverse();
                assert_eq!(entities(env, actor, of(bits), false).await, want);
            }
        }
    }
}

async fn tell(instances: &[&States], history: Vec<Op>) {
    let env = instances[0];
    let mut model = Model::default();
    let mut last = None;
    for (at, op) in history.into_iter().enumerate() {
        let teller = instances[at % instances.len()];
        let now_ms = env.clock.now_ms();
        match op {
            Op::Set {
                entity,
                actor,
                bits,
                state,
                amount,
                expected,
                entities_max,
            } => {
                let change = SetState {
                    amount,
                    expected,
                    entities_max,
                    ..to(key(of(bits), entity, actor), state)
                };
                last = Some(change);
                let outcome = teller.store.set(change).await.unwrap();
                assert_eq!(outcome, model.set(&change, now_ms), "{change:?}");
            }
            Op::Repeat => {
                if let Some(change) = last {
                    let outcome = teller.store.set(change).await.unwrap();
                    assert_eq!(outcome, model.set(&change, now_ms), "again: {change:?}");
                }
            }
            Op::Remove {
                entity,
                actor,
                bits,
            } => {
                let key = key(of(bits), entity, actor);
                let gone = teller.store.remove(key).await.unwrap();
                assert_eq!(gone, model.remove(key, now_ms), "{key:?}");
            }
            Op::Wait(ms) => env.advance_ms(ms),
            Op::ForgetActor(actor, bits) => {
                let actor = key(of(bits), 0, actor).actor;
                let gone = teller.store.forget_actor(actor, of(bits), 100).await;
                let want = model.forget(|key| key.actor == actor && key.entity.of == of(bits));
                assert_eq!(gone.unwrap(), want);
            }
            Op::ForgetEntity(entity, bits) => {
                let entity = key(of(bits), entity, 0).entity;
                let gone = teller.store.forget_entity(entity, 100).await.unwrap();
                assert_eq!(gone, model.forget(|key| key.entity == entity));
            }
        }
    }
    model.compare(env).await;
    // The next history finds an empty store.
    for bits in [false, true] {
        for id in ENTITIES {
            let entity = key(of(bits), id, 0).entity;
            env.store.forget_entity(entity, 1_000).await.unwrap();
        }
    }
}

async fn s1_any_history_told_by_two_instances_agrees_with_a_model(env: States) {
    let second = env.another_instance(2).await;
    let histories = prop::collection::vec(op(), 1..STEPS_MAX);
    let config = Config {
        cases: HISTORIES,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let runtime = tokio::runtime::Handle::current();
    // The runner is synchronous; the stores' tasks run on the other threads meanwhile.
    let told = tokio::task::block_in_place(|| {
        runner.run(&histories, |history| {
            runtime.block_on(tell(&[&env, &second], history));
            Ok(())
        })
    });
    told.unwrap();
}
