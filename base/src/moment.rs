//! Timestamps: milliseconds since 1970-01-01 UTC, and text in RFC 3339.

use std::borrow::Cow;

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::{DateTimePrinter, Pieces};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The last timestamp with a year of four digits.
const LAST_MS: u64 = 253_402_300_799_999;
const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
/// Digits of a second's fraction that `jiff` reads.
const FRACTION_DIGITS: usize = 9;

/// Returns a timestamp as RFC 3339, with milliseconds and in UTC. A time after the year 9999 becomes the last of that
/// year.
#[must_use]
pub fn rfc3339(ms: u64) -> String {
    let since = SignedDuration::from_millis(i64::try_from(ms.min(LAST_MS)).unwrap_or(i64::MAX));
    let mut text = PRINTER.datetime_to_string(&EPOCH.saturating_add(since));
    text.push('Z');
    text
}

/// Parses a timestamp of RFC 3339: any offset, any number of digits after the point (those beyond milliseconds are cut
/// off), and `t`, a space and `z` as well as `T` and `Z`. Returns `None` for any other text and for a timestamp before
/// 1970.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<u64> {
    // `jiff` accepts more of ISO 8601 than a wire format should.
    let (date_time, rest) = text.as_bytes().split_at_checked(b"0000-00-00T00:00:00".len())?;
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'T' => b"Tt ".contains(byte),
        form => byte == form,
    };
    let digits = match rest {
        [b'.', fraction @ ..] => fraction.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let offset = if rest.first() == Some(&b'.') { &rest[1 + digits..] } else { rest };
    let is_offset = match offset {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hour @ .., b':', _, _] => hour.len() == 2 && hour < &b"24"[..],
        _ => false,
    };
    if !date_time.iter().zip(b"0000-00-00T00:00:00").all(fits) || !is_offset {
        return None;
    }
    let text = match digits.checked_sub(FRACTION_DIGITS) {
        None | Some(0) => Cow::Borrowed(text),
        Some(_) => {
            let kept = date_time.len() + 1 + FRACTION_DIGITS;
            let offset = &text[text.len() - offset.len()..];
            Cow::Owned(format!("{}{offset}", &text[..kept]))
        }
    };
    from_iso8601(&text)
}

/// Parses a date, or a date and a time with or without an offset, in ISO 8601. A date alone is its first moment, and a
/// missing offset means UTC. Returns `None` for any other text and for a timestamp before 1970.
#[must_use]
pub fn from_iso8601(text: &str) -> Option<u64> {
    let pieces = Pieces::parse(text).ok().filter(|pieces| pieces.time_zone_annotation().is_none())?;
    let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let offset = pieces.to_numeric_offset().map_or(0, |offset| i64::from(offset.seconds()));
    // `jiff` maps a leap second to the second before it; here it maps to the second after.
    let leap = i64::from(text.get(16..19) == Some(":60"));
    let since = local.duration_since(EPOCH) + SignedDuration::from_secs(leap - offset);
    if since.is_negative() { None } else { u64::try_from(since.as_millis()).ok() }
}

#[cfg(test)]
mod tests {
    use super::{from_iso8601, from_rfc3339, rfc3339};

    #[test]
    fn dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999Z", "RFC 3339 has years of four digits");
    }

    #[test]
    fn a_timestamp_is_read_as_it_was_written() {
        for ms in [0, 1, 951_782_400_000, 1_735_689_599_999, 253_402_300_799_999] {
            assert_eq!(from_rfc3339(&rfc3339(ms)), Some(ms));
        }
        for day in 0..200_000 {
            let ms = day * 86_400_000 + 43_261_007;
            assert_eq!(from_rfc3339(&rfc3339(ms)), Some(ms));
        }
    }

    #[test]
    fn offsets_and_fractions() {
        let noon = 1_735_732_800_000;
        let same = [
            "2025-01-01T12:00:00Z",
            "2025-01-01t12:00:00z",
            "2025-01-01 12:00:00Z",
            "2025-01-01T12:00:00.0Z",
            "2025-01-01T12:00:00.000999999Z",
            "2025-01-01T14:30:00+02:30",
            "2025-01-01T04:00:00.000-08:00",
            "2024-12-31T23:59:00-12:01",
            "2025-01-01T12:00:00.0009999999999999Z",
            "2025-01-01T12:00:00.00000000000000000001+00:00",
        ];
        for text in same {
            assert_eq!(from_rfc3339(text), Some(noon), "{text}");
        }
        assert_eq!(from_rfc3339("2025-01-01T12:00:00.5+00:00"), Some(noon + 500));
        assert_eq!(from_rfc3339("2025-01-01T12:00:00.1239Z"), Some(noon + 123));
        assert_eq!(from_rfc3339("2016-12-31T23:59:60Z"), from_rfc3339("2017-01-01T00:00:00Z"));
    }

    #[test]
    fn other_texts_are_not_timestamps() {
        let none = [
            "",
            "2025-01-01",
            "2025-01-01T12:00:00",
            "2025-01-01T12:00Z",
            "2025-01-01T12:00:00.Z",
            "2025-01-01T12:00:00+0200",
            "2025-01-01T12:00:00+24:00",
            "2025-01-01T12:00:00+02",
            "2025-01-01T12:00:00+02:60",
            "2025-01-01T12:00:00+02:00:00",
            "2025-01-01T12:00:00,5Z",
            "2025-01-01T12:00:00Z[UTC]",
            "20250101T120000Z",
            "-00025-01-01T12:00:00Z",
            "2025-01-01T12:00:00+2a:00",
            "2025-01-01T12:00:00Z ",
            "2025-02-29T12:00:00Z",
            "2025-13-01T12:00:00Z",
            "2025-00-01T12:00:00Z",
            "2025-01-00T12:00:00Z",
            "2025-04-31T12:00:00Z",
            "2025-01-01T24:00:00Z",
            "2025-01-01T12:60:00Z",
            "2025-01-01T12:00:61Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "1969-12-31T23:59:59.9999Z",
            "+025-01-01T12:00:00Z",
            "2025-01-01T12:00:00\u{e9}",
            "٢٠٢٥-01-01T12:00:00Z",
        ];
        for text in none {
            assert_eq!(from_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_alone_is_its_first_moment_in_utc() {
        for text in ["2025-01-01", "2025-01-01T00:00", "2025-01-01T00:00:00", "2024-12-31T22:00:00-02"] {
            assert_eq!(from_iso8601(text), Some(1_735_689_600_000), "{text}");
        }
        for text in ["12:00:00", "2025-02-30", "2025-01-01T00:00[Europe/Paris]", "1969-12-31", "soon", ""] {
            assert_eq!(from_iso8601(text), None, "{text}");
        }
    }
}
