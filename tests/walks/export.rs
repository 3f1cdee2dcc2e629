//! Exports into a file, whole and interrupted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use threadline::domain::comment::StateAct;
use threadline::worker::jobs::export::{BYTES, EXPORT_WALK, ExportJob, OutputError};
use threadline::worker::walker::{WalkEnd, WalkOptions, tally_of};
use tokio_util::sync::CancellationToken;

use crate::world::{World, quick, walk};

async fn populated() -> World {
    let world = World::new().await;
    for size in [3, 700, 0, 40, 1_200, 5] {
        world.unindexed(size).await;
    }
    let id = world.open_discussion().await;
    for act in [StateAct::Hide, StateAct::Bury] {
        let root = world.post(id, None, true).await.unwrap();
        world.post(id, Some(root.id), true).await.unwrap();
        world.edit(&root).await;
        world.act(&root, act).await;
    }
    world
}

/// How much of the file the export under way has stored.
async fn stored(world: &World) -> u64 {
    let walks = world.app.walker().walks.walks().await.unwrap();
    let under_way = walks
        .iter()
        .find(|walk| walk.name == EXPORT_WALK && walk.ended_ms.is_none());
    under_way.map_or(0, |walk| tally_of(walk).unwrap().sum(BYTES))
}

async fn export(world: &World, path: &Path, stop: &CancellationToken) -> WalkEnd {
    let keep = stored(world).await;
    let service = world.service().clone();
    let job = ExportJob::open(service, path, "to the file".to_owned(), keep).await;
    let options = WalkOptions {
        workers: 1,
        ..quick()
    };
    walk(&world.app, job.unwrap(), options, stop).await.unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn file(world: &World, name: &str) -> PathBuf {
    world.folder.path().join(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_stopped_again_and_again_holds_each_row_once() {
    let world = populated().await;
    let whole = file(&world, "whole.jsonl");
    let end = export(&world, &whole, &CancellationToken::new()).await;
    assert!(end.complete);
    assert_eq!((end.tally.items, end.tally.rows), (7, 1_952));
    assert_eq!(end.tally.sum(BYTES), whole.metadata().unwrap().len());
    let wanted = lines(&whole);
    assert_eq!(wanted.len(), 7 + 1_952);

    let torn = file(&world, "torn.jsonl");
    let mut runs = 0;
    loop {
        runs += 1;
        assert!(runs < 1_000, "it never ends");
        let stop = CancellationToken::new();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            stop.cancel();
        };
        let (end, ()) = tokio::join!(export(&world, &torn, &stop), stopping);
        if end.complete {
            assert_eq!(end.tally.sum(BYTES), torn.metadata().unwrap().len());
            break;
        }
        // What a crash leaves behind the last discussion is cut off.
        let mut text = std::fs::read(&torn).unwrap();
        text.extend_from_slice(b"{\"type\":\"comm");
        std::fs::write(&torn, text).unwrap();
    }
    assert_eq!(lines(&torn), wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_the_one_that_was_written_is_not_touched() {
    let world = populated().await;
    let path = file(&world, "out.jsonl");
    std::fs::write(&path, "short").unwrap();
    let open = async |keep| {
        let service = world.service().clone();
        ExportJob::open(service, &path, String::new(), keep).await
    };
    let error = open(6).await.unwrap_err();
    assert!(
        matches!(
            error,
            OutputError::Shorter {
                found: 5,
                wanted: 6,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"short");
    let held = Arc::new(open(5).await.unwrap());
    let error = open(5).await.unwrap_err();
    assert!(matches!(error, OutputError::InUse(_)), "{error}");
    drop(held);
    open(5).await.unwrap();
    let missing = world.folder.path().join("no/such/folder.jsonl");
    let service = world.service().clone();
    let error = ExportJob::open(service, &missing, String::new(), 0).await;
    assert!(matches!(error.unwrap_err(), OutputError::System(..)));
}
