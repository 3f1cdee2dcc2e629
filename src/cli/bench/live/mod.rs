//! `threadline bench live`: what open connections cost, and how long an event takes to all of them.

mod gateway;
mod socket;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use clap::Args;
use tokio::sync::mpsc;

use self::gateway::Gateway;
use self::socket::Socket;
use super::{Failure, Fallible};
use crate::cli::output;
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

pub(super) const HELP: &str = "\
A gateway is started as a process of its own over a temporary store. This process opens sockets to
it: idle ones that have introduced themselves and no more, and active ones that follow one
discussion. Then comments are posted one after another, and each active socket tells when it heard
of each.

  memory      what the gateway holds more than before, divided by the sockets
  latency     from sending a comment to the last byte of its event at a socket
  executions  operations run for the events: one an event, however many listen

Sockets need file descriptors in both processes (`ulimit -n`).

Example:
  threadline bench live --idle 10000 --active 1000 --events 200";

/// How long an event may be under way before the run is given up.
const HANG: Duration = Duration::from_secs(30);
/// Sockets opened at a time.
const OPENING: usize = 64;

#[derive(Args, Debug)]
pub(super) struct LiveArgs {
    /// Sockets that have introduced themselves and say nothing
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(0..=60_000))]
    idle: u32,
    /// Sockets that follow the discussion
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    active: u32,
    /// Comments posted
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    events: u32,
}

/// What was seen.
#[derive(Debug)]
struct Seen {
    idle_bytes: Option<u64>,
    active_bytes: Option<u64>,
    latencies: Vec<Duration>,
    executions: u64,
    took: Duration,
}

impl LiveArgs {
    pub(super) fn run(&self) -> Result<(), Failure> {
        super::warn_if_slow();
        let seen = crate::cli::runtime()?.block_on(self.measure())?;
        output::print(&self.text(&seen))
    }

    async fn measure(&self) -> Fallible<Seen> {
        let gateway = Gateway::start().await?;
        let discussion = gateway.discussion().await?;
        let tasks = Tasks::new();
        let clock = Clock::system();
        let empty = gateway.resident();
        let idle = open(&gateway, self.idle).await?;
        let after_idle = gateway.resident();
        let sent: Arc<[AtomicI64]> = (0..self.events).map(|_| AtomicI64::new(0)).collect();
        let (heard, mut hearing) = mpsc::unbounded_channel();
        for mut socket in open(&gateway, self.active).await? {
            socket.follow(&discussion).await?;
            let (heard, sent, clock) = (heard.clone(), Arc::clone(&sent), clock.clone());
            tasks.spawn(async move {
                let ended = listen(socket, &sent, &clock, &heard).await;
                // At the end of the run every socket ends.
                if let Err(error) = ended
                    && !heard.is_closed()
                {
                    output::warn(&format!("a socket ended: {error}"));
                }
            });
        }
        gateway.followers(self.active).await?;
        let after_active = gateway.resident();
        let executed = gateway.executions().await?;
        let began = clock.monotonic();
        let mut latencies = Vec::new();
        for (nth, at) in sent.iter().enumerate() {
            at.store(nanoseconds(clock.monotonic()), Ordering::SeqCst);
            gateway.post(&discussion, &nth.to_string()).await?;
            for _ in 0..self.active {
                let next = tokio::time::timeout(HANG, hearing.recv()).await?;
                latencies.push(next.ok_or("every socket has ended")?);
            }
        }
        let took = clock.monotonic().saturating_sub(began);
        let executions = gateway.executions().await? - executed;
        drop((hearing, idle));
        gateway.stop().await?;
        tasks.shutdown(HANG).await;
        let each = |more: Option<u64>, before: Option<u64>, sockets: u32| {
            let more = more
                .zip(before)
                .map(|(more, before)| more.saturating_sub(before));
            more.and_then(|more| more.checked_div(u64::from(sockets)))
        };
        Ok(Seen {
            idle_bytes: each(after_idle, empty, self.idle),
            active_bytes: each(after_active, after_idle, self.active),
            latencies,
            executions,
            took,
        })
    }

    fn text(&self, seen: &Seen) -> String {
        let mut latencies = seen.latencies.clone();
        latencies.sort_unstable();
        let at = |hundredth: usize| {
            let nth = (latencies.len() * hundredth / 100).min(latencies.len().saturating_sub(1));
            let latency = latencies.get(nth).copied().unwrap_or_default();
            format!("{:.1} ms", latency.as_secs_f64() * 1_000.0)
        };
        let bytes = |bytes: Option<u64>| {
            bytes.map_or("unknown".to_owned(), |bytes| {
                format!("{} KiB", bytes / 1024)
            })
        };
        let told = f64::from(self.events) * f64::from(self.active);
        [
            format!(
                "{} idle and {} active sockets, {} events",
                self.idle, self.active, self.events
            ),
            format!(
                "  memory      {} an idle socket, {} an active one",
                bytes(seen.idle_bytes),
                bytes(seen.active_bytes)
            ),
            format!(
                "  latency     {} half, {} of 95 %, {} of 99 %, {} all",
                at(50),
                at(95),
                at(99),
                at(100)
            ),
            format!("  executions  {} for {} deliveries", seen.executions, told),
            format!(
                "  rate        {:.0} deliveries/s\n",
                told / seen.took.as_secs_f64()
            ),
        ]
        .join("\n")
    }
}

/// Opens sockets and introduces them, some at a time.
async fn open(gateway: &Gateway, count: u32) -> Fallible<Vec<Socket>> {
    use futures_util::{StreamExt as _, TryStreamExt as _};
    let opening = (0..count).map(|_| Socket::open(gateway.address()));
    futures_util::stream::iter(opening)
        .buffer_unordered(OPENING)
        .try_collect()
        .await
}

/// Tells how long each event took, until nobody wants to know.
async fn listen(
    mut socket: Socket,
    sent: &[AtomicI64],
    clock: &Clock,
    heard: &mpsc::UnboundedSender<Duration>,
) -> Fallible<()> {
    while !heard.is_closed() {
        let Some(text) = socket.event().await? else {
            return Ok(());
        };
        let now = nanoseconds(clock.monotonic());
        let nth: usize = text.parse()?;
        let at = sent.get(nth).ok_or("an event that nobody sent")?;
        let took = u64::try_from(now - at.load(Ordering::SeqCst))?;
        if heard.send(Duration::from_nanos(took)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
