//! The promises of the port, on a real folder. Readings are asked for by hand, except where the
//! promise is that nobody needs to.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::domain::flags::{Context, Reason, evaluate};

struct Fixture {
    store: FolderFlags,
    clock: Clock,
    root: TempDir,
}

/// A root with the folders `flags` and `data`.
fn root() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("flags")).unwrap();
    fs::create_dir(root.path().join("data")).unwrap();
    root
}

/// Never reads by itself within a test, unless a watch wakes it.
fn options(root: &TempDir) -> FolderOptions {
    let path = root.path();
    let mut options = FolderOptions::new(path.join("flags"), path.join("data/flags.state.toml"));
    options.rescan = Duration::from_hours(1);
    options.debounce = Duration::from_millis(1);
    options
}

/// A store that reads only when told: watches are put off for as long as a test may last.
fn open(root: TempDir) -> Fixture {
    let clock = Clock::manual(0);
    let mut options = options(&root);
    options.debounce = Duration::from_hours(1);
    let store = FolderFlags::open(options, &clock, &Tasks::new()).unwrap();
    Fixture { store, clock, root }
}

fn text(key: &str, rest: &str) -> String {
    format!(
        "key = {key:?}\ndescription = 'A test.'\nowner = 'tests'\ncreated = 2026-01-01\n\
         expires = 2027-01-01\nkind = 'bool'\nenabled = true\nsalt = {key:?}\n{rest}"
    )
}

fn flag_path(root: &TempDir, key: &str) -> PathBuf {
    root.path().join("flags").join(format!("{key}.toml"))
}

fn put(root: &TempDir, key: &str, rest: &str) {
    fs::write(flag_path(root, key), text(key, rest)).unwrap();
}

fn put_state(root: &TempDir, text: &str) {
    fs::write(root.path().join("data/flags.state.toml"), text).unwrap();
}

impl Fixture {
    /// Reads until no second reading is due; gives the revision.
    fn read(&self) -> u64 {
        if self.store.rescan() {
            self.store.rescan();
        }
        self.store.health().revision
    }

    fn reason(&self, key: &str) -> Reason {
        evaluate(&self.store.snapshot(), key, &Context::of_unit("1")).reason
    }

    fn rejected(&self) -> Vec<(String, bool)> {
        let rejected = self.store.health().rejected.into_iter();
        rejected
            .map(|one| (one.place, one.keeps_last_good))
            .collect()
    }
}

#[tokio::test]
async fn f1_f2_a_snapshot_taken_earlier_does_not_change() {
    let root = root();
    put(&root, "a", "");
    let it = open(root);
    let before = it.store.snapshot();
    put(&it.root, "a", "rollout = { num = 0, den = 1 }");
    put(&it.root, "b", "");
    assert_eq!(it.read(), 2);
    assert_eq!((before.len(), it.store.snapshot().len()), (1, 2));
    assert_eq!(
        evaluate(&before, "a", &Context::of_unit("1")).reason,
        Reason::Default
    );
    assert_eq!(it.reason("a"), Reason::Rollout);
}

// cases/flags.md row 9: one broken file does not hold up the others.
#[tokio::test]
async fn f3_a_flag_that_breaks_keeps_its_last_good_and_the_others_go_on() {
    let root = root();
    put(&root, "a", "");
    put(&root, "b", "");
    let it = open(root);
    fs::write(flag_path(&it.root, "a"), "key = 'a'\nenabled = maybe").unwrap();
    put(&it.root, "b", "rollout = { num = 0, den = 1 }");
    it.read();
    assert_eq!(
        (it.reason("a"), it.reason("b")),
        (Reason::Default, Reason::Rollout)
    );
    assert_eq!(it.rejected(), [("a.toml".to_owned(), true)]);
    let health = it.store.health();
    assert!(
        !health.is_good() && health.rejected[0].error.starts_with("line 2, "),
        "{health:?}"
    );
    put(&it.root, "a", "rollout = { num = 0, den = 1 }");
    it.read();
    assert_eq!(it.reason("a"), Reason::Rollout);
    assert!(it.store.health().is_good());
}

