//! Measures pages: every case in turns, a part of its time each turn.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tokio::net::TcpListener;

use super::client::{self, Spell, Target};
use super::place::{BareStatements, Place};
use super::report::{Measured, Report, Way};
use super::shape::PageShape;
use super::{Fallible, cpu};
use crate::api::http;
use crate::app::App;
use crate::domain::clock::Clock;
use crate::domain::mode::Mode;
use crate::service::Service;

/// How often the cases take turns.
const TURNS: u32 = 4;
/// Runs of a case before its time counts, at least.
const WARM_UP: Duration = Duration::from_millis(50);

/// What to measure.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// For each case of each size.
    pub(super) seconds: Duration,
    /// Comments in each discussion.
    pub(super) sizes: Vec<u32>,
}

/// What is done again and again.
#[derive(Debug)]
enum Work {
    Ask(Target),
    Load(Box<Service>, String),
    Bare(Box<BareStatements>),
}

#[derive(Debug)]
struct Case {
    size: u32,
    shape: PageShape,
    way: Way,
    work: Work,
    spells: Vec<Spell>,
}

impl Run {
    /// Fills a place, measures every case and cleans up.
    pub(super) async fn measure(mut self) -> Fallible<Report> {
        self.sizes.sort_unstable();
        self.sizes.dedup();
        let place = Box::pin(Place::open()).await?;
        let report = self.measure_in(&place).await;
        place.close().await?;
        report
    }

    async fn measure_in(&self, place: &Place) -> Fallible<Report> {
        let total: u64 = self.sizes.iter().copied().map(u64::from).sum();
        let bar = bar("writing comments", total);
        for size in &self.sizes {
            let told = bar.clone();
            let written = move |rows: usize| told.inc(u64::try_from(rows).unwrap_or_default());
            place.fill(*size, written).await?;
        }
        bar.finish_and_clear();
        let mut cases = self.cases(place).await?;
        for case in &cases {
            case.spell(place, WARM_UP.min(self.seconds)).await?;
        }
        let turns = u64::from(TURNS) * u64::try_from(cases.len())?;
        let bar = self::bar("measuring", turns);
        for _ in 0..TURNS {
            for case in &mut cases {
                let spell = case.spell(place, self.seconds / TURNS).await?;
                case.spells.push(spell);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let measured = cases
            .iter()
            .map(|case| Measured::new((case.size, case.shape, case.way), &case.spells));
        Ok(Report::new(measured.collect()))
    }

    /// Every case, after looking at its answer.
    async fn cases(&self, place: &Place) -> Fallible<Vec<Case>> {
        let mut cases = Vec::new();
        let mut finished = Vec::new();
        for size in self.sizes.iter().copied() {
            for shape in PageShape::ALL {
                let hot = checked(place.hot(), shape, size).await?;
                let cold = checked(place.cold(), shape, size).await?;
                if hot != cold {
                    return Err("the hot and the cold page are not the same".into());
                }
                finished.push((size, shape, hot));
            }
        }
        let answers = finished.iter().map(|(size, shape, answer)| {
            let answer = Bytes::copy_from_slice(answer);
            (path(*size, *shape), answer)
        });
        let router = http::fixed_answers(answers);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let fixed = listener.local_addr()?;
        let tasks = place.tasks().clone();
        place.tasks().spawn(async move {
            if let Err(error) = http::serve(listener, router, &tasks).await {
                tracing::error!(%error, "serving the fixed answers ended");
            }
        });
        for (size, shape, answer) in finished {
            let name = Place::name(size);
            let ask = |address, path: &str| {
                Work::Ask(Target {
                    address,
                    request: request(path, shape, size),
                    answer_bytes: answer.len(),
                })
            };
            let service = Box::new(place.cold().service().clone());
            let statements = Box::new(place.statements(shape, size).await?);
            for (way, work) in [
                (Way::Static, ask(fixed, &path(size, shape))),
                (Way::Hot, ask(address(place.hot())?, "/graphql")),
                (Way::Cold, ask(address(place.cold())?, "/graphql")),
                (Way::Load, Work::Load(service, name)),
                (Way::Bare, Work::Bare(statements)),
            ] {
                cases.push(Case {
                    size,
                    shape,
                    way,
                    work,
                    spells: Vec::new(),
                });
            }
        }
        Ok(cases)
    }
}

impl Case {
    async fn spell(&self, place: &Place, time: Duration) -> Fallible<Spell> {
        if let Work::Ask(target) = &self.work {
            return client::fire(place.tasks(), target.clone(), time).await;
        }
        let clock = Clock::system();
        let before = cpu::of_process();
        let mut spell = Spell::default();
        while spell.done == 0 || clock.monotonic() < time {
            let rows = match &self.work {
                Work::Ask(_) => 0,
                Work::Load(service, name) => self.shape.load(service, name).await?,
                Work::Bare(statements) => place.run(statements).await?,
            };
            std::hint::black_box(rows);
            spell.done += 1;
        }
        spell.took = clock.monotonic();
        spell.waited = spell.took;
        let used = before.zip(cpu::of_process());
        spell.cpu = used.map(|(before, after)| after.saturating_sub(before));
        Ok(spell)
    }
}

fn path(size: u32, shape: PageShape) -> String {
    format!("/{}-{size}", shape.name())
}

fn address(app: &App) -> Fallible<std::net::SocketAddr> {
    app.address().ok_or_else(|| "not listening".into())
}

/// A whole request. Also the fixed answers are asked for with it, so that all read the same bytes.
fn request(path: &str, shape: PageShape, size: u32) -> Arc<[u8]> {
    let body = shape.body(&Place::name(size));
    let headers = shape.headers().into_iter();
    let headers: String = headers
        .map(|(name, value)| name.to_owned() + ": " + &value + "\r\n")
        .collect();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
    .into()
}

/// A gateway's answer, which holds what it should.
async fn checked(app: &App, shape: PageShape, size: u32) -> Fallible<Vec<u8>> {
    let request = request("/graphql", shape, size);
    let answer = client::ask(address(app)?, &request).await?;
    let read: Value = serde_json::from_slice(&answer)?;
    let page = read.pointer("/data/discussion/comments");
    let rows = page.and_then(|page| page.get("edges")?.as_array());
    let mode = page.and_then(|page| page.get("mode")?.as_str());
    let wanted = match shape.mode() {
        Mode::Linear => "LINEAR",
        Mode::Threaded => "THREADED",
    };
    let is_whole = rows.is_some_and(|rows| u32::try_from(rows.len()) == Ok(shape.rows(size)));
    if read.get("errors").is_some() || !is_whole || mode != Some(wanted) {
        let text = String::from_utf8_lossy(&answer);
        let start: String = text.chars().take(500).collect();
        let name = shape.name();
        return Err(format!("the page \"{name}\" of {size} comments is not whole: {start}").into());
    }
    Ok(answer)
}

/// Draws on standard error, and only when that is a terminal.
fn bar(what: &'static str, steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    match ProgressStyle::with_template("{msg} {bar:30} {percent:>3} % {eta}") {
        Ok(style) => bar.with_style(style).with_message(what),
        Err(_) => bar,
    }
}
