//! The commands from outside: what they print, which file they touch, how they end.

use std::process::{Output, Stdio};
use std::time::Duration;

use crate::common::Place;
use crate::sqlite::damage;

fn run(place: &Place, arguments: &[&str]) -> Output {
    place.command(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// A place with the example's comments; returns what importing it said.
fn populated() -> Place {
    let place = Place::new();
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/deploy/examples/comments.jsonl"
    );
    let imported = run(&place, &["import", "jsonl", example]);
    assert!(imported.status.success(), "{}", said(&imported));
    place
}

#[test]
fn an_export_restored_elsewhere_exports_the_same_and_the_source_is_known_there() {
    let (here, there) = (populated(), Place::new());
    let file = here.path().join("backup.jsonl");
    let path = file.to_str().unwrap();
    assert!(run(&here, &["export", path]).status.success());
    let streamed = run(&here, &["export", "-"]);
    assert!(streamed.status.success());
    assert_eq!(streamed.stdout, std::fs::read(&file).unwrap());
    let restored = run(&there, &["import", "jsonl", "--restore", path]);
    assert!(restored.status.success(), "{}", said(&restored));
    assert_eq!(run(&there, &["export", "-"]).stdout, streamed.stdout);
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/deploy/examples/comments.jsonl"
    );
    let again = run(
        &there,
        &["import", "jsonl", example, "--report", "report.json"],
    );
    assert!(again.status.success());
    let report = std::fs::read_to_string(there.path().join("report.json")).unwrap();
    assert!(report.contains("\"imported\": 0"), "{report}");
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let place = populated();
    std::fs::write(place.path().join("kept.txt"), "kept").unwrap();
    let refused = run(&place, &["export", "kept.txt"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("--restart"), "{}", said(&refused));
    let text = std::fs::read_to_string(place.path().join("kept.txt")).unwrap();
    assert_eq!(text, "kept");
    assert!(
        run(&place, &["export", "kept.txt", "--restart"])
            .status
            .success()
    );
    let text = std::fs::read_to_string(place.path().join("kept.txt")).unwrap();
    assert!(text.starts_with("{\"type\":\"discussion\""), "{text}");
}

#[tokio::test]
async fn what_is_wrong_is_an_exit_code_of_its_own_and_a_repair_ends_it() {
    let place = populated();
    assert!(run(&place, &["index", "build"]).status.success());
    let data = place.path().join("data");
    let sql = "UPDATE discussions SET all_shown = all_shown + 1 WHERE all_total > 0";
    let broken = damage(&data, sql).await;
    assert!(broken > 0);
    let verified = run(&place, &["index", "verify", "--report", "found.json"]);
    assert_eq!(verified.status.code(), Some(3), "{}", said(&verified));
    assert!(said(&verified).contains("the sums are not those of its comments"));
    let found = std::fs::read_to_string(place.path().join("found.json")).unwrap();
    assert!(
        found.contains("the sums are not those of its comments"),
        "{found}"
    );
    assert!(run(&place, &["index", "repair"]).status.success());
    assert!(run(&place, &["index", "verify"]).status.success());
    let status = said(&run(&place, &["index", "status"]));
    for part in ["index-build", "index-verify", "index-repair", "ended"] {
        assert!(status.contains(part), "{part}: {status}");
    }
}

#[tokio::test]
async fn ctrl_c_ends_a_walk_with_its_own_code_and_the_next_one_goes_on() {
    let place = populated();
    // A pause holds the walk for as long as the test needs.
    let flag = place.path().join("flags/walker-pause.toml");
    let text = std::fs::read_to_string(&flag).unwrap();
    std::fs::write(&flag, text.replace("enabled = false", "enabled = true")).unwrap();
    let mut command = place.command(&["index", "build"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let mut waited = 0;
    while !said(&run(&place, &["index", "status"])).contains("under way") {
        waited += 1;
        assert!(waited < 300, "the walk does not begin");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", said(&ended));
    assert!(said(&ended).contains("interrupted"));
    std::fs::write(&flag, text).unwrap();
    let done = run(&place, &["index", "build"]);
    assert!(done.status.success());
    assert!(
        said(&done).contains("went on with the walk"),
        "{}",
        said(&done)
    );
}