#[tokio::test]
async fn f3_a_flag_that_is_broken_at_start_is_absent_and_reported() {
    let root = root();
    put(&root, "good", "");
    put(&root, "typo", "percent = 5");
    fs::write(flag_path(&root, "other-name"), text("name", "")).unwrap();
    fs::write(flag_path(&root, "bytes"), [0xff, 0xfe]).unwrap();
    fs::write(
        flag_path(&root, "large"),
        text("large", &"#".repeat(64 * 1024)),
    )
    .unwrap();
    fs::create_dir(flag_path(&root, "directory")).unwrap();
    fs::write(root.path().join("flags/README.md"), "not a flag").unwrap();
    fs::write(root.path().join("flags/.swap.toml"), "not a flag").unwrap();
    let it = open(root);
    assert_eq!(it.store.snapshot().len(), 1);
    let names = ["bytes", "directory", "large", "other-name", "typo"];
    assert_eq!(
        it.rejected(),
        names.map(|name| (format!("{name}.toml"), false))
    );
}

#[tokio::test]
async fn f3_prerequisites_are_checked_over_the_whole_folder() {
    let root = root();
    put(
        &root,
        "a",
        "prerequisites = [{ flag = 'b', variant = 'on' }]",
    );
    let it = open(root);
    assert_eq!(it.rejected(), [("a.toml".to_owned(), false)]);
    put(&it.root, "b", "");
    it.read();
    assert_eq!((it.reason("a"), it.rejected().len()), (Reason::Default, 0));
    put(
        &it.root,
        "b",
        "prerequisites = [{ flag = 'a', variant = 'on' }]",
    );
    it.read();
    assert_eq!(
        (it.reason("a"), it.reason("b")),
        (Reason::Default, Reason::Default)
    );
    assert_eq!(it.rejected(), [("b.toml".to_owned(), true)]);
}

// cases/flags.md row 9: the same bytes after a deletion are a new flag, not "nothing changed".
#[tokio::test]
async fn f4_a_deleted_flag_is_gone_and_the_same_bytes_bring_it_back() {
    let root = root();
    put(&root, "a", "");
    let it = open(root);
    fs::remove_file(flag_path(&it.root, "a")).unwrap();
    assert_eq!((it.read(), it.reason("a")), (2, Reason::Missing));
    put(&it.root, "a", "");
    assert_eq!((it.read(), it.reason("a")), (3, Reason::Default));
}

#[tokio::test]
async fn f4_a_broken_flag_can_be_deleted_and_is_then_not_reported() {
    let root = root();
    put(&root, "a", "");
    let it = open(root);
    fs::write(flag_path(&it.root, "a"), "").unwrap();
    it.read();
    assert_eq!((it.reason("a"), it.rejected().len()), (Reason::Default, 1));
    fs::remove_file(flag_path(&it.root, "a")).unwrap();
    it.read();
    assert_eq!((it.reason("a"), it.rejected().len()), (Reason::Missing, 0));
}

#[tokio::test]
async fn f4_a_file_that_is_gone_for_one_reading_only_was_being_rewritten() {
    let root = root();
    put(&root, "a", "");
    put_state(&root, "[a]\nkill = true");
    let it = open(root);
    fs::remove_file(flag_path(&it.root, "a")).unwrap();
    fs::remove_file(it.root.path().join("data/flags.state.toml")).unwrap();
    assert!(it.store.rescan());
    assert_eq!(it.reason("a"), Reason::Killed);
    put(&it.root, "a", "rollout = { num = 1, den = 1 }");
    put_state(&it.root, "[a]\nkill = false");
    assert!(!it.store.rescan());
    assert_eq!(it.reason("a"), Reason::Rollout);
}

