//! `deploy/dev` on machines that lack something: each message and each exit, with a `PATH` of fakes.
//!
//! The script runs in a package of its own, made up here, so nothing is built or installed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a case fails by panicking"
)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// What the script uses of a plain system; they are the real ones.
const SYSTEM: [&str; 13] = [
    "bash", "cat", "diff", "dirname", "grep", "head", "mktemp", "rm", "sed", "sort", "tail",
    "touch", "xargs",
];

/// Held while a fake is written and while a process is started: a process that is started during
/// the writing would inherit the open file, and then the fake could not be run ("text file busy").
static FILES: Mutex<()> = Mutex::new(());

/// A machine made up for one case.
struct Machine {
    root: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// What a run of the script printed, and how it ended.
#[derive(Debug)]
struct Outcome {
    code: i32,
    text: String,
    /// The commands that the fakes were called with, one a line.
    calls: String,
}

impl Machine {
    /// A machine with the system's commands only, used by somebody who is not root.
    fn bare() -> Self {
        let root = tempfile::tempdir().unwrap();
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["bin", "deploy", "home"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        for file in ["deploy/dev", "deploy/threadline.toml", "Cargo.toml"] {
            fs::copy(package.join(file), root.path().join(file)).unwrap();
        }
        fs::write(
            root.path().join("Cargo.lock"),
            "[[package]]\nname = \"sqlx\"\n",
        )
        .unwrap();
        for command in SYSTEM {
            symlink(real(command), root.path().join("bin").join(command)).unwrap();
        }
        // A port that is free on any machine: nothing listens on 0.
        let listen = (
            "THREADLINE_SERVER__LISTEN".to_owned(),
            "127.0.0.1:0".to_owned(),
        );
        Self {
            root,
            environment: vec![listen],
        }
        .with("id", "echo 1000")
    }

    /// A machine on which everything is there; `cargo` only notes what it was asked for.
    fn complete() -> Self {
        Self::bare()
            .with_rust("1.95.0")
            .with("cc", "")
            .with("shellcheck", "")
            .with("chromium", "")
            .with("chromedriver", "")
            .with("npm", "")
    }

    fn with_rust(self, version: &str) -> Self {
        self.with("cargo", "").with(
            "rustc",
            &format!("echo 'rustc {version} (0000000 2026-01-01)'"),
        )
    }

    /// Adds a command that notes its call and then runs `body`.
    fn with(self, command: &str, body: &str) -> Self {
        let path = self.root.path().join("bin").join(command);
        let calls = self.root.path().join("calls");
        let bash = real("bash");
        let note = format!("echo {command} \"$@\" >>{}", calls.display());
        let _files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        fs::write(&path, format!("#!{}\n{note}\n{body}\n", bash.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn without(self, command: &str) -> Self {
        fs::remove_file(self.root.path().join("bin").join(command)).unwrap();
        self
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(real("bash"));
        command
            .arg(self.root.path().join("deploy/dev"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("HOME", self.root.path().join("home"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.root.path().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let started = command.spawn().unwrap();
        drop(files);
        let output = started.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Outcome {
            code: output.status.code().unwrap(),
            text: String::from_utf8(text).unwrap(),
            calls: fs::read_to_string(self.root.path().join("calls")).unwrap_or_default(),
        }
    }
}

impl Outcome {
    /// Failed with code 1 and a message that has every one of these parts.
    fn says(&self, parts: &[&str]) {
        assert_eq!(self.code, 1, "{self:#?}");
        for part in parts {
            assert!(self.text.contains(part), "lacks {part:?}: {self:#?}");
        }
        assert!(!self.calls.contains("cargo build"), "{self:#?}");
    }
}

/// Where this machine has a command.
fn real(command: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(command));
    places
        .find(|place| place.is_file())
        .unwrap_or_else(|| panic!("no {command} on this machine"))
}

#[test]
fn help_lists_the_commands() {
    let outcome = Machine::bare().run(&["help"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    for command in ["serve", "test", "check", "help"] {
        assert!(
            outcome.text.contains(&format!("\n  {command} ")),
            "{outcome:#?}"
        );
    }
    assert_eq!(
        Machine::bare().run(&[]).text,
        outcome.text,
        "and so does no command at all"
    );
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let outcome = Machine::bare().run(&["sevre"]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    assert!(
        outcome.text.contains("there is no command 'sevre'"),
        "{outcome:#?}"
    );
}

#[test]
fn missing_rust_is_explained() {
    for command in ["serve", "test", "check"] {
        let outcome = Machine::bare().with("cc", "").run(&[command]);
        outcome.says(&[
            "Rust is missing",
            "needs Rust 1.95 or newer",
            "https://rustup.rs",
        ]);
    }
}

#[test]
fn rust_that_a_shell_does_not_see_yet_is_found() {
    let machine = Machine::complete();
    let installed = machine.root.path().join("home/.cargo/bin");
    fs::create_dir_all(&installed).unwrap();
    for command in ["cargo", "rustc"] {
        fs::rename(
            machine.root.path().join("bin").join(command),
            installed.join(command),
        )
        .unwrap();
    }
    assert_eq!(machine.run(&["serve"]).code, 0);
}

#[test]
fn old_rust_is_explained() {
    let outcome = Machine::complete().with_rust("1.94.9").run(&["serve"]);
    outcome.says(&[
        "Rust 1.94.9 is too old",
        "needs Rust 1.95 or newer",
        "rustup update stable",
    ]);
    let nothing = Machine::complete().with("rustc", "exit 1").run(&["serve"]);
    nothing.says(&["does not tell a version"]);
    for enough in ["1.95.0", "1.95.1-beta.2", "1.100.0", "2.0.0-nightly"] {
        let outcome = Machine::complete().with_rust(enough).run(&["serve"]);
        assert_eq!(outcome.code, 0, "{enough}: {outcome:#?}");
    }
}

#[test]
fn a_missing_compiler_that_nobody_may_install_is_named() {
    let machine = || Machine::complete().without("cc");
    let parts = ["'cc' is missing", "package gcc"];
    machine().run(&["serve"]).says(&parts);
    let parts = [
        "'cc' is missing",
        "may not install packages",
        "sudo apt-get install gcc",
    ];
    machine().with("apt-get", "").run(&["serve"]).says(&parts);
    machine()
        .with("apt-get", "")
        .with("sudo", "exit 1")
        .run(&["serve"])
        .says(&parts);
}

#[test]
fn a_missing_compiler_is_installed_by_those_who_may() {
    let install = |machine: &Machine| {
        let cc = machine.root.path().join("bin/cc");
        format!(
            "cat \"$0\" >{0}; [ ! -x {0} ] && \"$CHMOD\" 755 {0}; true",
            cc.display()
        )
    };
    let chmod = real("chmod").display().to_string();
    let root = Machine::complete()
        .without("cc")
        .with("id", "echo 0")
        .set("CHMOD", &chmod);
    let body = install(&root);
    let outcome = root.with("apt-get", &body).run(&["serve"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(
        outcome
            .calls
            .contains("apt-get install -y --no-install-recommends gcc")
    );
    assert!(!outcome.calls.contains("sudo"), "{outcome:#?}");

    let sudoer = Machine::complete().without("cc").set("CHMOD", &chmod);
    let body = install(&sudoer);
    let sudoer = sudoer.with("apt-get", &body).with("sudo", "shift; \"$@\"");
    let outcome = sudoer.run(&["serve"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(
        outcome
            .calls
            .contains("sudo -n apt-get install -y --no-install-recommends gcc")
    );
}

#[test]
fn a_failed_installation_shows_why() {
    let machine = Machine::complete().without("cc").with("id", "echo 0");
    let outcome = machine
        .with("apt-get", "echo 'E: no space left'; exit 100")
        .run(&["serve"]);
    outcome.says(&["E: no space left", "installing the package gcc failed"]);
    assert!(outcome.calls.contains("apt-get update"), "{outcome:#?}");
    let machine = Machine::complete()
        .without("cc")
        .with("id", "echo 0")
        .with("apt-get", "");
    machine
        .run(&["serve"])
        .says(&["although the package gcc is installed"]);
}

#[test]
fn the_protocol_compiler_is_asked_for_only_where_etcd_is_built() {
    let machine = Machine::complete();
    assert_eq!(machine.run(&["serve"]).code, 0);
    let lock = "[[package]]\nname = \"etcd-client\"\nversion = \"0.1.0\"\n";
    let machine = Machine::complete();
    fs::write(machine.root.path().join("Cargo.lock"), lock).unwrap();
    machine
        .run(&["serve"])
        .says(&["'protoc' is missing", "package protobuf-compiler"]);
}

#[test]
fn a_taken_port_is_found_before_the_build() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let parts = [
        &format!("port {port} is taken"),
        "server.listen",
        "THREADLINE_SERVER__LISTEN=",
    ];
    for address in [format!("127.0.0.1:{port}"), format!("0.0.0.0:{port}")] {
        let machine = Machine::complete().set("THREADLINE_SERVER__LISTEN", &address);
        machine.run(&["serve"]).says(&parts);
    }
    let machine = Machine::complete().set("THREADLINE_SERVER__LISTEN", "");
    let file = machine.root.path().join("home/mine.toml");
    fs::write(&file, format!("[server]\nlisten = \"127.0.0.1:{port}\"\n")).unwrap();
    machine
        .run(&["serve", "--config", "mine.toml"])
        .says(&parts);
    machine.run(&["serve", "--config=mine.toml"]).says(&parts);
    machine
        .set("THREADLINE_CONFIG", "mine.toml")
        .run(&["serve"])
        .says(&parts);
}

#[test]
fn serve_builds_then_starts_with_the_arguments() {
    let machine = Machine::complete();
    let outcome = machine.run(&["serve", "--config", "mine.toml", "--other", "a b"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let file = machine.root.path().join("home/mine.toml");
    let expected = format!(
        "cargo build --locked --profile quick --bin threadline\n\
         cargo run --locked --quiet --profile quick --bin threadline -- \
         serve --seed --other a b --config {}\n",
        file.display()
    );
    assert!(outcome.calls.ends_with(&expected), "{outcome:#?}");
    assert!(
        outcome.text.contains("http://127.0.0.1:0/graphql"),
        "{outcome:#?}"
    );
}

#[test]
fn a_failed_build_starts_nothing() {
    let outcome = Machine::complete()
        .with("cargo", "exit 101")
        .run(&["serve"]);
    assert_eq!(outcome.code, 101, "{outcome:#?}");
    assert!(!outcome.calls.contains("cargo run"), "{outcome:#?}");
}

#[test]
fn the_parts_of_test_all_run_and_the_summary_names_the_failed() {
    let cargo = "case \"$*\" in *'-- schema') echo schema;; clippy*--all-targets*) exit 1;; esac";
    let machine = Machine::complete().with("cargo", cargo);
    fs::write(machine.root.path().join("schema.graphql"), "schema\n").unwrap();
    let outcome = machine.run(&["test"]);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    let (_, summary) = outcome.text.split_once("== Summary").unwrap();
    let failed: Vec<&str> = summary
        .lines()
        .filter(|line| line.starts_with("FAILED"))
        .collect();
    assert_eq!(failed.len(), 1, "{outcome:#?}");
    assert!(
        failed.iter().all(|line| line.ends_with("lints")),
        "{outcome:#?}"
    );
    assert!(summary.contains("1 of 7 parts failed"), "{outcome:#?}");
    for call in ["cargo fmt --check", "cargo test", "cargo doc", "shellcheck"] {
        assert!(outcome.calls.contains(call), "{call}: {outcome:#?}");
    }
}

#[test]
fn test_passes_only_when_every_part_does() {
    let cargo = "case \"$*\" in *'-- schema') echo schema;; esac\n\
                 case \"$1\" in test) [ \"$THREADLINE_TEST_REQUIRE\" = all ];; esac";
    let machine = Machine::complete().with("cargo", cargo);
    fs::write(machine.root.path().join("schema.graphql"), "schema\n").unwrap();
    let outcome = machine.run(&["test"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert!(outcome.text.contains("All 7 parts passed."), "{outcome:#?}");
    fs::write(
        machine.root.path().join("schema.graphql"),
        "an older schema\n",
    )
    .unwrap();
    let outcome = machine.run(&["test"]);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(
        outcome.text.contains("schema.graphql is out of date"),
        "{outcome:#?}"
    );
}
