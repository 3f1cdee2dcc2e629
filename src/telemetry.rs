//! What the process says about itself: log lines, metrics, and where a panic happened.
//!
//! Log lines go to standard error, so that standard output stays a command's result. Both the log
//! and the metrics recorder are global to the process and installed once.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::config::{LogFormat, Telemetry};
use crate::tasks::Tasks;

/// Upper bounds of the buckets of every metric that ends in `_seconds`: 0.5 ms to 10 s.
const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// How often samples that nobody has scraped yet are folded into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// Why the log or the metrics could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `telemetry.log` is not a filter.
    #[error("telemetry.log is not a log filter")]
    Filter(#[from] ParseError),
    /// This process already has a log.
    #[error("the log is already set up")]
    Log(#[from] TryInitError),
    /// This process already has a metrics recorder.
    #[error("the metrics recorder cannot be set up")]
    Metrics(#[from] BuildError),
}

/// Everything that the process has counted. Clones share it.
#[derive(Clone, Debug)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// The metrics in the text format that Prometheus scrapes.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Metrics that nothing reports to: for a gateway inside a test, where the process's recorder
    /// belongs to nobody.
    pub fn detached() -> Result<Self, TelemetryError> {
        Ok(Self(builder()?.build_recorder().handle()))
    }

    /// Starts the upkeep without which unscraped samples would fill the memory.
    pub fn start_upkeep(&self, tasks: &Tasks) {
        let (handle, stop) = (self.0.clone(), tasks.stopping());
        let mut ticks = tokio::time::interval(UPKEEP);
        tasks.spawn(async move {
            while stop.run_until_cancelled(ticks.tick()).await.is_some() {
                handle.run_upkeep();
            }
        });
    }
}

/// Sets up the log, the metrics recorder and the panic hook of this process. Call it once, first.
pub fn init(settings: &Telemetry) -> Result<Metrics, TelemetryError> {
    let filter = EnvFilter::builder().parse(&settings.log)?;
    let is_terminal = std::io::stderr().is_terminal();
    let is_text = match settings.log_format {
        LogFormat::Auto => is_terminal,
        LogFormat::Text => true,
        LogFormat::Json => false,
    };
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = if is_text {
        lines.with_ansi(is_terminal).boxed()
    } else {
        lines.json().flatten_event(true).boxed()
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init()?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(Metrics(builder()?.install_recorder()?))
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)
}

/// A panic is a fault of ours: it belongs in the log like any other error, with its place.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let reason = panic
        .payload_as_str()
        .unwrap_or("a payload that is not text");
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        tracing::error!(panic.place = place, panic.thread = thread, %trace, "panic: {reason}");
    } else {
        tracing::error!(
            panic.place = place,
            panic.thread = thread,
            "panic: {reason}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_histograms_with_our_buckets() {
        let recorder = builder().unwrap().build_recorder();
        metrics::with_local_recorder(&recorder, || {
            metrics::histogram!("store_call_seconds").record(0.003);
            metrics::counter!("requests_total").increment(2);
        });
        let text = Metrics(recorder.handle()).render();
        assert!(
            text.contains("store_call_seconds_bucket{le=\"0.005\"} 1"),
            "{text}"
        );
        assert!(
            text.contains("store_call_seconds_bucket{le=\"0.0025\"} 0"),
            "{text}"
        );
        assert!(text.contains("requests_total 2"), "{text}");
    }

    #[tokio::test]
    async fn upkeep_ends_with_the_other_tasks() {
        let tasks = Tasks::new();
        Metrics::detached().unwrap().start_upkeep(&tasks);
        assert!(tasks.shutdown(Duration::from_secs(30)).await);
    }
}
