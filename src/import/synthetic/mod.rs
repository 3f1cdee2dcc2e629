//! A small made-up community for a first look: discussions in several languages and scripts.
//!
//! It is written like any import, under the source `synthetic`, so ids and times depend on this
//! module alone and a second run adds nothing: what was edited or deleted since stays as it is.
//! Nobody real wrote any of it.

mod bulk;
mod catalogue;
mod export;
mod people;
mod plan;
#[cfg(test)]
mod tests;
mod texts;

pub use self::bulk::{BULK_ENTITY_TYPE, BULK_PEOPLE, bulk};
pub use self::export::{ExportShape, write_export};

use self::catalogue::{TOPICS, Topic};
use self::people::PEOPLE;
use crate::domain::ids::UserId;
use crate::domain::urls::CanonicalUrl;
use crate::service::{Service, ServiceError, ServiceResult};
use crate::store::comments::{ImportDiscussion, ImportOutcome};

/// The address of the first discussion.
pub const KNOWN_URL: &str = "https://blog.example.com/hello";
/// The type and id of what the first discussion is about.
pub const KNOWN_ENTITY: (&str, &str) = ("post", "1");

/// The name under which imports of this module are known.
const SOURCE: &str = "synthetic";
/// Comments written in one transaction.
const BATCH_ROWS: usize = 200;

/// What a run of [`seed`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeded {
    /// Discussions of the community; the same each time.
    pub discussions: usize,
    /// Comments that were not there before.
    pub comments_new: usize,
}

/// Writes what is missing of the community, and indexes it so that threads serve at once. Needs a
/// worker lease.
pub async fn seed(service: &Service) -> ServiceResult<Seeded> {
    name_people(service).await?;
    let mut seeded = Seeded::default();
    for (number, topic) in TOPICS.iter().enumerate() {
        seeded.discussions += 1;
        seeded.comments_new += seed_topic(service, number, topic).await?;
    }
    Ok(seeded)
}

/// Everybody gets a name; who has one keeps it.
async fn name_people(service: &Service) -> ServiceResult<()> {
    let people = (1..).map(UserId::new).zip(PEOPLE);
    let ids: Vec<UserId> = people.clone().map(|(id, _)| id).collect();
    let users = &service.ports().users;
    let known = users.users(&ids).await?;
    for (id, name) in people {
        if !known.iter().any(|user| user.id == id) {
            users.set_name(id, name).await?;
        }
    }
    Ok(())
}

/// Returns how many comments are new.
async fn seed_topic(service: &Service, number: usize, topic: &Topic) -> ServiceResult<usize> {
    let (ports, settings) = (service.ports(), service.settings());
    let kept = &settings.url_query_parameters_kept;
    let url = topic.url.map(|url| CanonicalUrl::parse(url, kept));
    let url = url
        .transpose()
        .map_err(|error| ServiceError::bad_input("url", error))?;
    let (discussion, _) = ports
        .comments
        .import_discussion(ImportDiscussion {
            source: SOURCE.to_owned(),
            source_id: topic.slug.to_owned(),
            created_ms: plan::start_ms(number),
            title: topic.title.to_owned(),
            url: url.map(|url| url.as_str().to_owned()),
            entity: topic
                .entity
                .map(|(kind, id)| (kind.to_owned(), id.to_owned())),
            closed: topic.is_closed,
            depth_limit: settings.depth_limit,
            kept: None,
        })
        .await?;
    let mut comments = plan::comments(number, topic).into_iter().peekable();
    let mut new = 0;
    while comments.peek().is_some() {
        let batch = comments.by_ref().take(BATCH_ROWS).collect();
        let marker = ports.ids.mint()?;
        let comments_max = settings.comments_per_discussion_max;
        let outcomes = ports
            .comments
            .import_comments(discussion.id, SOURCE, batch, marker, comments_max)
            .await?;
        new += outcomes.iter().filter(|outcome| is_new(outcome)).count();
    }
    for discussion in service.discussions(&[discussion.id]).await? {
        if !discussion.layout.complete {
            service.build(discussion.id, discussion.layout).await?;
        }
    }
    Ok(new)
}

fn is_new(outcome: &ImportOutcome) -> bool {
    match outcome {
        ImportOutcome::Imported(_)
        | ImportOutcome::ParentMissing(_)
        | ImportOutcome::Flattened(_) => true,
        ImportOutcome::AlreadyThere(_) | ImportOutcome::DiscussionFull => false,
    }
}
