//! A made-up export of any size in our own format, written as it is made.
//!
//! Comments of all discussions come mixed, by date as a system of some years would have them, some
//! a little late. What is written depends on the shape and the time alone.

use std::io::{self, Write};

use serde_json::json;

use super::bulk::text;

/// The size of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportShape {
    /// Comments in all.
    pub comments: u32,
    /// Discussions; at least one.
    pub discussions: u32,
    /// Comments of the first discussion.
    pub largest: u32,
    /// Replies, at any depth, in one branch of the first discussion.
    pub branch: u32,
}

/// Between two comments.
const STEP_MS: i64 = 20_000;
/// Comments in a branch that is not the long one.
const BRANCH_ROWS: u32 = 10;
/// Comments that one person writes on average.
const BY_PERSON: u32 = 25;

/// Writes the export. Its last comment is from before `now_ms`.
pub fn write_export(out: &mut dyn Write, shape: ExportShape, now_ms: i64) -> io::Result<()> {
    let first_ms = now_ms - 1 - i64::from(shape.comments + 1) * STEP_MS;
    for number in 0..shape.discussions {
        let line = json!({
            "type": "discussion", "id": format!("d{number}"), "title": format!("On {number}"),
            "url": format!("https://bulk.example.com/{number}"), "created_at": first_ms,
        });
        writeln!(out, "{line}")?;
    }
    let mut written = vec![0_u32; usize::try_from(shape.discussions).unwrap_or(0)];
    for number in 0..shape.comments {
        let discussion = shape.discussion_of(number);
        let place = usize::try_from(discussion).unwrap_or(0);
        let Some(before) = written.get_mut(place) else {
            continue;
        };
        let at = *before;
        *before += 1;
        let mixed = mix(number);
        let late_ms = i64::from(mixed % 4) * 7_000;
        let author = mix(mixed) % (shape.comments / BY_PERSON).max(20);
        let parent = shape.parent_of(discussion, at, mixed);
        let line = json!({
            "type": "comment", "id": format!("c{discussion}-{at}"),
            "discussion": format!("d{discussion}"),
            "parent": parent.map(|parent| format!("c{discussion}-{parent}")),
            "author": {"id": format!("u{author}"), "name": format!("Reader {author}")},
            "created_at": first_ms + i64::from(number) * STEP_MS + late_ms,
            "format": if number.is_multiple_of(3) { "markdown" } else { "plain" },
            "state": state(number), "body": text(number),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

impl ExportShape {
    /// The first discussion's comments lie evenly among all, those of others at random.
    fn discussion_of(self, number: u32) -> u32 {
        let before = |number: u32| {
            u64::from(number) * u64::from(self.largest) / u64::from(self.comments.max(1))
        };
        let others = self.discussions.saturating_sub(1);
        if others == 0 || before(number) != before(number.saturating_add(1)) {
            0
        } else {
            1 + mix(number ^ 0x5bd1_e995) % others
        }
    }

    fn parent_of(self, discussion: u32, at: u32, mixed: u32) -> Option<u32> {
        if discussion == 0 && (1..=self.branch).contains(&at) {
            // Any of those before: a branch that is a few dozen levels deep.
            return Some(mixed % at);
        }
        let in_branch = at % BRANCH_ROWS;
        let root = at - in_branch;
        // What comes behind the long branch hangs below nothing of it.
        let is_apart = discussion > 0 || root > self.branch;
        (in_branch > 0 && is_apart).then(|| root + mixed % in_branch)
    }
}

fn state(number: u32) -> &'static str {
    match number % 200 {
        3 => "deleted",
        77 => "hidden",
        150 => "pending",
        _ => "published",
    }
}

/// A number that looks like chance (the finaliser of murmur3).
fn mix(number: u32) -> u32 {
    let mut mixed = number ^ (number >> 16);
    mixed = mixed.wrapping_mul(0x85eb_ca6b);
    mixed ^= mixed >> 13;
    mixed = mixed.wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Format;
    use crate::import::record::SourceItem;

    #[test]
    fn an_export_has_the_shape_it_was_asked_for() {
        let shape = ExportShape {
            comments: 5_000,
            discussions: 40,
            largest: 2_000,
            branch: 700,
        };
        let mut text = Vec::new();
        write_export(&mut text, shape, 1_790_000_000_000).unwrap();
        let mut reader = Format::Jsonl.reader(Box::new(io::Cursor::new(text)));
        let (mut discussions, mut comments, mut first, mut late) = (0, 0, 0, 0);
        let mut branch = vec!["c0-0".to_owned()];
        let mut last_ms = 0;
        while let Some(item) = reader.next_item().unwrap() {
            match item {
                SourceItem::Discussion(_) => discussions += 1,
                SourceItem::Comment(comment) => {
                    comments += 1;
                    first += u32::from(comment.discussion_source_id == "d0");
                    if comment
                        .parent_source_id
                        .is_some_and(|parent| branch.contains(&parent))
                    {
                        branch.push(comment.source_id);
                    }
                    let ms = comment.created.unwrap();
                    late += u32::from(ms < last_ms);
                    last_ms = ms;
                }
                SourceItem::Rejected(row) => panic!("{row:?}"),
            }
        }
        assert_eq!((discussions, comments, first), (40, 5_000, 2_000));
        assert_eq!(branch.len(), 701);
        assert!(late > 0, "some are out of order");
    }
}
