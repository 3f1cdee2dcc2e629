//! Which mode a reader gets and why, and that a scroll survives whatever changes meanwhile.

use serde_json::json;

use crate::support::{Page, TestApp, Who};

async fn page(app: &TestApp, who: &Who, arguments: &str) -> Page {
    app.page(who, "p", arguments).await
}

fn choice(page: &Page) -> (&str, &str) {
    (&page.mode, &page.reason)
}

async fn filled() -> (TestApp, Vec<String>) {
    let app = TestApp::new().await;
    let mut roots = Vec::new();
    for root in 0..6 {
        let id = app
            .post(&Who::user(1), "p", None, &format!("r{root}"))
            .await;
        app.post(&Who::user(2), "p", Some(&id), &format!("r{root}.0"))
            .await;
        roots.push(id);
    }
    (app, roots)
}

fn rollout(num: u32, den: u32) -> impl FnOnce(String) -> String {
    move |text| format!("{text}\n[rollout]\nnum = {num}\nden = {den}\n")
}

#[tokio::test]
async fn old_and_unknown_clients_stay_linear() {
    let (app, _) = filled().await;
    for who in [
        Who::anonymous().without_client(),
        Who::anonymous().client("web", "1.9.9"),
        Who::anonymous().client("ios", "7"),
        Who::anonymous().client("toaster", "99.0.0"),
        Who::user(1).client("web", "not-a-version"),
    ] {
        for arguments in ["first: 3", "first: 3, mode: THREADED"] {
            let got = page(&app, &who, arguments).await;
            assert_eq!(choice(&got), ("LINEAR", "CLIENT"), "{who:?}");
            assert_eq!(got.texts, ["r0", "r0.0", "r1"]);
        }
    }
    let apollo = Who::anonymous().client("web", "2.0.0");
    assert_eq!(
        choice(&page(&app, &apollo, "first: 3").await),
        ("THREADED", "DEFAULT")
    );
    assert_eq!(
        choice(&page(&app, &apollo, "mode: LINEAR").await),
        ("LINEAR", "REQUESTED")
    );
}

#[tokio::test]
async fn a_ramp_adds_people_and_takes_the_last_joined_back_first() {
    let (app, _) = filled().await;
    let mut threaded_at = Vec::new();
    for (num, den) in [(1, 16), (1, 4), (1, 16), (1, 1), (0, 1)] {
        app.change_threaded(|text| {
            let base = text.split("\n[rollout]").next().unwrap().to_owned();
            rollout(num, den)(base)
        })
        .await;
        let mut on = Vec::new();
        for user in 1..=64 {
            let got = page(&app, &Who::user(user), "first: 1").await;
            assert_eq!(got.reason, "ROLLOUT");
            if got.mode == "THREADED" {
                on.push(user);
            }
        }
        threaded_at.push(on);
    }
    let [first, quarter, again, all, none] = &threaded_at[..] else {
        unreachable!()
    };
    assert_eq!(first, again);
    assert!(first.iter().all(|user| quarter.contains(user)) && first.len() < quarter.len());
    assert_eq!((all.len(), none.len()), (64, 0));
    // Nobody to roll out to: the off value.
    assert_eq!(
        choice(&page(&app, &Who::anonymous(), "first: 1").await),
        ("LINEAR", "DEFAULT")
    );
}

#[tokio::test]
async fn lists_and_a_disabled_flag_give_their_reasons() {
    let (app, _) = filled().await;
    app.change_threaded(|text| {
        // Top-level keys come before the first table.
        let lists = "deny = [\"7\"]\nallow = [\"8\"]\n\n[clients]";
        rollout(0, 1)(text.replacen("[clients]", lists, 1))
    })
    .await;
    assert_eq!(
        choice(&page(&app, &Who::user(7), "mode: THREADED").await),
        ("LINEAR", "DENIED")
    );
    assert_eq!(
        choice(&page(&app, &Who::user(8), "first: 1").await),
        ("THREADED", "ALLOWED")
    );
    assert_eq!(
        choice(&page(&app, &Who::user(9), "mode: THREADED").await),
        ("THREADED", "REQUESTED")
    );
    app.change_threaded(|text| text.replacen("enabled = true", "enabled = false", 1))
        .await;
    assert_eq!(
        choice(&page(&app, &Who::user(8), "mode: THREADED").await),
        ("LINEAR", "DISABLED")
    );
}

#[tokio::test]
async fn a_scroll_survives_a_ramp_down_in_its_own_mode() {
    let (app, roots) = filled().await;
    app.change_threaded(rollout(1, 1)).await;
    let first = page(&app, &Who::user(1), "first: 2").await;
    assert_eq!(choice(&first), ("THREADED", "ROLLOUT"));
    app.change_threaded(|text| text.replace("num = 1", "num = 0"))
        .await;
    let next = page(
        &app,
        &Who::user(1),
        &format!("first: 2, after: \"{}\"", first.end.unwrap()),
    )
    .await;
    assert_eq!(choice(&next), ("THREADED", "CURSOR"));
    assert_eq!(next.ids, roots[2..4]);
    // And the other way about: a linear scroll stays linear while the ramp goes up.
    let linear = page(&app, &Who::user(1), "first: 2").await;
    assert_eq!(choice(&linear), ("LINEAR", "ROLLOUT"));
    app.change_threaded(|text| text.replace("num = 0", "num = 1"))
        .await;
    let next = page(
        &app,
        &Who::user(1),
        &format!("first: 2, after: \"{}\"", linear.end.unwrap()),
    )
    .await;
    assert_eq!(
        (choice(&next), next.texts.clone()),
        (
            ("LINEAR", "CURSOR"),
            vec!["r1".to_owned(), "r1.0".to_owned()]
        )
    );
}

