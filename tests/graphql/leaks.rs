//! Case 19: what was taken away is found on no path by people who may not see it.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use threadline::domain::ids::opaque::decode_discussion;
use tower::ServiceExt as _;

use crate::restore::export;
use crate::support::{TestApp, Who};
use crate::walk::Schema;

/// Every path of the schema to a comment's text.
const EVERYWHERE: &str = "query($id: ID!, $child: ID!, $ids: [ID!]!, $d: ID!) { \
    node(id: $id) { ... on Comment { ...Deep } } nodes(ids: $ids) { ... on Comment { ...Deep } } \
    comment(id: $id) { ...Deep } child: comment(id: $child) { ...Deep parent { ...Deep } root { ...Deep } } \
    user(id: \"1\") { comments { edges { node { ...Deep } } } } \
    discussion(id: $d) { counts { total } comment(id: $id) { ...Deep } \
      linear: comments(mode: LINEAR, first: 100) { edges { node { ...Deep parent { ...Deep } root { ...Deep } } } } \
      threaded: comments(mode: THREADED, first: 100) { edges { node { ...Deep } \
        replies(first: 100) { edges { node { ...Deep parent { ...Deep } root { ...Deep } } } } } } \
      own: context(comment: $id) { focus { ...Deep } ancestors { edges { node { ...Deep } } } before { ...Deep } after { ...Deep } } \
      below: context(comment: $child) { focus { ...Deep } ancestors { edges { node { ...Deep } } } before { ...Deep } after { ...Deep } } } } \
    fragment Deep on Comment { id state body { text html source } author { id name } }";

async fn seen(app: &TestApp, who: &Who, id: &str, child: &str) -> String {
    let discussion = app.discussion_id("p").await;
    let variables = json!({"id": id, "child": child, "ids": [id, child], "d": discussion});
    let (_, answer) = app.answer(who, EVERYWHERE, variables).await;
    assert!(answer.get("errors").is_none(), "{answer:#}");
    answer.to_string()
}

#[tokio::test]
async fn case_19_a_deleted_text_is_gone_for_everybody() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let before = app.post(&Who::user(2), "p", None, "before").await;
    let id = app.post(&author, "p", Some(&before), "SECRET-1").await;
    let child = app.post(&Who::user(2), "p", Some(&id), "child").await;
    assert_eq!(
        app.edit(&author, &id, 1, "SECRET-1 again").await["comment"]["revision"],
        2
    );
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("SECRET-1")
    );
    let gone = app.delete(&author, &id, Some(2)).await;
    assert!(!gone.to_string().contains("SECRET"));
    for who in [
        Who::anonymous(),
        Who::user(3),
        author.clone(),
        Who::moderator(9),
    ] {
        let all = seen(&app, &who, &id, &child).await;
        assert!(!all.contains("SECRET"), "{who:?}: {all}");
        assert!(
            all.contains("\"DELETED\""),
            "a tombstone stays over the child"
        );
    }
    let stale = app.edit(&author, &id, 2, "x").await;
    assert!(!stale.to_string().contains("SECRET"));
}

#[tokio::test]
async fn case_19_a_hidden_text_is_its_authors_and_the_moderators() {
    let app = TestApp::new().await;
    let author = Who::user(1);
    let id = app.post(&author, "p", None, "SECRET-2").await;
    let child = app.post(&Who::user(2), "p", Some(&id), "CHILD-2").await;
    // A cached page of before the hide must not survive it.
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("SECRET-2")
    );
    app.moderate(&Who::moderator(9), "hideComment", &id).await;
    for who in [Who::anonymous(), Who::user(3)] {
        let all = seen(&app, &who, &id, &child).await;
        assert!(
            !all.contains("SECRET-2") && !all.contains("CHILD-2"),
            "{who:?}: {all}"
        );
    }
    // Policy: the author reads their own by id and under their name; moderators read everything by id.
    let own = seen(&app, &author, &id, &child).await;
    assert!(own.contains("SECRET-2") && !own.contains("CHILD-2"));
    let all = seen(&app, &Who::moderator(9), &id, &child).await;
    assert!(all.contains("SECRET-2") && all.contains("CHILD-2"));
    app.moderate(&Who::moderator(9), "restoreComment", &id)
        .await;
    assert!(
        seen(&app, &Who::anonymous(), &id, &child)
            .await
            .contains("CHILD-2")
    );
}

