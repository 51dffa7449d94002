//! The Agent Client Protocol: serves a script to an editor, over two streams of lines.
//!
//! - [`serve`]: runs a server. [`AcpSettings`], [`LineStreams`], [`TransportLimits`] and [`OutputLimits`] configure it.
//! - `transport`: lines in and out, with limits. `connection`: requests and responses of both sides. `method`: the table of methods. `dispatcher`: dispatches them. `params`, `content`: read
//!   parameters.
//! - `initialize`, `session`, `mode`, `injection`: the methods. `servers`: the MCP servers of a client. `answer`, `error`: the responses.
//! - `permission`: asks the editor whether a tool may run. `peer`: the editor, as sessions see it. [`update`]:
//!   converts session events to notifications.
//! - [`AcpCode`]: the diagnostics of this protocol.

pub(crate) mod answer;
mod codes;
mod connection;
pub(crate) mod content;
mod dispatcher;
pub(crate) mod error;
pub(crate) mod initialize;
mod injection;
pub(crate) mod method;
pub(crate) mod mode;
pub(crate) mod params;
mod peer;
pub(crate) mod permission;
mod serve;
mod servers;
mod session;
pub(crate) mod transport;
pub mod update;

pub use codes::AcpCode;
pub(crate) use injection::converted as injected_blocks;
pub use serve::{AcpSettings, PROBE_NAMES, ProbeSettings, cannot_listen, serve};
pub(crate) use servers::named_servers;
pub(crate) use session::{list_request, metadata as session_metadata, stored as listed};
pub use transport::{InputEnd, LineStreams, OutputLimits, TransportLimits};
