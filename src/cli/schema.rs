//! `threadline schema`: the schema as text, for tools and for `schema.graphql`.

use clap::Args;

use super::{Failure, output};
use crate::api::graphql;

/// Print the GraphQL schema
#[derive(Args, Debug)]
pub(crate) struct SchemaCommand {}

impl SchemaCommand {
    #[expect(
        clippy::unused_self,
        reason = "every command is run the same way, also one without arguments"
    )]
    pub(crate) fn run(&self) -> Result<(), Failure> {
        output::print(&graphql::sdl())
    }
}
