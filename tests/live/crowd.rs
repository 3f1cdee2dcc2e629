//! Many writers and readers on two processes, one of which is killed and comes back: every reader
//! ends with the same, and applied each event once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::{NOBODY, Said, Socket};
use crate::common::Place;
use crate::events::{CREATE, cursor, known};

const WRITERS: usize = 50;
const TEXTS_EACH: usize = 6;
const READERS: usize = 200;

/// Where the gateways are now; a killed one comes back elsewhere.
#[derive(Debug)]
struct Gateways {
    addresses: std::sync::Mutex<[String; 2]>,
}

impl Gateways {
    fn address(&self, nth: usize) -> String {
        self.addresses.lock().unwrap()[nth % 2].clone()
    }
}

/// What a reader has applied.
#[derive(Debug, Default, PartialEq, Eq)]
struct Applied {
    events: BTreeSet<String>,
    comments: BTreeMap<String, String>,
}

impl Applied {
    /// Applies an event unless it has been; this is all that a client has to do.
    fn apply(&mut self, event: &Value) {
        if !self.events.insert(event["id"].as_str().unwrap().to_owned()) {
            return;
        }
        assert_eq!(event["kind"], "CREATED", "{event:#}");
        let id = event["commentId"].as_str().unwrap().to_owned();
        let text = event["comment"]["body"]["text"].as_str().unwrap();
        let before = self.comments.insert(id, text.to_owned());
        assert_eq!(before, None, "a comment was created twice");
    }
}

/// Follows until everything is there; connects again wherever it can, from the last event it had.
async fn read(gateways: Arc<Gateways>, nth: usize, discussion: String, cursor: String) -> Applied {
    let (mut applied, mut last, mut attempt) = (Applied::default(), cursor, 0);
    while applied.comments.len() < WRITERS * TEXTS_EACH {
        let address = gateways.address(nth + attempt);
        attempt += 1;
        let Some(mut socket) = Socket::try_connect(&address, NOBODY).await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        socket.follow(&discussion, Some(&last)).await;
        while applied.comments.len() < WRITERS * TEXTS_EACH {
            let Said::Message(message) = socket.hear().await else {
                break;
            };
            if message["type"] != "next" {
                break;
            }
            let event = &message["payload"]["data"]["commentEvents"];
            applied.apply(event);
            event["id"].as_str().unwrap().clone_into(&mut last);
        }
    }
    applied
}

/// Writes its texts, each under a key, until each is known to be written.
async fn write(gateways: Arc<Gateways>, nth: usize, discussion: String, done: Arc<AtomicUsize>) {
    let client = crate::common::client();
    for text in 0..TEXTS_EACH {
        let body = format!("writer {nth}, text {text}");
        let key = format!("{nth}-{text}");
        let input = json!({"discussion": discussion, "body": body, "key": key});
        let mut attempt = 0;
        loop {
            let url = format!("http://{}/graphql", gateways.address(nth + attempt));
            attempt += 1;
            let asked = client
                .post(url)
                .header("x-dev-user", (1_000 + nth).to_string());
            let asked = asked.json(&json!({"query": CREATE, "variables": {"i": input}}));
            let answer = match asked.send().await {
                Ok(answer) => answer.json::<Value>().await.ok(),
                Err(_) => None,
            };
            let id = answer.map(|answer| answer["data"]["createComment"]["comment"]["id"].clone());
            if id.is_some_and(|id| id.is_string()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_ends_with_the_same_though_an_instance_is_killed() {
    let place = Place::new();
    let stays = place.serve(&["--seed"]).await;
    let dies = place.serve(&[]).await;
    let (discussion, cursor) = (known(&stays).await, cursor(&stays).await);
    let addresses = [stays.address().to_owned(), dies.address().to_owned()];
    let gateways = Arc::new(Gateways {
        addresses: std::sync::Mutex::new(addresses),
    });
    let mut readers = JoinSet::new();
    for nth in 0..READERS {
        let place = (Arc::clone(&gateways), discussion.clone(), cursor.clone());
        readers.spawn(async move { read(place.0, nth, place.1, place.2).await });
    }
    let (mut writers, done) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for nth in 0..WRITERS {
        let gateways = Arc::clone(&gateways);
        writers.spawn(write(gateways, nth, discussion.clone(), Arc::clone(&done)));
    }
    // In the middle of it one dies; its readers and writers go wherever they can.
    let wait_for = |part: usize| {
        let done = Arc::clone(&done);
        async move {
            while done.load(Ordering::SeqCst) < part {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    wait_for(WRITERS * TEXTS_EACH / 3).await;
    dies.kill();
    wait_for(WRITERS * TEXTS_EACH / 2).await;
    let again = place.serve(&[]).await;
    again
        .address()
        .clone_into(&mut gateways.addresses.lock().unwrap()[1]);
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    let mut first: Option<Applied> = None;
    while let Some(applied) = readers.join_next().await {
        let applied = applied.unwrap();
        assert_eq!(applied.comments.len(), WRITERS * TEXTS_EACH);
        assert_eq!(applied.events.len(), applied.comments.len());
        match &first {
            None => first = Some(applied),
            Some(first) => assert_eq!(*first, applied),
        }
    }
    // And the store says the same: each text is there once.
    let query = "{ discussion(url: \"https://blog.example.com/hello\") { counts { total } } }";
    let before = stays.graphql(None, query, json!({})).await;
    assert!(before["discussion"]["counts"]["total"].as_i64().unwrap() >= 300);
}
