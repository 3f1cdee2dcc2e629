//! What was measured, as a table with ratios and as JSON.

use std::time::Duration;

use serde::Serialize;

use super::client::{CONNECTIONS, Spell};
use super::shape::PageShape;

/// How a page is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Way {
    /// Finished bytes over HTTP.
    Static,
    /// The gateway with its page cache.
    Hot,
    /// The gateway without one.
    Cold,
    /// The service's calls, in this process.
    Load,
    /// The page's statements, in this process.
    Bare,
}

impl Way {
    const ALL: [Self; 5] = [Self::Static, Self::Hot, Self::Cold, Self::Load, Self::Bare];

    const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Hot => "hot",
            Self::Cold => "cold",
            Self::Load => "load",
            Self::Bare => "bare",
        }
    }
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measured {
    size: u32,
    page: &'static str,
    way: Way,
    /// Pages that were answered or loaded.
    pages: u32,
    per_second: f64,
    /// What one waits for a page; over HTTP while others wait as well.
    mean_us: f64,
    /// The server's processor time for a page; absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_us: Option<f64>,
}

impl Measured {
    pub(super) fn new((size, shape, way): (u32, PageShape, Way), spells: &[Spell]) -> Self {
        let pages: u32 = spells.iter().map(|spell| spell.done).sum();
        let took: Duration = spells.iter().map(|spell| spell.took).sum();
        let waited: Duration = spells.iter().map(|spell| spell.waited).sum();
        let cpu: Option<Duration> = spells.iter().map(|spell| spell.cpu).sum();
        let us = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(pages.max(1));
        Self {
            size,
            page: shape.name(),
            way,
            pages,
            per_second: f64::from(pages) / took.as_secs_f64().max(f64::EPSILON),
            mean_us: us(waited),
            cpu_us: cpu.map(us).filter(|us| *us > 0.0),
        }
    }
}

/// Every case, ready to print.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    connections: usize,
    cases: Vec<Measured>,
}

/// A ratio of the table: what it says, of which two ways, by which measure.
type RatioLine = (&'static str, Way, Way, fn(&Measured) -> Option<f64>);

const RATIOS: [RatioLine; 5] = [
    ("hot/static by req/s", Way::Hot, Way::Static, speed),
    ("hot/static by cpu", Way::Hot, Way::Static, speed_of_cpu),
    ("cold/hot by cpu", Way::Cold, Way::Hot, speed_of_cpu),
    ("load/bare by time", Way::Load, Way::Bare, speed),
    ("cold/bare by cpu", Way::Cold, Way::Bare, speed_of_cpu),
];

fn speed(case: &Measured) -> Option<f64> {
    (case.pages > 0).then_some(case.per_second)
}

fn speed_of_cpu(case: &Measured) -> Option<f64> {
    case.cpu_us.map(f64::recip)
}

impl Report {
    pub(super) fn new(cases: Vec<Measured>) -> Self {
        Self {
            connections: CONNECTIONS,
            cases,
        }
    }

    fn case(&self, size: u32, shape: PageShape, way: Way) -> Option<&Measured> {
        self.cases
            .iter()
            .find(|case| (case.size, case.page, case.way) == (size, shape.name(), way))
    }

    fn ratio(&self, size: u32, shape: PageShape, line: &RatioLine) -> Option<f64> {
        let (_, upper, lower, measure) = line;
        let upper = self.case(size, shape, *upper).and_then(measure)?;
        let lower = self.case(size, shape, *lower).and_then(measure)?;
        Some(upper / lower)
    }

    /// For people: a block a page, a column a size, and how flat a page is: the largest
    /// discussion's speed by the smallest's.
    pub(super) fn table(&self) -> String {
        let mut sizes: Vec<u32> = self.cases.iter().map(|case| case.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut lines = vec![String::new(), String::new()];
        let head = |cells: &dyn Fn(u32) -> String, last: &str| {
            let cells: String = sizes.iter().copied().map(cells).collect();
            format!("{:<22}{cells}{last:>9}", "")
        };
        lines.push(head(
            &|size| format!("{:>27}", format!("{size} comments")),
            "",
        ));
        let units = format!("{:>10}{:>9}{:>8}", "req/s", "mean µs", "cpu µs");
        lines.push(head(&|_| units.clone(), "flatness"));
        for shape in PageShape::ALL {
            lines.push(String::new());
            for way in Way::ALL {
                let cells = sizes.iter().map(|size| cell(self.case(*size, shape, way)));
                let label = format!("{} {}", shape.name(), way.name());
                let ends = (sizes.first(), sizes.last());
                let flat = ends.0.zip(ends.1).and_then(|(small, large)| {
                    let small = self.case(*small, shape, way)?.per_second;
                    Some(self.case(*large, shape, way)?.per_second / small)
                });
                let cells: String = cells.collect();
                lines.push(format!("{label:<22}{cells}{:>9}", number(flat, 2)));
            }
            for line in &RATIOS {
                let ratio =
                    |size: &u32| format!("{:>27}", number(self.ratio(*size, shape, line), 2));
                let cells: String = sizes.iter().map(ratio).collect();
                lines.push(format!("  {:<20}{cells}", line.0));
            }
        }
        lines.push(String::new());
        lines.drain(..1);
        lines.join("\n")
    }
}

fn cell(case: Option<&Measured>) -> String {
    format!(
        "{:>10}{:>9}{:>8}",
        number(case.map(|case| case.per_second), 0),
        number(case.map(|case| case.mean_us), 1),
        number(case.and_then(|case| case.cpu_us), 1)
    )
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}
