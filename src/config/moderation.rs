//! `[moderation]`: words that hold or refuse a text, and the hook that tells spam.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::{HumanDuration, StoreUrl, empty_is_off};
use crate::domain::moderation::Verdict;

/// The settings of `[moderation]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Moderation {
    /// Words and phrases with which a comment waits for a moderator.
    pub words_hold: Vec<String>,
    /// More of them, one a line.
    #[serde(with = "empty_is_off")]
    pub words_hold_file: Option<PathBuf>,
    /// Words and phrases with which a comment is refused.
    pub words_refuse: Vec<String>,
    /// More of them, one a line.
    #[serde(with = "empty_is_off")]
    pub words_refuse_file: Option<PathBuf>,
    /// Who is asked about each text, if anybody. A password in it is never shown.
    #[serde(with = "empty_is_off")]
    pub spam_hook_url: Option<StoreUrl>,
    /// How long that may take.
    pub spam_hook_timeout: HumanDuration,
    /// Texts asked about at a time; others wait for their turn, within the same time.
    pub spam_hook_calls_max: usize,
    /// What holds when no answer comes.
    pub spam_hook_on_failure: Verdict,
}

impl Moderation {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        let is_web = |url: &StoreUrl| matches!(url.scheme(), "http" | "https");
        if self.spam_hook_url.as_ref().is_some_and(|url| !is_web(url)) {
            let must = "must be an http or https URL, or empty for no hook".to_owned();
            checks.problem("moderation.spam_hook_url", must);
        }
        checks.lasts(
            "moderation.spam_hook_timeout",
            self.spam_hook_timeout,
            ("10ms", "5s"),
        );
        checks.between(
            "moderation.spam_hook_calls_max",
            self.spam_hook_calls_max,
            1,
            1_000,
        );
    }
}
