//! The language server: what an editor asks about scripts, answered over the Language Server Protocol.
//!
//! - `frame`: messages on a byte stream. `server`: the loop that reads, orders and answers them.
//! - `workspace`: documents, files on disk, and what is known of each.
//! - `features`: one file per request, all in one table.
//! - `names`: names at positions, and what they mean across files.
//! - `error`: the errors of the protocol.
//!
//! Everything but the reading and writing of bytes happens on one thread, since trees and names are not shared between threads.
//! The loop takes all messages that have arrived before it answers the next one, so cancelled and outdated requests cost nothing.

mod error;
mod features;
mod frame;
mod names;
mod server;
mod workspace;

pub use server::serve;
