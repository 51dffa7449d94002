//! Timestamps as scripts write them: milliseconds since 1970-01-01 UTC, or text (`2026-03-01`, `2026-03-01T12:00:00Z`,
//! `2026-03-01T12:00:00+02:00`). A date alone is its first moment in UTC; a time without an offset is in UTC.

use base::data::Data;
use base::moment::from_iso8601;

use super::FactError;

/// Returns the timestamp in milliseconds; `None` for nil.
///
/// # Errors
/// The value is neither, or before 1970.
pub fn moment(data: &Data, field: &str) -> Result<Option<u64>, FactError> {
    let expected = "milliseconds since 1970 or a date like \"2026-03-01T12:00:00Z\"";
    let wrong = || {
        let error = FactError::wrong(field, expected, data);
        // The type alone would not say what is wrong with a text or a number.
        FactError { message: format!("{} {data}", error.message), ..error }
    };
    match data {
        Data::Nil => Ok(None),
        Data::Str(text) => from_iso8601(text.trim()).map(Some).ok_or_else(wrong),
        number => number.as_int().and_then(|ms| u64::try_from(ms).ok()).map(Some).ok_or_else(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_are_timestamps() {
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
    fn other_values_are_refused() {
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
