//! Limits of a reminder's content. Strict producers get an error; in the lenient reader an excessive value falls back
//! or is left out, and a body that no route can show is `dropped` before the next prompt.
//!
//! The largest body is a setting of the process (`[reminders] max_body` of the project's file, set before anything
//! runs), so that scripts, hooks, providers, hosts on other threads and `check` all use the same limit.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Reminder;

static MAX_BODY: AtomicUsize = AtomicUsize::new(Reminder::MAX_BODY);

thread_local! {
    /// The maximum size of a body while this thread reads what the setting of the process is not for.
    static OWN_MAX_BODY: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns the maximum size of a body, in bytes: [`Reminder::MAX_BODY`] unless it was set.
#[must_use]
pub fn max_body() -> usize {
    OWN_MAX_BODY.get().unwrap_or_else(|| MAX_BODY.load(Ordering::Relaxed))
}

/// Reads with [`Reminder::MAX_BODY`] as the maximum, whatever was set: a policy is not subject to the settings below it.
pub fn with_default_max_body<R>(read: impl FnOnce() -> R) -> R {
    let before = OWN_MAX_BODY.replace(Some(Reminder::MAX_BODY));
    let result = read();
    OWN_MAX_BODY.set(before);
    result
}

/// Sets the maximum size of a body, in bytes, for the whole process. Existing reminders are unchanged.
pub fn set_max_body(bytes: usize) {
    MAX_BODY.store(bytes, Ordering::Relaxed);
}

/// Maximum number of tags.
pub const MAX_TAGS: usize = 64;
/// Maximum size of a tag, in bytes.
pub const MAX_TAG: usize = 256;
/// Maximum size of a dedupe key, in bytes.
pub const MAX_KEY: usize = 512;
/// Maximum size of an id from outside, in bytes.
pub const MAX_ID: usize = 256;
/// Maximum size of a glob over models, in bytes.
pub const MAX_MODEL: usize = 256;

/// Returns the reason a tag, a key or an id is invalid; `None` if it is valid. Lists, logs and terminals show them, so
/// they are one line.
#[must_use]
pub fn fault_of_name(name: &str, most: usize) -> Option<String> {
    if name.len() > most {
        return Some(format!("has {} bytes; at most {most} are allowed", name.len()));
    }
    name.chars().any(char::is_control).then(|| "contains a line break or another control character".to_owned())
}
