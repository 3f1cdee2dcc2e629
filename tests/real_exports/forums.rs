//! Forums, subreddits and mailing lists: the counts of their READMEs, every oddity with its number.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use threadline::import::discourse::{DiscourseOptions, DiscourseReader};
use threadline::import::input::{self, Input, ReadError};
use threadline::import::jsonl::map::{FieldMap, Mapping};
use threadline::import::jsonl::mapped::MappedReader;
use threadline::import::record::SourceItem;
use threadline::import::reddit::RedditOptions;
use threadline::import::report::{Note, Reason};
use threadline::import::{self, ExportReader, Outcome, Report};

use crate::whole::read_whole;
use crate::world::World;

const MAP: &str = "id=id,parent=parent,discussion=root,author=author,created_at=ts,title=subject,\
                   body=body,entity_type:=list-thread,entity_id=root";

fn open(file: &Path) -> Input {
    input::open(file, &ProgressBar::hidden()).unwrap()
}

pub(crate) fn discourse(file: &Path) -> Box<dyn ExportReader> {
    let options = DiscourseOptions {
        site: Some("https://forum.example".parse().unwrap()),
    };
    Box::new(DiscourseReader::new(open(file), options))
}

pub(crate) fn reddit(file: &Path) -> Box<dyn ExportReader> {
    let posts = file.with_file_name("posts.csv");
    import::reddit(open(file), Some(open(&posts)), RedditOptions::default())
}

pub(crate) fn rlist(file: &Path) -> Box<dyn ExportReader> {
    let mappings: Vec<Mapping> = MAP.split(',').map(|one| one.parse().unwrap()).collect();
    Box::new(MappedReader::new(
        open(file),
        FieldMap::new(mappings).unwrap(),
    ))
}

/// Imports twice; the second run must find all of the first.
async fn twice(world: &World, reader: impl Fn() -> Box<dyn ExportReader>) -> Report {
    let first = world.import(reader()).await;
    assert_eq!(first.outcome, Outcome::Complete);
    let second = world.import(reader()).await;
    assert_eq!(
        (second.discussions.imported, second.comments.imported),
        (0, 0),
        "{}",
        second.table()
    );
    assert_eq!(second.discussions.already_there, first.discussions.imported);
    assert_eq!(second.comments.already_there, first.comments.imported);
    assert_eq!(second.comments.skipped, first.comments.skipped);
    assert_eq!(second.comments.rejected, first.comments.rejected);
    first
}

fn numbers<K: Ord + Copy>(of: &[(K, u64)]) -> BTreeMap<K, u64> {
    of.iter().copied().collect()
}

pub(crate) async fn discourse_counts(file: PathBuf) {
    let world = World::empty("discourse").await;
    let report = twice(&world, || discourse(&file)).await;
    assert_eq!(
        (report.discussions.read, report.discussions.imported),
        (635, 635)
    );
    assert_eq!(
        (report.comments.read, report.comments.imported),
        (4_725, 4_501)
    );
    // 64 older versions; of the 56 deleted records 55 are the newest version, 5 with replies.
    let skipped = numbers(&[(Reason::Duplicate, 64), (Reason::Deleted, 50)]);
    assert_eq!(report.comments.skipped, skipped);
    assert_eq!(report.comments.rejected, numbers(&[(Reason::TooLong, 110)]));
    let notes = numbers(&[
        (Note::OrphanMissingParent, 6),
        (Note::Tombstone, 5),
        (Note::TextLost, 15),
    ]);
    assert_eq!(report.notes, notes, "{}", report.table());
    world.close().await;
}

/// With limits as high as the forum's own, nothing is lost.
pub(crate) async fn discourse_whole(file: PathBuf) {
    let mut world = World::empty("discourse").await;
    world.options.limits.body_scalars_max = 100_000;
    world.options.limits.body_bytes_max = 400_000;
    let report = world.import(discourse(&file)).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    assert_eq!(report.comments.imported, 4_661 - 50);
    let notes = numbers(&[(Note::OrphanMissingParent, 6), (Note::Tombstone, 5)]);
    assert_eq!(report.notes, notes);
    world.close().await;
}