/// Every secret of the scene, each in one text.
pub(crate) const SECRETS: [&str; 8] = [
    "SECRET-HIDDEN",
    "SECRET-BELOW",
    "SECRET-PENDING",
    "SECRET-DELETED",
    "SECRET-EARLIER",
    "SECRET-REPORT",
    "SECRET-REASON",
    "SECRET-OLD-HIDDEN",
];

/// What is asked of each mutation, as somebody who may not do it or with a comment that they may not
/// see; `$own` is the hidden comment. A new mutation must be decided here.
const MUTATIONS: &[(&str, &str)] = &[
    (
        "createComment",
        "(input: {discussion: $place, parent: $own, body: \"x\"})",
    ),
    (
        "editComment",
        "(input: {comment: $own, expectedRevision: 1, body: \"x\"})",
    ),
    (
        "deleteComment",
        "(input: {comment: $own, expectedRevision: 1})",
    ),
    (
        "hideComment",
        "(input: {comment: $own, expectedRevision: 1})",
    ),
    (
        "restoreComment",
        "(input: {comment: $own, expectedRevision: 1})",
    ),
    (
        "approveComment",
        "(input: {comment: $own, expectedRevision: 1})",
    ),
    (
        "openDiscussion",
        "(input: {entity: {type: \"post\", id: \"p\"}})",
    ),
    ("setDiscussionState", "(discussion: $place, state: OPEN)"),
    ("reportComment", "(input: {comment: $own, reason: SPAM})"),
    ("dismissReports", "(input: {comment: $own})"),
    (
        "pinComments",
        "(input: {discussion: $place, comments: [$own]})",
    ),
    (
        "setPremoderation",
        "(discussion: $place, premoderated: false)",
    ),
    ("blockUser", "(user: $author)"),
    ("unblockUser", "(user: $author)"),
    ("banUser", "(input: {user: $author, reason: \"x\"})"),
    ("unbanUser", "(input: {user: $author})"),
    ("markRepliesRead", "(upTo: $own)"),
    ("markDiscussionSeen", "(discussion: $place, upTo: $own)"),
    ("eraseMyData", "(confirm: $place)"),
];

/// Subscriptions whose events are walked in `events`. A new one must be walked there too.
const SUBSCRIPTIONS: &[&str] = &["commentEvents"];

/// Where logs go while a test runs.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// All that the process logs from the first call on, also on the stores' own threads.
    fn of_the_process() -> Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        let start = || {
            let lines = Self::default();
            let writer = lines.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::DEBUG)
                .with_writer(move || writer.clone())
                .finish();
            tracing::subscriber::set_global_default(subscriber).unwrap();
            lines
        };
        LINES.get_or_init(start).clone()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A discussion in which something of every kind is out of sight.
pub(crate) struct Scene {
    pub(crate) app: TestApp,
    pub(crate) hidden: String,
    below: String,
    others: Vec<String>,
}