#[tokio::test]
async fn a_scroll_survives_a_kill_from_either_end() {
    let (app, _) = filled().await;
    let who = Who::user(1);
    let oldest = page(&app, &who, "first: 2").await;
    let newest = page(&app, &who, "first: 2, order: NEWEST").await;
    assert_eq!(
        (oldest.mode.as_str(), newest.mode.as_str()),
        ("THREADED", "THREADED")
    );
    let state = app.folder.path().join("flags.state.toml");
    let revision = app.app.service().ports().flags.snapshot().revision();
    std::fs::write(state, "[comments-threaded]\nkill = true\n").unwrap();
    for _ in 0..1_000 {
        if app.app.service().ports().flags.snapshot().revision() > revision {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(
        choice(&page(&app, &who, "mode: THREADED").await),
        ("LINEAR", "KILLED")
    );
    // Exactly the linear order beyond the cursor's root; replies seen before may come again.
    let on = page(
        &app,
        &who,
        &format!("first: 3, after: \"{}\"", oldest.end.unwrap()),
    )
    .await;
    assert_eq!(choice(&on), ("LINEAR", "TRANSLATED"));
    assert_eq!(on.texts, ["r1.0", "r2", "r2.0"]);
    let end = newest.end.unwrap();
    let on = page(
        &app,
        &who,
        &format!("first: 3, order: NEWEST, after: \"{end}\""),
    )
    .await;
    assert_eq!(
        (choice(&on), on.texts.clone()),
        (
            ("LINEAR", "TRANSLATED"),
            vec!["r3.0".to_owned(), "r3".to_owned(), "r2.0".to_owned()]
        )
    );
    // What it passed by is reached by `before`.
    let back = page(
        &app,
        &who,
        &format!("last: 4, order: NEWEST, before: \"{end}\""),
    )
    .await;
    assert_eq!(back.texts, ["r5.0", "r5", "r4.0"]);
    // Lists of replies are gone for everybody, in every place.
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(first: 1) { \
        edges { replies { totalCount } node { replies { totalCount } } } } } }";
    let data = app.ask(&who, query, json!({})).await;
    let edge = &data["discussion"]["comments"]["edges"][0];
    assert_eq!(
        (&edge["replies"], &edge["node"]["replies"]),
        (&json!(null), &json!(null))
    );
}

#[tokio::test]
async fn small_discussions_are_indexed_within_the_first_threaded_read_and_large_ones_behind_it() {
    let app = TestApp::with(&[("COMMENTS__INDEX_ON_READ_MAX", "5")]).await;
    let off =
        std::fs::read_to_string(app.folder.path().join("flags/comments-index-write.toml")).unwrap();
    app.write_flag(
        "comments-index-write",
        &off.replacen("enabled = true", "enabled = false", 1),
    )
    .await;
    let root = app.post(&Who::user(1), "p", None, "root").await;
    for at in 0..4 {
        app.post(&Who::user(1), "p", Some(&root), &format!("reply {at}"))
            .await;
    }
    let got = page(&app, &Who::anonymous(), "first: 10").await;
    assert_eq!(
        (choice(&got), got.ids.len()),
        (("THREADED", "DEFAULT"), 1),
        "five rows are built at once"
    );
    app.post(&Who::user(1), "p", Some(&root), "one more without index")
        .await;
    let got = page(&app, &Who::anonymous(), "first: 10, mode: THREADED").await;
    assert_eq!((choice(&got), got.ids.len()), (("LINEAR", "INDEX"), 6));
    app.app.index_builder().run_once().await.unwrap();
    let got = page(&app, &Who::anonymous(), "first: 10").await;
    assert_eq!(choice(&got), ("THREADED", "DEFAULT"));
    // A cursor made in threads goes on by date when the index is lost again.
    app.post(&Who::user(1), "p", None, "without index").await;
    let on = page(
        &app,
        &Who::anonymous(),
        &format!("after: \"{}\"", got.end.unwrap()),
    )
    .await;
    assert_eq!((choice(&on), on.ids.len()), (("LINEAR", "TRANSLATED"), 6));
}

#[tokio::test]
async fn a_broken_flag_file_keeps_its_last_good_value() {
    let (app, _) = filled().await;
    let path = app.folder.path().join("flags/comments-threaded.toml");
    std::fs::write(&path, "key = \"comments-threaded\"\nkind = ").unwrap();
    let flags = &app.app.service().ports().flags;
    for _ in 0..1_000 {
        if !flags.health().rejected.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let rejected = flags.health().rejected;
    assert_eq!(rejected.len(), 1);
    assert!(rejected[0].keeps_last_good);
    assert_eq!(
        choice(&page(&app, &Who::user(1), "first: 1").await),
        ("THREADED", "DEFAULT")
    );
}
