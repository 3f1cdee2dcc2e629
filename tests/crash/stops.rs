//! A polite end in the middle of fifty people's writing.

use std::time::Duration;

use fastrand::Rng;

use crate::client::Client;
use crate::common::Place;
use crate::crowd::{Crowd, Moment};
use crate::files::Copy;
use crate::ledger::Ledger;

pub(crate) async fn under_load(mut rng: Rng) {
    let place = Place::new();
    let mut ledger = Ledger {
        urls: vec![
            "https://stop.example/1".to_owned(),
            "https://stop.example/2".to_owned(),
        ],
        entries: Vec::new(),
    };
    let server = place.serve(&[]).await;
    let client = Client::of(&server);
    let enough = rng.usize(50..400);
    let moment = Moment {
        round: 0,
        writers: 50,
        enough,
        later: Duration::from_micros(rng.u64(0..20_000)),
    };
    let end = async || {
        server.signal("TERM");
        server.ended().await.0
    };
    let crowd = Crowd::of(&ledger, moment);
    let (tallies, status) = crowd.write(&client, &mut ledger, &mut rng, end).await;
    assert_eq!(status.code(), Some(0), "{tallies:?}");
    Copy::of(&place).is_sound().await;

    // Whoever got no answer had sent it on a connection that was being closed as an idle one, or
    // was told that it could not be done: either way nothing was done, and saying it again does it.
    let server = place.serve(&[]).await;
    let found = ledger.check(&Client::of(&server)).await;
    println!("  SIGTERM after {enough}: {tallies}; {found}");
    let there = [
        found.unanswered_but_there,
        found.changes_unanswered_but_there,
    ];
    assert_eq!(there, [0, 0], "done and not said: {tallies:?}");
    assert_eq!(found.unanswered, tallies.unanswered.len());
    server.stop().await;
}
