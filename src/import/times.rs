//! Reads the times of exports.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::record::SourceTime;
use super::report::Note;

/// Reads RFC 3339.
pub(super) fn rfc3339(text: &str) -> SourceTime {
    text.trim()
        .parse::<Timestamp>()
        .map(Timestamp::as_millisecond)
        .map_err(|_unreadable| text.trim().to_owned())
}

/// Reads seconds since 1970 in decimal digits, perhaps with a fraction.
pub(super) fn unix_seconds(text: &str) -> SourceTime {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = whole.ends_with(|ch: char| ch.is_ascii_digit())
        && fraction.chars().all(|ch| ch.is_ascii_digit());
    if !is_number {
        return Err(text.to_owned());
    }
    let thousandths = fraction.chars().chain("000".chars()).take(3);
    let digits: String = whole.chars().chain(thousandths).collect();
    digits.parse().map_err(|_too_large| text.to_owned())
}

/// Reads a number of an unknown unit: below 10^11 it is seconds since 1970 (until the year 5138),
/// below 10^14 it is ms (from 1973 on), and what is larger is no time.
pub(super) fn unix_seconds_or_ms(text: &str) -> SourceTime {
    const TOO_LATE_MS: u64 = 100_000_000_000_000;
    let ms_if_seconds = unix_seconds(text)?;
    [ms_if_seconds, ms_if_seconds / 1_000]
        .into_iter()
        .find(|ms| ms.unsigned_abs() < TOO_LATE_MS)
        .ok_or_else(|| text.trim().to_owned())
}

/// Reads RFC 3339; a time without an offset is UTC.
pub(super) fn rfc3339_or_utc(text: &str) -> SourceTime {
    rfc3339(text).or_else(|unreadable| {
        unreadable
            .parse::<DateTime>()
            .and_then(|time| Offset::UTC.to_timestamp(time))
            .map(Timestamp::as_millisecond)
            .map_err(|_neither| unreadable.clone())
    })
}

/// Reads a time that is local to `zone`, unless it names its own offset.
///
/// A time that did not exist, because clocks were put forward over it, is read with the offset
/// before, so that it lies as far behind the gap as it claims to lie in it. Of a time that came
/// twice, because clocks were put back, the first is taken. Both are noted.
pub(super) fn local(text: &str, zone: &TimeZone) -> (SourceTime, Option<Note>) {
    let unreadable = match rfc3339(text) {
        Ok(ms) => return (Ok(ms), None),
        Err(unreadable) => unreadable,
    };
    let Ok(time) = unreadable.parse::<DateTime>() else {
        return (Err(unreadable), None);
    };
    let (offset, note) = match zone.to_ambiguous_timestamp(time).offset() {
        AmbiguousOffset::Unambiguous { offset } => (offset, None),
        AmbiguousOffset::Gap { before, .. } => (before, Some(Note::TimeGap)),
        AmbiguousOffset::Fold { before, .. } => (before, Some(Note::TimeFold)),
    };
    match offset.to_timestamp(time) {
        Ok(moment) => (Ok(moment.as_millisecond()), note),
        Err(_beyond_all_calendars) => (Err(unreadable), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_helsinki(text: &str) -> (SourceTime, Option<Note>) {
        local(text, &TimeZone::get("Europe/Helsinki").unwrap())
    }

    #[test]
    fn a_local_time_is_moved_by_its_zone_once() {
        let summer = rfc3339("2024-07-01T12:00:00Z");
        assert_eq!(in_helsinki("2024-07-01 15:00:00"), (summer.clone(), None));
        assert_eq!(in_helsinki("2024-07-01T12:00:00Z"), (summer.clone(), None));
        assert_eq!(in_helsinki("2024-07-01 14:00:00+02:00"), (summer, None));
        let winter = rfc3339("2024-01-01T12:00:00Z");
        assert_eq!(in_helsinki("2024-01-01 14:00:00"), (winter, None));
        let before_the_gap = rfc3339("2024-03-31T00:30:00Z");
        assert_eq!(in_helsinki("2024-03-31 02:30:00"), (before_the_gap, None));
    }

    #[test]
    fn an_hour_that_did_not_exist_lies_behind_the_gap_and_one_that_came_twice_is_the_first() {
        let moved = rfc3339("2024-03-31T01:30:00Z");
        assert_eq!(
            in_helsinki("2024-03-31 03:30:00"),
            (moved, Some(Note::TimeGap))
        );
        let first = rfc3339("2024-10-27T00:30:00Z");
        assert_eq!(
            in_helsinki("2024-10-27 03:30:00"),
            (first, Some(Note::TimeFold))
        );
        for text in [
            "",
            "0000-00-00 00:00:00",
            "-0001-11-30 00:00:00",
            "noon",
            "2024-02-30 00:00:00",
        ] {
            assert_eq!(in_helsinki(text), (Err(text.to_owned()), None));
        }
    }

    #[test]
    fn an_offset_is_applied_once_and_a_missing_one_is_utc_only_where_the_format_says_so() {
        assert_eq!(rfc3339("1970-01-01T01:00:01+01:00"), Ok(1_000));
        assert_eq!(rfc3339_or_utc("1970-01-01T00:00:01.5Z"), Ok(1_500));
        assert_eq!(rfc3339_or_utc("1970-01-01T00:00:01"), Ok(1_000));
        assert!(rfc3339("1970-01-01T00:00:01").is_err());
    }

    #[test]
    fn a_number_is_seconds_or_ms_by_its_size_and_never_rounded_to_1970() {
        assert_eq!(unix_seconds("1773561820.0"), Ok(1_773_561_820_000));
        assert_eq!(unix_seconds(" 1773561820.12345 "), Ok(1_773_561_820_123));
        assert_eq!(unix_seconds("-1.5"), Ok(-1_500));
        for text in [
            "",
            "-",
            ".",
            ".5",
            "1e9",
            "1.7e",
            "soon",
            "99999999999999999999",
        ] {
            assert_eq!(unix_seconds(text), Err(text.to_owned()));
        }
        assert_eq!(unix_seconds_or_ms("99999999999"), Ok(99_999_999_999_000));
        assert_eq!(unix_seconds_or_ms("100000000000"), Ok(100_000_000_000));
        assert_eq!(unix_seconds_or_ms("1714564800000"), Ok(1_714_564_800_000));
        assert!(
            unix_seconds_or_ms("1714564800000000").is_err(),
            "microseconds"
        );
    }

    #[test]
    fn what_is_no_time_stays_its_text() {
        for text in [
            "",
            "yesterday",
            "0000-00-00 00:00:00",
            "2024-02-30T00:00:00Z",
        ] {
            assert_eq!(rfc3339_or_utc(text), Err(text.to_owned()));
        }
    }
}
