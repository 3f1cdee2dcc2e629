//! The gateway under measurement: a process of its own, over a temporary store.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::cli::bench::Fallible;

/// How long it may take to start, to stop, or to see everybody.
const HANG: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const CREATE: &str = "mutation ($i: CreateCommentInput!) { createComment(input: $i) { \
    ... on CommentWritten { comment { discussion { id } } } } }";

/// A running gateway; dropped, it is killed.
#[derive(Debug)]
pub(super) struct Gateway {
    child: Child,
    address: SocketAddr,
    client: reqwest::Client,
    // Last, so that the files outlive the process.
    _folder: TempDir,
}

impl Gateway {
    pub(super) async fn start() -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let at =
            |scheme: &str, name: &str| format!("{scheme}:{}", folder.path().join(name).display());
        std::fs::create_dir(folder.path().join("flags"))?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("serve")
            // What is set for this process is no setting of the one that is measured.
            .env_clear()
            .env("THREADLINE_SERVER__LISTEN", "127.0.0.1:0")
            .env("THREADLINE_STORES__COMMENTS", at("sqlite", "comments.db"))
            .env("THREADLINE_STORES__USERS", at("sqlite", "states.db"))
            .env("THREADLINE_STORES__FLAGS", at("folder", "flags"))
            .env("THREADLINE_LIVE__CONNECTIONS_MAX", "200000")
            .env("THREADLINE_TELEMETRY__LOG", "warn")
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let printed = child.stdout.take().ok_or("the gateway prints nothing")?;
        let address = tokio::time::timeout(HANG, address(printed)).await??;
        crate::tls::install();
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(HANG)
            .build()?;
        Ok(Self {
            child,
            address,
            client,
            _folder: folder,
        })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes that the gateway holds in memory now; unknown where Linux does not tell.
    pub(super) fn resident(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    }

    async fn ask(&self, input: Value) -> Fallible<Value> {
        let url = format!("http://{}/graphql", self.address);
        let asked = self.client.post(url).header("x-dev-user", "7");
        let asked = asked.json(&json!({"query": CREATE, "variables": {"i": input}}));
        let answer: Value = asked.send().await?.json().await?;
        let id = answer.pointer("/data/createComment/comment/discussion/id");
        Ok(id
            .cloned()
            .ok_or_else(|| format!("not written: {answer}"))?)
    }

    /// Opens the discussion that is followed; its id.
    pub(super) async fn discussion(&self) -> Fallible<String> {
        let first = json!({"url": "https://bench.example/", "body": "the first"});
        let id = self.ask(first).await?;
        Ok(id.as_str().ok_or("an id is a text")?.to_owned())
    }

    pub(super) async fn post(&self, discussion: &str, body: &str) -> Fallible<()> {
        let input = json!({"discussion": discussion, "body": body});
        self.ask(input).await.map(drop)
    }

    /// A number of `/metrics`; 0 when it was never counted.
    async fn metric(&self, name: &str) -> Fallible<u64> {
        let url = format!("http://{}/metrics", self.address);
        let text = self.client.get(url).send().await?.text().await?;
        let line = text.lines().find_map(|line| {
            let (found, value) = line.split_once(' ')?;
            (found == name).then(|| value.to_owned())
        });
        Ok(line.map_or(Ok(0), |value| value.parse())?)
    }

    pub(super) async fn executions(&self) -> Fallible<u64> {
        self.metric("threadline_live_executions_total").await
    }

    /// Waits until so many follow.
    pub(super) async fn followers(&self, wanted: u32) -> Fallible<()> {
        let all = async {
            while self.metric("threadline_live_subscribers").await? < u64::from(wanted) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Fallible::Ok(())
        };
        tokio::time::timeout(HANG, all).await?
    }

    /// Ends it and waits until it is gone.
    pub(super) async fn stop(mut self) -> Fallible<()> {
        Ok(self.child.kill().await?)
    }
}

/// Where the gateway listens, once it says so.
async fn address(printed: tokio::process::ChildStdout) -> Fallible<SocketAddr> {
    let mut lines = BufReader::new(printed).lines();
    while let Some(line) = lines.next_line().await? {
        let said = line.trim().strip_prefix("GraphQL ");
        let base = said.and_then(|said| said.trim().strip_prefix("http://"));
        if let Some(address) = base.and_then(|base| base.strip_suffix("/graphql")) {
            return Ok(address.parse()?);
        }
    }
    Err("the gateway did not start".into())
}
