//! Every discussion of an export, read whole in both modes as a client reads it.

use std::path::PathBuf;
use std::sync::Arc;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use threadline::import::{ExportReader, ImportOptions, Importer, Outcome};
use threadline::worker::jobs::Discussions;
use threadline::worker::jobs::audit::{AuditJob, AuditKind};
use threadline::worker::jobs::build::{BuildJob, BuildSettings};
use threadline::worker::walker::WalkOptions;
use tokio_util::sync::CancellationToken;

use crate::reader;
use crate::support::{TestApp, Who};

const LINEAR: &str = "query($u: URL!, $after: String) { discussion(url: $u) { counts { total visible } \
    comments(mode: LINEAR, first: 100, after: $after) { mode pageInfo { hasNextPage endCursor } \
    edges { node { id state } } } } }";
const THREADED: &str = "query($u: URL!, $after: String) { discussion(url: $u) { \
    comments(mode: THREADED, first: 100, after: $after) { mode pageInfo { hasNextPage endCursor } \
    edges { node { id } replies(first: 100) { pageInfo { hasNextPage endCursor } edges { node { id } } } } } } }";
const MORE_REPLIES: &str = "query($c: ID!, $after: String) { comment(id: $c) { \
    replies(first: 100, after: $after) { pageInfo { hasNextPage endCursor } edges { node { id } } } } }";

/// What was read.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) discussions: usize,
    /// Comments listed in both modes.
    pub(crate) listed: usize,
    /// Discussions that have no address to be read by.
    pub(crate) keyless: usize,
}

/// Imports the Disqus export and compares the whole linear with the whole threaded read.
pub(crate) async fn both_modes_agree(file: PathBuf) {
    let whole = read_whole("disqus", &|| reader(&file)).await;
    assert_eq!(whole.discussions + whole.keyless, 569);
    assert!(whole.listed > 2_600);
}

/// Imports an export and compares the whole linear with the whole threaded read.
pub(crate) async fn read_whole(
    source: &str,
    open: &(dyn Fn() -> Box<dyn ExportReader> + Sync),
) -> Whole {
    let app = TestApp::new().await;
    let ports = app.app.service().ports();
    let importer = Importer {
        comments: Arc::clone(&ports.comments),
        users: Arc::clone(&ports.users),
        ids: Arc::clone(&ports.ids),
        clock: app.clock.clone(),
        tasks: ports.tasks.clone(),
    };
    let options = ImportOptions {
        source: source.to_owned(),
        dry_run: false,
        restore: false,
        limits: threadline::domain::text::TextLimits::default(),
        comments_max: 1_000_000,
        depth_limit: 1,
        kept_parameters: Vec::new(),
    };
    let bar = ProgressBar::hidden();
    let report = importer
        .run(open(), &options, &CancellationToken::new(), &bar)
        .await;
    assert_eq!(report.outcome, Outcome::Complete);
    indexed_and_right(&app, report.comments.imported).await;

    let mut export = open();
    let (mut discussions, mut listed, mut keyless) = (0, 0, 0);
    while let Some(item) = export.next_item().unwrap() {
        let threadline::import::record::SourceItem::Discussion(source) = item else {
            continue;
        };
        let Some(url) = source.url else {
            keyless += 1;
            continue;
        };
        let linear = whole_linear(&app, &url).await;
        let threaded = whole_threaded(&app, &url).await;
        assert_eq!(sorted(linear.clone()), sorted(threaded), "{url}");
        discussions += 1;
        listed += linear.len();
    }
    println!(
        "{discussions} discussions, {listed} comments listed in both modes, {keyless} without address"
    );
    Whole {
        discussions,
        listed,
        keyless,
    }
}

/// Builds the index of everything by one walk and checks it, every count too, by another.
async fn indexed_and_right(app: &TestApp, comments: u64) {
    let service = app.app.service().clone();
    let table = Arc::new(Discussions(Arc::clone(&service.ports().comments)));
    let (walker, options) = (app.app.walker(), WalkOptions::default());
    let (bar, stop) = (ProgressBar::hidden(), CancellationToken::new());
    let job = Arc::new(BuildJob {
        service: service.clone(),
        settings: BuildSettings::default(),
    });
    let built = walker.run(Arc::clone(&table), job, options, &bar, &stop);
    let built = built.await.unwrap();
    assert!(built.complete && built.tally.rows == comments, "{built:?}");
    let job = Arc::new(AuditJob {
        service,
        kind: AuditKind::Verify,
    });
    let verified = walker.run(table, job, options, &bar, &stop);
    let verified = verified.await.unwrap().tally;
    assert_eq!(verified.faults, []);
    assert_eq!(verified.outcomes.keys().collect::<Vec<_>>(), ["right"]);
    assert_eq!(
        (verified.rows, verified.items),
        (comments, built.tally.items)
    );
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    let before = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), before, "a comment is listed twice");
    ids
}

fn ids(list: &Value) -> impl Iterator<Item = String> + '_ {
    list["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge["node"]["id"].as_str().unwrap().to_owned())
}

fn next(list: &Value) -> Option<Value> {
    (list["pageInfo"]["hasNextPage"] == true).then(|| list["pageInfo"]["endCursor"].clone())
}

async fn whole_linear(app: &TestApp, url: &str) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), Some(json!(null)));
    while let Some(cursor) = after {
        let data = app
            .ask(
                &Who::anonymous(),
                LINEAR,
                json!({"u": url, "after": cursor}),
            )
            .await;
        let list = &data["discussion"]["comments"];
        assert_eq!(list["mode"], "LINEAR");
        all.extend(ids(list));
        after = next(list);
    }
    all
}

async fn whole_threaded(app: &TestApp, url: &str) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), Some(json!(null)));
    while let Some(cursor) = after {
        let data = app
            .ask(
                &Who::anonymous(),
                THREADED,
                json!({"u": url, "after": cursor}),
            )
            .await;
        let list = &data["discussion"]["comments"];
        assert_eq!(
            list["mode"], "THREADED",
            "small discussions are indexed within their first read"
        );
        for edge in list["edges"].as_array().unwrap() {
            let root = edge["node"]["id"].as_str().unwrap().to_owned();
            all.extend(ids(&edge["replies"]));
            let mut more = next(&edge["replies"]);
            while let Some(cursor) = more {
                let variables = json!({"c": root, "after": cursor});
                let data = app.ask(&Who::anonymous(), MORE_REPLIES, variables).await;
                all.extend(ids(&data["comment"]["replies"]));
                more = next(&data["comment"]["replies"]);
            }
            all.push(root);
        }
        after = next(list);
    }
    all
}
