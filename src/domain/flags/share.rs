//! The hash that places a unit, and shares of the hash space. Integers only; it may never change:
//! people would move between cohorts.
//!
//! Membership depends on `num/den` alone, so a smaller share lies inside a larger one: ramps are
//! monotone, and ramping down removes those who joined last.

use serde::Deserialize;

use crate::domain::hash::murmur3_32;

/// The largest denominator, so that `hash * den` fits 63 bits in any language.
pub const DEN_MAX: u32 = 2_147_483_647;

/// Longest `prefix ‖ unit` hashed without an allocation.
const STACK_BYTES: usize = 192;

/// `num` of `den` equal parts of the hash space; `num <= den <= 2^31 - 1`, `den > 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "ShareForm")]
pub struct Share {
    num: u32,
    den: u32,
}

/// How a share is written; wide integers so that the check, not the parser, names the limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareForm {
    num: i64,
    den: i64,
}

impl Share {
    /// Every unit.
    pub const ALL: Self = Self { num: 1, den: 1 };
    /// No unit.
    pub const NONE: Self = Self { num: 0, den: 1 };

    /// A share of the hash space. The error names the number and its limit.
    pub fn new(num: i64, den: i64) -> Result<Self, String> {
        let den = u32::try_from(den)
            .ok()
            .filter(|den| (1..=DEN_MAX).contains(den))
            .ok_or_else(|| format!("rollout.den is {den}, which is outside 1 to {DEN_MAX}"))?;
        let num = u32::try_from(num)
            .ok()
            .filter(|num| *num <= den)
            .ok_or_else(|| {
                format!("rollout.num is {num}, which is outside 0 to rollout.den, here {den}")
            })?;
        Ok(Self { num, den })
    }

    /// The numerator.
    #[must_use]
    pub const fn num(self) -> u32 {
        self.num
    }

    /// The denominator.
    #[must_use]
    pub const fn den(self) -> u32 {
        self.den
    }

    /// Whether a unit of this hash is in.
    #[must_use]
    pub fn contains(self, hash: u32) -> bool {
        part(hash, self.den) < self.num
    }
}

impl TryFrom<ShareForm> for Share {
    type Error = String;

    fn try_from(form: ShareForm) -> Result<Self, String> {
        Self::new(form.num, form.den)
    }
}

/// Which of `den` equal parts of the hash space a hash lies in: 0 to `den - 1`.
#[must_use]
pub(super) fn part(hash: u32, den: u32) -> u32 {
    // The product is below 2^32 * den, so its upper half is below `den` and always fits.
    u32::try_from((u64::from(hash) * u64::from(den)) >> 32).unwrap_or(u32::MAX)
}

/// One of 16 slots, for people who look at a hash: `h >> 28`.
#[must_use]
pub fn slot16(hash: u32) -> u8 {
    u8::try_from(hash >> 28).unwrap_or(u8::MAX)
}

/// murmur3 of `salt ‖ 0x00 ‖ unit`, where `prefix` is the salt with its zero byte.
#[must_use]
pub fn unit_hash(prefix: &[u8], unit: &str) -> u32 {
    let unit = unit.as_bytes();
    let mut buffer = [0_u8; STACK_BYTES];
    if let Some(whole) = buffer.get_mut(..prefix.len() + unit.len())
        && let Some((head, tail)) = whole.split_at_mut_checked(prefix.len())
    {
        head.copy_from_slice(prefix);
        tail.copy_from_slice(unit);
        return murmur3_32(whole);
    }
    murmur3_32(&[prefix, unit].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_golden_vectors() {
        for (salt, unit, hash, slot, part_10000) in [
            ("comments-tree", "1", 2_250_202_538, 8, 5239),
            ("comments-tree", "42", 4_167_517_008, 15, 9703),
            (
                "comments-tree",
                "576460752303423487",
                4_248_321_149,
                15,
                9891,
            ),
            ("comments-tree", "юзер", 2_026_162_854, 7, 4717),
            ("comments-tree", "🚀", 2_882_879_520, 10, 6712),
            ("reactions-v2", "42", 3_134_107_046, 11, 7297),
        ] {
            let got = unit_hash(format!("{salt}\0").as_bytes(), unit);
            assert_eq!(got, hash, "{salt} {unit}");
            assert_eq!(slot16(got), slot, "{salt} {unit}");
            assert_eq!(part(got, 10_000), part_10000, "{salt} {unit}");
        }
    }

    #[test]
    fn a_long_unit_hashes_as_its_bytes() {
        for len in [178, 179, 180, 5_000] {
            let unit = "u".repeat(len);
            let want = murmur3_32(format!("comments-tree\0{unit}").as_bytes());
            assert_eq!(unit_hash(b"comments-tree\0", &unit), want, "{len}");
        }
    }

    // cases/flags.md row 1: one integer formula, also at the edges of the hash.
    #[test]
    fn halves_meet_at_two_to_the_31() {
        for (text, half) in [
            ("ejOoVL", 0),
            ("bY9fO-", 0),
            ("SI7p-", 0),
            ("6LvT0", 1),
            ("ceQdGm", 1),
        ] {
            let hash = murmur3_32(text.as_bytes());
            assert_eq!(part(hash, 2), half, "{text}");
            assert_eq!(
                Share::new(1, 2).unwrap().contains(hash),
                half == 0,
                "{text}"
            );
        }
    }

    // cases/flags.md row 3: no off-by-one at the limit; exactly `num` of `den` parts are in.
    #[test]
    fn a_unit_in_the_last_part_below_num_is_in_and_the_next_part_is_out() {
        let hash = unit_hash(b"comments-tree\0", "42");
        assert!(Share::new(9704, 10_000).unwrap().contains(hash));
        assert!(!Share::new(9703, 10_000).unwrap().contains(hash));
    }

    #[test]
    fn the_largest_denominator_does_not_overflow() {
        let den = i64::from(DEN_MAX);
        assert!(Share::new(den, den).unwrap().contains(u32::MAX));
        assert!(!Share::new(den - 1, den).unwrap().contains(u32::MAX));
        assert!(Share::new(1, den).unwrap().contains(0));
    }

    // cases/flags.md row 21: a share above the whole is rejected when written, not clamped.
    #[test]
    fn a_share_outside_its_limits_is_rejected_by_name() {
        for (num, den, name) in [
            (150, 100, "rollout.num is 150"),
            (-1, 16, "rollout.num is -1"),
            (0, 0, "rollout.den is 0"),
            (1, -16, "rollout.den is -16"),
            (1, i64::from(DEN_MAX) + 1, "2147483647"),
        ] {
            let error = Share::new(num, den).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }
}
