//! Exporting every discussion into one file, which an interrupted export goes on with.
//!
//! One worker writes, so the file holds whole discussions in the order in which they were stored as
//! done; what lies behind the last of them is cut off by whoever goes on.

use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::sync::Mutex;

use crate::domain::discussion::Discussion;
use crate::export::{Ports, export_discussion};
use crate::service::Service;
use crate::service::pace::{Pace, PacedError};
use crate::worker::walker::{WalkJob, WalkTally};

/// The sum in a tally that says how long the file is.
pub const BYTES: &str = "bytes";
/// The name of the walk.
pub const EXPORT_WALK: &str = "export";

/// The file cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The system says so.
    #[error("cannot write {0}: {1}")]
    System(PathBuf, std::io::Error),
    /// Another export writes to it.
    #[error("another export writes to {0}")]
    InUse(PathBuf),
    /// It is not the file that the interrupted export wrote.
    #[error(
        "{path} has {found} bytes, but the export under way wrote {wanted}: give it up with --restart"
    )]
    Shorter {
        /// Its path.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// How long it was.
        wanted: u64,
    },
}

/// Exports discussions into a file.
#[derive(Debug)]
pub struct ExportJob {
    service: Service,
    target: String,
    out: Mutex<BufWriter<File>>,
}

impl ExportJob {
    /// Opens the file and keeps its first `keep` bytes: what an interrupted export has stored.
    /// `target` says for other processes which file on which machine it is.
    pub async fn open(
        service: Service,
        path: &Path,
        target: String,
        keep: u64,
    ) -> Result<Self, OutputError> {
        let failed = |error| OutputError::System(path.to_owned(), error);
        let file = std::fs::File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(OutputError::InUse(path.to_owned()));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let found = file.metadata().map_err(failed)?.len();
        if found < keep {
            return Err(OutputError::Shorter {
                path: path.to_owned(),
                found,
                wanted: keep,
            });
        }
        file.set_len(keep).map_err(failed)?;
        let mut file = File::from_std(file);
        file.seek(SeekFrom::End(0)).await.map_err(failed)?;
        Ok(Self {
            service,
            target,
            out: Mutex::new(BufWriter::new(file)),
        })
    }

    /// Puts everything on the disk.
    pub async fn close(&self) -> std::io::Result<()> {
        let mut out = self.out.lock().await;
        out.flush().await?;
        out.get_ref().sync_all().await
    }

    /// Writes one discussion behind the others; an early end leaves nothing of it.
    async fn write(
        &self,
        discussion: &Discussion,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        let mut out = self.out.lock().await;
        let start = out.stream_position().await?;
        let ports = self.service.ports();
        let from = Ports {
            comments: &*ports.comments,
            users: &*ports.users,
            clock: &ports.clock,
        };
        let exported = export_discussion(from, discussion, &mut *out, pace).await;
        let counts = match exported {
            Ok(counts) => counts,
            Err(error) => {
                out.flush().await?;
                out.get_mut().set_len(start).await?;
                out.seek(SeekFrom::Start(start)).await?;
                return Err(error);
            }
        };
        // Before it is stored as done it must be in the file. A power cut may still take it away:
        // then the file is shorter than it should be, which whoever goes on notices.
        out.flush().await?;
        let end = out.stream_position().await?;
        let mut found = WalkTally::of_item("exported", counts.comments);
        found.add(BYTES, end - start);
        found.add("earlier texts", counts.revisions);
        found.add("earlier texts left out", counts.revisions_left_out);
        Ok(found)
    }
}

#[async_trait]
impl WalkJob for ExportJob {
    type Item = Arc<Discussion>;

    fn name(&self) -> &'static str {
        EXPORT_WALK
    }

    fn settings(&self) -> String {
        self.target.clone()
    }

    fn label(&self, item: &Self::Item) -> String {
        format!("discussion {}", item.id)
    }

    async fn work(
        &self,
        item: &Self::Item,
        _again: bool,
        pace: &mut dyn Pace,
    ) -> Result<WalkTally, PacedError> {
        match self.service.discussions(&[item.id]).await?.pop() {
            Some(now) => self.write(&now, pace).await,
            None => Ok(WalkTally::of_item("gone", 0)),
        }
    }
}
