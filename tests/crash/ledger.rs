//! What writers know of their comments, and what a reader must find because of it.
//!
//! An entry is certain of what was acknowledged. What was asked for without an answer may have
//! happened or not; reading settles which, and from then on it is certain too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::{Answer, Client, Post, Written};
use crate::lists::{self, Seen};

/// Requests of a kind that are under way at once while a ledger is checked.
const ABREAST: usize = 20;

/// Whether a comment was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    No,
    /// Asked for, and no answer came.
    Perhaps,
    Yes,
}

/// One comment that somebody posted, or tried to.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) post: Post,
    /// Its id, once it is known.
    pub(crate) id: Option<String>,
    pub(crate) revision: i64,
    /// What its text may be: more than one while an edit is open.
    pub(crate) texts: Vec<String>,
    pub(crate) removal: Removal,
    /// It was refused, and so is every repetition.
    pub(crate) is_refused: bool,
}

impl Entry {
    pub(crate) fn of(post: Post) -> Self {
        Self {
            texts: vec![post.text.clone()],
            post,
            id: None,
            revision: 1,
            removal: Removal::No,
            is_refused: false,
        }
    }

    pub(crate) fn written(&mut self, written: &Written) {
        self.id = Some(written.id.clone());
        self.revision = written.revision;
    }

    /// Whether it is known to be there with one text, so that it can be changed.
    pub(crate) fn is_settled(&self) -> bool {
        self.id.is_some() && self.removal == Removal::No && self.texts.len() == 1
    }

    fn is_changing(&self) -> bool {
        self.removal == Removal::Perhaps || self.texts.len() > 1
    }

    fn is_open(&self) -> bool {
        self.id.is_none() && !self.is_refused
    }

    fn is_published(&self) -> bool {
        self.id.is_some() && self.removal == Removal::No
    }

    /// Takes what is read by its id: it must be one of the things that may be. Whether that is a
    /// change that nobody was told of.
    fn settle(&mut self, node: &Value) -> bool {
        let text = node["body"]["text"].as_str();
        let is_gone = node.is_null() || (node["state"] == "DELETED" && text.is_none());
        match self.removal {
            Removal::No => assert!(!is_gone, "lost: {self:?}"),
            Removal::Yes => assert!(is_gone, "a delete was lost: {self:?} is {node}"),
            Removal::Perhaps => {}
        }
        if is_gone {
            return std::mem::replace(&mut self.removal, Removal::Yes) == Removal::Perhaps;
        }
        let text = text.unwrap().to_owned();
        assert!(self.texts.contains(&text), "{self:?} is {node}");
        assert_eq!(node["state"], "PUBLISHED", "{node}");
        assert_eq!(node["parent"]["id"].as_str(), self.post.parent.as_deref());
        let is_change = self.texts.first() != Some(&text);
        self.removal = Removal::No;
        self.texts = vec![text];
        self.revision = node["revision"].as_i64().unwrap();
        is_change
    }
}

/// What a check found, to be printed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) acknowledged: usize,
    pub(crate) unanswered: usize,
    pub(crate) unanswered_but_there: usize,
    pub(crate) changes_unanswered: usize,
    pub(crate) changes_unanswered_but_there: usize,
    pub(crate) refused: usize,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acknowledged; {} of {} unanswered posts were there, and {} of {} unanswered \
             changes; {} refused",
            self.acknowledged,
            self.unanswered_but_there,
            self.unanswered,
            self.changes_unanswered_but_there,
            self.changes_unanswered,
            self.refused,
        )
    }
}

/// Everything that was written to some discussions.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) urls: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

impl Ledger {
    /// Finds all that was acknowledged, posts the rest again, and finds exactly that.
    pub(crate) async fn check(&mut self, client: &Client) -> Found {
        let known = self.entries.iter().filter(|entry| entry.id.is_some());
        let changing = self.entries.iter().filter(|entry| entry.is_changing());
        let mut found = Found {
            acknowledged: known.count(),
            changes_unanswered: changing.count(),
            ..Found::default()
        };
        found.changes_unanswered_but_there = self.settle(client).await;
        let arrived = self.arrived(client).await;
        found.unanswered = self.entries.iter().filter(|entry| entry.is_open()).count();
        found.unanswered_but_there = arrived.len();
        self.repeat(client, &arrived).await;
        self.settle(client).await;
        self.exactly(client).await;
        found.refused = self.entries.iter().filter(|entry| entry.is_refused).count();
        found
    }

    /// Reads every known comment by its id; returns how many changes that nobody was told of it met.
    pub(crate) async fn settle(&mut self, client: &Client) -> usize {
        let mut changes = 0;
        let known = self.entries.iter_mut().filter(|entry| entry.id.is_some());
        let mut known: Vec<&mut Entry> = known.collect();
        for some in known.chunks_mut(100) {
            let ids = some.iter().map(|entry| entry.id.as_deref().unwrap());
            let nodes = lists::by_ids(client, &ids.collect::<Vec<_>>()).await;
            for (entry, node) in some.iter_mut().zip(&nodes) {
                changes += usize::from(entry.settle(node));
            }
        }
        changes
    }

