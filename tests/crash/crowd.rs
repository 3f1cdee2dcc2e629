//! Many people who write as fast as they are answered, and who keep book.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::{join, join_all};
use tokio::sync::Notify;

use crate::client::{Answer, Client, Post};
use crate::ledger::{Entry, Ledger, Removal};

/// When to end a server, and with how many people writing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Tells the people of one round from those of another.
    pub(crate) round: usize,
    pub(crate) writers: usize,
    /// After so many acknowledgements,
    pub(crate) enough: usize,
    /// and so much later. It waits for nothing: the moment is to lie anywhere between two answers.
    pub(crate) later: Duration,
}

/// What the writers of a round share.
#[derive(Debug)]
pub(crate) struct Crowd {
    urls: Vec<String>,
    /// Acknowledged comments by discussion, to be answered.
    parents: RefCell<Vec<Vec<String>>>,
    acknowledged: Cell<usize>,
    moment: Moment,
    reached: Notify,
    tallies: RefCell<Tallies>,
}

/// What became of the requests of a round, to be printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies {
    pub(crate) posts: usize,
    pub(crate) edits: usize,
    pub(crate) deletes: usize,
    pub(crate) refused: usize,
    pub(crate) failed: Vec<String>,
    pub(crate) lost: usize,
    pub(crate) unheard: usize,
    /// The keys of posts that were answered with a failure, or whose connection broke.
    pub(crate) unanswered: Vec<String>,
}

impl fmt::Display for Tallies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} posts, {} edits, {} deletes sent, {} refused, {:?} failed, {} lost, {} unheard",
            self.posts,
            self.edits,
            self.deletes,
            self.refused,
            self.failed,
            self.lost,
            self.unheard,
        )
    }
}

/// One person.
#[derive(Debug)]
struct Writer {
    user: String,
    rng: Rng,
    entries: Vec<Entry>,
}

impl Crowd {
    /// A crowd that writes to the ledger's discussions.
    pub(crate) fn of(ledger: &Ledger, moment: Moment) -> Self {
        let parents = ledger.urls.iter().map(|url| {
            let known = ledger.entries.iter().filter(|entry| entry.post.url == *url);
            known.filter_map(|entry| entry.id.clone()).collect()
        });
        Self {
            urls: ledger.urls.clone(),
            parents: RefCell::new(parents.collect()),
            acknowledged: Cell::new(0),
            moment,
            reached: Notify::new(),
            tallies: RefCell::default(),
        }
    }

    /// People write until their connections break. At the moment chosen, `end` ends the server;
    /// what it gives is returned.
    pub(crate) async fn write<T>(
        self,
        client: &Client,
        ledger: &mut Ledger,
        rng: &mut Rng,
        end: impl AsyncFnOnce() -> T,
    ) -> (Tallies, T) {
        let moment = self.moment;
        let mut writers: Vec<Writer> = (0..moment.writers)
            .map(|number| Writer::new(number, moment.round, rng.fork()))
            .collect();
        let writing = async {
            join_all(writers.iter_mut().map(|writer| writer.write(client, &self))).await;
            // Nobody is left to reach it.
            self.reached.notify_one();
        };
        let ending = async {
            self.reached.notified().await;
            if !moment.later.is_zero() {
                tokio::time::sleep(moment.later).await;
            }
            end().await
        };
        let ((), ended) = join(writing, ending).await;
        let entries = writers.into_iter().flat_map(|writer| writer.entries);
        ledger.entries.extend(entries);
        (self.tallies.into_inner(), ended)
    }

    fn acknowledge(&self) {
        self.acknowledged.set(self.acknowledged.get() + 1);
        if self.acknowledged.get() == self.moment.enough {
            self.reached.notify_one();
        }
    }

    /// Notes an answer. Whether it is worth going on.
    fn note(&self, answer: &Answer) -> bool {
        let mut tallies = self.tallies.borrow_mut();
        match answer {
            Answer::Done(_) => self.acknowledge(),
            Answer::Refused(_) => tallies.refused += 1,
            Answer::Failed(code) => tallies.failed.push(code.clone()),
            Answer::Lost => tallies.lost += 1,
            Answer::Unheard => tallies.unheard += 1,
        }
        matches!(answer, Answer::Done(_) | Answer::Refused(_))
    }
}

