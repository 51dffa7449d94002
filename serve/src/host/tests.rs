//! Served sessions, without a protocol.

mod ask;
mod cancel;
mod counts;
mod folder;
mod inbox;
mod permission;
mod prompt;
mod sessions;
