//! The Agent Client Protocol: a script served to an editor, over two streams of lines.
//!
//! - [`serve`]: from the first line to the last. [`Settings`], [`Streams`], [`Bounds`], [`Room`]: how.
//! - `transport`: lines in and out, with bounds. `connection`: which method is whose. `params`, `content`: reading them.
//! - `initialize`, `session`, `mode`, `injection`: the methods. `answer`, `error`: what is answered.
//! - `permission`: asking the editor whether a tool may run. `peer`: the editor, as sessions see it. [`update`]: what a session shows, as the client is told of it.
//! - [`AcpCode`]: the diagnostics of this wire.

mod answer;
mod codes;
mod connection;
mod content;
mod error;
mod initialize;
mod injection;
mod mode;
mod params;
mod peer;
mod permission;
mod serve;
mod session;
mod transport;
pub mod update;

pub use codes::AcpCode;
pub use serve::{ProbeAt, Settings, serve};
pub use transport::{Bounds, Ended, Room, Streams};
