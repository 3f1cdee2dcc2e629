//! Imports that are killed again and again, beside one that was left alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::join_all;
use serde_json::{Value, json};
use threadline::domain::ids::DiscussionId;
use threadline::domain::ids::opaque::GlobalId;

use crate::client::Client;
use crate::common::Place;
use crate::files::{Copy, Watch};
use crate::kills;
use crate::lists::{self, Seen};

const DISCUSSIONS: usize = 30;
const COMMENTS: usize = 3_000;
/// The first discussion is too large to be indexed while it is read.
const IN_THE_FIRST: usize = 1_100;
const REPORT: &str = "report.json";
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Longer than anything may take that is not a hang.
const DEADLINE: Duration = Duration::from_mins(1);

/// Everything that must be the same in two stores: rows, authors, what is known by which id, counts.
const ROWS: [&str; 4] = [
    "SELECT json_array(c.discussion_id, c.comment_id, c.body, c.format, c.parent_id, \
     hex(c.ancestors), c.edited_at, c.revision, c.state, c.live_below, s.issuer, s.subject, u.name) \
     FROM comments c LEFT JOIN states.user_subjects s ON s.user_id = c.author_id \
     LEFT JOIN states.users u ON u.user_id = c.author_id ORDER BY c.discussion_id, c.comment_id",
    "SELECT json_array(source, scope, source_id, id) FROM import_map ORDER BY 1",
    "SELECT json_array(discussion_id, title, url, entity_type, entity_id, state, has_hidden, \
     all_total, all_published, all_visible, all_shown, roots_total, roots_published, \
     roots_visible, roots_shown) FROM discussions ORDER BY discussion_id",
    "SELECT json_array(s.issuer, s.subject, u.name) FROM states.users u \
     LEFT JOIN states.user_subjects s ON s.user_id = u.user_id ORDER BY 1",
];

struct Export<'a> {
    format: &'a str,
    file: &'a Path,
}

