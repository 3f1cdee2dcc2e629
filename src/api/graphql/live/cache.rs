//! Events that a group has executed lately, for members who come back and missed them.
//!
//! An event's bytes show things as they were when it was executed. So whenever a change is learned of
//! that was not known, everything kept is dropped: what was hidden since must not be told again.
//! Whoever replays a log has read it first, and so learns of every change before using anything.

use std::collections::{BTreeMap, BTreeSet};

use super::Rendered;
use crate::domain::ids::EventId;
use crate::domain::live::{OVERLAP_MS, REPLAY_MAX, overlap_from};
use crate::store::comments::{LogEntry, LogKind};

/// Which state of knowledge an execution belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation(u64);

/// An event that was executed lately. `None`: readers of this kind must not know of it.
#[derive(Clone, Debug)]
pub(super) struct Kept(pub(super) Option<Rendered>);

/// What is kept of a group's events.
#[derive(Debug, Default)]
pub(super) struct Cache {
    generation: u64,
    changes: BTreeSet<EventId>,
    /// `None`: readers of this kind must not know of it.
    rendered: BTreeMap<EventId, Option<Rendered>>,
}

impl Cache {
    /// Learns of entries; call it before anything is executed or taken for them.
    pub(super) fn learn(&mut self, entries: &[LogEntry]) {
        let mut is_news = false;
        for entry in entries {
            if entry.kind != LogKind::Created {
                is_news |= self.changes.insert(entry.event_id);
            }
        }
        if is_news {
            self.rendered.clear();
            self.generation = self.generation.wrapping_add(1);
        }
    }

    pub(super) const fn generation(&self) -> Generation {
        Generation(self.generation)
    }

    pub(super) fn get(&self, event: EventId) -> Option<Kept> {
        let kept = self.rendered.get(&event)?;
        Some(Kept(kept.clone()))
    }

    /// Keeps what was executed, unless something was learned since `begun`.
    pub(super) fn put(
        &mut self,
        begun: Generation,
        event: EventId,
        rendered: Option<Rendered>,
        now_ms: i64,
    ) {
        if begun != self.generation() {
            return;
        }
        self.rendered.insert(event, rendered);
        while self.rendered.len() > REPLAY_MAX {
            self.rendered.pop_first();
        }
        let floor = overlap_from(now_ms - OVERLAP_MS);
        self.rendered = self.rendered.split_off(&floor);
        self.changes = self
            .changes
            .split_off(&overlap_from(now_ms - 60 * OVERLAP_MS));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::http::LiveEvent;
    use crate::domain::ids::{CommentId, first_id_of_ms};

    const NOW_MS: i64 = 1_800_000_000_000;

    fn entry(ms: i64, kind: LogKind) -> LogEntry {
        let id = first_id_of_ms(NOW_MS + ms);
        LogEntry {
            event_id: EventId::new(id),
            kind,
            comment_id: Some(CommentId::new(id)),
        }
    }

    fn kept(cache: &mut Cache, entry: LogEntry) -> Option<Rendered> {
        let rendered = Some(Rendered {
            event: entry.event_id,
            live: LiveEvent {
                id: "e".into(),
                payload: "{}".into(),
            },
            authors: Arc::default(),
        });
        cache.put(cache.generation(), entry.event_id, rendered, NOW_MS);
        cache.get(entry.event_id).and_then(|kept| kept.0)
    }

    #[test]
    fn a_change_that_was_not_known_drops_everything_kept_and_a_known_one_nothing() {
        let mut cache = Cache::default();
        let (written, hidden) = (entry(0, LogKind::Created), entry(9, LogKind::StateChanged));
        cache.learn(&[written]);
        assert!(kept(&mut cache, written).is_some());
        cache.learn(&[written, entry(5, LogKind::Created)]);
        assert!(cache.get(written.event_id).is_some());
        cache.learn(&[written, hidden]);
        assert!(cache.get(written.event_id).is_none());
        assert!(kept(&mut cache, written).is_some());
        cache.learn(&[written, hidden]);
        assert!(cache.get(written.event_id).is_some());
    }

    #[test]
    fn what_was_executed_before_a_change_was_learned_of_is_not_kept() {
        let mut cache = Cache::default();
        let written = entry(0, LogKind::Created);
        let begun = cache.generation();
        cache.learn(&[entry(9, LogKind::Edited)]);
        cache.put(begun, written.event_id, None, NOW_MS);
        assert!(cache.get(written.event_id).is_none());
    }

    #[test]
    fn only_so_many_and_only_of_the_last_minutes_are_kept() {
        let mut cache = Cache::default();
        let many = i64::try_from(REPLAY_MAX).unwrap() + 50;
        for ms in 0..many {
            kept(&mut cache, entry(ms, LogKind::Created));
        }
        assert_eq!(cache.rendered.len(), REPLAY_MAX);
        assert!(kept(&mut cache, entry(-3 * OVERLAP_MS, LogKind::Created)).is_none());
    }
}
