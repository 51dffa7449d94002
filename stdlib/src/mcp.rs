//! MCP servers of a run: the client is the crate `mcp`; here it meets scripts, permissions and reminders.
//!
//! - [`McpServers`] (`servers`): the servers of a run by name. [`McpServer`]: one of them.
//! - [`McpServerSpec`] (`spec`): the description of a server, as a script, `harn.toml` or an ACP client writes it.
//! - `launch`: a server as a child process. `access`: what a server needs, and whether the run may have it.
//! - `oauth`: how the tokens of a server behind a URL are obtained.
//! - `source`: the tools of loops, which follow changes. `tool`: tools of servers for loops. `user`: questions of servers, and reports of progress.
//! - `bridge`: reminders of servers; `events`: those that are events. `cache`: stored lists of tools.
//! - `error`: errors for scripts.

mod access;
mod bridge;
mod cache;
mod error;
mod events;
mod launch;
mod oauth;
mod servers;
mod source;
mod spec;
mod tool;
mod user;

pub(crate) use cache::{cached_tools, store_tools};
pub(crate) use error::of_mcp;
pub(crate) use servers::{McpServer, McpServers, named_server, server_of};
pub(crate) use source::ServerTools;
pub use spec::McpServerSpec;
pub(crate) use spec::TOML_KEYS;
pub(crate) use tool::{checked_call, offered_tools, skipped_notes};
