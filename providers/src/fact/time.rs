//! Moments as scripts write them: milliseconds since 1970-01-01 UTC, or RFC 3339 text (`2026-03-01`, `2026-03-01T12:00:00Z`,
//! `2026-03-01T12:00:00+02:00`). A date alone is its first moment in UTC, as is a time without an offset.

use runtime::data::Data;
use toml::value::{Datetime, Offset};

use super::FactError;

/// The moment in milliseconds; nothing for nil.
///
/// # Errors
/// A value that is neither, a moment before 1970.
pub fn moment(data: &Data, field: &str) -> Result<Option<u64>, FactError> {
    let expected = "milliseconds since 1970 or a date like \"2026-03-01T12:00:00Z\"";
    let wrong = || {
        let error = FactError::wrong(field, expected, data);
        // The type alone would not say what is wrong with a text or a number.
        FactError { message: format!("{} {data}", error.message), ..error }
    };
    match data {
        Data::Nil => Ok(None),
        Data::Str(text) => text.trim().parse().ok().and_then(|date| millis(&date)).map(Some).ok_or_else(wrong),
        number => number.as_int().and_then(|ms| u64::try_from(ms).ok()).map(Some).ok_or_else(wrong),
    }
}

/// Days by the algorithm of counting eras of 400 years from March 1st.
fn millis(at: &Datetime) -> Option<u64> {
    let date = at.date?;
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let year = i64::from(date.year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let of_day = at.time.map_or(0, |time| {
        let seconds = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second.unwrap_or(0));
        seconds * 1000 + i64::from(time.nanosecond.unwrap_or(0)) / 1_000_000
    });
    let offset = match at.offset {
        Some(Offset::Custom { minutes }) => i64::from(minutes) * 60_000,
        Some(Offset::Z) | None => 0,
    };
    u64::try_from(days * 86_400_000 + of_day - offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_are_moments() {
        for (text, ms) in [
            ("1970-01-01", 0),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-12-31T23:59:59.999Z", 1_735_689_599_999),
            ("2025-01-01T02:00:00+02:00", 1_735_689_600_000),
            ("2024-12-31T22:30:00-01:30", 1_735_689_600_000),
            (" 2025-01-01 00:00:00 ", 1_735_689_600_000),
        ] {
            assert_eq!(moment(&text.into(), "now").unwrap(), Some(ms), "{text}");
        }
        assert_eq!(moment(&Data::from(7), "now").unwrap(), Some(7));
        assert_eq!(moment(&Data::Nil, "now").unwrap(), None);
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for data in [
            Data::from("soon"),
            "2025-02-30".into(),
            "12:00:00".into(),
            "1969-12-31".into(),
            Data::from(-1),
            Data::from(true),
        ] {
            assert_eq!(moment(&data, "valid_until").unwrap_err().field, "valid_until", "{data}");
        }
    }
}
