//! Unknown keys of a reminder and their probable meaning.

use base::words::nearest;

use super::codec::names_and;
use super::{ReminderCode, ReminderError, ReminderField};

/// Synonyms for a reminder's fields that edit distance does not find.
const OTHER_WORDS: &[(&str, &str)] =
    &[("ttl", "ttl_turns"), ("key", "dedupe_key"), ("text", "body"), ("message", "body"), ("content", "body")];

/// Fields that the runtime sets.
const OF_THE_RUNTIME: &[&str] = &names_and::<4>(&ReminderField::OF_RUNTIME, &[]);

/// The help for a `clear` that no hook returned.
pub(crate) const CLEAR: &str = "only a hook can return `clear`; call `agent_session_clear_reminders(id, {…})`, in a provider with \
    `ctx.session_id`";

/// Returns the error for `unknown`, a key that is not one of `known`.
pub(super) fn unknown_key(code: ReminderCode, unknown: &str, known: &[&str]) -> ReminderError {
    let error = ReminderError::new(code, unknown, format!("unknown reminder option `{unknown}`"));
    if OF_THE_RUNTIME.contains(&unknown) {
        return error.help(format!("`{unknown}` is set by the runtime; remove it"));
    }
    if unknown == "clear" {
        return error.help(CLEAR);
    }
    if unknown == "mode" {
        return error.help("only a host can set `mode`, on the items that it pushes; remove it");
    }
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == unknown).map(|(_, meant)| *meant);
    error
        .suggest(other.or_else(|| nearest(unknown, known.iter().copied())))
        .or_help(format!("remove it: the fields of a reminder are {}", list(known)))
}

/// `a`, `b` and `c`
fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}
