//! Served sessions, without a wire.

mod cancel;
mod permission;
mod prompt;
mod sessions;
