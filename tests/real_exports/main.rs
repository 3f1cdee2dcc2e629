//! Real exports, made safe, from outside the package: `THREADLINE_SHARED`, by default `../shared`.
//!
//! Where they are missing, every case is shown as ignored: a skipped case must not look passed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a case fails by panicking; where the exports lie is a matter of the machine, no setting"
)]

#[path = "../import/world.rs"]
#[expect(dead_code, reason = "the other cases of the importer use more of it")]
mod world;

mod forums;

#[path = "../graphql/restore.rs"]
#[expect(dead_code, reason = "the tests of the schema use more of it")]
mod restore;
#[path = "../graphql/support.rs"]
#[expect(dead_code, reason = "the tests of the schema use more of it")]
mod support;
mod whole;
mod wxr;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use libtest_mimic::{Arguments, Failed, Trial};
use threadline::import::record::SourceItem;
use threadline::import::{ExportReader, Format, Outcome, input};

use self::world::World;

fn main() -> ExitCode {
    let shared = std::env::var("THREADLINE_SHARED").map_or_else(
        |_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let trials = trials(&shared);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trials(shared: &Path) -> Vec<Trial> {
    let mut trials = blogs(shared);
    trials.extend(lists(shared));
    trials
}

fn blogs(shared: &Path) -> Vec<Trial> {
    let disqus = shared.join("data/comments-disqus/disqus.xml");
    let wordpress = shared.join("data/comments-wxr/wordpress-export.xml");
    vec![
        case(
            "disqus_adds_up_and_a_second_run_imports_nothing",
            &disqus,
            adds_up,
        ),
        case("disqus_ids_are_the_same_in_every_store", &disqus, same_ids),
        case(
            "disqus_read_whole_is_the_same_in_both_modes",
            &disqus,
            whole::both_modes_agree,
        ),
        case(
            "wordpress_adds_up_and_a_second_run_imports_nothing",
            &wordpress,
            wxr::adds_up,
        ),
        case(
            "wordpress_read_whole_is_the_same_in_both_modes",
            &wordpress,
            wxr::both_modes_agree,
        ),
        case(
            "disqus_exported_and_restored_is_the_same_to_readers",
            &disqus,
            comes_back,
        ),
    ]
}

fn lists(shared: &Path) -> Vec<Trial> {
    let discourse = shared.join("data/comments-discourse/posts.jsonl.zst");
    let reddit = shared.join("data/comments-reddit/comments.csv");
    let rlist = shared.join("data/comments-rlist-devel/messages.jsonl.zst");
    vec![
        case(
            "discourse_adds_up_and_a_second_run_imports_nothing",
            &discourse,
            forums::discourse_counts,
        ),
        case(
            "discourse_loses_nothing_where_long_texts_are_allowed",
            &discourse,
            forums::discourse_whole,
        ),
        case(
            "discourse_read_whole_is_the_same_in_both_modes",
            &discourse,
            forums::discourse_modes,
        ),
        case(
            "reddit_adds_up_and_a_second_run_imports_nothing",
            &reddit,
            forums::reddit_counts,
        ),
        case(
            "reddit_read_whole_is_the_same_in_both_modes",
            &reddit,
            forums::reddit_modes,
        ),
        case(
            "a_mailing_list_by_map_adds_up_and_a_second_run_imports_nothing",
            &rlist,
            forums::rlist_counts,
        ),
        case(
            "a_mailing_list_read_whole_is_the_same_in_both_modes",
            &rlist,
            forums::rlist_modes,
        ),
    ]
}

fn case<F: Future<Output = ()> + 'static>(name: &str, file: &Path, run: fn(PathBuf) -> F) -> Trial {
    let is_missing = !file.exists();
    let kind = if is_missing {
        "NO REAL EXPORTS HERE"
    } else {
        ""
    };
    let file = file.to_owned();
    let body = move || -> Result<(), Failed> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(run(file));
        Ok(())
    };
    Trial::test(name, body)
        .with_kind(kind)
        .with_ignored_flag(is_missing)
}

fn reader(file: &Path) -> Box<dyn ExportReader> {
    Format::Disqus.reader(input::open(file, &ProgressBar::hidden()).unwrap())
}

async fn adds_up(file: PathBuf) {
    let world = World::empty("disqus").await;
    let first = world.import(reader(&file)).await;
    assert_eq!(first.outcome, Outcome::Complete);
    assert_eq!((first.discussions.read, first.comments.read), (569, 2_693));
    assert_eq!(first.discussions.imported, 569);
    assert!(first.comments.imported > 2_600, "{}", first.table());

    // What the report counts is what lies in the store, in the discussions the export names.
    let (mut written, mut placed) = (0, HashMap::<String, i64>::new());
    let mut export = reader(&file);
    while let Some(item) = export.next_item().unwrap() {
        match item {
            SourceItem::Discussion(source) => {
                let found = world.discussion(&source.source_id).await;
                let total = found.counts.all.total;
                let rows = world.comments(&found).await.len();
                assert_eq!(i64::try_from(rows).unwrap(), total);
                written += total;
                placed.insert(source.source_id, total);
            }
            SourceItem::Comment(comment) => {
                *placed.get_mut(&comment.discussion_source_id).unwrap() -= 1;
            }
            SourceItem::Rejected(row) => panic!("{row:?}"),
        }
    }
    assert_eq!(u64::try_from(written).unwrap(), first.comments.imported);
    assert!(
        placed.values().all(|left| *left <= 0),
        "nothing is merged or moved"
    );

    let second = world.import(reader(&file)).await;
    assert_eq!(
        (second.discussions.imported, second.comments.imported),
        (0, 0)
    );
    assert_eq!(second.discussions.already_there, 569);
    assert_eq!(second.comments.already_there, first.comments.imported);
    assert_eq!(second.comments.skipped, first.comments.skipped);
    assert_eq!(second.exit_code(), first.exit_code());
    world.close().await;
}

async fn same_ids(file: PathBuf) {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let world = World::empty("disqus").await;
        world.import(reader(&file)).await;
        let found = world.discussion("1000041783").await;
        let rows = world.comments(&found).await;
        assert!(!rows.is_empty());
        ids.push((found.id, rows.iter().map(|row| row.id).collect::<Vec<_>>()));
        world.close().await;
    }
    assert_eq!(ids.first(), ids.last());
}

async fn comes_back(file: PathBuf) {
    let app = support::TestApp::new().await;
    let first = restore::import(&app, reader(&file), "disqus", false).await;
    let mut discussions = Vec::new();
    let mut export = reader(&file);
    while let Some(item) = export.next_item().unwrap() {
        if let SourceItem::Discussion(source) = item {
            discussions.push(restore::imported(&app, "disqus", &source.source_id).await);
        }
    }
    let (other, counts) = restore::comes_back(&app, &discussions).await;
    assert_eq!(counts.comments, first.comments.imported);
    let again = restore::import(&other, reader(&file), "disqus", false).await;
    assert_eq!(
        (again.discussions.imported, again.comments.imported),
        (0, 0)
    );
    assert_eq!(again.comments.already_there, first.comments.imported);
    println!("{counts:?}");
}
