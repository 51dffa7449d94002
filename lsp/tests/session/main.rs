//! Sessions with a server in the same process, byte by byte.
//!
//! - [`client`]: the other end. [`errors`]: what a client does wrong. [`parity`]: diagnostics are those of `harn check`.
//! - [`files`]: files on disk that change. [`random_edits`]: the state after many edits is that of a fresh start.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod client;
mod errors;
mod files;
mod parity;
mod random_edits;
