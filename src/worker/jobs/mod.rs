//! What walks do with discussions.

pub mod audit;
pub mod build;
pub mod export;
pub mod layouts;

use std::sync::Arc;

use async_trait::async_trait;

use super::walker::WalkTable;
use crate::domain::discussion::Discussion;
use crate::domain::keys::KeyRange;
use crate::store::StoreError;
use crate::store::comments::CommentStore;

/// Every discussion.
#[derive(Clone, Debug)]
pub struct Discussions(pub Arc<dyn CommentStore>);

#[async_trait]
impl WalkTable for Discussions {
    type Item = Arc<Discussion>;

    async fn split(&self, parts: u32) -> Result<Vec<KeyRange>, StoreError> {
        self.0.split(parts).await
    }

    async fn page(
        &self,
        range: KeyRange,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Self::Item)>, StoreError> {
        self.0.discussions_in(range, after, limit).await
    }
}
