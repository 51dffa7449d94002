//! The clock of servers: the system's time, never a script's.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