impl Scene {
    pub(crate) async fn set() -> Self {
        let app = TestApp::with(&[("SERVER__ALIASES_MAX", "200")]).await;
        let (author, other, moderator) = (Who::user(1), Who::user(2), Who::moderator(9));
        let root = app.post(&other, "p", None, "a root").await;
        let hidden = app
            .post(&author, "p", Some(&root), "SECRET-OLD-HIDDEN")
            .await;
        app.edit(&author, &hidden, 1, "SECRET-HIDDEN").await;
        let below = app.post(&other, "p", Some(&hidden), "SECRET-BELOW").await;
        let deleted = app.post(&author, "p", None, "SECRET-DELETED").await;
        app.edit(&author, &deleted, 1, "SECRET-DELETED once more")
            .await;
        let kept = app
            .post(&other, "p", Some(&deleted), "keeps the tombstone")
            .await;
        let edited = app.post(&author, "p", None, "SECRET-EARLIER").await;
        app.edit(&author, &edited, 1, "fit to be read").await;
        let place = app.discussion_id("p").await;
        let pin = "mutation($i: PinCommentsInput!) { pinComments(input: $i) { __typename } }";
        let pins = json!({"i": {"discussion": place, "comments": [hidden, edited]}});
        app.ask(&moderator, pin, pins).await;
        let report =
            "mutation($i: ReportCommentInput!) { reportComment(input: $i) { __typename } }";
        let reports = json!({"i": {"comment": edited, "reason": "ABUSE", "text": "SECRET-REPORT"}});
        app.ask(&Who::user(4), report, reports).await;
        let scene = Self {
            app,
            hidden,
            below,
            others: vec![deleted, edited, kept],
        };
        // What was read before it went out of sight is in every cache.
        scene.walk(&Who::anonymous(), &scene.hidden).await;
        let app = &scene.app;
        let hide = "mutation($i: ModerateCommentInput!) { hideComment(input: $i) { __typename } }";
        let reason = json!({"i": {"comment": scene.hidden, "reason": "SECRET-REASON"}});
        app.ask(&moderator, hide, reason).await;
        app.delete(&author, &scene.others[0], None).await;
        let wait =
            "mutation($d: ID!) { setPremoderation(discussion: $d, premoderated: true) { id } }";
        app.ask(&moderator, wait, json!({"d": place})).await;
        let pending = app.post(&author, "p", None, "SECRET-PENDING").await;
        Self {
            others: [scene.others, vec![pending]].concat(),
            ..scene
        }
    }

    pub(crate) async fn variables(&self, own: &str) -> Value {
        let place = self.app.discussion_id("p").await;
        json!({"own": own, "child": self.below, "place": place, "author": "1"})
    }

    /// Everything that the schema tells somebody, errors included.
    async fn walk(&self, who: &Who, own: &str) -> String {
        let variables = self.variables(own).await;
        let mut told = String::new();
        for document in Schema::read(&self.app).await.walks() {
            let (_, answer) = self.app.answer(who, &document, variables.clone()).await;
            for error in answer["errors"].as_array().into_iter().flatten() {
                let code = error["extensions"]["code"].as_str().unwrap_or_default();
                assert!(
                    ["FORBIDDEN", "UNAUTHENTICATED"].contains(&code),
                    "{document}: {error}"
                );
            }
            told.push_str(&answer.to_string());
        }
        told
    }

    /// The secrets that somebody finds on any path, from any of the comments.
    async fn found(&self, who: &Who) -> BTreeSet<&'static str> {
        let mut told = String::new();
        for own in [&self.hidden].into_iter().chain(&self.others) {
            told.push_str(&self.walk(who, own).await);
        }
        SECRETS
            .into_iter()
            .filter(|secret| told.contains(secret))
            .collect()
    }
}

#[tokio::test]
async fn case_19_no_path_of_the_schema_leads_to_what_is_out_of_sight() {
    let logs = Lines::of_the_process();
    tracing::info!("the walk begins");
    let scene = Scene::set().await;
    for who in [Who::anonymous(), Who::user(3), Who::user(4)] {
        assert_eq!(scene.found(&who).await, BTreeSet::new(), "{who:?}");
    }
    // Who wrote below the hidden one reads their own, and nobody else's.
    assert_eq!(
        scene.found(&Who::user(2)).await,
        BTreeSet::from(["SECRET-BELOW"])
    );
    let own = [
        "SECRET-HIDDEN",
        "SECRET-PENDING",
        "SECRET-EARLIER",
        "SECRET-OLD-HIDDEN",
    ];
    assert_eq!(scene.found(&Who::user(1)).await, BTreeSet::from(own));
    // That moderators find everything but what is deleted shows that the walk gets everywhere.
    let mut all = BTreeSet::from(SECRETS);
    all.remove("SECRET-DELETED");
    assert_eq!(scene.found(&Who::moderator(9)).await, all);
    let logs = String::from_utf8_lossy(&logs.0.lock().unwrap()).into_owned();
    assert!(logs.contains("the walk begins"), "logs are captured");
    assert!(!logs.contains("SECRET"));
    let metrics = Request::get("/metrics")
        .header("host", "127.0.0.1")
        .body(Body::empty());
    let metrics = scene
        .app
        .app
        .router()
        .oneshot(metrics.unwrap())
        .await
        .unwrap();
    let metrics = axum::body::to_bytes(metrics.into_body(), 1 << 24)
        .await
        .unwrap();
    assert!(!String::from_utf8_lossy(&metrics).contains("SECRET"));
}

