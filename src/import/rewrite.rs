//! Moves the addresses of an export to where the pages are now.
//!
//! A discussion is found by its address, so an export of a site that has moved would be imported
//! whole and shown on no page. A rule that fits nothing is therefore an error that names an address
//! of the file: nothing is written, and the rule can be mended.

use std::str::FromStr;

use url::Url;

use super::input::ReadError;
use super::record::{ExportReader, SourceItem};
use super::report::Oddity;
use crate::export::Kept;

/// Replaces one beginning of addresses by another, whether they are written with http or https.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRewrite {
    from: Url,
    to: Url,
}

impl FromStr for UrlRewrite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "write it as OLD=NEW, both beginning with http:// or https://";
        // An address may hold `=` itself.
        let (from, to) = text
            .match_indices('=')
            .find_map(|(at, _)| {
                let (from, to) = text.split_at_checked(at)?;
                let to = to.strip_prefix('=')?;
                let is_web = to.starts_with("http://") || to.starts_with("https://");
                is_web.then_some((from, to))
            })
            .ok_or(usage)?;
        let read = |url: &str| {
            let read = Url::parse(url).map_err(|error| format!("{url}: {error}; {usage}"))?;
            if !matches!(read.scheme(), "http" | "https") {
                return Err(format!("{url}: {usage}"));
            }
            if read.query().is_some() || read.fragment().is_some() {
                return Err(format!("{url}: a beginning has neither `?` nor `#`"));
            }
            Ok(read)
        };
        Ok(Self {
            from: read(from)?,
            to: read(to)?,
        })
    }
}

impl UrlRewrite {
    /// The new address; `None` where this rule does not fit. It fits whole parts of a path only:
    /// `/blog` begins `/blog/1` and not `/blogger`.
    fn rewrite(&self, address: &Url) -> Option<String> {
        let is_web = matches!(address.scheme(), "http" | "https");
        if !is_web || address.host() != self.from.host() || address.port() != self.from.port() {
            return None;
        }
        let rest = address.path().strip_prefix(base(&self.from))?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let mut new = self.to.clone();
        new.set_path(&format!("{}{rest}", base(&self.to)));
        new.set_query(address.query());
        new.set_fragment(address.fragment());
        Some(new.into())
    }
}

fn base(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// A reader whose addresses are moved. The most exact rule that fits is taken.
#[derive(Debug)]
pub struct Rewritten {
    inner: Box<dyn ExportReader>,
    rules: Vec<UrlRewrite>,
    has_fit: bool,
    /// The first address that no rule fitted, and its line.
    unfit: Option<(String, u64)>,
}

impl Rewritten {
    /// Moves what `inner` reads; without rules it is `inner` itself.
    #[must_use]
    pub fn wrap(inner: Box<dyn ExportReader>, mut rules: Vec<UrlRewrite>) -> Box<dyn ExportReader> {
        if rules.is_empty() {
            return inner;
        }
        rules.sort_by_key(|rule| std::cmp::Reverse(base(&rule.from).len()));
        Box::new(Self {
            inner,
            rules,
            has_fit: false,
            unfit: None,
        })
    }

    fn moved(&mut self, address: String, line: u64) -> String {
        let new = Url::parse(address.trim())
            .ok()
            .and_then(|url| self.rules.iter().find_map(|rule| rule.rewrite(&url)));
        if let Some(new) = new {
            self.has_fit = true;
            return new;
        }
        if self.unfit.is_none() {
            self.unfit = Some((address.clone(), line));
        }
        address
    }
}

impl ExportReader for Rewritten {
    fn next_item(&mut self) -> Result<Option<SourceItem>, ReadError> {
        match self.inner.next_item()? {
            Some(SourceItem::Discussion(mut discussion)) => {
                let line = discussion.line;
                discussion.url = discussion.url.map(|url| self.moved(url, line));
                Ok(Some(SourceItem::Discussion(discussion)))
            }
            None if !self.has_fit && self.unfit.is_some() => {
                let (address, line) = self.unfit.clone().unwrap_or_default();
                let what = format!(
                    "none of the addresses to be moved begins an address of the file, such as \
                     {address}"
                );
                Err(ReadError {
                    line,
                    byte: 0,
                    what,
                })
            }
            item @ (None | Some(SourceItem::Comment(_) | SourceItem::Rejected(_))) => Ok(item),
        }
    }

    fn opens_undeclared(&self) -> bool {
        self.inner.opens_undeclared()
    }

    fn take_notes(&mut self) -> Vec<Oddity> {
        self.inner.take_notes()
    }

    fn kept(&mut self) -> Result<Option<Kept>, ReadError> {
        self.inner.kept()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(rule: &str, address: &str) -> Option<String> {
        let rule: UrlRewrite = rule.parse().unwrap();
        rule.rewrite(&Url::parse(address).unwrap())
    }

    #[test]
    fn an_address_is_moved_with_all_that_follows_whatever_its_scheme() {
        let rule = "https://old.example=https://new.example/blog/";
        for (old, new) in [
            (
                "https://old.example/a/b/?p=1#c",
                "https://new.example/blog/a/b/?p=1#c",
            ),
            ("http://OLD.example/a", "https://new.example/blog/a"),
            ("http://old.example", "https://new.example/blog/"),
        ] {
            assert_eq!(moved(rule, old).as_deref(), Some(new));
        }
        for other in [
            "https://old.example:8080/",
            "https://www.old.example/",
            "mailto:a@old.example",
        ] {
            assert_eq!(moved(rule, other), None, "{other}");
        }
    }

    #[test]
    fn only_whole_parts_of_a_path_fit() {
        let rule = "https://a.example/blog=https://b.example/";
        assert_eq!(
            moved(rule, "https://a.example/blog/x").as_deref(),
            Some("https://b.example/x")
        );
        assert_eq!(
            moved(rule, "https://a.example/blog").as_deref(),
            Some("https://b.example/")
        );
        assert_eq!(moved(rule, "https://a.example/blogger"), None);
    }

    #[test]
    fn a_rule_that_is_none_is_refused() {
        for text in [
            "",
            "a=b",
            "https://a.example",
            "https://a.example=b.example",
            "https://a.example?x=1=https://b.example",
            "ftp://a.example=https://b.example",
        ] {
            assert!(text.parse::<UrlRewrite>().is_err(), "{text}");
        }
    }
}
