//! Random histories: people write while somebody scrolls, in both modes and both directions, and
//! what the scroll gave is compared with a model of the discussion kept beside it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{TestApp, Who};

/// One step of somebody else's, between two pages.
#[derive(Clone, Debug)]
enum Step {
    Post,
    Reply(usize),
    Edit(usize),
    Delete(usize),
    Hide(usize),
    Restore(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Post),
        6 => (0_usize..200).prop_map(Step::Reply),
        1 => (0_usize..200).prop_map(Step::Edit),
        2 => (0_usize..200).prop_map(Step::Delete),
        1 => (0_usize..200).prop_map(Step::Hide),
        1 => (0_usize..200).prop_map(Step::Restore),
    ];
    prop::collection::vec(step, 10..50)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Published,
    Hidden,
    Deleted,
}

/// The discussion as it should be: comments in the order they were written.
#[derive(Default)]
struct Model {
    rows: Vec<(String, Option<usize>, State, i64)>,
}

impl Model {
    fn above(&self, at: usize) -> Vec<usize> {
        let mut above = Vec::new();
        let mut parent = self.rows[at].1;
        while let Some(next) = parent {
            above.push(next);
            parent = self.rows[next].1;
        }
        above
    }

    fn hidden_above(&self, at: usize) -> bool {
        self.above(at)
            .iter()
            .any(|above| self.rows[*above].2 == State::Hidden)
    }

    fn visible(&self, at: usize) -> bool {
        self.rows[at].2 == State::Published && !self.hidden_above(at)
    }

    /// Visible, or a tombstone over something visible.
    fn listed(&self, at: usize) -> bool {
        let below = |row: usize| self.above(row).contains(&at) && self.visible(row);
        self.visible(at) || (self.rows[at].2 == State::Deleted && (0..self.rows.len()).any(below))
    }

    fn linear(&self) -> Vec<String> {
        (0..self.rows.len())
            .filter(|at| self.listed(*at))
            .map(|at| self.rows[at].0.clone())
            .collect()
    }

    fn threads(&self) -> BTreeMap<usize, Vec<String>> {
        let mut threads = BTreeMap::new();
        for at in (0..self.rows.len()).filter(|at| self.listed(*at)) {
            match self.above(at).last() {
                None => threads.insert(at, Vec::new()).map_or((), drop),
                Some(root) => threads.get_mut(root).unwrap().push(self.rows[at].0.clone()),
            }
        }
        threads
    }
}

async fn apply(app: &TestApp, model: &mut Model, step: &Step) {
    let count = model.rows.len();
    let pick = |at: usize| (count > 0).then(|| at % count);
    let (author, moderator) = (Who::user(1), Who::moderator(9));
    match step {
        Step::Post => {
            let id = app.post(&author, "p", None, "root").await;
            model.rows.push((id, None, State::Published, 1));
        }
        Step::Reply(at) => {
            let Some(at) = pick(*at) else { return };
            let written = app
                .try_post(&author, "p", Some(&model.rows[at].0), "reply", None)
                .await;
            if model.visible(at) {
                let id = written["comment"]["id"].as_str().unwrap().to_owned();
                model.rows.push((id, Some(at), State::Published, 1));
            } else {
                assert_eq!(written["reason"], "PARENT_GONE");
            }
        }
        Step::Edit(at) => {
            let Some(at) = pick(*at) else { return };
            let (id, _, state, revision) = model.rows[at].clone();
            let done = app
                .edit(&author, &id, revision, &format!("text {revision}"))
                .await;
            if state == State::Deleted {
                // Told apart only by who sees its tombstone.
                let reason = done["reason"].as_str().unwrap();
                assert!(["ALREADY_DELETED", "COMMENT_NOT_FOUND"].contains(&reason));
            } else {
                assert_eq!(done["comment"]["revision"], revision + 1);
                model.rows[at].3 += 1;
            }
        }
        Step::Delete(at) => {
            let Some(at) = pick(*at) else { return };
            let done = app.delete(&moderator, &model.rows[at].0, None).await;
            let again = model.rows[at].2 == State::Deleted;
            assert_eq!(done["reason"] == "ALREADY_DELETED", again);
            model.rows[at].2 = State::Deleted;
        }
        Step::Hide(at) | Step::Restore(at) => {
            let Some(at) = pick(*at) else { return };
            let (act, from, to) = if matches!(step, Step::Hide(_)) {
                ("hideComment", State::Published, State::Hidden)
            } else {
                ("restoreComment", State::Hidden, State::Published)
            };
            app.moderate(&moderator, act, &model.rows[at].0).await;
            if model.rows[at].2 == from {
                model.rows[at].2 = to;
                model.rows[at].3 += 1;
            }
        }
    }
}

