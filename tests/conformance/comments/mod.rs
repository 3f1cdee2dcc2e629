//! Cases of port `comments`, one file a topic.

mod claims;
mod counts;
mod creates;
mod discussions;
mod edits;
mod imports;
mod index;
pub(crate) mod kit;
mod layouts;
mod moderation;
mod people;
mod places;
mod queue_property;
mod reports;
mod restores;
mod runs;
mod slices;
mod states;
mod walking;

use libtest_mimic::Trial;
use threadline::store::comments::CommentStore;

use crate::engines::{Engine, Port};
use crate::env::{self, Case, Env};
use crate::property;

/// What every case of this port gets.
pub(crate) type Comments = Env<dyn CommentStore>;
/// The list a file of cases gives.
pub(crate) type Cases = &'static [Case<dyn CommentStore>];

/// Every case of the port.
pub(crate) fn cases() -> impl Iterator<Item = &'static Case<dyn CommentStore>> {
    [
        creates::CASES,
        claims::CASES,
        edits::CASES,
        states::CASES,
        slices::CASES,
        counts::CASES,
        runs::CASES,
        discussions::CASES,
        index::CASES,
        layouts::CASES,
        people::CASES,
        imports::CASES,
        restores::CASES,
        places::CASES,
        reports::CASES,
        queue_property::CASES,
        moderation::CASES,
        walking::CASES,
        property::CASES,
    ]
    .into_iter()
    .flatten()
}

pub(crate) fn trials(engine: &'static dyn Engine) -> Vec<Trial> {
    env::trials(
        engine,
        Port::Comments,
        |place, clock, tasks| Box::pin(place.comments(clock, tasks)),
        cases(),
    )
}
