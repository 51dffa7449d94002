//! The Model Context Protocol: the public functions of a script as tools, resources and prompts, over standard input and
//! output or streamable HTTP, in the form with sessions (until 2025-11-25) and in the one without (2026-07-28).
//!
//! - [`serve_stdio`], [`serve_http`]: run a server. [`McpSettings`], [`McpLimits`] and [`NAMES`] configure it.
//! - `stdio`, `http`: the transports. `sessions`: the sessions over HTTP. `client`: what is known about a client, and the messages to it.
//! - `server`: requests and their results, in both forms. `catalog`: the lists, and what the arguments must be.
//! - `calls`: calls of the script. `tasks`: calls that outlive their request. `peer`: what a running call shows.
//! - `question`: questions of running calls. `suspended`: calls that wait for the answer of a client without a session.
//! - `reminders`: the reminders of the script, as events and as notifications.
//! - `template`: URIs with variables. `fault`: errors of requests. [`McpServerCode`]: the diagnostics of this protocol.

mod calls;
mod catalog;
mod client;
mod codes;
mod fault;
mod http;
mod peer;
mod question;
mod reminders;
mod serve;
mod server;
mod sessions;
mod stdio;
mod suspended;
mod tasks;
mod template;

pub use codes::McpServerCode;
pub use serve::{McpLimits, McpListen, McpSettings, NAMES, cannot_listen, serve_http, serve_stdio};
