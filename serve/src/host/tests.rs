//! Served sessions, without a wire.

mod cancel;
mod prompt;
mod sessions;
