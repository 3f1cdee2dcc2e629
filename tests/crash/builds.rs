//! Builds of indexes that are killed again and again, by one process and by two at once, beside one
//! that was left alone.

use std::process::{Child, Output, Stdio};
use std::time::Duration;

use fastrand::Rng;

use crate::common::Place;
use crate::files::{Copy, Watch};
use crate::imports::lines;
use crate::kills;

const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Longer than anything may take that is not a hang.
const DEADLINE: Duration = Duration::from_mins(1);
/// Slow enough that a kill finds the build under way.
const RATE: &str = "3000";

/// What must be the same however often a build was killed.
const ROWS: [&str; 2] = [
    "SELECT json_array(discussion_id, layout, branch_id, comment_id, parent_id, hex(ancestors)) \
     FROM comment_tree ORDER BY discussion_id, layout, branch_id, comment_id",
    "SELECT json_array(discussion_id, layout, branch_id, from_id, to_id, total, published, visible, \
     shown) FROM branch_counts ORDER BY discussion_id, layout, branch_id, from_id",
];

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    // Leases that a killed process leaves are waited for.
    command.env("THREADLINE_WALKER__LEASE", "5s");
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Runs a command to its end, which must be a good one; returns what it said.
fn finish(place: &Place, arguments: &[&str]) -> String {
    let Output { status, stdout, .. } = start(place, arguments).wait_with_output().unwrap();
    let said = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{arguments:?}: {status}\n{said}");
    said
}

fn numbers(said: &str) -> Vec<String> {
    let is_number =
        |line: &&str| line.starts_with("index-build:") || line.contains(" discussions ");
    said.lines().filter(is_number).map(str::to_owned).collect()
}

/// Kills the builds when the index holds `rows`, a little later. How many of them still ran.
async fn kill_at(place: &Place, mut builds: Vec<Child>, rows: i64, later: Duration) -> usize {
    let mut watch = Watch::of(place);
    let reached = async {
        while watch.index_rows().await < rows
            && builds
                .iter_mut()
                .any(|one| one.try_wait().unwrap().is_none())
        {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(DEADLINE, reached).await.unwrap();
    watch.close().await;
    // Not to wait for anything: the moment is to lie anywhere within a batch.
    tokio::time::sleep(later).await;
    let mut killed = 0;
    for mut build in builds {
        build.kill().unwrap();
        killed += usize::from(build.wait().unwrap().code().is_none());
    }
    killed
}

pub(crate) async fn killed_and_not(mut rng: Rng) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.jsonl");
    std::fs::write(&file, lines(&mut rng)).unwrap();
    let (calm, place) = (Place::new(), Place::new());
    for one in [&calm, &place] {
        finish(one, &["import", "jsonl", file.to_str().unwrap()]);
    }
    let wanted = finish(&calm, &["index", "build"]);
    let total = i64::try_from(Copy::of(&calm).texts(ROWS[0]).await.len()).unwrap();

    let mut moments: Vec<i64> = (1..kills::how_often()).map(|_| rng.i64(1..total)).collect();
    moments.push(0);
    moments.sort_unstable();
    let (mut killed, mut there) = (0, Vec::new());
    for rows in moments {
        let together = rng.usize(1..=2);
        let build = ["index", "build", "--rate", RATE];
        let builds = (0..together).map(|_| start(&place, &build)).collect();
        let later = Duration::from_micros(rng.u64(0..if rows == 0 { 200_000 } else { 20_000 }));
        killed += kill_at(&place, builds, rows, later).await;
        let copy = Copy::of(&place);
        copy.is_sound().await;
        there.push(copy.texts(ROWS[0]).await.len());
    }
    println!("  {killed} kills, which left {there:?} of {total} index rows");
    assert!(killed > 0);
    let said = finish(&place, &["index", "build"]);
    // Whatever was begun and killed, each discussion is counted once. (A build that ended before its
    // kill leaves nothing to do to the next one.)
    assert!(said.contains("index-build: 30 discussions,"), "{said}");
    if !said.contains("complete before") {
        assert_eq!(numbers(&said), numbers(&wanted), "{said}");
    }
    finish(&place, &["index", "verify"]);
    let (one, other) = (Copy::of(&place), Copy::of(&calm));
    one.is_sound().await;
    for query in ROWS {
        assert_eq!(one.texts(query).await, other.texts(query).await);
    }
}
