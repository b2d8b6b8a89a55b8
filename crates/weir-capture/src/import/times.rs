//! Times as logs write them, microseconds since 1970-01-01 UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// `2026-11-25T14:00:00.123456Z` or with an offset.
pub(super) fn iso_us(text: &str) -> Option<i64> {
    text.parse::<Timestamp>()
        .ok()
        .map(Timestamp::as_microsecond)
}

/// `261125 14:00:00`, the hour perhaps of one digit, in a time zone that the log does not tell: only differences count.
pub(super) fn short_us(date: &str, time: &str) -> Option<i64> {
    if date.len() != 6 || !date.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| date.get(at..at + 2)?.parse::<i8>().ok();
    let mut clock = time.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let year = 2000 + i16::from(part(0)?);
    let time = DateTime::new(year, part(2)?, part(4)?, hour, minute, second, 0).ok()?;
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

/// `2026-11-25 14:00:00.123456`, in a time zone that is not told: only differences count.
pub(super) fn table_us(text: &str) -> Option<i64> {
    let time: DateTime = text.parse().ok()?;
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

/// Seconds with a fraction.
pub(super) fn seconds_us(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..1e9)
        .contains(&seconds)
        .then_some((seconds * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_servers_are_read() {
        let iso = iso_us("2026-11-25T14:00:00.123456Z").unwrap();
        assert_eq!(iso_us("2026-11-25T15:00:00.123456+01:00"), Some(iso));
        assert_eq!(short_us("261125", "14:00:00").unwrap() + 123_456, iso);
        assert!(short_us("261125", "9:05:01").is_some());
        for (date, time) in [
            ("26112", "1:1:1"),
            ("269999", "1:1:1"),
            ("261125", "1:1"),
            ("abcdef", "1:1:1"),
        ] {
            assert_eq!(short_us(date, time), None, "{date} {time}");
        }
        assert_eq!(seconds_us("0.000123"), Some(123));
        assert_eq!(seconds_us("-1"), None);
    }
}
