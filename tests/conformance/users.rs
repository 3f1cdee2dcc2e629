//! Cases of port `users`.

use std::collections::HashSet;

use libtest_mimic::Trial;
use threadline::domain::ids::UserId;
use threadline::domain::user::{NUMERIC_SUBJECT_END, User};
use threadline::store::users::UserStore;

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
