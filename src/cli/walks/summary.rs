//! What a walk says in the end.

use std::process::ExitCode;
use std::time::Duration;

use super::histogram;
use crate::cli::memory;
use crate::worker::walker::{WalkEnd, WalkTally};

/// Faults printed; the report file has more.
const FAULTS_SHOWN: usize = 20;

/// The end of a walk, for people and scripts.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    pub(super) name: &'static str,
    pub(super) end: &'a WalkEnd,
    pub(super) took: Duration,
}

impl Summary<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.end.joined {
            text.push_str("went on with the walk that was under way\n");
        }
        text.push_str(&numbers(self.name, &self.end.tally));
        text.push_str(&self.cost());
        text.push_str(&faults(&self.end.tally));
        text.push_str(&histogram::table(&self.end.tally.branches, false));
        text.push_str(match (self.end.complete, self.end.tally.found()) {
            (false, _) => "interrupted; the same command goes on from here\n",
            (true, 0) => "done; nothing is wrong\n",
            (true, _) => "done; what is wrong is listed above\n",
        });
        text
    }

    /// What it took: this process's time and memory. A walk that was joined has done rows before.
    fn cost(&self) -> String {
        let mut parts = vec![format!("  took {:.1} s", self.took.as_secs_f64())];
        if !self.end.joined
            && self.took >= Duration::from_secs(1)
            && let Ok(rows) = u32::try_from(self.end.tally.rows)
        {
            let speed = f64::from(rows) / self.took.as_secs_f64();
            parts.push(format!("{speed:.0} comments a second"));
        }
        parts.extend(memory::peak().map(|bytes| format!("at most {} MiB of memory", bytes >> 20)));
        parts.join(", ") + "\n"
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        match (self.end.complete, self.end.tally.found()) {
            (false, _) => ExitCode::from(130),
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => ExitCode::from(3),
        }
    }
}

/// Items and rows by what became of them.
pub(super) fn numbers(name: &str, tally: &WalkTally) -> String {
    let mut lines = vec![format!(
        "{name}: {} discussions, {} comments",
        tally.items, tally.rows
    )];
    for (outcome, count) in &tally.outcomes {
        lines.push(format!("  {count:>12} discussions {outcome}"));
    }
    for (what, count) in &tally.sums {
        lines.push(format!("  {count:>12} {what}"));
    }
    lines.join("\n") + "\n"
}

/// What is wrong, the first of it.
fn faults(tally: &WalkTally) -> String {
    let found = tally.found();
    if found == 0 {
        return String::new();
    }
    let mut lines = vec![format!("wrong: {found}")];
    for fault in tally.faults.iter().take(FAULTS_SHOWN) {
        lines.push(format!("  discussion {}: {}", fault.item, fault.what));
    }
    let shown = tally.faults.len().min(FAULTS_SHOWN);
    let more = found.saturating_sub(u64::try_from(shown).unwrap_or(u64::MAX));
    if more > 0 {
        lines.push(format!(
            "  and {more} more (--report FILE lists the first of them)"
        ));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_listed_and_never_called_done_without_it() {
        let mut tally = WalkTally::of_item("wrong", 7);
        for number in 0..30 {
            tally.fault(&number, &"odd");
        }
        let end = WalkEnd {
            complete: true,
            joined: false,
            tally,
        };
        let summary = Summary {
            name: "index-verify",
            end: &end,
            took: Duration::from_millis(1_500),
        };
        let text = summary.text();
        assert!(
            text.contains("1 discussions wrong") && text.contains("wrong: 30"),
            "{text}"
        );
        assert!(text.contains("and 10 more"), "{text}");
        assert!(text.ends_with("done; what is wrong is listed above\n"));
    }
}
