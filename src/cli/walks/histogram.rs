//! The lengths of branches as a table.

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::domain::branches::{BranchHistogram, lengths_of};

/// Days shown one by one; older ones are summed up.
const DAYS_SHOWN: usize = 14;
/// The last length with a column of its own; longer branches share one.
const COLUMNS: usize = 12;

/// The table: a line for all days together, and one for each of the last ones.
pub(super) fn table(histogram: &BranchHistogram, all_days: bool) -> String {
    if histogram.is_empty() {
        return String::new();
    }
    let total = histogram.total();
    let columns = total.len().min(COLUMNS);
    let mut lines = vec![
        "How many replies the roots have, by the day they were written:".to_owned(),
        format!("{:<10} {:>8} {}", "", "roots", header(columns)),
        line("all days", &total, columns),
    ];
    let days: Vec<(i64, &[u64])> = histogram.days().collect();
    let hidden = if all_days {
        0
    } else {
        days.len().saturating_sub(DAYS_SHOWN)
    };
    if hidden > 0 {
        lines.push(format!("({hidden} earlier days are not shown)"));
    }
    for (day, buckets) in days.into_iter().skip(hidden) {
        lines.push(line(&date(day), buckets, columns));
    }
    lines.join("\n") + "\n"
}

fn header(columns: usize) -> String {
    let column = |bucket: usize| {
        let (from, to) = lengths_of(bucket);
        if bucket + 1 == COLUMNS {
            format!("{from}+")
        } else if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }
    };
    let columns: Vec<String> = (0..columns)
        .map(|at| format!("{:>8}", column(at)))
        .collect();
    columns.join(" ")
}

fn line(name: &str, buckets: &[u64], columns: usize) -> String {
    let roots: u64 = buckets.iter().sum();
    let columns: Vec<String> = (0..columns)
        .map(|at| {
            let count: u64 = if at + 1 == COLUMNS {
                buckets.iter().skip(at).sum()
            } else {
                buckets.get(at).copied().unwrap_or(0)
            };
            format!(
                "{:>8}",
                if count == 0 {
                    "·".to_owned()
                } else {
                    count.to_string()
                }
            )
        })
        .collect();
    format!("{name:<10} {roots:>8} {}", columns.join(" "))
}

fn date(day: i64) -> String {
    let start = Date::constant(1970, 1, 1);
    match start.checked_add(day.days()) {
        Ok(date) => date.to_string(),
        Err(_) => format!("day {day}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{CommentId, first_id_of_ms};

    #[test]
    fn a_table_has_a_line_a_day_and_every_branch_in_one_column() {
        let mut histogram = BranchHistogram::default();
        for (day, replies) in [(19_844, 0), (19_844, 0), (19_844, 3), (19_845, 200_000)] {
            let root = CommentId::new(first_id_of_ms(day * 86_400_000));
            histogram.add(root, replies);
        }
        let table = table(&histogram, false);
        let lines: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[2][..5], ["all", "days", "4", "2", "·"]);
        assert_eq!(lines[3][..5], ["2024-05-01", "3", "2", "·", "1"]);
        assert_eq!(lines[4][..2], ["2024-05-02", "1"]);
        assert_eq!(lines[4].last(), Some(&"1"), "1024 and more");
    }
}
