//! The rules about a file as text.

use crate::source::{Finding, Tree};

const LINES_MAX: usize = 500;

/// What says that something is missing. Written apart, so that this list does not find itself.
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("being", " written"),
    concat!("not", " implemented yet"),
];

pub(crate) fn has_header(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust().filter(|source| {
        let first = source.text.lines().next().unwrap_or_default();
        first
            .strip_prefix("//!")
            .is_none_or(|words| words.trim().len() < 10)
    });
    bare.map(|source| source.finding(1, "has no header"))
        .collect()
}

pub(crate) fn is_short(tree: &Tree) -> Vec<Finding> {
    let counted = tree
        .rust()
        .map(|source| (source, source.text.lines().count()));
    let long = counted.filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(source, lines)| source.finding(LINES_MAX + 1, format!("has {lines} lines")))
        .collect()
}

pub(crate) fn is_finished(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        for (number, line) in source.text.lines().enumerate() {
            let word = UNFINISHED.iter().find(|word| has_word(line, word));
            findings.extend(word.map(|word| source.finding(number + 1, format!("says {word:?}"))));
        }
    }
    findings
}

/// Whether the line has the word with no letter right before or behind it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let behind = line
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_letter(before) && (word.ends_with('(') || !is_letter(behind))
    })
}
