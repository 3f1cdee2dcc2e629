//! The GraphQL schema: thin types over the domain, loading at connections, pure rows.
//!
//! A request's work is in three steps. A root or a connection asks the service for rows
//! (`load`), knowing from the selection what the rows will be asked (`want`); then the rows are
//! written without any further I/O. Resolvers translate and decide nothing.

mod comment;
mod connection;
mod context;
mod discussion;
mod failure;
mod lists;
mod live;
mod load;
mod moderation;
mod mutation;
mod payload;
mod person;
mod query;
mod scalars;
mod user;
mod want;

use std::sync::Arc;

use async_graphql::{Context, Error, MergedObject, Response, Schema, ServerError};
use futures_util::future::BoxFuture;

use self::live::{Hub, Subscription};
use self::load::Loader;
use self::moderation::{ModerationMutation, ModerationQuery};
use self::mutation::Mutation;
use self::person::PersonMutation;
use self::query::Query;
use super::http::{Executor, LiveStream, PreparedRequest, RequestContext};
use crate::service::people::Subject;
use crate::service::request::ReadAfter;
use crate::service::{Service, ServiceError};

type ThreadlineSchema = Schema<Queries, Mutations, Subscription>;

/// Everything that can be read.
#[derive(Debug, MergedObject)]
#[graphql(name = "Query")]
struct Queries(Query, ModerationQuery);

/// Everything that can be written. Expected refusals are part of the payloads.
#[derive(Debug, MergedObject)]
#[graphql(name = "Mutation")]
struct Mutations(Mutation, ModerationMutation, PersonMutation);

fn schema() -> ThreadlineSchema {
    let queries = Queries(Query, ModerationQuery);
    let mutations = Mutations(Mutation, ModerationMutation, PersonMutation);
    Schema::build(queries, mutations, Subscription).finish()
}

/// The schema over a service, for the HTTP edge.
#[must_use]
pub fn executor(service: Service) -> Arc<dyn Executor> {
    let schema = schema();
    Arc::new(GraphqlExecutor {
        live: Hub::new(schema.clone(), service.clone()),
        schema,
        service,
    })
}

/// The schema as text, as `schema.graphql` holds it.
#[must_use]
pub fn sdl() -> String {
    let mut text = schema().sdl();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The loader of the running request.
fn loader_of<'a>(ctx: &Context<'a>) -> async_graphql::Result<&'a Loader> {
    ctx.data::<Loader>()
}

struct GraphqlExecutor {
    schema: ThreadlineSchema,
    service: Service,
    live: Hub,
}

impl std::fmt::Debug for GraphqlExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphqlExecutor")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Executor for GraphqlExecutor {
    fn execute(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, Response> {
        let (schema, service) = (self.schema.clone(), self.service.clone());
        Box::pin(async move {
            match frame(&service, context).await {
                Ok(framed) => {
                    let loader = Loader {
                        service,
                        request: Arc::new(framed),
                    };
                    schema.execute(request.into_graphql().data(loader)).await
                }
                Err(error) => refused(error),
            }
        })
    }

    fn subscribe(
        &self,
        request: PreparedRequest,
        context: RequestContext,
    ) -> BoxFuture<'static, Result<LiveStream, Response>> {
        let (live, service) = (self.live.clone(), self.service.clone());
        Box::pin(async move {
            let framed = frame(&service, context).await.map_err(refused)?;
            live.subscribe(request, framed).await
        })
    }
}

/// Who asks, mapped to a viewer, with one view of the flags.
async fn frame(
    service: &Service,
    context: RequestContext,
) -> Result<crate::service::Request, ServiceError> {
    let viewer = match &context.identity {
        None => None,
        Some(identity) => {
            let who = Subject {
                issuer: &identity.issuer,
                subject: &identity.subject,
                role: identity.role,
                name: identity.name.as_deref(),
            };
            Some(service.viewer(who).await?)
        }
    };
    let read_after = match context.read_after.as_deref() {
        None => None,
        Some(text) => Some(ReadAfter::decode(text).ok_or_else(|| {
            ServiceError::bad_input("X-Read-After", "not a token that a mutation returned")
        })?),
    };
    service.request(viewer, context.client, read_after).await
}

/// A request that did not run.
fn refused(error: ServiceError) -> Response {
    refused_with(failure::failure(error))
}

fn refused_with(error: Error) -> Response {
    let mut server_error = ServerError::new(error.message, None);
    server_error.extensions = error.extensions;
    Response::from_errors(vec![server_error])
}
