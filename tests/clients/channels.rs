//! `harn serve channels` as a process, with several clients over HTTP at once.
//!
//! - [`daemon`]: a running daemon, its channels, and clients that read events.
//! - [`ingress`]: actions, scopes, repeats and refusals. [`sharing`]: several channels of one session.
//! - [`permissions`]: the permission bridge. [`rounds`]: random disconnects and daemons that are killed.
//! - [`acp_client`]: clients of ACP. [`attach`]: editors. [`websocket`]: ACP over a WebSocket.

mod acp_client;
mod attach;
mod daemon;
mod ingress;
mod permissions;
mod rounds;
mod sharing;
mod websocket;
