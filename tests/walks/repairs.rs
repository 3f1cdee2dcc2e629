//! Every kind of damage is reported as what it is, mended, and gone afterwards.

use threadline::domain::comment::StateAct;
use threadline::domain::ids::DiscussionId;
use threadline::worker::jobs::audit::AuditKind;

use crate::sqlite::damage;
use crate::world::World;

/// A built discussion of two branches, one with a tombstone, beside others that stay whole.
async fn built(world: &World) -> DiscussionId {
    for size in [4, 0, 9] {
        world.unindexed(size).await;
    }
    let id = world.open_discussion().await;
    let root = world.post(id, None, false).await.unwrap();
    let reply = world.post(id, Some(root.id), false).await.unwrap();
    world.post(id, Some(reply.id), false).await.unwrap();
    world.post(id, None, false).await.unwrap();
    world.act(&reply, StateAct::Bury).await;
    world.build().await;
    world.assert_clean().await;
    id
}

/// Damages one discussion by `sql` (`ID` stands for it), and sees that `faults` are reported and
/// then mended.
async fn broken_and_mended(sql: &str, faults: &[&str]) {
    let world = World::new().await;
    let id = built(&world).await;
    let sql = sql.replace("ID", &id.to_string());
    assert!(damage(world.folder.path(), &sql).await > 0, "{sql}");
    let seen = world.audit(AuditKind::Verify).await;
    let words: Vec<&str> = seen
        .faults
        .iter()
        .map(|fault| fault.what.as_str())
        .collect();
    for fault in faults {
        assert!(
            words.iter().any(|word| word.contains(fault)),
            "{sql}: {words:?}"
        );
    }
    assert!(
        seen.faults.iter().all(|fault| fault.item == id.to_string()),
        "{seen:?}"
    );
    assert_eq!(
        (seen.outcomes["wrong"], seen.outcomes["right"]),
        (1, 3),
        "{sql}"
    );
    let mended = world.audit(AuditKind::Repair).await;
    assert_eq!(mended.faults, [], "{sql}");
    assert_eq!(
        (mended.outcomes["mended"], mended.outcomes["right"]),
        (1, 3),
        "{sql}"
    );
    world.assert_clean().await;
    assert!(world.is_whole(id).await, "{sql}");
}

#[tokio::test]
async fn a_comment_that_the_index_lacks() {
    let sql = "DELETE FROM comment_tree WHERE discussion_id = ID AND branch_id = 0";
    broken_and_mended(sql, &["missing from the index"]).await;
}

#[tokio::test]
async fn a_comment_that_lies_in_the_index_twice() {
    let sql = "INSERT INTO comment_tree SELECT discussion_id, layout, 0, comment_id, NULL, x'' \
               FROM comment_tree WHERE discussion_id = ID AND branch_id > 0";
    broken_and_mended(sql, &["misplaced in the index"]).await;
    let sql = "INSERT INTO comment_tree SELECT discussion_id, layout, 9e18, comment_id, parent_id, \
               ancestors FROM comment_tree WHERE discussion_id = ID AND branch_id > 0";
    broken_and_mended(sql, &["in the index twice"]).await;
}

#[tokio::test]
async fn an_index_row_without_its_comment() {
    let sql = "INSERT INTO comment_tree VALUES (ID, 1, 0, 12345, NULL, x'')";
    broken_and_mended(sql, &["comment 12345: in the index without a comment"]).await;
}

#[tokio::test]
async fn an_index_row_under_another_parent() {
    let sql = "UPDATE comment_tree SET parent_id = 5 WHERE discussion_id = ID AND branch_id > 0";
    broken_and_mended(sql, &["misplaced in the index"]).await;
    let sql = "UPDATE comment_tree SET branch_id = 0 WHERE discussion_id = ID AND branch_id > 0";
    broken_and_mended(sql, &["misplaced in the index", "missing from the index"]).await;
}

#[tokio::test]
async fn ancestors_that_contradict_the_parents() {
    let sql = "UPDATE comments SET ancestors = x'' WHERE discussion_id = ID \
               AND parent_id IS NOT NULL";
    broken_and_mended(sql, &["wrong ancestors in its own row"]).await;
}

#[tokio::test]
async fn counts_of_every_kind() {
    for (sql, fault) in [
        (
            "UPDATE discussions SET all_visible = all_visible + 1 WHERE discussion_id = ID",
            "the sums are not those of its comments",
        ),
        (
            "UPDATE branch_counts SET visible = visible - 1 WHERE discussion_id = ID \
             AND branch_id = -1",
            "the counts of the linear list",
        ),
        (
            "DELETE FROM branch_counts WHERE discussion_id = ID AND branch_id = 0",
            "the counts of the roots",
        ),
        (
            "UPDATE branch_counts SET to_id = to_id - 1 WHERE discussion_id = ID AND branch_id > 0",
            "the counts of the replies under",
        ),
        (
            "INSERT INTO branch_counts VALUES (ID, 1, 777, 1, 2, 5, 5, 5, 5)",
            "the counts of the replies under 777",
        ),
        (
            "UPDATE comments SET live_below = 0 WHERE discussion_id = ID AND live_below = 1",
            "deleted, with replies, but shown as nothing",
        ),
    ] {
        broken_and_mended(sql, &[fault]).await;
    }
}

#[tokio::test]
async fn a_recount_mends_counts_and_only_counts() {
    let world = World::new().await;
    let id = built(&world).await;
    for sql in [
        "UPDATE discussions SET roots_shown = 99 WHERE discussion_id = ID",
        "UPDATE branch_counts SET total = 99 WHERE discussion_id = ID",
        "DELETE FROM comment_tree WHERE discussion_id = ID AND branch_id = 0",
    ] {
        damage(world.folder.path(), &sql.replace("ID", &id.to_string())).await;
    }
    let recounted = world.audit(AuditKind::Recount).await;
    assert_eq!(
        (recounted.outcomes["mended"], recounted.outcomes["right"]),
        (1, 3)
    );
    assert!(recounted.sum("mended") >= 3);
    let left = world.audit(AuditKind::Verify).await;
    assert!(left.found() > 0);
    assert!(
        left.faults
            .iter()
            .all(|fault| fault.what.contains("missing from the index"))
    );
}

#[tokio::test]
async fn more_damage_than_is_listed_is_mended_all_the_same() {
    let world = World::new().await;
    let id = world.unindexed(1_600).await;
    world.build().await;
    let sql = format!("UPDATE comment_tree SET parent_id = 5 WHERE discussion_id = {id}");
    assert_eq!(damage(world.folder.path(), &sql).await, 1_600);
    let seen = world.audit(AuditKind::Verify).await;
    // Each misplaced row is also one that is missing from where it belongs.
    assert_eq!(seen.found(), 3_200);
    let mended = world.audit(AuditKind::Repair).await;
    assert_eq!((mended.found(), mended.outcomes["mended"]), (0, 1));
    world.assert_clean().await;
    assert!(world.is_whole(id).await);
}
