//! Transport: everything that speaks HTTP or GraphQL, and the only place that names `axum` and
//! `async_graphql`.
//!
//! No rule of the product lives here: handlers and resolvers only translate.

pub mod http;
