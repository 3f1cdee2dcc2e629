//! Cases of port `users`.

use std::collections::HashSet;

use libtest_mimic::Trial;
use threadline::domain::bans::{BanAct, BanEntry};
use threadline::domain::ids::{CommentId, EventId, UserId};
use threadline::domain::page::Slice;
use threadline::domain::user::{NUMERIC_SUBJECT_END, User};
use threadline::store::users::{BanFilter, ErasureStep, SignIn, UserStore};

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env, cases};

type Users = Env<dyn UserStore>;

const ISSUER: &str = "https://login.example";

pub(crate) const CASES: &[Case<dyn UserStore>] = cases![
    u1_twenty_first_calls_from_two_instances_get_one_id,
    u1_a_later_call_keeps_the_first_id_and_name,
    u1_another_issuer_or_subject_is_another_person,
    u2_a_name_set_is_the_name_read,
    u2_names_keep_every_character,
    u2_many_users_are_read_at_once_and_unknown_ones_left_out,
    u3_numeric_looking_subjects_get_minted_ids,
    u3_a_candidate_that_a_numeric_subject_could_claim_is_refused,
    u4_the_latest_entry_is_what_every_instance_reads,
    u5_an_entry_again_changes_nothing,
    u6_entries_are_listed_in_both_directions_by_person_and_actor,
    u7_a_forgotten_person_has_no_name_and_no_sign_in,
    u8_an_erasure_stays_open_until_it_is_done,
    u9_a_scrub_leaves_nothing_of_a_forgotten_name,
];

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::Users,
        |place, clock, tasks| Box::pin(place.users(clock, tasks)),
        CASES,
    )
}

async fn map(env: &Users, issuer: &str, subject: &str, name: &str) -> UserId {
    let candidate = UserId::new(env.mint());
    env.store
        .map_subject(issuer, subject, candidate, name)
        .await
        .unwrap()
}

async fn name_of(env: &Users, id: UserId) -> Option<String> {
    let mut found = env.store.users(&[id]).await.unwrap();
    assert!(found.len() <= 1);
    found.pop().map(|user| {
        assert_eq!(user.id, id);
        user.name
    })
}

async fn u1_twenty_first_calls_from_two_instances_get_one_id(env: Users) {
    let second = env.another_instance(2).await;
    let results = env
        .parallel(20, |index| {
            let env = if index % 2 == 0 { &env } else { &second }.clone();
            async move {
                let candidate = UserId::new(env.mint());
                let got = env
                    .store
                    .map_subject(ISSUER, "auth0|7", candidate, &format!("name {index}"))
                    .await;
                (candidate, got.unwrap())
            }
        })
        .await;
    let ids: HashSet<UserId> = results.iter().map(|(_, got)| *got).collect();
    assert_eq!(ids.len(), 1, "{results:?}");
    let id = results[0].1;
    let winners = results.iter().filter(|(candidate, _)| *candidate == id);
    assert_eq!(winners.count(), 1, "the id is one of the candidates");
    assert!(name_of(&env, id).await.unwrap().starts_with("name "));
    assert_eq!(map(&second, ISSUER, "auth0|7", "late").await, id);
}

async fn u1_a_later_call_keeps_the_first_id_and_name(env: Users) {
    let first = map(&env, ISSUER, "ann", "Ann").await;
    env.advance_ms(365 * 86_400_000);
    assert_eq!(map(&env, ISSUER, "ann", "Other").await, first);
    assert_eq!(name_of(&env, first).await.as_deref(), Some("Ann"));
    env.store.set_name(first, "Anna").await.unwrap();
    assert_eq!(map(&env, ISSUER, "ann", "Ann").await, first);
    assert_eq!(name_of(&env, first).await.as_deref(), Some("Anna"));
    let second = env.another_instance(2).await;
    assert_eq!(map(&second, ISSUER, "ann", "Third").await, first);
}

async fn u1_another_issuer_or_subject_is_another_person(env: Users) {
    let mut ids = HashSet::new();
    // Joined without care, the last two pairs would read alike.
    for (issuer, subject) in [
        (ISSUER, "ann"),
        (ISSUER, "Ann"),
        (ISSUER, "ann "),
        ("https://other.example", "ann"),
        ("a", "b|c"),
        ("a|b", "c"),
    ] {
        assert!(
            ids.insert(map(&env, issuer, subject, "").await),
            "{issuer} {subject}"
        );
    }
}

async fn u2_a_name_set_is_the_name_read(env: Users) {
    let id = UserId::new(42);
    assert_eq!(name_of(&env, id).await, None);
    env.store.set_name(id, "first").await.unwrap();
    assert_eq!(name_of(&env, id).await.as_deref(), Some("first"));
    env.store.set_name(id, "second").await.unwrap();
    env.store.set_name(id, "second").await.unwrap();
    assert_eq!(name_of(&env, id).await.as_deref(), Some("second"));
    env.store.set_name(id, "").await.unwrap();
    assert_eq!(name_of(&env, id).await.as_deref(), Some(""));
}