#[tokio::test]
async fn case_19_no_mutation_gives_away_what_is_out_of_sight() {
    let scene = Scene::set().await;
    let schema = Schema::read(&scene.app).await;
    let decided: BTreeSet<&str> = MUTATIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        schema.fields("Mutation"),
        decided,
        "decide what a new mutation is asked with"
    );
    assert_eq!(
        schema.fields("Subscription"),
        SUBSCRIPTIONS.iter().copied().collect()
    );
    let text = "__typename ... on CommentRefused { reason code message comment { body { text } } } \
        ... on CommentWritten { comment { body { text } parent { body { text } } } } \
        ... on CommentReported { comment { body { text } } } ... on ReportsDismissed { comment { body { text } } } \
        ... on DiscussionWritten { discussion { pinned { body { text } } } } \
        ... on Discussion { title pinned { body { text } } }";
    let selections = [text, "__typename"];
    for who in [Who::anonymous(), Who::user(3)] {
        for own in [&scene.hidden, &scene.below]
            .into_iter()
            .chain(&scene.others)
        {
            let variables = scene.variables(own).await;
            for document in selections.iter().flat_map(|selection| mutations(selection)) {
                let (_, answer) = scene.app.answer(&who, &document, variables.clone()).await;
                let told = answer.to_string();
                let leaked = SECRETS.into_iter().find(|secret| told.contains(secret));
                assert_eq!(leaked, None, "{who:?} {document}: {told}");
            }
        }
    }
}

/// A document for each mutation, with this selection below it.
fn mutations(selection: &str) -> Vec<String> {
    let document = |(name, arguments): &(&str, &str)| {
        let used: Vec<String> = ["own", "place", "author"]
            .into_iter()
            .filter(|name| arguments.contains(&format!("${name}")))
            .map(|name| format!("${name}: ID!"))
            .collect();
        let head = if used.is_empty() {
            String::new()
        } else {
            format!("({})", used.join(", "))
        };
        format!("mutation{head} {{ {name}{arguments} {{ {selection} }} }}")
    };
    MUTATIONS.iter().map(document).collect()
}

#[tokio::test]
async fn case_19_an_export_holds_what_can_come_back_and_nothing_deleted() {
    let scene = Scene::set().await;
    let id = decode_discussion(&scene.app.discussion_id("p").await).unwrap();
    let found = scene.app.app.service().discussions(&[id]).await.unwrap();
    let (text, _) = export(&scene.app, &found).await;
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains("SECRET-DELETED") && !text.contains("SECRET-RE"));
    // An export is the operator's: hidden and waiting comments come back from it.
    assert!(text.contains("SECRET-HIDDEN") && text.contains("SECRET-PENDING"));
}

#[tokio::test]
async fn a_comment_below_a_hidden_one_offers_no_reply() {
    let app = TestApp::new().await;
    let root = app.post(&Who::user(1), "p", None, "root").await;
    let below = app.post(&Who::user(2), "p", Some(&root), "below").await;
    let query = "query($id: ID!) { comment(id: $id) { viewerCan { reply } } }";
    let can = async |who: Who| {
        let data = app.ask(&who, query, json!({"id": below})).await;
        data["comment"]["viewerCan"]["reply"].as_bool().unwrap()
    };
    assert!(can(Who::user(2)).await && can(Who::moderator(9)).await);
    app.moderate(&Who::moderator(9), "hideComment", &root).await;
    assert!(!can(Who::user(2)).await && !can(Who::moderator(9)).await);
    let refused = app
        .try_post(&Who::moderator(9), "p", Some(&below), "reply", None)
        .await;
    assert_eq!(refused["reason"], "PARENT_GONE");
}
