//! `[comments]`: the limits of discussions and the sizes of their pages.

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::HumanDuration;

/// The settings of `[comments]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Comments {
    /// The longest comment, in Unicode scalar values.
    pub body_scalars_max: usize,
    /// The longest comment, in bytes of UTF-8.
    pub body_bytes_max: usize,
    /// The most comments, of every state, in one discussion.
    pub comments_per_discussion_max: u64,
    /// How many comments a page has when the client does not say.
    pub page_size_default: usize,
    /// The most comments that a client may ask for in one page.
    pub page_size_max: usize,
    /// The largest discussion, in comments, whose tree index is built while it is being read.
    pub index_on_read_max: usize,
    /// How long a posting key is remembered, so that a retry finds the first result.
    pub posting_key_ttl: HumanDuration,
    /// Whether the first comment on an entity opens its discussion; else a moderator does.
    pub first_comment_opens_discussion: bool,
    /// The query parameters that tell one page of a site from another; others are dropped.
    pub url_query_parameters_kept: Vec<String>,
    /// How many bytes of encoded pages are kept in memory; 0 turns the cache off.
    pub page_cache_bytes: usize,
}

impl Comments {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        checks.between(
            "comments.body_scalars_max",
            self.body_scalars_max,
            1,
            1_000_000,
        );
        checks.between("comments.body_bytes_max", self.body_bytes_max, 4, 4_000_000);
        let per_discussion = self.comments_per_discussion_max;
        checks.between(
            "comments.comments_per_discussion_max",
            per_discussion,
            1,
            10_000_000,
        );
        checks.between("comments.page_size_max", self.page_size_max, 1, 1_000);
        checks.between(
            "comments.page_size_default",
            self.page_size_default,
            1,
            1_000,
        );
        if self.page_size_default > self.page_size_max {
            let must = format!(
                "must be at most comments.page_size_max ({})",
                self.page_size_max
            );
            checks.problem("comments.page_size_default", must);
        }
        checks.between(
            "comments.index_on_read_max",
            self.index_on_read_max,
            0,
            100_000,
        );
        checks.lasts(
            "comments.posting_key_ttl",
            self.posting_key_ttl,
            ("1m", "30d"),
        );
        checks.between(
            "comments.page_cache_bytes",
            self.page_cache_bytes,
            0,
            1 << 40,
        );
        for name in &self.url_query_parameters_kept {
            if name.is_empty() || name.contains(['=', '&', '#', '?']) {
                let must =
                    format!("{name:?} must be the name of a query parameter, such as \"id\"");
                checks.problem("comments.url_query_parameters_kept", must);
            }
        }
    }
}
