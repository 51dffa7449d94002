//! `harn serve acp`, driven as an editor does it. Everything that the process sends in these tests
//! is checked against the schemas of the protocol ([`schema`]) and ours ([`ours`]). The [`client`]
//! is not an SDK's, so it can send invalid messages ([`start`] starts one).
//!
//! - [`broken`]: that the check of frames can fail.
//! - [`sdk`]: the clients of the protocol's own SDKs, in Python and Node.
//! - [`permissions`]: what the client is asked, and what its answers come to. [`agents`]: the agents of `examples/acp`.
//! - [`lines`]: lines that are not messages.
//! - [`fields`]: each field of each payload wrong in turn.
//! - [`interrupted`]: answers that were given up in the middle.
//! - [`servers`]: MCP servers of the client.
//! - [`sessions`]: sessions that are not there, or busy.
//! - [`store`]: sessions over two processes.
//! - [`reminders`]: the clients that are notified of reminders.
//! - [`pressure`]: floods, and clients that do not read. [`stalled`]: a disk that does not answer.
//! - [`operated`]: health, metrics and drain.
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
mod operated;
mod ours;
mod permissions;
mod pressure;
mod reminders;
mod schema;
mod sdk;
mod servers;
mod sessions;
mod stalled;
mod start;
mod store;
