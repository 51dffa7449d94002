//! Served sessions, without a wire.

mod ask;
mod cancel;
mod permission;
mod prompt;
mod sessions;
