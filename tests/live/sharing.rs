//! Work is shared: one execution of an event for all who ask the same, one read of a log a wake.

use serde_json::json;

use crate::client::{EVENTS, MODERATOR, NOBODY, Socket};
use crate::common::{Place, Server};
use crate::events::{known, post};

/// A number from `/metrics`; 0 when it was never counted.
pub(crate) async fn metric(server: &Server, name: &str) -> u64 {
    let (_, text) = server.get("/metrics").await;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |value| {
        let value = value.trim().split('.').next().unwrap();
        value.parse().unwrap_or_else(|_| panic!("{name}: {value}"))
    })
}

const EXECUTIONS: &str = "threadline_live_executions_total ";
const LOG_READS: &str = "threadline_live_log_reads_total ";

#[tokio::test]
async fn an_event_is_executed_once_for_everybody_who_asks_the_same() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let mut same = Vec::new();
    for _ in 0..40 {
        let mut socket = Socket::connect(&server, NOBODY).await;
        socket.follows(&server, &discussion).await;
        same.push(socket);
    }
    let first = post(&server, &discussion, None, "first").await;
    for socket in &mut same {
        socket.event().await;
    }
    assert_eq!(metric(&server, EXECUTIONS).await, 1);
    // Where somebody goes on from makes no difference, and what they missed is executed already.
    for _ in 0..10 {
        let mut socket = Socket::connect(&server, NOBODY).await;
        let after = first["eventId"].as_str();
        let variables = json!({"d": discussion, "after": after});
        socket.subscribed(&server, EVENTS, variables).await;
        same.push(socket);
    }
    post(&server, &discussion, None, "second").await;
    for socket in &mut same {
        assert_eq!(socket.event().await["comment"]["body"]["text"], "second");
    }
    assert_eq!(metric(&server, EXECUTIONS).await, 2);
    // Another text, or another role, is another execution.
    let mut moderator = Socket::connect(&server, MODERATOR).await;
    moderator.follows(&server, &discussion).await;
    let mut shorter = Socket::connect(&server, NOBODY).await;
    let query = EVENTS.replace("viewerCan { edit }", "");
    let variables = json!({"d": discussion, "after": null});
    shorter.subscribed(&server, &query, variables).await;
    post(&server, &discussion, None, "third").await;
    for socket in same.iter_mut().chain([&mut moderator, &mut shorter]) {
        assert_eq!(socket.event().await["comment"]["body"]["text"], "third");
    }
    assert_eq!(metric(&server, EXECUTIONS).await, 5);
}

#[tokio::test]
async fn a_log_is_read_once_a_wake_for_all_its_followers_and_not_at_all_for_nobody() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    post(&server, &discussion, None, "unheard").await;
    assert_eq!(metric(&server, LOG_READS).await, 0);
    let mut sockets = Vec::new();
    for who in [NOBODY, MODERATOR, NOBODY, MODERATOR] {
        let mut socket = Socket::connect(&server, who).await;
        socket.follows(&server, &discussion).await;
        sockets.push(socket);
    }
    let began = metric(&server, LOG_READS).await;
    for nth in 0..20 {
        post(&server, &discussion, None, &format!("text {nth}")).await;
        for socket in &mut sockets {
            socket.event().await;
        }
    }
    // One each, and one for every poll that fell into this time.
    let reads = metric(&server, LOG_READS).await - began;
    assert!((20..=24).contains(&reads), "{reads}");
}

#[tokio::test]
async fn what_nobody_follows_any_more_is_given_up() {
    let place = Place::new();
    let server = place.serve(&["--seed"]).await;
    let discussion = known(&server).await;
    let mut socket = Socket::connect(&server, NOBODY).await;
    socket.follows(&server, &discussion).await;
    assert_eq!(metric(&server, "threadline_live_subscribers ").await, 1);
    drop(socket);
    while metric(&server, "threadline_live_subscribers ").await > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // A write that nobody follows reads no log, once the topic has noticed.
    let mut quiet = false;
    while !quiet {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let before = metric(&server, LOG_READS).await;
        post(&server, &discussion, None, "to nobody").await;
        quiet = metric(&server, LOG_READS).await == before;
    }
}
