//! `harn serve acp`, driven as an editor does it. Whatever the process sends in any of these is held against the schemas of the
//! protocol ([`schema`]) and ours ([`ours`]); a [`client`] that is no SDK's can be as wrong as it likes ([`start`] begins one).
//!
//! - [`broken`]: that the check of frames can fail.
//! - [`sdk`]: the clients of the protocol's own SDKs, in Python and Node.
//! - [`permissions`]: what the client is asked, and what its answers come to. [`agents`]: the agents of `examples/acp`.
//! - [`lines`]: lines that are no messages.
//! - [`fields`]: each field of each payload wrong in turn.
//! - [`interrupted`]: answers that were given up in the middle.
//! - [`sessions`]: sessions that are not there, or busy.
//! - [`store`]: sessions over two processes.
//! - [`reminders`]: who is told what of reminders.
//! - [`pressure`]: floods, and clients that do not read. [`stalled`]: a disk that does not answer.
//! - [`lifetime`]: how a process ends, and what is left of it.

// What `json!` makes is given away.
#![allow(clippy::needless_pass_by_value)]

mod agents;
mod broken;
mod client;
mod fields;
mod interrupted;
mod lifetime;
mod lines;
mod ours;
mod permissions;
mod pressure;
mod reminders;
mod schema;
mod sdk;
mod sessions;
mod stalled;
mod start;
mod store;