#[tokio::test]
async fn f5_state_wins_for_the_fields_it_names_and_may_come_before_the_flag() {
    let root = root();
    put_state(
        &root,
        "[a]\nrollout = { num = 0, den = 1 }\n[later]\nkill = true",
    );
    put(&root, "a", "");
    let it = open(root);
    assert_eq!(it.reason("a"), Reason::Rollout);
    put(&it.root, "later", "");
    it.read();
    assert_eq!(it.reason("later"), Reason::Killed);
    put_state(&it.root, "[a]\nenabled = false");
    it.read();
    assert_eq!(
        (it.reason("a"), it.reason("later")),
        (Reason::Disabled, Reason::Default)
    );
    fs::remove_file(it.root.path().join("data/flags.state.toml")).unwrap();
    it.read();
    assert_eq!(it.reason("a"), Reason::Default);
}

#[tokio::test]
async fn f5_a_state_that_breaks_keeps_what_it_last_said() {
    let root = root();
    put(&root, "a", "");
    put(&root, "b", "");
    put_state(&root, "[a]\nkill = true");
    let it = open(root);
    put_state(&it.root, "[a]\nkill = 1\n[b]\nkill = true");
    it.read();
    assert_eq!(
        (it.reason("a"), it.reason("b")),
        (Reason::Killed, Reason::Killed)
    );
    assert_eq!(it.rejected(), [("flags.state.toml [a]".to_owned(), true)]);
    put_state(&it.root, "[a");
    it.read();
    assert_eq!(
        (it.reason("a"), it.reason("b")),
        (Reason::Killed, Reason::Killed)
    );
    assert_eq!(it.rejected(), [("flags.state.toml".to_owned(), true)]);
}

#[tokio::test]
async fn a_state_that_is_broken_at_start_is_an_error_since_it_may_hold_a_kill() {
    for broken in ["[a", "[a]\nkill = 1"] {
        let root = root();
        put(&root, "a", "");
        put_state(&root, broken);
        let opened = FolderFlags::open(options(&root), &Clock::manual(0), &Tasks::new());
        assert!(matches!(opened, Err(OpenError::State(_))), "{broken}");
    }
    let root = tempfile::tempdir().unwrap();
    let opened = FolderFlags::open(options(&root), &Clock::manual(0), &Tasks::new());
    assert!(matches!(opened, Err(OpenError::Folder(_))));
}

#[tokio::test]
async fn f6_the_revision_grows_by_one_with_each_change_that_evaluation_can_see() {
    let root = root();
    put(&root, "a", "");
    let it = open(root);
    assert_eq!(it.store.health().revision, 1);
    assert_eq!(it.read(), 1);
    put(&it.root, "a", "# only a comment");
    assert_eq!(it.read(), 1);
    fs::write(flag_path(&it.root, "b"), "broken").unwrap();
    assert_eq!((it.read(), it.rejected().len()), (1, 1));
    put(&it.root, "a", "allow = [1]");
    put(&it.root, "b", "");
    assert_eq!(it.read(), 2);
    put_state(&it.root, "[a]\nkill = true");
    assert_eq!(it.read(), 3);
    put_state(&it.root, "[a]\nkill = true\nenabled = true");
    assert_eq!(it.read(), 3);
}

#[tokio::test]
async fn f7_a_folder_that_goes_away_leaves_the_last_set_and_shows_since_when() {
    let root = root();
    put(&root, "a", "");
    let it = open(root);
    let (here, away) = (it.root.path().join("flags"), it.root.path().join("away"));
    fs::rename(&here, &away).unwrap();
    it.clock.advance(Duration::from_secs(5));
    put_state(&it.root, "[a]\nkill = true");
    it.read();
    let health = it.store.health();
    assert_eq!((health.stale_ms, health.flags), (5_000, 1));
    assert!(health.source_error.is_some() && !health.is_good());
    assert_eq!(
        it.reason("a"),
        Reason::Killed,
        "a kill does not wait for the folder"
    );
    fs::rename(&away, &here).unwrap();
    it.read();
    let health = it.store.health();
    assert_eq!((health.stale_ms, health.source_error), (0, None));
}

