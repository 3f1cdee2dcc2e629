//! (being written)

use std::sync::Arc;

use crate::api::http::Executor;
use crate::service::Service;

/// The schema over a service.
pub fn executor(_service: Service) -> Arc<dyn Executor> {
    unreachable!()
}

/// The schema as text, as `schema.graphql` holds it.
pub fn sdl() -> String {
    String::new()
}
