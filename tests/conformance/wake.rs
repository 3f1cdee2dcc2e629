//! Cases of port `wake`.

use libtest_mimic::Trial;
use threadline::domain::ids::{DiscussionId, EventId};
use threadline::store::wake::{News, Topic, WAITING_MAX, WakeBus};

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env, cases};

type Wake = Env<dyn WakeBus>;

pub(crate) const CASES: &[Case<dyn WakeBus>] = cases![
    w1_everybody_who_listened_before_hears_each_wake_in_order,
    w1_a_topic_does_not_hear_of_another,
    w1_wakes_from_many_at_once_are_all_heard,
    w2_who_falls_behind_hears_that_some_were_missed_and_then_the_latest,
    w3_a_wake_for_nobody_is_lost_and_a_later_listener_hears_only_what_follows,
    w3_who_leaves_takes_nothing_from_the_others,
];

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::Wake,
        |place, _, _| Box::pin(place.wake()),
        CASES,
    )
}

const fn topic(nth: i64) -> Topic {
    Topic::Discussion(DiscussionId::new(nth))
}

const fn event(nth: i64) -> News {
    News::Event(EventId::new(nth))
}

async fn wake(env: &Wake, of: i64, nth: i64) {
    env.store.wake(topic(of), EventId::new(nth)).await.unwrap();
}

async fn w1_everybody_who_listened_before_hears_each_wake_in_order(env: Wake) {
    let mut listeners = [env.store.listen(topic(1)), env.store.listen(topic(1))];
    for nth in 1..=5 {
        wake(&env, 1, nth).await;
    }
    for listener in &mut listeners {
        for nth in 1..=5 {
            assert_eq!(listener.next().await, Some(event(nth)));
        }
        assert_eq!(listener.heard(), None);
    }
}

async fn w1_a_topic_does_not_hear_of_another(env: Wake) {
    let (mut one, mut two) = (env.store.listen(topic(1)), env.store.listen(topic(2)));
    wake(&env, 2, 20).await;
    wake(&env, 1, 10).await;
    assert_eq!(one.next().await, Some(event(10)));
    assert_eq!(two.next().await, Some(event(20)));
    assert_eq!((one.heard(), two.heard()), (None, None));
}

async fn w1_wakes_from_many_at_once_are_all_heard(env: Wake) {
    let mut listener = env.store.listen(topic(1));
    env.parallel(100, |nth| {
        let env = env.clone();
        async move { wake(&env, 1, i64::try_from(nth).unwrap()).await }
    })
    .await;
    let mut heard = Vec::new();
    for _ in 0..100 {
        heard.push(listener.next().await.unwrap());
    }
    heard.sort_by_key(|news| match news {
        News::Event(event) => event.get(),
        News::Missed => -1,
    });
    assert_eq!(heard, (0..100).map(event).collect::<Vec<_>>());
}

async fn w2_who_falls_behind_hears_that_some_were_missed_and_then_the_latest(env: Wake) {
    let mut listener = env.store.listen(topic(1));
    let last = i64::try_from(WAITING_MAX).unwrap() * 3;
    for nth in 1..=last {
        wake(&env, 1, nth).await;
    }
    assert_eq!(listener.next().await, Some(News::Missed));
    let (mut heard, mut latest) = (0, None);
    while let Some(news) = listener.heard() {
        heard += 1;
        latest = Some(news);
    }
    assert!(heard <= WAITING_MAX, "{heard}");
    assert_eq!(latest, Some(event(last)));
}

async fn w3_a_wake_for_nobody_is_lost_and_a_later_listener_hears_only_what_follows(env: Wake) {
    wake(&env, 1, 1).await;
    let mut listener = env.store.listen(topic(1));
    wake(&env, 1, 2).await;
    assert_eq!(listener.next().await, Some(event(2)));
    assert_eq!(listener.heard(), None);
}

async fn w3_who_leaves_takes_nothing_from_the_others(env: Wake) {
    let mut stays = env.store.listen(topic(1));
    drop(env.store.listen(topic(1)));
    drop(env.store.listen(topic(2)));
    for nth in 1..=3 {
        wake(&env, 1, nth).await;
        wake(&env, 2, nth).await;
    }
    for nth in 1..=3 {
        assert_eq!(stays.next().await, Some(event(nth)));
    }
    let mut again = env.store.listen(topic(2));
    assert_eq!(again.heard(), None);
}
