//! Reads the times of exports.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::record::SourceTime;

/// Reads RFC 3339.
pub(super) fn rfc3339(text: &str) -> SourceTime {
    text.trim()
        .parse::<Timestamp>()
        .map(Timestamp::as_millisecond)
        .map_err(|_unreadable| text.trim().to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_applied_once_and_a_missing_one_is_utc_only_where_the_format_says_so() {
        assert_eq!(rfc3339("1970-01-01T01:00:01+01:00"), Ok(1_000));
        assert_eq!(rfc3339_or_utc("1970-01-01T00:00:01.5Z"), Ok(1_500));
        assert_eq!(rfc3339_or_utc("1970-01-01T00:00:01"), Ok(1_000));
        assert!(rfc3339("1970-01-01T00:00:01").is_err());
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