async fn u2_names_keep_every_character(env: Users) {
    for (id, name) in (1..).zip([
        "a😶b",
        "👨\u{200d}👩\u{200d}👧",
        "👍🏽",
        "ex𝌆tic",
        "bob\u{202e}",
        "it's \"quoted\" \\ % _",
        "עברית and English",
        "é",
        "e\u{301}",
        " spaces ",
    ]) {
        let id = UserId::new(id);
        env.store.set_name(id, name).await.unwrap();
        assert_eq!(name_of(&env, id).await.as_deref(), Some(name));
    }
}

async fn u2_many_users_are_read_at_once_and_unknown_ones_left_out(env: Users) {
    assert_eq!(env.store.users(&[]).await.unwrap(), vec![]);
    let ids: Vec<UserId> = (1..=300).map(UserId::new).collect();
    for id in ids.iter().step_by(3) {
        env.store.set_name(*id, &format!("n{id}")).await.unwrap();
    }
    let mut found = env.store.users(&ids).await.unwrap();
    found.sort_by_key(|user| user.id);
    let want: Vec<User> = ids
        .iter()
        .step_by(3)
        .map(|id| User {
            id: *id,
            name: format!("n{id}"),
        })
        .collect();
    assert_eq!(found, want);
}

async fn u3_numeric_looking_subjects_get_minted_ids(env: Users) {
    for subject in ["0", "007", "-5", "9007199254740992", "99999999999999999999"] {
        let id = map(&env, ISSUER, subject, "").await;
        assert!(id.get() >= NUMERIC_SUBJECT_END, "{subject} → {id}");
    }
    // What a second issuer calls 42 is not the person whose id is 42.
    env.store
        .set_name(UserId::new(42), "forty-two")
        .await
        .unwrap();
    let id = map(&env, "https://other.example", "42", "impostor").await;
    assert!(id.get() >= NUMERIC_SUBJECT_END);
    assert_eq!(
        name_of(&env, UserId::new(42)).await.as_deref(),
        Some("forty-two")
    );
}

async fn u3_a_candidate_that_a_numeric_subject_could_claim_is_refused(env: Users) {
    for candidate in [-1, 0, 1, NUMERIC_SUBJECT_END - 1] {
        let mapped = env
            .store
            .map_subject(ISSUER, "ann", UserId::new(candidate), "Ann")
            .await;
        assert!(mapped.is_err(), "{candidate} → {mapped:?}");
    }
    assert!(map(&env, ISSUER, "ann", "Ann").await.get() >= NUMERIC_SUBJECT_END);
}

fn entry(event: i64, user: i64, by: i64, act: BanAct) -> BanEntry {
    BanEntry {
        event_id: EventId::new(event),
        user_id: UserId::new(user),
        by: UserId::new(by),
        at_ms: env::START_MS,
        act,
        reason: format!("reason {event} 👍🏽"),
    }
}

const FOR_EVER: BanAct = BanAct::Ban { until_ms: None };

async fn u4_the_latest_entry_is_what_every_instance_reads(env: Users) {
    let second = env.another_instance(2).await;
    let (ann, bob) = (UserId::new(1), UserId::new(2));
    assert_eq!(env.store.latest_bans(&[ann, bob]).await.unwrap(), []);
    let until = BanAct::Ban {
        until_ms: Some(i64::MAX),
    };
    // Whichever comes last, the highest event id is the latest.
    for (event, act) in [(10, until), (30, BanAct::Lift), (20, FOR_EVER)] {
        env.store.add_ban(entry(event, 1, 9, act)).await.unwrap();
        let latest = env.store.latest_bans(&[ann]).await.unwrap().pop().unwrap();
        assert_eq!(
            latest.event_id.get(),
            event.max(if event == 20 { 30 } else { 0 })
        );
    }
    second.store.add_ban(entry(40, 1, 9, until)).await.unwrap();
    second
        .store
        .add_ban(entry(41, 2, 9, FOR_EVER))
        .await
        .unwrap();
    let mut latest = second
        .store
        .latest_bans(&[ann, bob, UserId::new(3)])
        .await
        .unwrap();
    latest.sort_by_key(|entry| entry.event_id);
    assert_eq!(latest, [entry(40, 1, 9, until), entry(41, 2, 9, FOR_EVER)]);
}

async fn u5_an_entry_again_changes_nothing(env: Users) {
    let first = entry(10, 1, 9, FOR_EVER);
    env.store.add_ban(first.clone()).await.unwrap();
    let other = BanEntry {
        reason: "another".to_owned(),
        act: BanAct::Lift,
        ..first.clone()
    };
    env.store.add_ban(other).await.unwrap();
    let latest = env.store.latest_bans(&[UserId::new(1)]).await.unwrap();
    assert_eq!(latest, [first]);
}

