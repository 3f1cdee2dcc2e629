//! Transport: the GraphQL schema and the HTTP edge. Translates; decides nothing about the product.

pub mod graphql;
pub mod http;
