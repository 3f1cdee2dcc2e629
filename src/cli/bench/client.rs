//! A small HTTP/1.1 client that asks the same thing again and again over a few connections.
//!
//! It does as little as it can, and the same for every case: the request is written as it stands,
//! and of an answer only status and length are looked at.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Fallible, cpu};
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

/// Requests under way at a time.
pub(super) const CONNECTIONS: usize = 8;

/// What to ask, whom, and how long the answer is.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// The whole request, head and body.
    pub(super) request: Arc<[u8]>,
    /// Bytes of the answer's body.
    pub(super) answer_bytes: usize,
}

/// What was done within a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spell {
    /// Answers.
    pub(super) done: u32,
    /// How long it took altogether.
    pub(super) took: Duration,
    /// How long those who asked waited, added up.
    pub(super) waited: Duration,
    /// Processor time of this process without the client's; `None` where it is unknown.
    pub(super) cpu: Option<Duration>,
}

/// Asks for `time`, from a thread of its own.
pub(super) async fn fire(tasks: &Tasks, target: Target, time: Duration) -> Fallible<Spell> {
    tasks
        .spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .build()?;
            runtime.block_on(fire_here(&target, time))
        })
        .await?
}

async fn fire_here(target: &Target, time: Duration) -> Fallible<Spell> {
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(target.address).await?);
    }
    let clock = Clock::system();
    let before = cpu::of_process().zip(cpu::of_thread());
    let mut running: FuturesUnordered<_> = connections
        .into_iter()
        .map(|connection| connection.ask_until(target, &clock, time))
        .collect();
    let mut spell = Spell::default();
    while let Some(asked) = running.next().await {
        let (done, waited) = asked?;
        spell.done += done;
        spell.waited += waited;
    }
    spell.took = clock.monotonic();
    let after = cpu::of_process().zip(cpu::of_thread());
    spell.cpu = before.zip(after).map(|(before, after)| {
        let client = after.1.saturating_sub(before.1);
        after.0.saturating_sub(before.0).saturating_sub(client)
    });
    Ok(spell)
}

/// Asks once; the answer's body.
pub(super) async fn ask(address: SocketAddr, request: &[u8]) -> Fallible<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    let (head, body) = connection.ask(request).await?;
    let answer = connection.buffer.get(head..head + body);
    Ok(answer.unwrap_or_default().to_vec())
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    async fn open(address: SocketAddr) -> Fallible<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: BytesMut::with_capacity(1 << 18),
        })
    }

    async fn ask_until(
        mut self,
        target: &Target,
        clock: &Clock,
        end: Duration,
    ) -> Fallible<(u32, Duration)> {
        let (mut done, mut waited) = (0, Duration::ZERO);
        let mut now = clock.monotonic();
        while now < end {
            let (_, body) = self.ask(&target.request).await?;
            if body != target.answer_bytes {
                return Err(
                    format!("an answer of {body} bytes, not {}", target.answer_bytes).into(),
                );
            }
            let then = clock.monotonic();
            waited += then.saturating_sub(now);
            now = then;
            done += 1;
        }
        Ok((done, waited))
    }

    /// Leaves one answer in the buffer; the lengths of its head and body.
    async fn ask(&mut self, request: &[u8]) -> Fallible<(usize, usize)> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let (head, body) = loop {
            if let Some(lengths) = lengths(&self.buffer)? {
                break lengths;
            }
            self.more().await?;
        };
        while self.buffer.len() < head + body {
            self.more().await?;
        }
        Ok((head, body))
    }

    async fn more(&mut self) -> Fallible<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err("the server closed the connection".into()),
            _ => Ok(()),
        }
    }
}

/// The lengths of an answer's head and body, once the head is there.
fn lengths(answer: &[u8]) -> Fallible<Option<(usize, usize)>> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(head) = end.and_then(|end| answer.get(..end + 4)) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(head)?;
    let mut lines = text.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the server answered {status:?}").into());
    }
    let length = lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .ok_or("an answer without a length")?;
    Ok(Some((head.len(), length.1.parse()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_measured_by_its_head() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx: y\r\n\r\nhello";
        assert_eq!(lengths(whole).unwrap(), Some((whole.len() - 5, 5)));
        assert_eq!(lengths(&whole[..20]).unwrap(), None);
        assert!(lengths(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(lengths(b"HTTP/1.1 500 No\r\ncontent-length: 1\r\n\r\n").is_err());
    }
}
