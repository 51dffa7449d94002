//! The names of conditions: functions that a script gives as `when`, `until` and `expect`. A reminder has only their
//! names, since it may outlive the run that made them.

/// The beginning of the name of a condition, which no text of a script has.
const PREFIX: &str = "condition:";

/// Returns the name of a condition with an id.
#[must_use]
pub fn condition_name(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// Returns whether a text is the name of a condition.
#[must_use]
pub fn is_condition_name(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|id| !id.is_empty() && id.len() <= super::limits::MAX_ID)
}
