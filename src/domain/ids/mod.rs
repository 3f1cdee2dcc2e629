//! Ids: `unix_ms << 21 | worker << 11 | sequence`, so time order is id order.
//!
//! 42 bits of milliseconds since 1970, 10 bits of worker, 11 of sequence; a positive `i64` until
//! 2109. Workers 0–511 mint ([`generator`]); the top worker bit marks imported ids ([`imported`]).
//! Outside the process an id is opaque text ([`opaque`]).

pub mod generator;
pub mod imported;
pub mod opaque;

/// Bits below the milliseconds.
pub const TIME_SHIFT: u32 = 21;
/// Bits below the worker.
pub const WORKER_SHIFT: u32 = 11;
/// Workers that mint; the upper half of the 10 bits belongs to imported ids.
pub const WORKERS_MAX: u16 = 512;
/// Ids one worker can mint within one millisecond.
pub const SEQUENCE_MAX: i64 = 1 << WORKER_SHIFT;
/// The bit that says "this id was made from another system's id".
pub const IMPORTED_BIT: i64 = 1 << 20;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// Wraps a stored or minted number.
            #[must_use]
            pub const fn new(raw: i64) -> Self {
                Self(raw)
            }

            /// The number as it is stored.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }

            /// The time inside the id, in milliseconds since 1970.
            #[must_use]
            pub const fn time_ms(self) -> i64 {
                self.0 >> TIME_SHIFT
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id_type! {
    /// A comment. Its creation time is the time in the id.
    CommentId
}
id_type! {
    /// A discussion.
    DiscussionId
}
id_type! {
    /// A user. Numeric token subjects below 2^53 are their own id; minted ids lie above.
    UserId
}
id_type! {
    /// An entry of a discussion's log. A create's event id is its comment id.
    EventId
}
id_type! {
    /// A place in the moderation queue; its number holds no time.
    QueueId
}

impl UserId {
    /// The author of a buried comment, and nobody else.
    pub const NOBODY: Self = Self(0);
}

/// The smallest id a moment can have.
#[must_use]
pub const fn first_id_of_ms(ms: i64) -> i64 {
    ms << TIME_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_fits_every_import_and_stays_positive_until_2109() {
        let last_ms = (1_i64 << 42) - 1;
        assert!(first_id_of_ms(last_ms) > 0);
        assert_eq!(
            CommentId::new(first_id_of_ms(last_ms) | IMPORTED_BIT).time_ms(),
            last_ms
        );
        assert_eq!(CommentId::new(first_id_of_ms(1)).time_ms(), 1);
    }
}
