//! A WordPress export: 91 comments, 16 of them replies, 19 of them pingbacks; 28 published pages.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use threadline::domain::body::plain_text;
use threadline::import::record::SourceItem;
use threadline::import::report::Reason;
use threadline::import::wxr::WxrOptions;
use threadline::import::{self, ExportReader, Outcome, input};

use crate::whole;
use crate::world::World;

fn reader(file: &Path, pings: bool) -> Box<dyn ExportReader> {
    let options = WxrOptions {
        pings,
        ..WxrOptions::default()
    };
    import::wxr(input::open(file, &ProgressBar::hidden()).unwrap(), options)
}

pub(crate) async fn adds_up(file: PathBuf) {
    let world = World::empty("wordpress").await;
    let people = world.import(reader(&file, false)).await;
    assert_eq!(
        (people.exit_code(), &people.outcome),
        (0, &Outcome::Complete)
    );
    assert_eq!((people.discussions.read, people.comments.read), (83, 91));
    assert_eq!(
        (people.discussions.imported, people.comments.imported),
        (28, 72)
    );
    assert_eq!(people.comments.skipped.get(&Reason::Ping), Some(&19));
    assert_eq!(
        people.discussions.skipped.get(&Reason::NotDiscussed),
        Some(&52)
    );
    assert_eq!(people.discussions.skipped.get(&Reason::NotPublic), Some(&3));
    assert!(people.notes.is_empty(), "{}", people.table());
    let all = world.import(reader(&file, true)).await;
    assert_eq!(
        (all.comments.imported, all.comments.already_there),
        (19, 72)
    );
    let again = world.import(reader(&file, true)).await;
    assert_eq!(
        (again.discussions.imported, again.comments.imported),
        (0, 0)
    );
    assert_eq!(again.comments.already_there, 91);

    // Every comment lies where the export has it, at the moment it was written, with its words.
    let mut export = reader(&file, true);
    let (mut comments, mut nested) = (0, 0);
    while let Some(item) = export.next_item().unwrap() {
        let SourceItem::Comment(source) = item else {
            continue;
        };
        let found = world.discussion(&source.discussion_source_id).await;
        let rows = world.comments(&found).await;
        assert_eq!(found.counts.all.visible, i64::try_from(rows.len()).unwrap());
        let time_ms = source.created.unwrap();
        let seconds = |ms: i64| ms / 1_000;
        let row = rows
            .iter()
            .find(|row| seconds(row.id.time_ms()) == seconds(time_ms) && row.body == source.body)
            .unwrap();
        assert_eq!(row.parent_id.is_some(), source.parent_source_id.is_some());
        comments += 1;
        nested += usize::from(row.parent_id.is_some());
    }
    assert_eq!((comments, nested), (91, 16));
    let found = world.discussion("748").await;
    let rows = world.comments(&found).await;
    let lines = plain_text(&rows[1].body, rows[1].format);
    assert!(lines.contains(",\n\n"), "paragraphs stay: {lines}");
    world.close().await;
}

pub(crate) async fn both_modes_agree(file: PathBuf) {
    let whole = whole::read_whole("wordpress", &|| reader(&file, true)).await;
    assert_eq!(
        (whole.discussions, whole.listed, whole.keyless),
        (28, 91, 0)
    );
}