    async fn read(&self, client: &Client, url: &str) -> Option<Seen> {
        let mut entries = self.entries.iter().filter(|entry| entry.post.url == url);
        let is_there = entries.any(|entry| entry.id.is_some());
        let discussion = json!({ "url": url });
        if is_there || lists::is_there(client, &discussion).await {
            Some(lists::read(client, &discussion).await)
        } else {
            None
        }
    }

    /// The ids of what is listed though nobody was told so, by key. Also: every acknowledged
    /// comment is listed, and nothing that nobody wrote.
    async fn arrived(&self, client: &Client) -> BTreeMap<String, String> {
        let mut arrived = BTreeMap::new();
        for url in &self.urls {
            let Some(seen) = self.read(client, url).await else {
                continue;
            };
            let mut others: BTreeSet<&String> = seen.comments.keys().collect();
            let entries = || self.entries.iter().filter(|entry| entry.post.url == *url);
            for entry in entries() {
                let is_listed = entry.id.as_ref().is_some_and(|id| others.remove(id));
                assert!(is_listed || !entry.is_published(), "not listed: {entry:?}");
            }
            for id in others {
                let text = seen.comments[id]["body"]["text"].as_str().unwrap();
                let mut open = entries().filter(|entry| entry.is_open());
                let entry = open.find(|entry| entry.post.text == text);
                let entry = entry.unwrap_or_else(|| panic!("nobody wrote {}", seen.comments[id]));
                let twice = arrived.insert(entry.post.key.clone(), id.clone());
                assert_eq!(twice, None, "there twice: {entry:?}");
            }
        }
        arrived
    }

    /// Posts everything once more, and what was open twice: each key has one comment.
    async fn repeat(&mut self, client: &Client, arrived: &BTreeMap<String, String>) {
        for some in self.entries.chunks_mut(ABREAST) {
            join_all(some.iter_mut().map(async |entry| {
                if entry.is_open() {
                    entry
                        .repeat_open(client, arrived.get(&entry.post.key))
                        .await;
                }
                entry.repeat_known(client).await;
            }))
            .await;
        }
    }

    /// The lists hold exactly what is known now, and so do the counts.
    async fn exactly(&self, client: &Client) {
        for url in &self.urls {
            let Some(seen) = self.read(client, url).await else {
                continue;
            };
            let entries = self.entries.iter().filter(|entry| entry.post.url == *url);
            let known: BTreeMap<&str, &Entry> = entries
                .filter_map(|entry| entry.id.as_deref().map(|id| (id, entry)))
                .collect();
            let published = known.values().filter(|entry| entry.is_published());
            let mut expected = BTreeSet::new();
            let (mut count, mut roots) = (0, 0);
            for entry in published {
                count += 1;
                roots += i64::from(entry.post.parent.is_none());
                // Whatever lies above something readable is listed, if only as a tombstone.
                let mut above = entry.id.as_deref();
                while let Some(id) = above {
                    expected.insert(id);
                    above = known[id].post.parent.as_deref();
                }
            }
            assert!(
                seen.comments.keys().map(String::as_str).eq(expected),
                "{url}"
            );
            let total = i64::try_from(known.len()).unwrap();
            assert_eq!(seen.counts, [total, count, count, roots, count - roots]);
            seen.parents_come_first(|id| known[id].post.parent.as_ref());
        }
    }
}

impl Entry {
    /// Posts what nobody was told of; `there` is its id if it is listed all the same.
    async fn repeat_open(&mut self, client: &Client, there: Option<&String>) {
        match client.post(&self.post).await {
            Answer::Done(written) => {
                assert_eq!(written.replayed, there.is_some(), "{self:?}: {written:?}");
                assert!(there.is_none_or(|id| *id == written.id), "{self:?}");
                assert_eq!(written.text.as_ref(), Some(&self.post.text));
                self.written(&written);
            }
            Answer::Refused(reason) => {
                assert_eq!((reason.as_str(), there), ("PARENT_GONE", None), "{self:?}");
                self.is_refused = true;
            }
            other => panic!("{self:?}: {other:?}"),
        }
    }

    /// Posts what is known: the answer is the same comment.
    async fn repeat_known(&self, client: &Client) {
        match (client.post(&self.post).await, &self.id) {
            (Answer::Done(written), Some(id)) => {
                assert_eq!((&written.id, written.replayed), (id, true), "{self:?}");
                // A tombstone that is still listed is what the key's comment is now.
                let text = self.texts.first().filter(|_| self.removal == Removal::No);
                assert_eq!(written.text.as_ref(), text, "{self:?}");
            }
            (Answer::Refused(reason), Some(_)) => {
                assert_eq!(reason, "ALREADY_DELETED", "{self:?}");
                assert_eq!(self.removal, Removal::Yes, "{self:?}");
            }
            (Answer::Refused(reason), None) => assert_eq!(reason, "PARENT_GONE", "{self:?}"),
            (other, _) => panic!("{self:?}: {other:?}"),
        }
    }
}