impl Writer {
    fn new(number: usize, round: usize, rng: Rng) -> Self {
        // Some are known by a number, some by a name that the gateway maps to one.
        let user = if number.is_multiple_of(2) {
            format!("{}", 1_000 + number)
        } else {
            format!("round-{round}-writer-{number}")
        };
        Self {
            user,
            rng,
            entries: Vec::new(),
        }
    }

    /// Writes until an answer is missing, which is when the server ends or has ended.
    async fn write(&mut self, client: &Client, crowd: &Crowd) {
        loop {
            let settled = (0..self.entries.len()).filter(|n| self.entries[*n].is_settled());
            let settled: Vec<usize> = settled.collect();
            let mine = self.rng.choice(settled);
            let goes_on = match (self.rng.u32(0..100), mine) {
                (0..15, Some(mine)) => self.edit(client, crowd, mine).await,
                (15..25, Some(mine)) => self.delete(client, crowd, mine).await,
                _ => self.post(client, crowd).await,
            };
            if !goes_on {
                return;
            }
        }
    }

    async fn post(&mut self, client: &Client, crowd: &Crowd) -> bool {
        crowd.tallies.borrow_mut().posts += 1;
        let place = self.rng.usize(0..crowd.urls.len());
        let parent = {
            let parents = &crowd.parents.borrow()[place];
            let is_root = self.rng.u32(0..100) < 30;
            self.rng.choice(parents).filter(|_| !is_root).cloned()
        };
        let key = format!("{}:{:x}", self.user, self.rng.u64(..));
        let mut entry = Entry::of(Post {
            user: self.user.clone(),
            url: crowd.urls[place].clone(),
            parent,
            text: format!("{key} says something of {} letters", self.rng.u32(..)),
            key,
        });
        let answer = client.post(&entry.post).await;
        match &answer {
            Answer::Done(written) => {
                assert!(!written.replayed, "{entry:?}");
                assert_eq!(written.text.as_ref(), Some(&entry.post.text));
                entry.written(written);
                crowd.parents.borrow_mut()[place].push(written.id.clone());
            }
            Answer::Refused(reason) => {
                assert_eq!(reason, "PARENT_GONE", "{entry:?}");
                entry.is_refused = true;
            }
            Answer::Failed(_) | Answer::Lost | Answer::Unheard => {
                let key = entry.post.key.clone();
                crowd.tallies.borrow_mut().unanswered.push(key);
            }
        }
        self.entries.push(entry);
        crowd.note(&answer)
    }

    async fn edit(&mut self, client: &Client, crowd: &Crowd, mine: usize) -> bool {
        crowd.tallies.borrow_mut().edits += 1;
        let text = format!("{} edited {:x}", self.user, self.rng.u64(..));
        let entry = &mut self.entries[mine];
        let id = entry.id.clone().unwrap();
        let answer = client.edit(&self.user, &id, entry.revision, &text).await;
        match &answer {
            Answer::Done(written) => {
                assert_eq!((&written.id, written.text.as_ref()), (&id, Some(&text)));
                entry.revision = written.revision;
                entry.texts = vec![text];
            }
            Answer::Refused(reason) => panic!("{reason}: {entry:?}"),
            Answer::Failed(_) | Answer::Lost => entry.texts.push(text),
            Answer::Unheard => {}
        }
        crowd.note(&answer)
    }

    async fn delete(&mut self, client: &Client, crowd: &Crowd, mine: usize) -> bool {
        crowd.tallies.borrow_mut().deletes += 1;
        let entry = &mut self.entries[mine];
        let id = entry.id.clone().unwrap();
        let answer = client.delete(&self.user, &id, entry.revision).await;
        match &answer {
            Answer::Done(written) => {
                assert_eq!((&written.id, &written.text), (&id, &None));
                entry.removal = Removal::Yes;
            }
            Answer::Refused(reason) => panic!("{reason}: {entry:?}"),
            Answer::Failed(_) | Answer::Lost => entry.removal = Removal::Perhaps,
            Answer::Unheard => {}
        }
        crowd.note(&answer)
    }
}
