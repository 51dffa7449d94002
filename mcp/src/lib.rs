//! A client of the Model Context Protocol, without knowledge of scripts: a [`Client`] starts or contacts one server, speaks
//! the protocol version that the server speaks, and survives what the server does.
//!
//! - [`Client`] (`client`): tools, resources, prompts; the list of tools is kept until the server changes it.
//! - `connection`: one connection from its handshake to its end. `exchange`: requests under way, and what the server sends
//!   by itself. `restart`: when a server that ended may be started again.
//! - `stdio`, `lines`, `stderr`: a server as a child process. `http`, `headers`: a server behind a URL (streamable HTTP).
//! - `auth`: tokens of servers behind a URL: [`Authorizer`].
//! - `version`: the two forms of the protocol, and [`ServerInfo`]. `tool`: [`ToolInfo`]. `content`: results as text.
//! - `error`: [`McpError`]. `observer`: the traits by which the caller takes part.
//!
//! A connection belongs to one thread. Its tasks run on the runtime of that thread, and end with the connection.

mod auth;
mod client;
mod connection;
mod content;
mod error;
mod exchange;
mod headers;
mod http;
mod lines;
mod observer;
mod pages;
mod restart;
mod stderr;
mod stdio;
mod tool;
mod version;

pub use auth::{AuthSettings, Authorizer, TokenStore};
pub use client::{Client, ClientSettings, Endpoint, ToolList};
pub use content::text_of;
pub use error::{McpError, McpErrorKind};
pub use http::HttpEndpoint;
pub use observer::{CallObserver, Elicitation, ElicitationReply, Listener, Progress, SilentObserver};
pub use stdio::{Launcher, RunningProcess, ServerProcess};
pub use tool::{SkippedTool, ToolInfo};
pub use version::{EVENTS, Era, LEGACY, LEGACY_VERSIONS, REMINDERS, STATELESS, ServerInfo};
