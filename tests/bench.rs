//! `threadline bench` still runs: what it measures is not looked at, since times prove nothing here.

use std::process::Command;

use serde_json::Value;

#[test]
fn pages_are_measured_in_every_way_and_printed_as_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("pages.json");
    let ran = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["bench", "pages", "--sizes", "100,30", "--seconds", "0.02"])
        .arg("--json")
        .arg(&json)
        .output()
        .unwrap();
    let table = String::from_utf8(ran.stdout).unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{said}");
    for part in ["30 comments", "100 comments", "hot/static", "load/bare"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2 * 3 * 5);
    for case in cases {
        assert!(case["pages"].as_u64().unwrap() > 0, "{case}");
    }
}

#[test]
fn a_size_or_a_time_out_of_reach_is_refused() {
    for arguments in [["--sizes", "0"], ["--sizes", "1000001"], ["--seconds", "0"]] {
        let ran = Command::new(env!("CARGO_BIN_EXE_threadline"))
            .args(["bench", "pages"])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn an_import_is_measured_step_by_step_and_its_files_are_kept_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (into, json) = (
        folder.path().join("kept"),
        folder.path().join("import.json"),
    );
    let run = || {
        Command::new(env!("CARGO_BIN_EXE_threadline"))
            .args([
                "bench",
                "import",
                "--comments",
                "3000",
                "--discussions",
                "40",
            ])
            .args(["--largest", "1200", "--branch", "300", "--into"])
            .arg(&into)
            .arg("--json")
            .arg(&json)
            .output()
            .unwrap()
    };
    let ran = run();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{said}");
    let table = String::from_utf8(ran.stdout).unwrap();
    for part in [
        "dry run",
        "import",
        "comments.db",
        "every row is accounted for",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let measured: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(measured["steps"].as_array().unwrap().len(), 3);
    assert_eq!(measured["report"]["comments"]["read"], 3_000);
    assert_eq!(measured["report"]["discussions"]["imported"], 40);
    assert!(into.join("export.jsonl").exists() && into.join("comments.db").exists());
    assert!(!run().status.success(), "the folder is not empty any more");
}

#[test]
fn open_sockets_are_measured_and_each_event_is_executed_once() {
    let ran = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args([
            "bench", "live", "--idle", "5", "--active", "7", "--events", "3",
        ])
        .output()
        .unwrap();
    let table = String::from_utf8(ran.stdout).unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{said}");
    for part in ["5 idle and 7 active", "executions  3 for 21 deliveries"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!said.contains("a socket ended"), "{said}");
}