impl Export<'_> {
    fn start(&self, place: &Place) -> Child {
        let file = self.file.to_str().unwrap();
        let mut command = place.command(&["import", self.format, file, "--report", REPORT]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Imports to the end; returns the exit code and the report.
    async fn finish(&self, place: &Place) -> (Option<i32>, Value) {
        let mut child = self.start(place);
        let ended = async {
            loop {
                if let Some(status) = child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let status = tokio::time::timeout(DEADLINE, ended).await.unwrap();
        let report = std::fs::read(place.path().join(REPORT)).unwrap();
        (status.code(), serde_json::from_slice(&report).unwrap())
    }

    /// Kills an import when the store holds `rows` comments, a little later. Whether it still ran.
    async fn kill_at(&self, place: &Place, rows: i64, later: Duration) -> bool {
        let mut child = self.start(place);
        let mut watch = Watch::of(place);
        let reached = async {
            while watch.rows().await < rows && child.try_wait().unwrap().is_none() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(DEADLINE, reached).await.unwrap();
        watch.close().await;
        // Not to wait for anything: the moment is to lie anywhere within a batch.
        tokio::time::sleep(later).await;
        child.kill().unwrap();
        // One that ended by itself meanwhile has a code.
        child.wait().unwrap().code().is_none()
    }
}

pub(crate) async fn real(file: PathBuf, rng: Rng) {
    let export = Export {
        format: "disqus",
        file: &file,
    };
    killed_and_not(&export, rng).await;
}

pub(crate) async fn made_up(mut rng: Rng) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.jsonl");
    std::fs::write(&file, lines(&mut rng)).unwrap();
    let export = Export {
        format: "jsonl",
        file: &file,
    };
    killed_and_not(&export, rng).await;
}

async fn killed_and_not(export: &Export<'_>, mut rng: Rng) {
    let (calm, place) = (Place::new(), Place::new());
    let (code, wanted) = export.finish(&calm).await;
    assert_eq!(
        wanted["outcome"]["how"], "complete",
        "{}",
        wanted["outcome"]
    );
    let imported = wanted["comments"]["imported"].as_i64().unwrap();

    let mut moments: Vec<i64> = (1..kills::how_often())
        .map(|_| rng.i64(1..imported))
        .collect();
    moments.push(0);
    moments.sort_unstable();
    let mut killed = 0;
    let mut there = Vec::new();
    for rows in moments {
        // The first one may fall into the start or the reading, where nothing shows in the store.
        let later = if rows == 0 { 200_000 } else { 20_000 };
        let later = Duration::from_micros(rng.u64(0..later));
        killed += usize::from(export.kill_at(&place, rows, later).await);
        let copy = Copy::of(&place);
        copy.is_sound().await;
        there.extend(copy.texts("SELECT count(*) || '' FROM comments").await);
    }
    let (last_code, last) = export.finish(&place).await;
    assert_eq!((last_code, &last["outcome"]), (code, &wanted["outcome"]));
    let sum = |report: &Value, of: &str| {
        ["imported", "already_there"]
            .map(|what| report[of][what].as_i64().unwrap())
            .iter()
            .sum::<i64>()
    };
    for of in ["discussions", "comments"] {
        assert_eq!(sum(&last, of), sum(&wanted, of), "{of}");
    }
    println!("  {killed} kills, which left {there:?} of {imported} comments");
    assert!(killed > 0);

    let (_, again) = export.finish(&place).await;
    for of in ["discussions", "comments"] {
        assert_eq!(again[of]["imported"], 0, "{of}");
        assert_eq!(sum(&again, of), sum(&wanted, of), "{of}");
    }
    let (one, other) = (Copy::of(&place), Copy::of(&calm));
    one.is_sound().await;
    for query in ROWS {
        let (rows, wanted) = (one.texts(query).await, other.texts(query).await);
        let differing = rows.iter().zip(&wanted).find(|(row, wanted)| row != wanted);
        assert!(differing.is_none(), "{differing:?}");
        assert_eq!(rows.len(), wanted.len(), "{query}");
        assert!(!rows.is_empty(), "{query}");
    }
    same_to_readers(&place, &calm, &one).await;
}

/// Serves both stores and reads every discussion of each, by date and as threads.
async fn same_to_readers(place: &Place, calm: &Place, copy: &Copy) {
    let rows = copy
        .texts("SELECT discussion_id || ' ' || all_total FROM discussions")
        .await;
    let discussions: Vec<(Value, i64)> = rows
        .iter()
        .map(|row| {
            let (id, total) = row.split_once(' ').unwrap();
            let id = GlobalId::Discussion(DiscussionId::new(id.parse().unwrap())).encode();
            (json!({ "id": id }), total.parse().unwrap())
        })
        .collect();
    let servers = [place.serve(&[]).await, calm.serve(&[]).await];
    let clients = [&servers[0], &servers[1]].map(Client::of);
    let mut listed = 0;
    for some in discussions.chunks(10) {
        let seen = join_all(some.iter().map(async |(discussion, total)| {
            let [one, other] = &clients;
            let (one, other) = (read(one, discussion).await, read(other, discussion).await);
            assert_eq!(one.counts[0], *total, "{discussion}");
            assert_eq!((&one.order, one.counts), (&other.order, other.counts));
            for (node, wanted) in one.comments.values().zip(other.comments.values()) {
                assert_eq!(without_author_id(node), without_author_id(wanted));
            }
            one.order.len()
        }));
        listed += seen.await.iter().sum::<usize>();
    }
    println!(
        "  {listed} comments listed in {} discussions",
        discussions.len()
    );
    for server in servers {
        server.stop().await;
    }
}

async fn read(client: &Client, discussion: &Value) -> Seen {
    lists::until_threaded(client, discussion).await;
    lists::read(client, discussion).await
}

/// Authors get their ids in the order they come; who they are is compared by row.
fn without_author_id(node: &Value) -> Value {
    let mut node = node.clone();
    if let Some(author) = node["author"].as_object_mut() {
        author.remove("id");
    }
    node
}

/// An export with every state and format and with deep branches, in no order.
pub(crate) fn lines(rng: &mut Rng) -> String {
    let mut lines: Vec<Value> = (0..DISCUSSIONS)
        .map(|number| {
            json!({
                "type": "discussion", "id": format!("d{number}"), "title": format!("On {number}"),
                "url": format!("https://import.example/{number}"),
                "created_at": "2023-11-01T00:00:00Z",
            })
        })
        .collect();
    let mut earlier = vec![Vec::new(); DISCUSSIONS];
    for number in 0..COMMENTS {
        let place = if number < IN_THE_FIRST {
            0
        } else {
            rng.usize(1..DISCUSSIONS)
        };
        let parent = rng.choice(&earlier[place]).filter(|_| rng.u32(0..100) < 70);
        let state = match rng.u32(0..100) {
            0..4 => "deleted",
            4..8 => "hidden",
            8..10 => "pending",
            10..11 => "spam",
            _ => "published",
        };
        let author = rng.u32(0..200);
        lines.push(json!({
            "type": "comment", "id": format!("c{number}"), "discussion": format!("d{place}"),
            "parent": parent, "author": {"id": format!("u{author}"), "name": format!("Ann {author}")},
            "created_at": 1_700_000_000_000_u64 + u64::from(rng.u32(0..2_000_000)),
            "format": rng.choice(["plain", "markdown", "html"]), "state": state,
            "body": format!("text {number} of {} letters", rng.u32(..)),
        }));
        earlier[place].push(format!("c{number}"));
    }
    rng.shuffle(&mut lines);
    lines.iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    })
}
