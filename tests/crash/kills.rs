//! Kills in the middle of fifty people's writing, again and again on one store.

use fastrand::Rng;

use crate::client::Client;
use crate::common::Place;
use crate::crowd::Crowd;
use crate::files::Copy;
use crate::ledger::Ledger;

const ROUNDS: usize = 3;
const WRITERS: usize = 50;

pub(crate) async fn rounds(mut rng: Rng) {
    let place = Place::new();
    let urls = (0..5).map(|number| format!("https://crash.example/{number}"));
    let mut ledger = Ledger {
        urls: urls.collect(),
        entries: Vec::new(),
    };
    let mut server = place.serve(&[]).await;
    for round in 0..ROUNDS {
        let client = Client::of(&server);
        let enough = rng.usize(1..400);
        let crowd = Crowd::of(&ledger, enough);
        let (tallies, ()) = crowd
            .write(
                &client,
                &mut ledger,
                (WRITERS, round),
                &mut rng,
                async || server.kill(),
            )
            .await;
        Copy::of(&place).is_sound().await;
        server = place.serve(&[]).await;
        let found = ledger.check(&Client::of(&server)).await;
        println!("  round {round}, killed after {enough}: {tallies}; {found}");
        assert!(found.acknowledged > 0);
    }
    server.stop().await;
    let copy = Copy::of(&place);
    copy.is_sound().await;
    let rows = copy.texts("SELECT count(*) || '' FROM comments").await;
    let known = ledger.entries.iter().filter(|entry| entry.id.is_some());
    assert_eq!(rows, [known.count().to_string()]);
}
