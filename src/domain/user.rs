//! A person as this service knows them.

use super::ids::UserId;

/// A profile row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Shown beside their comments. May be empty, then clients show the id.
    pub name: String,
}

/// The largest number a token's `sub` may be to count as a user id by itself (exclusive).
pub const NUMERIC_SUBJECT_END: i64 = 1 << 53;

/// Reads a token subject that is a user id by itself: `[1-9][0-9]{0,15}` and below 2^53.
///
/// Everything else is mapped once through the users port; minted ids all lie above 2^53.
#[must_use]
pub fn numeric_subject(sub: &str) -> Option<UserId> {
    let digits = sub.len() <= 16 && sub.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || sub.starts_with('0') {
        return None;
    }
    sub.parse().ok().filter(|id| *id < NUMERIC_SUBJECT_END).map(UserId::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_small_numbers_are_ids_by_themselves() {
        assert_eq!(numeric_subject("1"), Some(UserId::new(1)));
        assert_eq!(numeric_subject("9007199254740991"), Some(UserId::new((1 << 53) - 1)));
        for foreign in ["", "0", "01", "-1", "+1", "1 ", "9007199254740992", "99999999999999999", "٣", "auth0|1"] {
            assert_eq!(numeric_subject(foreign), None, "{foreign:?}");
        }
    }
}
