//! Who asks, and with which client.

use super::ids::UserId;

/// What a viewer may do beyond reading and writing their own comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Anybody.
    Member,
    /// May hide, restore and see what is hidden; may open discussions.
    Moderator,
    /// May do everything a moderator may, and see how the service runs.
    Administrator,
}

/// A signed-in person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Their id, after mapping.
    pub user_id: UserId,
    /// From the token's `roles`.
    pub role: Role,
}

/// The application a request comes from, as it names itself. Nothing is trusted about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// For example `web` or `ios`; at most 64 characters of `[A-Za-z0-9._-]`.
    pub name: Option<String>,
    /// A version as the client writes it.
    pub version: Option<String>,
}

/// Role of an optional viewer: an anonymous one is a member without a name.
#[must_use]
pub fn role_of(viewer: Option<&Viewer>) -> Role {
    viewer.map_or(Role::Member, |viewer| viewer.role)
}