/// The whole list in one mode and direction, three at a time, with a step of the rest of the world
/// before each page. Returns what came, and what was listed throughout.
async fn scroll(
    app: &TestApp,
    model: &mut Model,
    rest: &mut std::slice::Iter<'_, Step>,
    (mode, order, forward): (&str, &str, bool),
) -> (Vec<String>, Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    let mut steady = listed(model, mode);
    let mut at = String::new();
    loop {
        if let Some(step) = rest.next() {
            apply(app, model, step).await;
            let now = listed(model, mode);
            steady.retain(|id| now.contains(id));
        }
        let end = if forward { "first" } else { "last" };
        let page = app
            .page(
                &Who::anonymous(),
                "p",
                &format!("mode: {mode}, order: {order}, {end}: 3 {at}"),
            )
            .await;
        assert_eq!(page.mode, mode);
        let goes_on = if forward {
            page.has_next
        } else {
            page.has_previous
        };
        let ids = page.ids.into_iter();
        if forward {
            seen.extend(ids);
        } else {
            seen.extend(ids.rev());
        }
        if !goes_on {
            return (seen, steady);
        }
        at = if forward {
            format!("after: \"{}\"", page.end.unwrap())
        } else {
            format!("before: \"{}\"", page.start.unwrap())
        };
    }
}

/// Every root and its whole branch, as one request gives them.
async fn threads(app: &TestApp) -> Vec<(String, Vec<String>)> {
    let query = "{ discussion(entity: {type: \"post\", id: \"p\"}) { comments(mode: THREADED, first: 100) { \
        edges { node { id } replies(first: 100) { edges { node { id } } } } } } }";
    let data = app.ask(&Who::anonymous(), query, json!({})).await;
    let id = |edge: &Value| edge["node"]["id"].as_str().unwrap().to_owned();
    let edges = data["discussion"]["comments"]["edges"].as_array().unwrap();
    let replies = |edge: &Value| {
        edge["replies"]["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(id)
            .collect()
    };
    edges.iter().map(|edge| (id(edge), replies(edge))).collect()
}

async fn history(steps: Vec<Step>) {
    let app = TestApp::new().await;
    let mut model = Model::default();
    apply(&app, &mut model, &Step::Post).await;
    let (before, during) = steps.split_at(steps.len() / 2);
    for step in before {
        apply(&app, &mut model, step).await;
    }
    let mut rest = during.iter();
    for mode in ["LINEAR", "THREADED"] {
        for (order, forward) in [
            ("OLDEST", true),
            ("NEWEST", true),
            ("OLDEST", false),
            ("NEWEST", false),
        ] {
            let (mut seen, steady) =
                scroll(&app, &mut model, &mut rest, (mode, order, forward)).await;
            if (order == "OLDEST") != forward {
                seen.reverse();
            }
            // Nothing comes twice, everything keeps its order, and what was there throughout is there.
            let places: Vec<usize> = seen
                .iter()
                .map(|id| model.rows.iter().position(|row| row.0 == *id).unwrap())
                .collect();
            assert!(
                places.is_sorted_by(|a, b| a < b),
                "{mode} {order} {forward}: {places:?}"
            );
            for id in &steady {
                assert!(
                    seen.contains(id),
                    "{mode} {order} {forward}: {id} is missing"
                );
            }
        }
    }
    for step in rest {
        apply(&app, &mut model, step).await;
    }
    assert_eq!(
        app.page(&Who::anonymous(), "p", "mode: LINEAR, first: 100")
            .await
            .ids,
        model.linear()
    );
    let wanted: Vec<_> = model
        .threads()
        .into_iter()
        .map(|(root, replies)| (model.rows[root].0.clone(), replies))
        .collect();
    assert_eq!(threads(&app).await, wanted);
    let visible = (0..model.rows.len())
        .filter(|at| model.visible(*at))
        .count();
    assert_eq!(app.counts("p").await[2], i64::try_from(visible).unwrap());
}

fn listed(model: &Model, mode: &str) -> Vec<String> {
    let root = |id: &String| model.rows.iter().any(|row| row.0 == *id && row.1.is_none());
    model
        .linear()
        .into_iter()
        .filter(|id| mode == "LINEAR" || root(id))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scroll_while_people_write_skips_and_repeats_nothing(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(history(steps));
    }
}