async fn u6_entries_are_listed_in_both_directions_by_person_and_actor(env: Users) {
    for event in 1..=12 {
        let act = if event % 2 == 0 {
            BanAct::Lift
        } else {
            FOR_EVER
        };
        let new = entry(event, event % 3, event % 4, act);
        env.store.add_ban(new).await.unwrap();
    }
    let list = |filter, above: Option<i64>, below: Option<i64>, ascending| {
        let slice = Slice {
            above: above.map(CommentId::new),
            below: below.map(CommentId::new),
            ascending,
            limit: 4,
        };
        let store = &env.store;
        async move {
            let found = store.bans(filter, slice).await.unwrap();
            found
                .iter()
                .map(|entry| entry.event_id.get())
                .collect::<Vec<_>>()
        }
    };
    let every = BanFilter::default();
    assert_eq!(list(every, None, None, true).await, [1, 2, 3, 4]);
    assert_eq!(list(every, Some(4), None, true).await, [5, 6, 7, 8]);
    assert_eq!(list(every, None, None, false).await, [12, 11, 10, 9]);
    assert_eq!(list(every, Some(3), Some(6), false).await, [5, 4]);
    let user = BanFilter {
        user: Some(UserId::new(1)),
        by: None,
    };
    assert_eq!(list(user, None, None, true).await, [1, 4, 7, 10]);
    let both = BanFilter {
        by: Some(UserId::new(2)),
        ..user
    };
    assert_eq!(list(both, None, None, true).await, [10]);
}

async fn u7_a_forgotten_person_has_no_name_and_no_sign_in(env: Users) {
    let second = env.another_instance(2).await;
    let ann = map(&env, ISSUER, "ann", "Ann").await;
    assert_eq!(name_of(&env, ann).await.as_deref(), Some("Ann"));
    let sign_in = SignIn {
        issuer: ISSUER.to_owned(),
        subject: "ann".to_owned(),
    };
    assert_eq!(second.store.sign_ins(ann).await.unwrap(), [sign_in]);
    env.store
        .add_ban(entry(1, ann.get(), 9, FOR_EVER))
        .await
        .unwrap();
    for _ in 0..2 {
        env.store.forget(ann).await.unwrap();
        assert_eq!(name_of(&env, ann).await.as_deref(), Some(""));
        assert_eq!(env.store.sign_ins(ann).await.unwrap(), []);
    }
    assert_eq!(env.store.latest_bans(&[ann]).await.unwrap().len(), 1);
    let later = map(&env, ISSUER, "ann", "Ann").await;
    assert_ne!(later, ann, "the same sign-in is somebody new");
    env.store.forget(UserId::new(4_711)).await.unwrap();
    assert_eq!(name_of(&env, UserId::new(4_711)).await, None);
}

async fn u8_an_erasure_stays_open_until_it_is_done(env: Users) {
    let (ann, bob) = (UserId::new(1), UserId::new(2));
    assert_eq!(env.store.erasure(ann).await.unwrap(), None);
    let asked = env.store.ask_erasure(ann).await.unwrap();
    assert_eq!((asked.asked_ms, asked.emptied_ms), (env::START_MS, None));
    env.advance_ms(1_000);
    assert_eq!(env.store.ask_erasure(ann).await.unwrap(), asked);
    env.store.ask_erasure(bob).await.unwrap();
    let open = env.store.open_erasures(10).await.unwrap();
    let whose: Vec<UserId> = open.iter().map(|erasure| erasure.user_id).collect();
    assert_eq!(whose, [ann, bob]);
    env.store
        .step_erasure(ann, ErasureStep::Emptied)
        .await
        .unwrap();
    env.advance_ms(1_000);
    env.store
        .step_erasure(ann, ErasureStep::Emptied)
        .await
        .unwrap();
    let second = env.another_instance(2).await;
    let found = second.store.erasure(ann).await.unwrap().unwrap();
    assert_eq!(found.emptied_ms, Some(env::START_MS + 1_000));
    assert_eq!(second.store.open_erasures(1).await.unwrap(), [found]);
    env.store
        .step_erasure(ann, ErasureStep::Done)
        .await
        .unwrap();
    let done = env.store.erasure(ann).await.unwrap().unwrap();
    assert_eq!(done.done_ms, Some(env::START_MS + 2_000));
    assert_eq!(done.emptied_ms, found.emptied_ms);
    assert_eq!(env.store.open_erasures(10).await.unwrap().len(), 1);
    // Who comes back and asks again begins anew.
    env.advance_ms(1_000);
    let again = env.store.ask_erasure(ann).await.unwrap();
    assert_eq!(again.asked_ms, env::START_MS + 3_000);
    assert_eq!((again.emptied_ms, again.done_ms), (None, None));
}

async fn u9_a_scrub_leaves_nothing_of_a_forgotten_name(env: Users) {
    for index in 0..200 {
        let name = format!("SECRETNAME {index}");
        let id = map(&env, ISSUER, &format!("SECRETSUBJECT{index}"), &name).await;
        if index % 2 == 0 {
            env.store.forget(id).await.unwrap();
        } else {
            env.store.set_name(id, "plain").await.unwrap();
        }
    }
    env.store.scrub().await.unwrap();
    assert!(!env.finds("SECRETNAME"));
    assert!(!env.finds("SECRETSUBJECT0"), "even ones are forgotten");
    assert!(env.finds("SECRETSUBJECT199") && env.finds("plain"));
}
