//! Waits for changes of the folder and the state file, and has them read.
//!
//! Watching only wakes early; the timed reading is what promises that a change is seen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::{FolderFlags, FolderOptions};
use crate::tasks::Tasks;

/// How many times a change may put off a reading, so that steady writing cannot hold it up for ever.
const DEBOUNCE_ROUNDS_MAX: u32 = 10;

#[derive(Debug)]
pub(super) struct Watch {
    /// Dropped with the task; watching ends then. `None`: only the timed reading works.
    _watcher: Option<RecommendedWatcher>,
    changed: Arc<Notify>,
}

impl Watch {
    /// Starts to watch. A watch that cannot be had is logged, not an error.
    pub(super) fn start(options: &FolderOptions) -> Self {
        let changed = Arc::new(Notify::new());
        let watcher = watcher(options, Arc::clone(&changed))
            .inspect_err(|error| {
                tracing::warn!("flags are not watched, only read every so often: {error}");
            })
            .ok();
        Self {
            _watcher: watcher,
            changed,
        }
    }

    /// Reads after each change and each `rescan` until told to stop.
    pub(super) async fn follow(self, store: FolderFlags, options: FolderOptions, tasks: Tasks) {
        // `None` is the stop; the loop itself has no end.
        tasks
            .stopping()
            .run_until_cancelled(self.read_changes(&store, &options, &tasks))
            .await;
    }

    async fn read_changes(&self, store: &FolderFlags, options: &FolderOptions, tasks: &Tasks) {
        loop {
            tokio::select! {
                () = self.changed.notified() => self.quiet(options).await,
                () = sleep(options.rescan) => {}
            }
            if read(store, tasks).await {
                sleep(options.debounce).await;
                read(store, tasks).await;
            }
        }
    }

    /// Waits until nothing has changed for the debounce time.
    async fn quiet(&self, options: &FolderOptions) {
        for _ in 0..DEBOUNCE_ROUNDS_MAX {
            if timeout(options.debounce, self.changed.notified())
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

/// Reads once, away from the async threads. Returns whether a second reading is due.
async fn read(store: &FolderFlags, tasks: &Tasks) -> bool {
    let store = store.clone();
    tasks
        .spawn_blocking(move || store.rescan())
        .await
        .unwrap_or_else(|error| {
            tracing::error!("reading flags failed: {error}");
            false
        })
}

fn watcher(
    options: &FolderOptions,
    changed: Arc<Notify>,
) -> Result<RecommendedWatcher, notify::Error> {
    let (folder, state_file) = (options.folder.clone(), options.state_file.clone());
    let state_folder = match state_file.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // A failed watch is a reason to look, too.
        if event.map_or(true, |event| concerns(&event, &folder, &state_file)) {
            changed.notify_one();
        }
    })?;
    watcher.watch(&options.folder, RecursiveMode::NonRecursive)?;
    // The file itself may not exist yet, and is replaced by a rename: its folder is what lasts.
    if let Err(error) = watcher.watch(&state_folder, RecursiveMode::NonRecursive) {
        tracing::info!("the flags' state file is not watched, only read every so often: {error}");
    }
    Ok(watcher)
}

/// Whether an event may change flags. Readings cause access events themselves, and a database may
/// write beside the state file all the time.
fn concerns(event: &Event, folder: &Path, state_file: &Path) -> bool {
    let ours = |path: &PathBuf| {
        path.parent() == Some(folder)
            || path.file_name() == state_file.file_name()
            || path
                .extension()
                .is_some_and(|extension| extension == "toml")
    };
    !matches!(event.kind, EventKind::Access(_))
        && (event.need_rescan() || event.paths.iter().any(ours))
}
