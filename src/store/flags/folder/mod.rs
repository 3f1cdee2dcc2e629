//! Flags from a folder: one TOML file a flag, and a state file elsewhere that wins over it.
//!
//! The folder is watched, and read again every few seconds, since watches can be lost: a folder that
//! was replaced, a network mount, a full queue. Each reading builds a whole set and swaps it.
//!
//! Invariant: only the task (or a caller of [`FolderFlags::rescan`], under the same lock) builds sets,
//! each from the one before it; readers take no lock.

mod load;
#[cfg(test)]
mod tests;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;

use self::load::Loader;
use super::{FlagStore, FlagsHealth, RejectedFlag};
use crate::domain::clock::Clock;
use crate::domain::flags::FlagSet;
use crate::tasks::Tasks;

/// Where the flags lie, and how often to look.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Holds `*.toml`, one flag each, named after its key.
    pub folder: PathBuf,
    /// `flags.state.toml` in the data folder; need not exist.
    pub state_file: PathBuf,
    /// How often both are read without a sign of change.
    pub rescan: Duration,
    /// How long the folder must be quiet before a change is read: editors write in several steps.
    pub debounce: Duration,
}

impl FolderOptions {
    /// The usual times: a reading every 2 s, and 50 ms of quiet after a change.
    pub fn new(folder: impl Into<PathBuf>, state_file: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            state_file: state_file.into(),
            rescan: Duration::from_secs(2),
            debounce: Duration::from_millis(50),
        }
    }
}

/// Why the flags cannot be served at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder does not exist or cannot be listed.
    #[error("the flags folder cannot be read: {0}")]
    Folder(String),
    /// The state file is there but broken. It may hold a kill, so starting without it could bring
    /// back what was switched off in an emergency.
    #[error("the state of the flags cannot be read, and it may hold a kill: {0}")]
    State(String),
}

/// The embedded flag store. Clones share one set.
#[derive(Clone, Debug)]
pub struct FolderFlags(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    loader: Mutex<Loader>,
    live: ArcSwap<Live>,
    /// When both sources were last read in full, by the clock's monotonic hand.
    read_at_ms: AtomicU64,
    clock: Clock,
}

/// What readers see, swapped as one.
#[derive(Debug, Default)]
struct Live {
    set: Arc<FlagSet>,
    rejected: Vec<RejectedFlag>,
    source_error: Option<String>,
}

impl FolderFlags {
    /// Reads the folder and follows it until the tasks stop. Blocks for the first reading; must be
    /// called within a runtime. A broken flag is not an error: it is absent, and `health` says so.
    pub fn open(options: FolderOptions, clock: &Clock, tasks: &Tasks) -> Result<Self, OpenError> {
        let store = Self(Arc::new(Inner {
            loader: Mutex::new(Loader::new(
                options.folder.clone(),
                options.state_file.clone(),
            )),
            live: ArcSwap::default(),
            read_at_ms: AtomicU64::new(0),
            clock: clock.clone(),
        }));
        // Watching starts before reading, so that a change between the two is not missed.
        let watch = watch::Watch::start(&options);
        store.first_reading()?;
        tasks.spawn(watch.follow(store.clone(), options, tasks.clone()));
        Ok(store)
    }

    fn first_reading(&self) -> Result<(), OpenError> {
        let mut loader = self.0.loader.lock().unwrap_or_else(PoisonError::into_inner);
        loader.read_states().map_err(OpenError::State)?;
        if let Some(problem) = loader.state_problems().into_iter().next() {
            return Err(OpenError::State(format!(
                "{}: {}",
                problem.place, problem.error
            )));
        }
        loader.read_flags().map_err(OpenError::Folder)?;
        self.publish(&mut loader, None);
        Ok(())
    }

    /// Reads both sources now and swaps the set if anything changed. Blocks for file reads. A file
    /// that is gone counts as deleted when a second reading does not find it either: some editors
    /// delete and write anew. Returns whether such a second reading is due.
    pub fn rescan(&self) -> bool {
        let mut loader = self.0.loader.lock().unwrap_or_else(PoisonError::into_inner);
        // Both are read even if the first fails: a kill must not wait for a folder to come back.
        let states = loader.read_states();
        let flags = loader.read_flags();
        self.publish(&mut loader, states.and(flags).err());
        loader.has_missing()
    }

    fn publish(&self, loader: &mut Loader, source_error: Option<String>) {
        let before = self.0.live.load();
        let (set, rejected) = loader.build(&before.set);
        if source_error.is_none() {
            self.0.read_at_ms.store(self.now_ms(), Ordering::Release);
        }
        if set.revision() == before.set.revision()
            && rejected == before.rejected
            && source_error == before.source_error
        {
            return;
        }
        report(&before, &set, &rejected, source_error.as_deref());
        self.0.live.store(Arc::new(Live {
            set: Arc::new(set),
            rejected,
            source_error,
        }));
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.0.clock.monotonic().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Logs what changed, once.
fn report(before: &Live, set: &FlagSet, rejected: &[RejectedFlag], source_error: Option<&str>) {
    for one in rejected.iter().filter(|one| !before.rejected.contains(one)) {
        tracing::warn!(
            flag.place = one.place,
            flag.keeps_last_good = one.keeps_last_good,
            "flag rejected: {}",
            one.error
        );
    }
    match source_error {
        Some(error) if before.source_error.as_deref() != Some(error) => {
            tracing::warn!("flags cannot be read, the last ones are served on: {error}");
        }
        Some(_) | None => {}
    }
    if set.revision() != before.set.revision() {
        tracing::info!(
            flags.revision = set.revision(),
            flags.count = set.len(),
            "flags are at revision {}",
            set.revision()
        );
    }
}

impl FlagStore for FolderFlags {
    fn snapshot(&self) -> Arc<FlagSet> {
        Arc::clone(&self.0.live.load().set)
    }

    fn health(&self) -> FlagsHealth {
        let live = self.0.live.load();
        FlagsHealth {
            revision: live.set.revision(),
            flags: live.set.len(),
            rejected: live.rejected.clone(),
            stale_ms: self
                .now_ms()
                .saturating_sub(self.0.read_at_ms.load(Ordering::Acquire)),
            source_error: live.source_error.clone(),
        }
    }
}
