//! In process: nothing is kept, so a place is the process.

use std::sync::Arc;

use async_trait::async_trait;
use threadline::store::StoreError;
use threadline::store::wake::WakeBus;
use threadline::store::wake::memory::MemoryWake;

use super::{Engine, Place, Port};

pub(crate) struct Memory;

#[derive(Debug)]
struct Process;

#[async_trait]
impl Engine for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn ports(&self) -> &'static [Port] {
        &[Port::Wake]
    }

    fn url_variable(&self) -> Option<&'static str> {
        None
    }

    async fn place(&self, _url: Option<String>) -> Result<Arc<dyn Place>, StoreError> {
        Ok(Arc::new(Process))
    }
}

#[async_trait]
impl Place for Process {
    async fn wake(&self) -> Result<Arc<dyn WakeBus>, StoreError> {
        Ok(Arc::new(MemoryWake::default()))
    }
}
