//! Limits of a reminder's content. Strict producers get an error; in the lenient reader an excessive value falls back
//! or is left out, and a body that no route can show is `dropped` before the next prompt.
//!
//! The largest body is a setting of the process (`[reminders] max_body` of the project's file, set before anything
//! runs), so that scripts, hooks, providers, hosts on other threads and `check` all use the same limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Reminder;

static MAX_BODY: AtomicUsize = AtomicUsize::new(Reminder::MAX_BODY);

/// The largest body, in bytes: [`Reminder::MAX_BODY`] unless it was set.
#[must_use]
pub fn max_body() -> usize {
    MAX_BODY.load(Ordering::Relaxed)
}

/// Says how large a body may be, in bytes, for the whole process. Reminders that are there already stay.
pub fn set_max_body(bytes: usize) {
    MAX_BODY.store(bytes, Ordering::Relaxed);
}

/// Maximum number of tags.
pub const MAX_TAGS: usize = 64;
/// The largest tag, in bytes.
pub const MAX_TAG: usize = 256;
/// The largest dedupe key, in bytes.
pub const MAX_KEY: usize = 512;
/// The largest id that is taken from outside, in bytes.
pub const MAX_ID: usize = 256;

/// Why a tag, a key or an id does not do; nothing where it does. Lists, logs and terminals show them, so they are one line.
#[must_use]
pub fn fault_of_name(name: &str, most: usize) -> Option<String> {
    if name.len() > most {
        return Some(format!("has {} bytes; at most {most} are allowed", name.len()));
    }
    name.chars().any(char::is_control).then(|| "contains a line break or another control character".to_owned())
}
