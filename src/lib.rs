//! threadline: one GraphQL schema over the stores of a social product, with feature-flag rollout.
//!
//! The layers, outermost first; each may use those below it and none above
//! (`tests/tidy` holds the rules):
//!
//! - [`cli`] the commands of the binary
//! - [`app`] wiring: configuration in, a running gateway out
//! - [`api`] transport: GraphQL and HTTP; the only place that names `async_graphql` and `axum`
//! - [`import`] reads other systems' exports into the stores
//! - [`worker`] what runs behind requests: the index builder
//! - [`export`] writes discussions in our own format
//! - [`service`] the rules: who may see and do what, modes, idempotency
//! - [`hooks`] services outside that are asked about a text while a request waits
//! - [`store`] the ports and, beside each contract, its engines
//! - [`config`], [`telemetry`], [`tasks`], [`tls`] what every layer needs of the process
//! - [`domain`] pure: ids, cursors, text, flags, visibility; no async, no I/O

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod export;
pub mod hooks;
pub mod import;
pub mod service;
pub mod store;
pub mod tasks;
pub mod telemetry;
pub mod tls;
pub mod worker;
