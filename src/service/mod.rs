//! The rules: who may see and do what, which mode a reader gets, what a page shows, idempotency.
//!
//! Plain structs over the ports; nothing here knows an engine or a transport. Stored rows end
//! here: what leaves is a [`CommentView`](crate::domain::visibility::CommentView) made for one
//! reader.

pub mod auditing;
pub mod bans;
pub mod blocks;
pub mod bodies;
pub mod context;
pub mod erasing;
pub mod error;
pub mod gate;
pub mod indexing;
pub mod lanes;
pub mod lease;
pub mod live;
pub mod moderating;
pub mod pace;
pub mod pages;
pub mod people;
mod posting;
pub mod reading;
pub mod replies;
pub mod reports;
pub mod request;
mod scan;
pub mod threads;
pub mod writing;

use std::sync::Arc;
use std::time::Duration;

pub use error::{ServiceError, ServiceResult};
pub use request::Request;

use crate::domain::clock::Clock;
use crate::domain::ids::generator::IdGenerator;
use crate::domain::text::TextLimits;
use crate::store::comments::CommentStore;
use crate::store::flags::FlagStore;
use crate::store::states::StateStore;
use crate::store::users::UserStore;
use crate::store::wake::WakeBus;
use crate::tasks::Tasks;

/// Limits and policies. Sizes are in rows unless the name says otherwise.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What a body may be.
    pub text: TextLimits,
    /// Comments a discussion may hold.
    pub comments_per_discussion_max: i64,
    /// Rows of a page when the client names no size.
    pub page_size_default: u32,
    /// Rows of a page at most.
    pub page_size_max: u32,
    /// The largest discussion whose index is built within a read.
    pub index_on_read_max: i64,
    /// How long a posting key is remembered.
    pub posting_key_ttl: Duration,
    /// Whether a first comment may open a discussion; otherwise only moderators do.
    pub first_comment_opens_discussion: bool,
    /// Query parameters that are part of an address.
    pub url_query_parameters_kept: Vec<String>,
    /// Depth limit of new layouts: 1 is "roots and replies".
    pub depth_limit: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            text: TextLimits::default(),
            comments_per_discussion_max: 1_000_000,
            page_size_default: 20,
            page_size_max: 100,
            index_on_read_max: 1_000,
            posting_key_ttl: Duration::from_hours(24),
            first_comment_opens_discussion: true,
            url_query_parameters_kept: Vec::new(),
            depth_limit: 1,
        }
    }
}

/// The ports and tools the rules work with.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Discussions and comments.
    pub comments: Arc<dyn CommentStore>,
    /// People.
    pub users: Arc<dyn UserStore>,
    /// Who is in which state towards what.
    pub states: Arc<dyn StateStore>,
    /// Flags.
    pub flags: Arc<dyn FlagStore>,
    /// Says that logs have news.
    pub wake: Arc<dyn WakeBus>,
    /// Minting.
    pub ids: Arc<IdGenerator>,
    /// Time.
    pub clock: Clock,
    /// What outlives a request.
    pub tasks: Tasks,
}

/// Everything a transport may ask for. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    ports: Arc<Ports>,
    settings: Arc<Settings>,
    /// One index build of a discussion at a time in this process.
    builds: indexing::Builds,
    people: people::KnownPeople,
    blocks: blocks::KnownBlocks,
    bodies: bodies::Bodies,
    gate: Arc<gate::Gate>,
    live: live::Live,
}

impl Service {
    /// The rules over some ports.
    #[must_use]
    pub fn new(ports: Ports, settings: Settings) -> Self {
        Self {
            ports: Arc::new(ports),
            settings: Arc::new(settings),
            builds: indexing::Builds::default(),
            people: people::KnownPeople::default(),
            blocks: blocks::KnownBlocks::default(),
            bodies: bodies::Bodies::default(),
            gate: Arc::default(),
            live: live::Live::default(),
        }
    }

    /// The limits in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The ports, for what runs beside requests.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }
}
