//! How fast work behind requests may go, and whether it may go on.

use std::time::Duration;

use async_trait::async_trait;

use super::ServiceError;
use crate::domain::ids::generator::MintError;
use crate::store::StoreError;

/// Told after each batch; waits as long as it wants the work to wait.
#[async_trait]
pub trait Pace: Send {
    /// `rows` were read or written and the store took `took`. An error: the work must end here.
    async fn step(&mut self, rows: u64, took: Duration) -> Result<(), Interrupted>;
}

/// The work may not go on: it was stopped, or somebody else does it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// As fast as it goes.
#[derive(Clone, Copy, Debug)]
pub struct Unpaced;

#[async_trait]
impl Pace for Unpaced {
    async fn step(&mut self, _rows: u64, _took: Duration) -> Result<(), Interrupted> {
        Ok(())
    }
}

/// Why paced work ended early.
#[derive(Debug, thiserror::Error)]
pub enum PacedError {
    /// It could not be done.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// What it gives cannot be written.
    #[error("it cannot be written: {0}")]
    Output(#[from] std::io::Error),
    /// It may not go on.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for PacedError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<StoreError> for PacedError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl From<MintError> for PacedError {
    fn from(error: MintError) -> Self {
        Self::Service(error.into())
    }
}
