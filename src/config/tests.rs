//! What the configuration promises, over files and variables made up here.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn load(text: &str, pairs: &[(&str, &str)]) -> Result<Loaded, Problems> {
    Config::load_from(Some(file(text).path()), variables(pairs))
}

/// The problems without the name of the temporary file.
fn complaints(text: &str, pairs: &[(&str, &str)]) -> String {
    let file = file(text);
    let problems = Config::load_from(Some(file.path()), variables(pairs)).unwrap_err();
    problems
        .to_string()
        .replace(&file.path().display().to_string(), "FILE")
}

#[test]
fn the_default_file_is_complete_and_correct() {
    let config = Config::defaults().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(config.server.listen.ip().is_loopback());
    assert_eq!(
        config.comments.posting_key_ttl.get().as_secs(),
        24 * 60 * 60
    );
    let names = |text: &str| -> BTreeSet<String> {
        let table: toml::Table = text.parse().unwrap();
        let settings = |(section, inner): (&String, &toml::Value)| -> Vec<String> {
            inner
                .as_table()
                .unwrap()
                .keys()
                .map(|name| format!("{section}.{name}"))
                .collect()
        };
        table.iter().flat_map(settings).collect()
    };
    let printed = Config::load_from(None, []).unwrap().to_toml().unwrap();
    assert_eq!(
        names(DEFAULT_FILE),
        names(&printed),
        "the file lists every field, and no other"
    );
}

#[test]
fn every_setting_of_the_default_file_is_explained() {
    let mut is_explained = false;
    for line in DEFAULT_FILE.lines() {
        match line.chars().next() {
            Some('#') => is_explained = true,
            Some('[') | None => is_explained = false,
            Some(_) => assert!(is_explained, "no comment above: {line}"),
        }
    }
}

#[test]
fn the_environment_lies_over_the_file_and_the_file_over_the_defaults() {
    let text = "[server]\ngraphiql = false\naliases_max = 9\n[comments]\npage_size_max = 50\n";
    let loaded = load(
        text,
        &[
            ("THREADLINE_SERVER__ALIASES_MAX", "11"),
            ("THREADLINE_SERVER__OPERATION_TIMEOUT", "250ms"),
            (
                "THREADLINE_SERVER__CORS_ORIGINS",
                r#"["https://a.example"]"#,
            ),
        ],
    )
    .unwrap();
    let server = &loaded.config.server;
    assert_eq!((server.graphiql, server.aliases_max), (false, 11));
    assert_eq!(loaded.config.comments.page_size_max, 50);
    assert_eq!(server.operation_timeout, HumanDuration::from_millis(250));
    assert_eq!(server.cors_origins, ["https://a.example"]);
    assert_eq!(loaded.config.comments.page_size_default, 20);
    assert_eq!(
        loaded.sources["server.aliases_max"],
        "THREADLINE_SERVER__ALIASES_MAX"
    );
}

#[test]
fn all_problems_of_all_layers_are_reported_at_once() {
    let text = r#"
        [server]
        listen = "nonsense"
        body_bytes_max = -5
        graphiql = "yes"
        selection_levels_max = 1000
        lisen = "127.0.0.1:1"
        cors_origins = ["https://a.example/path"]
        [comments]
        page_size_default = 60
        page_size_max = 50
        posting_key_ttl = "24"
        [telemetry]
        log = "threadline=nonsense"
        log_format = "xml"
        [stores]
        comments = "postgres://app:hunter2@db/x"
        [speling]
        a = 1
    "#;
    let pairs = [
        ("THREADLINE_AUTH__HS256_SECRET", "12345"),
        ("THREADLINE_SERVER__OPERATION_TIMEOUT", "11m"),
        ("THREADLINE_LISTEN", "127.0.0.1:1"),
    ];
    insta::assert_snapshot!(complaints(text, &pairs));
}

#[test]
fn a_file_that_cannot_be_read_is_named_beside_the_other_problems() {
    let gone = Path::new("no/such/file.toml");
    let pairs = variables(&[("THREADLINE_SERVER__ALIASES_MAX", "99999")]);
    let problems = Config::load_from(Some(gone), pairs)
        .unwrap_err()
        .to_string();
    assert!(
        problems.contains("no/such/file.toml: must be a readable file"),
        "{problems}"
    );
    assert!(
        problems.contains("server.aliases_max = 99999"),
        "{problems}"
    );
    let problems = complaints("[auth]\nhs256_secret = hunter2", &[]);
    assert!(problems.contains("FILE: must be TOML: "), "{problems}");
    assert!(
        problems.contains("line 2") && !problems.contains("hunter2"),
        "{problems}"
    );
}

