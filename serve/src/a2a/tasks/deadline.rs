//! `metadata.deadline`: the deadline of a task.

use base::data::Data;

/// An error in a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeadlineError {
    /// It is not a valid time.
    Unreadable,
    /// It has passed.
    Past,
}

/// Returns the deadline of a task in milliseconds since 1970-01-01 UTC, or `None` if it has none.
///
/// # Errors
/// The deadline is neither RFC 3339 nor a number, or it has passed.
pub(super) fn deadline(metadata: &Data, now: u64) -> Result<Option<u64>, DeadlineError> {
    let at = match metadata.get("deadline") {
        Data::Nil => return Ok(None),
        Data::Str(text) => stdlib::from_rfc3339(text),
        number => number.as_float().filter(|ms| ms.is_finite()).map(ms),
    };
    match at {
        None => Err(DeadlineError::Unreadable),
        Some(at) if at <= now => Err(DeadlineError::Past),
        at => Ok(at),
    }
}

/// Converts milliseconds; times before 1970 become 0 and have passed as well.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // numbers are cut off at the ends of what fits
fn ms(ms: f64) -> u64 {
    ms as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_moment_to_come() {
        let of = |json: &str| deadline(&Data::from_json(json).unwrap(), 1_000);
        assert_eq!(of("{}"), Ok(None));
        assert_eq!(of(r#"{"deadline": null}"#), Ok(None));
        assert_eq!(of(r#"{"deadline": 1001}"#), Ok(Some(1001)));
        assert_eq!(of(r#"{"deadline": "1970-01-01T00:00:02Z"}"#), Ok(Some(2_000)));
        assert_eq!(of(r#"{"deadline": 1e300}"#), Ok(Some(u64::MAX)));
        for past in ["1000", "-1", "0", r#""1970-01-01T00:00:00.999Z""#] {
            assert_eq!(of(&format!(r#"{{"deadline": {past}}}"#)), Err(DeadlineError::Past), "{past}");
        }
        for unreadable in ["true", "[]", "{}", r#""tomorrow""#, r#""""#, r#""1001""#] {
            assert_eq!(of(&format!(r#"{{"deadline": {unreadable}}}"#)), Err(DeadlineError::Unreadable), "{unreadable}");
        }
    }
}