pub(crate) async fn reddit_counts(file: PathBuf) {
    let world = World::empty("reddit").await;
    let report = twice(&world, || reddit(&file)).await;
    assert_eq!(report.exit_code(), 0, "{}", report.table());
    // 71 submissions have comments, 24 more have none.
    assert_eq!(
        (report.discussions.read, report.discussions.imported),
        (95, 95)
    );
    assert_eq!(
        (report.comments.read, report.comments.imported),
        (3_480, 3_478)
    );
    assert_eq!(report.comments.skipped, numbers(&[(Reason::Deleted, 2)]));
    assert_eq!(
        report.notes,
        numbers(&[(Note::Tombstone, 60)]),
        "{}",
        report.table()
    );
    world.close().await;
}

pub(crate) async fn rlist_counts(file: PathBuf) {
    let world = World::empty("list").await;
    let report = twice(&world, || rlist(&file)).await;
    assert_eq!(
        (report.discussions.read, report.discussions.imported),
        (22_081, 22_081)
    );
    assert_eq!(
        (report.comments.read, report.comments.imported),
        (60_160, 60_125)
    );
    // 16 are empty, one of them with replies; 29 hold control characters, 9 of them with replies.
    assert_eq!(report.comments.skipped, numbers(&[(Reason::Empty, 15)]));
    assert_eq!(
        report.comments.rejected,
        numbers(&[(Reason::TextRefused, 20)])
    );
    // 2,020 parents are absent, that of one comment that is left out among them. Five messages
    // answer themselves. Nine subjects hold control characters.
    let notes = numbers(&[
        (Note::OrphanMissingParent, 2_019),
        (Note::CycleBroken, 5),
        (Note::ClockInversion, 70),
        (Note::Tombstone, 1),
        (Note::TextLost, 9),
        (Note::TitleDropped, 9),
    ]);
    assert_eq!(report.notes, notes, "{}", report.table());
    world.close().await;
}

pub(crate) async fn discourse_modes(file: PathBuf) {
    let whole = read_whole("discourse", &|| discourse(&file)).await;
    // The five tombstones and the fifteen lost texts with replies are listed too.
    assert_eq!(
        (whole.discussions, whole.listed, whole.keyless),
        (635, 4_501, 0)
    );
}

pub(crate) async fn reddit_modes(file: PathBuf) {
    let whole = read_whole("reddit", &|| reddit(&file)).await;
    assert_eq!(
        (whole.discussions, whole.listed, whole.keyless),
        (95, 3_478, 0)
    );
}

pub(crate) async fn rlist_modes(file: PathBuf) {
    let whole = read_whole("list", &|| Box::new(Addressed::new(rlist(&file)))).await;
    assert_eq!(whole.discussions + whole.keyless, 22_081);
    assert!(
        whole.discussions > 4_000 && whole.listed > 10_000,
        "{whole:?}"
    );
}

/// Gives an address to every fifth discussion: the list has none, and to read them all takes long.
#[derive(Debug)]
struct Addressed {
    reader: Box<dyn ExportReader>,
    seen: u64,
}

impl Addressed {
    fn new(reader: Box<dyn ExportReader>) -> Self {
        Self { reader, seen: 0 }
    }
}

impl ExportReader for Addressed {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        let mut item = self.reader.next_item()?;
        if let Some(SourceItem::Discussion(discussion)) = &mut item {
            if self.seen.is_multiple_of(5) {
                discussion.url = Some(format!("https://list.example/{}", discussion.source_id));
            }
            self.seen += 1;
        }
        Ok(item)
    }

    fn opens_undeclared(&self) -> bool {
        self.reader.opens_undeclared()
    }
}
