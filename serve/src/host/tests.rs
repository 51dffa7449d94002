//! Served sessions, without a protocol.

mod ask;
mod cancel;
mod counts;
mod folder;
mod inbox;
mod limits;
mod permission;
mod prompt;
mod sessions;
