//! `harn serve channels` as a process, with several clients over HTTP at once.
//!
//! - [`daemon`]: a running daemon, its channels, and clients that read events. [`identity`]: what is known of a channel.
//! - [`ingress`]: actions, scopes, repeats and refusals. [`sharing`]: several channels of one session.
//! - [`in_process`]: scripts that open channels to their own daemon.
//! - [`permissions`]: the permission bridge. [`killed`]: what a killed daemon leaves. [`delegated`]: tasks at peers.
//! - [`rounds`]: random disconnects and daemons that are killed. [`refusals`]: refused requests change nothing.
//! - [`rates`]: a channel that sends without end.
//! - [`acp_client`]: clients of ACP. [`attach`]: editors. [`websocket`]: ACP over a WebSocket.
//! - [`peer_agents`]: A2A on the port of the daemon. [`together`]: four clients of one session at once. [`owned`]: one
//!   daemon for each log. [`full`]: a log that cannot be written. [`limits`]: limits of sessions. [`trimmed`]: a log whose
//!   old records were removed.

mod acp_client;
mod attach;
mod daemon;
mod delegated;
mod full;
mod identity;
mod in_process;
mod ingress;
mod killed;
mod limits;
mod owned;
mod peer_agents;
mod permissions;
mod rates;
mod refusals;
mod rounds;
mod sharing;
mod together;
mod trimmed;
mod websocket;
