//! Two gateways over the same files, and people who send everything to both at once.

use std::cell::RefCell;

use fastrand::Rng;
use futures_util::future::{join, join_all};

use crate::client::{Answer, Client, Post, Written};
use crate::common::Place;
use crate::files::Copy;
use crate::ledger::{Entry, Ledger, Removal};

const WRITERS: usize = 20;
const STEPS: usize = 12;
/// Repetitions of a write that the store was too busy for; more is a hang.
const TRIES: usize = 50;
const URL: &str = "https://twins.example/one";

/// One of the two, with the token of its last own write and how often it had to be asked again.
#[derive(Debug)]
struct Twin {
    client: Client,
    last: RefCell<Option<String>>,
    asked_again: RefCell<Vec<String>>,
}

/// Somebody who has a tab open at each.
#[derive(Debug)]
struct Writer<'a> {
    twins: &'a [Twin; 2],
    /// Everybody's acknowledged comments.
    parents: &'a RefCell<Vec<String>>,
    user: String,
    rng: Rng,
    entries: Vec<Entry>,
}

impl Twin {
    /// Sends a write until it is answered for good.
    async fn settled(&self, send: impl AsyncFn(&Client) -> Answer) -> Result<Written, String> {
        for _ in 0..TRIES {
            match send(&self.client).await {
                Answer::Done(written) => {
                    if !written.replayed {
                        self.last.replace(Some(written.read_after.clone()));
                    }
                    return Ok(written);
                }
                Answer::Refused(reason) => return Err(reason),
                Answer::Failed(code) => self.asked_again.borrow_mut().push(code),
                other @ (Answer::Lost | Answer::Unheard) => panic!("{other:?}"),
            }
        }
        panic!("never answered: {:?}", self.asked_again.borrow());
    }

    fn failures(&self) -> usize {
        self.asked_again.borrow().len()
    }
}

impl Writer<'_> {
    async fn both(
        &self,
        send: impl AsyncFn(&Client) -> Answer,
    ) -> (Result<Written, String>, Result<Written, String>) {
        let [one, other] = self.twins;
        join(one.settled(&send), other.settled(&send)).await
    }

    fn failures(&self) -> usize {
        self.twins.iter().map(Twin::failures).sum()
    }

    async fn run(&mut self) {
        for _ in 0..STEPS {
            let settled = (0..self.entries.len()).filter(|n| self.entries[*n].is_settled());
            let settled: Vec<usize> = settled.collect();
            let mine = self.rng.choice(settled);
            match (self.rng.u32(0..100), mine) {
                (0..15, Some(mine)) => self.edit(mine).await,
                (15..25, Some(mine)) => self.delete(mine).await,
                _ => self.post().await,
            }
        }
    }

    async fn post(&mut self) {
        let is_root = self.rng.u32(0..100) < 30;
        let parent = self.rng.choice(&*self.parents.borrow()).cloned();
        let key = format!("{}:{:x}", self.user, self.rng.u64(..));
        let mut entry = Entry::of(Post {
            user: self.user.clone(),
            url: URL.to_owned(),
            parent: parent.filter(|_| !is_root),
            text: format!("said to both under {key}"),
            key,
        });
        let before = self.failures();
        match self
            .both(async |client| client.post(&entry.post).await)
            .await
        {
            (Ok(one), Ok(other)) => {
                assert_eq!(one.id, other.id, "written twice: {entry:?}");
                // A first try that failed may have been the one that wrote.
                let is_once = one.replayed != other.replayed || before < self.failures();
                assert!(is_once, "{entry:?}: {one:?}, {other:?}");
                entry.written(&one);
                self.parents.borrow_mut().push(one.id);
            }
            (Err(one), Err(other)) => {
                assert_eq!([one.as_str(), other.as_str()], ["PARENT_GONE"; 2]);
                entry.is_refused = true;
            }
            differing => panic!("the two disagree on {entry:?}: {differing:?}"),
        }
        self.entries.push(entry);
    }

    /// An edit at each of what both have seen: one is done, and the other is told that it came too
    /// late.
    async fn edit(&mut self, mine: usize) {
        let entry = &self.entries[mine];
        let (id, seen) = (entry.id.clone().unwrap(), entry.revision);
        let texts = ["here", "there"].map(|at| format!("{id} edited {at} after {seen}"));
        let (user, [one, other], [here, there]) = (&self.user, self.twins, &texts);
        let edited = join(
            one.settled(async |client| client.edit(user, &id, seen, here).await),
            other.settled(async |client| client.edit(user, &id, seen, there).await),
        );
        let (written, text, reason) = match edited.await {
            (Ok(written), Err(reason)) => (written, here, reason),
            (Err(reason), Ok(written)) => (written, there, reason),
            differing => panic!("{entry:?}: {differing:?}"),
        };
        assert_eq!((reason.as_str(), written.revision), ("STALE", seen + 1));
        assert_eq!(written.text.as_ref(), Some(text));
        let text = text.clone();
        self.entries[mine].revision = written.revision;
        self.entries[mine].texts = vec![text];
    }

    async fn delete(&mut self, mine: usize) {
        let entry = &self.entries[mine];
        let (id, seen) = (entry.id.clone().unwrap(), entry.revision);
        let deleted = self
            .both(async |client| client.delete(&self.user, &id, seen).await)
            .await;
        let (one, other) = &deleted;
        for outcome in [one, other] {
            let reason = outcome.as_ref().err().map(String::as_str);
            assert!(
                matches!(reason, None | Some("ALREADY_DELETED" | "COMMENT_NOT_FOUND")),
                "{:?}: {deleted:?}",
                self.entries[mine]
            );
        }
        self.entries[mine].removal = Removal::Yes;
    }
}

pub(crate) async fn overlapping(mut rng: Rng) {
    let place = Place::new();
    let servers = [place.serve(&[]).await, place.serve(&[]).await];
    let twins = [&servers[0], &servers[1]].map(|server| Twin {
        client: Client::of(server),
        last: RefCell::default(),
        asked_again: RefCell::default(),
    });
    let parents = RefCell::default();
    let mut writers: Vec<Writer<'_>> = (0..WRITERS)
        .map(|number| Writer {
            twins: &twins,
            parents: &parents,
            user: format!("twice-{number}"),
            rng: rng.fork(),
            entries: Vec::new(),
        })
        .collect();
    join_all(writers.iter_mut().map(Writer::run)).await;
    let entries = writers.into_iter().flat_map(|writer| writer.entries);
    let mut ledger = Ledger {
        urls: vec![URL.to_owned()],
        entries: entries.collect(),
    };
    // Each is asked by somebody who knows of the other's last write.
    for (reader, writer) in [(0, 1), (1, 0)] {
        let token = twins[writer].last.take();
        let client = &twins[reader].client;
        let client = token.map_or_else(|| client.clone(), |token| client.having_read(&token));
        let found = ledger.check(&client).await;
        assert_eq!((found.unanswered, found.unanswered_but_there), (0, 0));
        let again = twins[reader].asked_again.borrow();
        println!(
            "  gateway {reader}: {found}; asked again {} times",
            again.len()
        );
    }
    for server in servers {
        server.stop().await;
    }
    let copy = Copy::of(&place);
    copy.is_sound().await;
    let rows = copy.texts("SELECT count(*) || '' FROM comments").await;
    let known = ledger.entries.iter().filter(|entry| entry.id.is_some());
    assert_eq!(rows, [known.count().to_string()]);
}
