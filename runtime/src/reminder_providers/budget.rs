//! [`ReminderBudget`]: the limit of what reminders may take of a prompt.

use base::data::Data;

use crate::reminder::{ReminderCode, ReminderError};

/// The budget of the reminders in a prompt; without a limit all are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReminderBudget {
    /// Maximum number of estimated tokens.
    pub max_tokens: Option<u64>,
    /// Maximum share of the context window, in millionths. Without effect if the window is unknown.
    pub max_share: Option<u32>,
}

/// One, in millionths.
const WHOLE: u32 = 1_000_000;

impl ReminderBudget {
    /// Reads `max_tokens` and `max_share` of a dict.
    pub(super) fn from_data(data: &Data) -> Result<ReminderBudget, ReminderError> {
        let max_tokens = match data.get("max_tokens") {
            Data::Nil => None,
            Data::Int(tokens) if *tokens > 0 => u64::try_from(*tokens).ok(),
            other => {
                let message = format!("`max_tokens` must be a positive int, got {}", shown(other));
                return Err(wrong("max_tokens", message).help("write `max_tokens: 600`"));
            }
        };
        let max_share = match data.get("max_share") {
            Data::Nil => None,
            given => {
                let share = given.as_float().and_then(ReminderBudget::share);
                Some(share.ok_or_else(|| {
                    let message = format!("`max_share` must be a number above 0 and up to 1, got {}", shown(given));
                    wrong("max_share", message).help("write `max_share: 0.1` for a tenth of the context window")
                })?)
            }
        };
        Ok(ReminderBudget { max_tokens, max_share })
    }

    /// Returns a share in millionths; `None` if it is not above 0 and up to 1.
    #[must_use]
    pub fn share(share: f64) -> Option<u32> {
        // In range, so the conversion is exact up to rounding.
        (share > 0.0 && share <= 1.0).then(|| ((share * f64::from(WHOLE)).round() as u32).max(1))
    }

    /// Returns this budget, with the limits of `below` where it has none.
    #[must_use]
    pub fn over(self, below: ReminderBudget) -> ReminderBudget {
        ReminderBudget {
            max_tokens: self.max_tokens.or(below.max_tokens),
            max_share: self.max_share.or(below.max_share),
        }
    }

    /// Returns the maximum number of tokens with a context window, the lower of both limits; `None` means no limit.
    #[must_use]
    pub fn tokens(self, context_window: Option<u64>) -> Option<u64> {
        let share = self.max_share.zip(context_window);
        let of_window = share.map(|(share, window)| {
            u64::try_from(u128::from(window) * u128::from(share) / u128::from(WHOLE)).unwrap_or(u64::MAX)
        });
        [self.max_tokens, of_window].into_iter().flatten().min()
    }
}

/// Returns a number as it was written, and the type of anything else.
fn shown(data: &Data) -> String {
    match data {
        Data::Int(_) | Data::Float(_) => data.to_text().to_string(),
        other => other.type_name().to_owned(),
    }
}

fn wrong(field: &str, message: String) -> ReminderError {
    ReminderError::new(ReminderCode::Shape, field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ReminderBudget, ReminderError> {
        ReminderBudget::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn the_lower_limit_applies() {
        let both = read(r#"{"max_tokens":600,"max_share":0.1}"#).unwrap();
        assert_eq!(
            (both.tokens(None), both.tokens(Some(1_000)), both.tokens(Some(200_000))),
            (Some(600), Some(100), Some(600))
        );
        let share = read(r#"{"max_share":1}"#).unwrap();
        assert_eq!((share.tokens(None), share.tokens(Some(u64::MAX))), (None, Some(u64::MAX)));
        assert_eq!(share.over(both), ReminderBudget { max_tokens: Some(600), ..share });
        for (json, field) in [
            (r#"{"max_tokens":0}"#, "max_tokens"),
            (r#"{"max_tokens":1.5}"#, "max_tokens"),
            (r#"{"max_share":0}"#, "max_share"),
            (r#"{"max_share":1.01}"#, "max_share"),
            (r#"{"max_share":"10%"}"#, "max_share"),
        ] {
            assert_eq!(read(json).unwrap_err().field, field, "{json}");
        }
    }
}
