//! Subscriptions: who asked for what, run once for everybody who asked the same.
//!
//! A subscription is probed first: the executor checks the document and tells which discussion is
//! meant. Then it joins the [`group`] of all that sent the same document with the same variables
//! under the same role; whoever was away is given what they missed before. Events are executed one
//! by one, each as its own operation over what is stored at that moment.

mod cache;
mod event;
mod group;
mod member;
mod render;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_graphql::Response;
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};

use event::{Probe, Source};
pub(super) use event::{Subscription, cursor};
use group::{Group, Inbox};
use member::Member;

use super::failure::{bad_input, failure};
use super::load::Loader;
use super::{ThreadlineSchema, refused_with};
use crate::api::http::{LiveEvent, LiveStream, PreparedRequest};
use crate::domain::ids::{DiscussionId, EventId, UserId};
use crate::domain::viewer::Role;
use crate::service::live::Replay;
use crate::service::reading::DiscussionRef;
use crate::service::{Request, Service};

/// Payloads that wait for one subscriber at most; one that has more waiting is too slow.
const WAITING_MAX: usize = 256;

/// What one execution serves: the same text, the same variables, the same reader's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GroupKey {
    discussion: DiscussionId,
    role: Role,
    operation: [u8; 32],
}

/// The live part of the schema in this process. Clones are one.
#[derive(Clone, Debug)]
pub(super) struct Hub(Arc<Inner>);

struct Inner {
    schema: ThreadlineSchema,
    service: Service,
    groups: Mutex<HashMap<GroupKey, Arc<Group>>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Hub {
    pub(super) fn new(schema: ThreadlineSchema, service: Service) -> Self {
        Self(Arc::new(Inner {
            schema,
            service,
            groups: Mutex::default(),
        }))
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<GroupKey, Arc<Group>>> {
        // Nothing panics while it is held, and a map is whole after every call.
        self.0.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a subscription for one reader. `Err`: it cannot run, and why.
    pub(super) async fn subscribe(
        &self,
        prepared: PreparedRequest,
        request: Request,
    ) -> Result<LiveStream, Response> {
        let service = &self.0.service;
        let role = request.role();
        // Who moderates sees through their own blocks.
        let reader = request.viewer.map(|viewer| viewer.user_id);
        let reader = reader.filter(|_| role < Role::Moderator);
        let wanted = self.probe(&prepared, request).await?;
        let reference = DiscussionRef::Id(wanted.discussion);
        let found = service.discussion(&reference).await.map_err(failed)?;
        if found.is_none() {
            let error = bad_input("discussion", "there is no discussion by this id");
            return Err(refused_with(error));
        }
        let operation = Operation::new(prepared);
        let key = GroupKey {
            discussion: wanted.discussion,
            role,
            operation: operation.hash(wanted.after_variable.as_deref()),
        };
        // First the group, then what was missed: in between nothing is lost, and what comes both
        // ways is sorted out by its id.
        let (group, inbox) = self.join(key, &operation, reader).await?;
        let missed = match wanted.after {
            None => Vec::new(),
            Some(after) => match service.replay(wanted.discussion, after).await {
                Ok(Replay::Entries(entries)) => {
                    group.cache().learn(&entries);
                    entries.into_iter().map(Source::Entry).collect()
                }
                Ok(Replay::Resync(from)) => vec![Source::Resync(from)],
                Err(error) => return Err(failed(error)),
            },
        };
        let subscriber = Member::new(self.clone(), group, inbox, missed);
        Ok(subscriber.into_stream().boxed())
    }

    /// Runs the operation without an event: finds what is wrong with it and what it asks for.
    async fn probe(
        &self,
        prepared: &PreparedRequest,
        request: Request,
    ) -> Result<event::Wanted, Response> {
        let loader = Loader {
            service: self.0.service.clone(),
            request: Arc::new(request),
        };
        let probe = Probe::default();
        let asked = Operation::graphql(prepared)
            .data(loader)
            .data(probe.clone());
        let mut answers = self.0.schema.execute_stream(asked).boxed();
        if let Some(mut refused) = answers.next().await {
            // Nothing was resolved, whatever the executor says about where.
            for error in &mut refused.errors {
                error.path.clear();
            }
            return Err(refused);
        }
        probe.wanted().ok_or_else(|| {
            tracing::error!("a subscription passed its probe and asked for nothing");
            refused_with(super::failure::not_loaded("subscription"))
        })
    }

    async fn join(
        &self,
        key: GroupKey,
        operation: &Operation,
        reader: Option<UserId>,
    ) -> Result<(Arc<Group>, Inbox), Response> {
        // Followed first, for a group that may have to begin: following waits, the lock must not.
        let following = self.0.service.follow(key.discussion).await;
        let following = following.map_err(failed)?;
        let mut groups = self.groups();
        if let Some(group) = groups.get(&key) {
            return Ok((Arc::clone(group), group.admit(reader)));
        }
        let group = Arc::new(Group::new(key, operation.clone()));
        groups.insert(key, Arc::clone(&group));
        let inbox = group.admit(reader);
        drop(groups);
        let running = group::run(self.clone(), Arc::clone(&group), following);
        self.0.service.ports().tasks.spawn(running);
        Ok((group, inbox))
    }

    /// Ends a group that nobody is in. Newcomers are admitted under the same lock.
    fn is_left(&self, group: &Group) -> bool {
        let mut groups = self.groups();
        let is_left = group.is_empty();
        if is_left {
            groups.remove(&group.key);
        }
        is_left
    }
}

/// A subscription's operation, to be run again and again.
#[derive(Clone, Debug)]
struct Operation(Arc<PreparedRequest>);

impl Operation {
    fn new(prepared: PreparedRequest) -> Self {
        Self(Arc::new(prepared))
    }

    fn graphql(prepared: &PreparedRequest) -> async_graphql::Request {
        prepared.clone().into_graphql()
    }

    /// What tells two operations apart. Where a subscriber goes on from is their own affair: the
    /// variable that says so and nothing else does not count.
    fn hash(&self, after: Option<&str>) -> [u8; 32] {
        let query = &self.0.query;
        let after = after.filter(|name| uses_of_variable(query, name) <= 2);
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update(text.len().to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(&self.0.query);
        part(self.0.operation_name.as_deref().unwrap_or_default());
        for (name, value) in self.0.variables.iter() {
            if Some(name.as_str()) != after {
                part(name);
                part(&value.to_string());
            }
        }
        hash.finalize().into()
    }
}

/// How often a text names a variable, its definition included.
fn uses_of_variable(text: &str, name: &str) -> usize {
    let after_dollars = text.split('$').skip(1);
    let is_name = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
    after_dollars
        .filter_map(|rest| rest.strip_prefix(name))
        .filter(|rest| !rest.starts_with(is_name))
        .count()
}

fn failed(error: crate::service::ServiceError) -> Response {
    refused_with(failure(error))
}

/// One event for one kind of reader, executed.
#[derive(Clone, Debug)]
struct Rendered {
    event: EventId,
    live: LiveEvent,
    /// Whose text is in it: who blocks one of them gets another.
    authors: Arc<HashSet<UserId>>,
}