/// Waits for what another task brings about; fails only on a hang.
async fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waited)
        .await
        .expect(what);
}

async fn changes_are_seen(options: FolderOptions, root: TempDir) {
    let tasks = Tasks::new();
    let store = FolderFlags::open(options, &Clock::system(), &tasks).unwrap();
    let reason = |key: &str| evaluate(&store.snapshot(), key, &Context::of_unit("1")).reason;
    put(&root, "a", "");
    wait_for("a new flag", || reason("a") == Reason::Default).await;
    put(&root, "a", "rollout = { num = 0, den = 1 }");
    wait_for("an edit", || reason("a") == Reason::Rollout).await;
    let beside = root.path().join("data/new");
    fs::write(&beside, "[a]\nkill = true").unwrap();
    fs::rename(&beside, root.path().join("data/flags.state.toml")).unwrap();
    wait_for("a kill", || reason("a") == Reason::Killed).await;
    fs::remove_file(flag_path(&root, "a")).unwrap();
    wait_for("a deletion", || reason("a") == Reason::Missing).await;
    assert!(
        tasks.shutdown(Duration::from_secs(20)).await,
        "the task ends when told to"
    );
}

#[tokio::test]
async fn f8_the_watch_brings_changes_without_a_timed_reading() {
    let root = root();
    changes_are_seen(options(&root), root).await;
}

#[tokio::test]
async fn f8_the_timed_reading_brings_changes_that_no_watch_tells() {
    let root = root();
    let mut options = options(&root);
    options.rescan = Duration::from_millis(5);
    let flags = root.path().join("flags");
    // The watch stays on the folder that is moved away.
    let tasks = Tasks::new();
    let store = FolderFlags::open(options, &Clock::system(), &tasks).unwrap();
    fs::rename(&flags, root.path().join("old")).unwrap();
    fs::create_dir(&flags).unwrap();
    put(&root, "a", "");
    let reason = || evaluate(&store.snapshot(), "a", &Context::of_unit("1")).reason;
    wait_for("a flag in the new folder", || reason() == Reason::Default).await;
    assert!(tasks.shutdown(Duration::from_secs(20)).await);
}

#[tokio::test]
async fn the_shipped_flags_load_without_a_rejection_and_switch_threads_on() {
    let data = tempfile::tempdir().unwrap();
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("flags");
    let options = FolderOptions::new(shipped, data.path().join("flags.state.toml"));
    let store = FolderFlags::open(options, &Clock::manual(0), &Tasks::new()).unwrap();
    let health = store.health();
    assert!(health.is_good() && health.flags == 3, "{health:?}");
    let set = store.snapshot();
    assert_eq!(
        set.get("comments-threaded").unwrap().flag.salt(),
        "comments-tree"
    );

    let mut context = Context::of_unit("42");
    assert_eq!(
        evaluate(&set, "comments-threaded", &context).reason,
        Reason::Client
    );
    for (name, version, reason) in [
        ("web", "1.9.9", Reason::Client),
        ("web", "2.0.0", Reason::Default),
        ("ios", "7.9", Reason::Client),
        ("ios", "8", Reason::Default),
        ("android", "8.0.0", Reason::Default),
        ("reader", "1.0.0", Reason::Default),
    ] {
        context.client.name = Some(name.to_owned());
        context.client.version = Some(version.to_owned());
        let got = evaluate(&set, "comments-threaded", &context);
        assert_eq!(
            (got.is_on(), got.reason),
            (reason == Reason::Default, reason),
            "{name}"
        );
    }
    assert!(evaluate(&set, "comments-index-write", &Context::default()).is_on());
}