#[test]
fn the_development_identity_needs_a_loopback_address() {
    let listen = ("THREADLINE_SERVER__LISTEN", "0.0.0.0:8080");
    let problems = complaints("", &[listen]);
    assert!(
        problems.contains("auth.development = true (default): must be false"),
        "{problems}"
    );
    for address in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1"] {
        assert!(
            load("", &[("THREADLINE_SERVER__LISTEN", address)]).is_ok(),
            "{address}"
        );
    }
    let off = ("THREADLINE_AUTH__DEVELOPMENT", "false");
    assert!(load("", &[listen, off]).is_ok());
}

#[test]
fn risky_settings_warn() {
    let warnings = |pairs: &[(&str, &str)]| load("", pairs).unwrap().config.warnings();
    assert!(warnings(&[])[0].contains("DEVELOPMENT IDENTITY IS ON"));
    let off = ("THREADLINE_AUTH__DEVELOPMENT", "false");
    assert!(warnings(&[off])[0].contains("nobody can sign in"));
    let secret = (
        "THREADLINE_AUTH__HS256_SECRET",
        "0123456789abcdef0123456789abcdef",
    );
    assert!(warnings(&[off, secret])[0].contains("auth.audiences is empty"));
    let audience = ("THREADLINE_AUTH__AUDIENCES", "[threadline]");
    assert_eq!(warnings(&[off, secret, audience]), Vec::<String>::new());
}

#[test]
fn keys_come_over_a_channel_that_nobody_can_change() {
    let jwks = |url: &str| load("", &[("THREADLINE_AUTH__JWKS_URL", url)]).is_ok();
    assert!(jwks("https://id.example/keys"));
    assert!(jwks("http://127.0.0.1:9/keys") && jwks("http://localhost/keys"));
    assert!(!jwks("http://id.example/keys"));
    assert!(!jwks("https://user:password@id.example/keys"));
    assert!(!jwks("id.example"));
}

#[test]
fn there_is_one_way_to_trust_a_token() {
    let secret = (
        "THREADLINE_AUTH__HS256_SECRET",
        "0123456789abcdef0123456789abcdef",
    );
    let keys = ("THREADLINE_AUTH__JWKS_URL", "https://id.example/keys");
    let file = ("THREADLINE_AUTH__JWKS_FILE", "keys.json");
    for alone in [secret, keys, file] {
        assert!(load("", &[alone]).is_ok(), "{alone:?}");
    }
    for pair in [[secret, keys], [secret, file], [keys, file]] {
        let problems = complaints("", &pair);
        assert!(
            problems.contains("must be empty: only one of"),
            "{problems}"
        );
    }
}

#[test]
fn a_secret_made_of_digits_is_text_and_is_never_shown() {
    let digits = "1".repeat(40);
    let loaded = load("", &[("THREADLINE_AUTH__HS256_SECRET", &digits)]).unwrap();
    assert_eq!(
        loaded.config.auth.hs256_secret.as_ref().unwrap().reveal(),
        digits
    );
    assert!(!format!("{loaded:?}").contains(&digits));
    let printed = loaded.to_toml().unwrap();
    assert!(!printed.contains(&digits));
    let line = "hs256_secret = \"***\"  # THREADLINE_AUTH__HS256_SECRET\n";
    assert!(printed.contains(line), "{printed}");
    let too_short = complaints("[auth]\nhs256_secret = \"hunter2\"", &[]);
    assert!(
        !too_short.contains("hunter2") && too_short.contains("***"),
        "{too_short}"
    );
    let not_text = complaints("[auth]\nhs256_secret = [\"hunter2\"]", &[]);
    assert!(!not_text.contains("hunter2"), "{not_text}");
    let misplaced = complaints("[server]\nhs256_secret = \"hunter2\"", &[]);
    assert!(!misplaced.contains("hunter2"), "{misplaced}");
}

#[test]
fn variables_that_are_not_settings_are_passed_by() {
    let loaded = load(
        "",
        &[
            ("THREADLINE_TEST_REQUIRE", "all"),
            ("THREADLINE_CONFIG", "threadline.toml"),
            ("THREADLINE_SERVICE_HOST", "10.0.0.1"),
            ("THREADLINE_PORT_8080_TCP_ADDR", "10.0.0.1"),
            ("PATH", "/bin"),
        ],
    )
    .unwrap();
    assert!(loaded.sources.is_empty());
}

#[test]
fn a_test_build_may_shift_its_clock() {
    let loaded = load("[clock]\noffset_ms = -1500", &[]).unwrap();
    assert_eq!(loaded.config.clock.offset_ms, -1500);
}
