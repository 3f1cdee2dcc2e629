//! Random exports: whatever rows say of each other, the numbers add up and agree with the store.

use proptest::prelude::*;
use serde_json::{Value, json};
use threadline::import::Outcome;

use super::world::{NOW_MS, World};

fn line() -> impl Strategy<Value = Value> {
    let body = prop_oneof![6 => Just("text"), 1 => Just("\u{200b}"), 1 => Just("a\u{0}b")];
    let state = prop_oneof![5 => Just("published"), 1 => Just("hidden"), 1 => Just("pending"),
        2 => Just("deleted"), 1 => Just("spam")];
    let time = prop_oneof![5 => NOW_MS - 90_000..NOW_MS, 1 => Just(0), 1 => Just(NOW_MS * 2)];
    let comment = (
        0_u8..12,
        0_u8..15,
        0_u8..3,
        time,
        body,
        state,
        any::<bool>(),
    )
        .prop_map(|(id, parent, discussion, time, body, state, bare)| {
            let mut line = json!({
                "type": "comment", "id": id.to_string(), "discussion": discussion.to_string(),
                "created_at": time, "body": body, "state": state,
            });
            if let (false, Some(fields)) = (bare, line.as_object_mut()) {
                fields.insert("parent".to_owned(), parent.to_string().into());
            }
            line
        });
    let discussion = (0_u8..4, any::<bool>()).prop_map(|(id, same)| {
        let url = if same {
            "https://a.example/"
        } else {
            "not an address"
        };
        json!({"type": "discussion", "id": id.to_string(), "url": url, "created_at": "soon"})
    });
    prop_oneof![8 => comment, 1 => discussion]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_row_is_accounted_for_and_a_second_run_imports_nothing(
        lines in prop::collection::vec(line(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::empty("random").await;
            let first = world.jsonl(&lines).await;
            prop_assert_eq!(&first.outcome, &Outcome::Complete);
            prop_assert_eq!(first.comments.not_written, 0);
            let mut stored = 0;
            for id in 0..4_u8 {
                let named = |line: &&Value| {
                    let key = if line["type"] == "comment" { "discussion" } else { "id" };
                    line[key] == json!(id.to_string())
                };
                if lines.iter().any(|line| named(&line)) {
                    let found = world.discussion(&id.to_string()).await;
                    let rows = world.comments(&found).await;
                    prop_assert_eq!(i64::try_from(rows.len()).unwrap(), found.counts.all.total);
                    prop_assert!(rows.iter().all(|row| row.parent_id.is_none_or(|parent| parent < row.id)));
                    stored += u64::try_from(rows.len()).unwrap();
                }
            }
            prop_assert_eq!(stored, first.comments.imported);
            let second = world.jsonl(&lines).await;
            prop_assert_eq!((second.comments.imported, second.discussions.imported), (0, 0));
            prop_assert_eq!(second.comments.already_there, first.comments.imported);
            prop_assert_eq!(&second.comments.rejected, &first.comments.rejected);
            world.close().await;
            Ok(())
        })?;
    }
}
