//! A gateway as its users have it: the built binary in a folder of its own, reached over HTTP.
//!
//! A [`Place`] outlives the servers that run in it, so a case can stop or kill one and look at what
//! the next one finds. Every wait ends with what it waits for; the deadlines only catch hangs.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything may take that is not a hang.
const DEADLINE: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A working directory with the shipped flags; `data/` is made by the first server.
#[derive(Debug)]
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let flags = root.path().join("flags");
        fs::create_dir(&flags).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("flags");
        for entry in fs::read_dir(shipped).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), flags.join(entry.file_name())).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The binary with the arguments, here, on a free port, with no settings of the caller's.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
        command.args(arguments).current_dir(self.path());
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("THREADLINE_")) {
            command.env_remove(name);
        }
        command.env("THREADLINE_SERVER__LISTEN", "127.0.0.1:0");
        command
    }

    /// Starts a server and waits until it may get traffic.
    pub(crate) async fn serve(&self, arguments: &[&str]) -> Server {
        self.serve_with(arguments, &[]).await
    }

    /// As [`Place::serve`], with settings from the environment.
    pub(crate) async fn serve_with(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Server {
        let arguments: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
        let log = self.path().join("log");
        let mut command = self.command(&arguments);
        command.envs(settings.iter().copied());
        command.stdout(Stdio::piped());
        command.stderr(
            File::options()
                .create(true)
                .append(true)
                .open(&log)
                .unwrap(),
        );
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut server = Server {
            child,
            stdout: BufReader::new(stdout),
            base: String::new(),
            client: client(),
        };
        server.base = server
            .find_address()
            .unwrap_or_else(|| panic!("no server: {}", fs::read_to_string(&log).unwrap()));
        server.until_ready().await;
        server
    }
}

/// A client for calls to this machine.
pub(crate) fn client() -> reqwest::Client {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // If another thread was quicker, there is one all the same.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
    }
    reqwest::Client::builder()
        .no_proxy()
        .timeout(DEADLINE)
        .build()
        .unwrap()
}

/// A running server; dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    base: String,
    client: reqwest::Client,
}

impl Server {
    /// Reads what it prints up to the address; `None` when it ends before.
    fn find_address(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            let address = line.trim().strip_prefix("GraphQL ");
            let base = address.and_then(|address| address.trim().strip_suffix("/graphql"));
            if let Some(base) = base {
                return Some(base.to_owned());
            }
            line.clear();
        }
        None
    }

    async fn until_ready(&self) {
        let ready = async {
            while self.get("/readyz").await.0 != 200 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(DEADLINE, ready).await.unwrap();
    }

    /// For example `http://127.0.0.1:40000`.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// For example `127.0.0.1:40000`.
    pub(crate) fn address(&self) -> &str {
        self.base.strip_prefix("http://").unwrap()
    }

    /// The client that calls it; clones share its connections.
    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        let url = format!("{}{path}", self.base);
        let response = self.client.get(url).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Asks as a viewer (`None`: nobody), with a client that may see threads. `Err`: the connection
    /// failed, so whether it was done is not known.
    pub(crate) async fn try_graphql(
        &self,
        viewer: Option<&str>,
        query: &str,
        variables: Value,
    ) -> Result<Value, reqwest::Error> {
        let url = format!("{}/graphql", self.base);
        let mut request = self.client.post(url);
        if let Some(viewer) = viewer {
            request = request.header("x-dev-user", viewer);
        }
        let request = request
            .header("x-client-name", "reader")
            .header("x-client-version", "1.0.0")
            .json(&json!({ "query": query, "variables": variables }));
        request.send().await?.json().await
    }

    /// As [`Server::try_graphql`]; the `data` of an answer without errors.
    #[track_caller]
    pub(crate) fn graphql(
        &self,
        viewer: Option<&str>,
        query: &str,
        variables: Value,
    ) -> impl Future<Output = Value> {
        let answer = self.try_graphql(viewer, query, variables);
        async move {
            let answer = answer.await.unwrap();
            assert!(answer.get("errors").is_none(), "{answer:#}");
            answer["data"].clone()
        }
    }

    /// Sends a signal by its name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let line = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &line]).status().unwrap();
        assert!(sent.success(), "{line}");
    }

    /// Waits for its end; returns how it ended, and the rest of what it printed.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let status = tokio::time::timeout(DEADLINE, ended).await.unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, rest)
    }

    /// Stops it as an operator does. Returns the rest of what it printed.
    pub(crate) async fn stop(self) -> String {
        self.signal("TERM");
        let (status, rest) = self.ended().await;
        assert_eq!(status.code(), Some(0));
        rest
    }

    /// Kills it in the middle of whatever it does, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
