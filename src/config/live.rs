//! `[live]`: connections that stay open for subscriptions.

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::values::HumanDuration;

/// The settings of `[live]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// Connections at a time, WebSockets and event streams together.
    pub connections_max: usize,
    /// Operations under way on one WebSocket.
    pub operations_per_socket_max: usize,
    /// How long a WebSocket may take to introduce itself.
    pub init_timeout: HumanDuration,
    /// How often a sign of life is sent; two without an answer end the connection.
    pub keepalive_interval: HumanDuration,
    /// How long the other side may take to accept a message.
    pub send_timeout: HumanDuration,
}

impl Live {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        checks.between("live.connections_max", self.connections_max, 1, 1_000_000);
        let operations = self.operations_per_socket_max;
        checks.between("live.operations_per_socket_max", operations, 1, 1_000);
        checks.lasts("live.init_timeout", self.init_timeout, ("100ms", "5m"));
        let keepalive = self.keepalive_interval;
        checks.lasts("live.keepalive_interval", keepalive, ("1s", "10m"));
        checks.lasts("live.send_timeout", self.send_timeout, ("100ms", "5m"));
    }
}
