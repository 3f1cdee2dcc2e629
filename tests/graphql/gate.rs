//! What a text passes before it is written: the word filter and the spam hook, against a real little
//! HTTP server.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use threadline::tasks::Tasks;
use tokio::sync::Semaphore;

use crate::support::{TestApp, Who};

/// What the hook does with the next questions.
#[derive(Clone, Debug)]
enum Mood {
    Say(&'static str),
    Status(u16),
    Redirect(String),
    Huge,
    Never,
    /// Publishes as many as there are permits, the rest later.
    Slowly(Arc<Semaphore>),
}

/// A hook that answers as told and remembers what it was asked.
#[derive(Clone)]
struct Hook {
    address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    asked: Arc<Mutex<Vec<Value>>>,
    /// Questions without an answer yet, and the most there were at once.
    under_way: Arc<Mutex<(usize, usize)>>,
}

impl Hook {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hook = Self {
            address: listener.local_addr().unwrap(),
            mood: Arc::new(Mutex::new(Mood::Say(r#"{"verdict":"publish"}"#))),
            asked: Arc::default(),
            under_way: Arc::default(),
        };
        let (answering, elsewhere) = (hook.clone(), hook.clone());
        let router = Router::new()
            .route(
                "/judge",
                post(async move |body: Bytes| answering.answer(&body).await),
            )
            .route(
                "/elsewhere",
                post(async move |body: Bytes| {
                    elsewhere
                        .asked
                        .lock()
                        .unwrap()
                        .push(serde_json::from_slice(&body).unwrap());
                    r#"{"verdict":"publish"}"#
                }),
            );
        drop(Tasks::new().spawn(async move { axum::serve(listener, router).await.unwrap() }));
        hook
    }

    async fn answer(&self, body: &Bytes) -> Response {
        self.asked
            .lock()
            .unwrap()
            .push(serde_json::from_slice(body).unwrap());
        let mood = self.mood.lock().unwrap().clone();
        match mood {
            Mood::Say(text) => text.into_response(),
            Mood::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
            Mood::Redirect(to) => {
                (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response()
            }
            Mood::Huge => format!(r#"{{"verdict":"publish","why":"{}"}}"#, "x".repeat(1 << 20))
                .into_response(),
            Mood::Never => std::future::pending().await,
            Mood::Slowly(permits) => {
                {
                    let mut under_way = self.under_way.lock().unwrap();
                    under_way.0 += 1;
                    under_way.1 = under_way.1.max(under_way.0);
                }
                permits.acquire().await.unwrap().forget();
                self.under_way.lock().unwrap().0 -= 1;
                r#"{"verdict":"publish"}"#.into_response()
            }
        }
    }

    fn be(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    async fn app(&self, settings: &[(&str, &str)]) -> TestApp {
        let url = format!("http://{}/judge", self.address);
        // Only a case about the limit waits for it: a busy machine is no slow hook.
        let mut all = vec![
            ("MODERATION__SPAM_HOOK_URL", url.as_str()),
            ("MODERATION__SPAM_HOOK_TIMEOUT", "5s"),
        ];
        all.extend_from_slice(settings);
        TestApp::with(&all).await
    }
}

/// The refusal of a post, or the state of the comment it wrote.
async fn outcome(app: &TestApp, who: &Who, body: &str) -> String {
    let written = app.try_post(who, "p", None, body, None).await;
    let told = [&written["reason"], &written["comment"]["state"]];
    let told = told.into_iter().find_map(Value::as_str);
    told.unwrap_or_else(|| panic!("{written:#}")).to_owned()
}

#[tokio::test]
async fn words_hold_or_refuse_what_members_write_and_say_nothing_of_the_list() {
    let app = TestApp::with(&[
        ("MODERATION__WORDS_HOLD", r#"["maybe bad"]"#),
        (
            "MODERATION__WORDS_REFUSE",
            r#"["unspeakable", "spam.example"]"#,
        ),
    ])
    .await;
    let member = Who::user(1);
    // A refused first comment opens no discussion.
    let refused = app
        .try_post(&member, "new", None, "UNSPEAK\u{200B}ABLE!", None)
        .await;
    assert_eq!(
        (&refused["reason"], &refused["code"]),
        (&json!("WORD_NOT_ALLOWED"), &json!("WORD_NOT_ALLOWED"))
    );
    assert!(!refused.to_string().to_lowercase().contains("unspeak"));
    let query = "{ discussions { edges { node { id } } } }";
    let data = app.ask(&member, query, json!({})).await;
    assert_eq!(data["discussions"]["edges"], json!([]));
    assert_eq!(
        outcome(&app, &member, "unspeakableness is fine").await,
        "PUBLISHED"
    );
    assert_eq!(
        outcome(&app, &member, "this is Maybe  BAD").await,
        "PENDING"
    );
    assert_eq!(
        outcome(&app, &Who::moderator(9), "unspeakable, maybe bad").await,
        "PUBLISHED"
    );
    assert_eq!(app.counts("p").await, [3, 2, 2, 2, 0]);
    // Edits pass the same way.
    let id = app.post(&member, "p", None, "harmless").await;
    assert_eq!(
        app.edit(&member, &id, 1, "un<b>speak</b>able unspeakable")
            .await["reason"],
        "WORD_NOT_ALLOWED"
    );
    assert_eq!(
        app.edit(&member, &id, 1, "maybe bad").await["comment"]["revision"],
        2
    );
    assert_eq!(app.counts("p").await, [4, 2, 2, 2, 0]);
    let queue = app
        .ask(
            &Who::moderator(9),
            "{ moderationQueue { totalCount } }",
            json!({}),
        )
        .await;
    assert_eq!(queue["moderationQueue"]["totalCount"], 2);
}

#[tokio::test]
async fn the_hook_is_told_what_it_needs_and_its_verdict_holds() {
    let hook = Hook::start().await;
    let app = hook.app(&[]).await;
    let member = Who::user(1);
    let id = app.post(&member, "p", None, "first").await;
    let first = hook.asked();
    assert_eq!(first.len(), 1);
    assert_eq!(
        first[0]["discussion"],
        json!({"id": null, "url": null, "entity": {"type": "post", "id": "p"}})
    );
    assert_eq!(
        (&first[0]["text"], &first[0]["format"], &first[0]["isEdit"]),
        (&json!("first"), &json!("PLAIN"), &json!(false))
    );
    hook.be(Mood::Say(r#"{"verdict":"hold","score":0.7}"#));
    assert_eq!(outcome(&app, &member, "hmm").await, "PENDING");
    hook.be(Mood::Say(r#"{"verdict":"refuse"}"#));
    assert_eq!(outcome(&app, &member, "buy").await, "SPAM");
    assert_eq!(app.edit(&member, &id, 1, "buy").await["reason"], "SPAM");
    let asked = hook.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(
        (&asked[2]["isEdit"], &asked[2]["discussion"]["id"]),
        (&json!(true), &json!(app.discussion_id("p").await))
    );
    // Moderators are not asked about.
    assert_eq!(outcome(&app, &Who::moderator(9), "buy").await, "PUBLISHED");
    assert!(hook.asked().is_empty());
    assert_eq!(app.counts("p").await, [3, 2, 2, 2, 0]);
}

#[tokio::test]
async fn a_retry_is_not_judged_again() {
    let hook = Hook::start().await;
    let app = hook.app(&[]).await;
    let who = Who::user(1);
    let first = app.try_post(&who, "p", None, "text", Some("key")).await;
    hook.be(Mood::Say(r#"{"verdict":"refuse"}"#));
    let again = app.try_post(&who, "p", None, "text", Some("key")).await;
    assert_eq!(
        (&again["comment"]["id"], &again["replayed"]),
        (&first["comment"]["id"], &json!(true))
    );
    assert_eq!(again["comment"]["state"], "PUBLISHED");
    assert_eq!(hook.asked().len(), 1);
    // The key of another text refuses, and opens no discussion.
    let other = app.try_post(&who, "other", None, "text", Some("key")).await;
    assert_eq!(other["reason"], "KEY_REUSED");
    let data = app
        .ask(
            &who,
            "{ discussions { edges { node { entity { id } } } } }",
            json!({}),
        )
        .await;
    assert_eq!(data["discussions"]["edges"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn whatever_goes_wrong_with_the_hook_the_setting_decides() {
    let hook = Hook::start().await;
    let elsewhere = format!("http://{}/elsewhere", hook.address);
    for (on_failure, told) in [
        ("publish", "PUBLISHED"),
        ("hold", "PENDING"),
        ("refuse", "SPAM"),
    ] {
        let app = hook
            .app(&[
                ("MODERATION__SPAM_HOOK_ON_FAILURE", on_failure),
                ("MODERATION__SPAM_HOOK_TIMEOUT", "2s"),
            ])
            .await;
        for mood in [
            Mood::Say("not json"),
            Mood::Say(r#"{"verdict":"maybe"}"#),
            Mood::Say("{}"),
            Mood::Say(""),
            Mood::Status(500),
            Mood::Status(204),
            Mood::Redirect(elsewhere.clone()),
            Mood::Huge,
            Mood::Never,
        ] {
            hook.be(mood.clone());
            assert_eq!(outcome(&app, &Who::user(1), "text").await, told, "{mood:?}");
            assert_eq!(
                hook.asked().len(),
                1,
                "asked once, and no redirect is followed: {mood:?}"
            );
        }
    }
    // Nobody listens there any more.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", gone.local_addr().unwrap());
    drop(gone);
    let app = TestApp::with(&[("MODERATION__SPAM_HOOK_URL", &url)]).await;
    assert_eq!(
        outcome(&app, &Who::user(1), "text").await,
        "PENDING",
        "the default"
    );
}

#[tokio::test]
async fn calls_under_way_are_bounded() {
    let hook = Hook::start().await;
    let app = hook
        .app(&[
            ("MODERATION__SPAM_HOOK_CALLS_MAX", "2"),
            ("MODERATION__SPAM_HOOK_TIMEOUT", "5s"),
        ])
        .await;
    app.post(&Who::user(1), "p", None, "first").await;
    let permits = Arc::new(Semaphore::new(0));
    hook.be(Mood::Slowly(Arc::clone(&permits)));
    let posts = (0..6).map(|at| {
        let app = &app;
        async move { outcome(app, &Who::user(at + 1), "text").await }
    });
    let answers = async {
        for left in (1..=6).rev() {
            // As many as may be are under way before one is answered.
            while hook.under_way.lock().unwrap().0 < left.min(2) {
                tokio::task::yield_now().await;
            }
            permits.add_permits(1);
            while permits.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
        }
    };
    let (outcomes, ()) = tokio::join!(futures_util::future::join_all(posts), answers);
    assert_eq!(outcomes, ["PUBLISHED"; 6]);
    let (left, most) = *hook.under_way.lock().unwrap();
    assert_eq!((left, most), (0, 2));
}

#[tokio::test]
async fn waiting_for_a_turn_counts_as_time_and_turns_are_given_back() {
    let hook = Hook::start().await;
    let app = hook
        .app(&[
            ("MODERATION__SPAM_HOOK_CALLS_MAX", "1"),
            ("MODERATION__SPAM_HOOK_TIMEOUT", "2s"),
        ])
        .await;
    app.post(&Who::user(1), "p", None, "first").await;
    hook.be(Mood::Never);
    let posts = (0..6).map(|at| {
        let app = &app;
        async move { outcome(app, &Who::user(at + 1), "text").await }
    });
    let outcomes = futures_util::future::join_all(posts).await;
    assert_eq!(outcomes, ["PENDING"; 6]);
    hook.be(Mood::Say(r#"{"verdict":"publish"}"#));
    assert_eq!(outcome(&app, &Who::user(1), "text").await, "PUBLISHED");
}
