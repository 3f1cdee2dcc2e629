//! States: "this actor is in this state towards this entity", for whatever people may be in.
//!
//! A state is 16 bits. For some types of entity they are one value that excludes the others, for
//! some a set of up to 16 bits. Every type that is stored is listed here, so no two share a code.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::cursor::{CURSOR_BYTES_MAX, CursorError};
use super::ids::UserId;

/// How the 16 bits of a type's states are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// One value that excludes the others; counted by value.
    Value,
    /// A set of bits, each counted by itself.
    Bits,
}

/// A type of thing that somebody may be in a state towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntityType {
    code: u16,
    meaning: Meaning,
}

/// People who are blocked; a blocker is in state [`BLOCKED`] towards them.
pub const BLOCKS: EntityType = EntityType::new(1, Meaning::Value);
/// The one state of [`BLOCKS`].
pub const BLOCKED: u16 = 1;

/// Every type there is: what goes over all of somebody's states goes over these.
pub const ENTITY_TYPES: [EntityType; 1] = [BLOCKS];

/// People as actors.
pub const PERSON: ActorType = ActorType::new(1);

impl EntityType {
    /// A type under its stored code. A code may never change its meaning.
    #[must_use]
    pub const fn new(code: u16, meaning: Meaning) -> Self {
        Self { code, meaning }
    }

    /// The stored number.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.code
    }

    /// How its states are read.
    #[must_use]
    pub const fn meaning(self) -> Meaning {
        self.meaning
    }

    /// What a state counts under: its value, or the number of each of its bits.
    #[must_use]
    pub fn counted(self, state: u16) -> Vec<u16> {
        match self.meaning {
            Meaning::Value => vec![state],
            Meaning::Bits => (0..16).filter(|bit| state & (1 << bit) != 0).collect(),
        }
    }
}

/// A type of whoever is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActorType(u16);

impl ActorType {
    /// A type under its stored code.
    #[must_use]
    pub const fn new(code: u16) -> Self {
        Self(code)
    }

    /// The stored number.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.0
    }
}

/// A thing that states are towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// What kind of thing.
    pub of: EntityType,
    /// Its id among its kind.
    pub id: i64,
}

/// Whoever is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// What kind.
    pub of: ActorType,
    /// Their id among their kind.
    pub id: i64,
}

impl Actor {
    /// A person.
    #[must_use]
    pub const fn person(id: UserId) -> Self {
        Self {
            of: PERSON,
            id: id.get(),
        }
    }
}

/// What names a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateKey {
    /// Towards what.
    pub entity: Entity,
    /// Who.
    pub actor: Actor,
}

impl StateKey {
    /// "`who` blocks `whom`".
    #[must_use]
    pub const fn block(who: UserId, whom: UserId) -> Self {
        Self {
            entity: Entity {
                of: BLOCKS,
                id: whom.get(),
            },
            actor: Actor::person(who),
        }
    }
}

/// A state that somebody is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// Who, towards what.
    pub key: StateKey,
    /// A value or a set of bits, as the entity's type says.
    pub state: u16,
    /// What a state weighs where it weighs something, for example a tip; else 0.
    pub amount: i64,
    /// When the actor came into a state, in milliseconds since 1970.
    pub created_ms: i64,
    /// When state or amount last changed.
    pub updated_ms: i64,
}

/// A place in a list that is ordered by time, then by id: the last row seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatePlace {
    /// The row's `updated_ms`.
    pub updated_ms: i64,
    /// The id of its actor or entity, whichever the list is of.
    pub id: i64,
}

/// A part of such a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSlice {
    /// Only rows later than this place.
    pub above: Option<StatePlace>,
    /// Only rows earlier than this place.
    pub below: Option<StatePlace>,
    /// Earliest first, or latest first.
    pub ascending: bool,
    /// Rows at most.
    pub limit: u32,
}

/// A place in the list of what `owner` is in a state towards, as text for clients.
#[must_use]
pub fn encode_place(place: StatePlace, of: EntityType, owner: i64) -> String {
    let (code, StatePlace { updated_ms, id }) = (of.code(), place);
    URL_SAFE_NO_PAD.encode(format!("1.s.{code}.{owner}.{updated_ms}.{id}"))
}

/// Reads a client's text: a place in this owner's list.
pub fn decode_place(text: &str, of: EntityType, owner: i64) -> Result<StatePlace, CursorError> {
    let read = || {
        if text.len() > CURSOR_BYTES_MAX {
            return None;
        }
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let mut parts = plain.strip_prefix("1.s.")?.split('.');
        let code: u16 = parts.next()?.parse().ok()?;
        let whose: i64 = parts.next()?.parse().ok()?;
        let place = StatePlace {
            updated_ms: parts.next()?.parse().ok()?,
            id: parts.next()?.parse().ok()?,
        };
        Some((code, whose, place))
    };
    let (code, whose, place) = read().ok_or(CursorError::Malformed)?;
    if (code, whose) != (of.code(), owner) {
        return Err(CursorError::Foreign);
    }
    // Anything but the one right text is refused.
    if encode_place(place, of, owner) == text {
        Ok(place)
    } else {
        Err(CursorError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_to_its_owner_only() {
        let place = StatePlace {
            updated_ms: 1_790_000_000_000,
            id: i64::MAX,
        };
        let text = encode_place(place, BLOCKS, 7);
        assert_eq!(decode_place(&text, BLOCKS, 7), Ok(place));
        assert_eq!(decode_place(&text, BLOCKS, 8), Err(CursorError::Foreign));
        let padded = URL_SAFE_NO_PAD.encode("1.s.1.7.05.1");
        for text in ["", "zz", &padded, &"A".repeat(CURSOR_BYTES_MAX + 1)] {
            assert_eq!(decode_place(text, BLOCKS, 7), Err(CursorError::Malformed));
        }
    }

    #[test]
    fn values_count_as_themselves_and_bits_each_for_itself() {
        assert_eq!(BLOCKS.counted(BLOCKED), [1]);
        assert_eq!(BLOCKS.counted(u16::MAX), [u16::MAX]);
        let bits = EntityType::new(9, Meaning::Bits);
        assert_eq!(bits.counted(0), Vec::<u16>::new());
        assert_eq!(bits.counted(0b1000_0000_0000_0101), [0, 2, 15]);
    }
}
