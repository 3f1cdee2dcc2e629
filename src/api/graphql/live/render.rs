//! Executing an event: once for a group, and once more for those who block the same of its authors.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};

use super::event::Source;
use super::group::{Group, Instead};
use super::{Hub, Operation, Rendered};
use crate::api::graphql::load::Loader;
use crate::api::http::{LiveEnd, LiveEvent, live_payload};
use crate::domain::ids::UserId;
use crate::domain::ids::opaque::encode_event;

/// How long one execution may take. A store that hangs must not hold everybody for ever.
const EXECUTION_MAX: Duration = Duration::from_secs(10);

impl Hub {
    /// What readers among the members who block somebody get in place of an event, executed once for all who
    /// block the same of its authors.
    pub(super) async fn instead(
        &self,
        group: &Group,
        source: Source,
        event: &Rendered,
    ) -> HashMap<UserId, Instead> {
        let mut instead = HashMap::new();
        let mut executed: HashMap<BTreeSet<UserId>, Instead> = HashMap::new();
        if event.authors.is_empty() {
            return instead;
        }
        for reader in group.blockers() {
            let blocked = match self.blocked_authors(reader, event).await {
                Ok(blocked) if blocked.is_empty() => continue,
                Ok(blocked) => blocked,
                Err(why) => {
                    instead.insert(reader, Instead::End(why));
                    continue;
                }
            };
            let one = match executed.get(&blocked) {
                Some(one) => one.clone(),
                None => self.without(group, source, &blocked).await,
            };
            executed.insert(blocked, one.clone());
            instead.insert(reader, one);
        }
        instead
    }

    /// The authors of an event whom somebody blocks.
    async fn blocked_authors(
        &self,
        reader: UserId,
        event: &Rendered,
    ) -> Result<BTreeSet<UserId>, LiveEnd> {
        match self.0.service.blocked_by(reader).await {
            Ok(blocked) => Ok(event.authors.intersection(&blocked).copied().collect()),
            Err(error) => {
                tracing::warn!(%error, "blocks cannot be read");
                Err(LiveEnd::Failed)
            }
        }
    }

    /// An event for those who block these people.
    async fn without(&self, group: &Group, source: Source, blocked: &BTreeSet<UserId>) -> Instead {
        let blocked: HashSet<UserId> = blocked.iter().copied().collect();
        match self.render(group, source, Arc::new(blocked)).await {
            Ok(Some(event)) => Instead::Event(event),
            Ok(None) => Instead::Nothing,
            Err(why) => Instead::End(why),
        }
    }

    /// An event for one member: what everybody gets, or what takes its place for them.
    pub(super) async fn event_for(
        &self,
        group: &Group,
        source: Source,
        reader: Option<UserId>,
    ) -> Result<Option<Rendered>, LiveEnd> {
        let Some(event) = self.event(group, source).await? else {
            return Ok(None);
        };
        let Some(reader) = reader else {
            return Ok(Some(event));
        };
        let blocked = self.blocked_authors(reader, &event).await?;
        if blocked.is_empty() {
            return Ok(Some(event));
        }
        match self.without(group, source, &blocked).await {
            Instead::Event(event) => Ok(Some(event)),
            Instead::Nothing => Ok(None),
            Instead::End(why) => Err(why),
        }
    }

    /// An event for a group, executed now or lately. `None`: its readers must not know of it.
    pub(super) async fn event(
        &self,
        group: &Group,
        source: Source,
    ) -> Result<Option<Rendered>, LiveEnd> {
        let event = source.event();
        let begun = {
            let cache = group.cache();
            if let Some(kept) = cache.get(event) {
                return Ok(kept.0);
            }
            cache.generation()
        };
        let rendered = self.render(group, source, Arc::default()).await?;
        let now_ms = self.0.service.live_cursor().time_ms();
        if matches!(source, Source::Entry(_)) {
            group.cache().put(begun, event, rendered.clone(), now_ms);
        }
        Ok(rendered)
    }

    async fn render(
        &self,
        group: &Group,
        source: Source,
        blocked: Arc<HashSet<UserId>>,
    ) -> Result<Option<Rendered>, LiveEnd> {
        let (service, key) = (&self.0.service, group.key);
        let framed = Arc::new(service.event_request(key.role, blocked));
        let loader = Loader {
            service: service.clone(),
            request: Arc::clone(&framed),
        };
        let operation = Operation::graphql(&group.operation.0);
        let request = operation.data(loader).data(source);
        metrics::counter!("threadline_live_executions_total").increment(1);
        let answers = self.0.schema.execute_stream(request);
        let answer = async { answers.boxed().next().await };
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = match tokio::time::timeout(EXECUTION_MAX, answer).await {
            Ok(Ok(Some(answer))) => answer,
            Ok(Ok(None)) => return Ok(None),
            // The panic hook has written where and why.
            Ok(Err(_)) => return Err(LiveEnd::Failed),
            Err(_) => {
                tracing::warn!(discussion = %key.discussion, "an event took too long");
                return Err(LiveEnd::Failed);
            }
        };
        if answer.data == async_graphql::Value::Null {
            for error in &answer.errors {
                tracing::warn!(discussion = %key.discussion, %error, "an event could not be told");
            }
            return Err(LiveEnd::Failed);
        }
        let event = source.event();
        let payload = live_payload(answer).ok_or(LiveEnd::Failed)?;
        Ok(Some(Rendered {
            event,
            live: LiveEvent {
                id: encode_event(key.discussion, event).into(),
                payload: payload.into(),
            },
            authors: Arc::new(framed.shown_authors()),
        }))
    }
}
