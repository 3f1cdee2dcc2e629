//! Kills in the middle of fifty people's writing, again and again on one store.

use std::time::Duration;

use fastrand::Rng;

use crate::client::Client;
use crate::common::Place;
use crate::crowd::{Crowd, Moment};
use crate::files::Copy;
use crate::ledger::Ledger;

/// Kills at the very moment of an acknowledgement: too early an answer is caught here.
const SUDDEN: usize = 12;
/// Kills anywhere, with everything looked at and every post repeated after each.
const ANYWHERE: usize = 3;
const WRITERS: usize = 50;
/// Kills of an import or a build; a soak asks for more.
const KILLS: usize = 5;

/// How often an import or a build is killed.
pub(crate) fn how_often() -> usize {
    let asked = std::env::var("THREADLINE_CRASH_KILLS").ok();
    asked.map_or(KILLS, |text| text.parse().unwrap())
}

pub(crate) async fn rounds(mut rng: Rng) {
    let place = Place::new();
    let urls = (0..5).map(|number| format!("https://crash.example/{number}"));
    let mut ledger = Ledger {
        urls: urls.collect(),
        entries: Vec::new(),
    };
    let mut server = place.serve(&[]).await;
    for round in 0..SUDDEN + ANYWHERE {
        let is_sudden = round < SUDDEN;
        let (enough, later) = if is_sudden {
            (rng.usize(1..60), Duration::ZERO)
        } else {
            let later = Duration::from_micros(rng.u64(0..20_000));
            (rng.usize(1..400), later)
        };
        let moment = Moment {
            round,
            writers: WRITERS,
            enough,
            later,
        };
        let client = Client::of(&server);
        let end = async || server.kill();
        let crowd = Crowd::of(&ledger, moment);
        let (tallies, ()) = crowd.write(&client, &mut ledger, &mut rng, end).await;
        Copy::of(&place).is_sound().await;
        server = place.serve(&[]).await;
        let client = Client::of(&server);
        if is_sudden {
            ledger.settle(&client).await;
        } else {
            let found = ledger.check(&client).await;
            println!("  round {round}, killed after {enough}: {tallies}; {found}");
            assert!(found.acknowledged > 0);
        }
    }
    server.stop().await;
    let copy = Copy::of(&place);
    copy.is_sound().await;
    let rows = copy.texts("SELECT count(*) || '' FROM comments").await;
    let known = ledger.entries.iter().filter(|entry| entry.id.is_some());
    assert_eq!(rows, [known.count().to_string()]);
}
