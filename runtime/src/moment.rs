//! Moments as RFC 3339 writes them. The civil date is found by counting eras of 400 years from March 1st.

/// A moment in milliseconds since 1970-01-01 UTC as RFC 3339 writes it.
#[must_use]
pub fn rfc3339(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    let mut text = String::with_capacity("1970-01-01T00:00:00.000Z".len());
    let parts = [(4, year), (2, month), (2, day), (2, hour), (2, minute), (2, second), (3, rest % 1000)];
    for ((width, number), behind) in parts.into_iter().zip("--T::.Z".chars()) {
        push_digits(&mut text, width, number);
        text.push(behind);
    }
    text
}

/// A number with at least `width` digits.
fn push_digits(text: &mut String, width: u32, number: u64) {
    let most = 10_u64.pow(width);
    if number >= most {
        text.push_str(&number.to_string());
        return;
    }
    let mut unit = most / 10;
    while unit > 0 {
        text.push(char::from(b'0' + u8::try_from(number / unit % 10).unwrap_or_default()));
        unit /= 10;
    }
}

/// A moment as RFC 3339 writes it, in milliseconds since 1970-01-01 UTC: any offset, any number of digits behind the point (those
/// beyond milliseconds are left out), `t`, a space and `z` as well as `T` and `Z`. Nothing where the text is something else, or the
/// moment is earlier.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let marks: [(usize, &[u8]); 5] = [(4, b"-"), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")];
    if !marks.iter().all(|(at, marks)| bytes.get(*at).is_some_and(|byte| marks.contains(byte))) {
        return None;
    }
    let (year, month, day) = (number(bytes, 0..4)?, number(bytes, 5..7)?, number(bytes, 8..10)?);
    let (hour, minute, second) = (number(bytes, 11..13)?, number(bytes, 14..16)?, number(bytes, 17..19)?);
    // A minute may have a leap second.
    let is_moment = (1..=12).contains(&month) && hour < 24 && minute < 60 && second <= 60;
    if !is_moment || day == 0 || day > days_of(year, month) {
        return None;
    }
    let (milliseconds, rest) = fraction(bytes.get(19..)?)?;
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset(rest)?;
    u64::try_from((minutes * 60 + second) * 1000 + milliseconds).ok()
}

fn number(bytes: &[u8], range: std::ops::Range<usize>) -> Option<i64> {
    let digits = bytes.get(range)?;
    let is_number = digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// The milliseconds behind the seconds, and what follows them.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.', rest @ ..] = rest else { return Some((0, rest)) };
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(len);
    let first = digits.first()?;
    let digit = |at: usize| digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
    Some((i64::from(first - b'0') * 100 + digit(1) * 10 + digit(2), rest))
}

/// The offset from UTC in minutes.
fn offset(rest: &[u8]) -> Option<i64> {
    match rest {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (number(rest, 1..3)?, number(rest, 4..6)?);
            let offset = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
            Some(if *sign == b'+' { offset } else { -offset })
        }
        _ => None,
    }
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{from_rfc3339, rfc3339};

    #[test]
    fn dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_moment_is_read_as_it_was_written() {
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
        ];
        for text in same {
            assert_eq!(from_rfc3339(text), Some(noon), "{text}");
        }
        assert_eq!(from_rfc3339("2025-01-01T12:00:00.5+00:00"), Some(noon + 500));
        assert_eq!(from_rfc3339("2025-01-01T12:00:00.1239Z"), Some(noon + 123));
        assert_eq!(from_rfc3339("2016-12-31T23:59:60Z"), from_rfc3339("2017-01-01T00:00:00Z"));
    }

    #[test]
    fn what_is_no_moment_is_nothing() {
        let none = [
            "",
            "2025-01-01",
            "2025-01-01T12:00:00",
            "2025-01-01T12:00Z",
            "2025-01-01T12:00:00.Z",
            "2025-01-01T12:00:00+0200",
            "2025-01-01T12:00:00+24:00",
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
            "+025-01-01T12:00:00Z",
            "2025-01-01T12:00:00\u{e9}",
            "٢٠٢٥-01-01T12:00:00Z",
        ];
        for text in none {
            assert_eq!(from_rfc3339(text), None, "{text}");
        }
    }
}
