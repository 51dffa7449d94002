//! The Agent2Agent protocol over HTTP: JSON-RPC and server-sent events. Shapes are [`a2a`]'s; sessions are [`crate::host`]'s.
//!
//! - [`serve`]: from the first connection to the last answer. [`Settings`], [`Bounds`], [`Token`], [`address`]: how.
//! - `http`: connections, paths, bodies, streams. `rpc`: requests of JSON-RPC, and what they come to.
//! - `card`: what the agent says of itself. `extension`: reminders, as the card and headers name them.
//! - [`Desk`]: all tasks of a served script: takes messages, follows what becomes of them.
//! - [`feed`]: what those who follow a task are told of it, with bounds.
//! - [`injection`]: reminders that peers put into tasks. [`reminder`]: what is told of them.
//! - [`store`]: tasks that survive the process.
//! - [`Refusal`]: what is refused. `error`: how JSON-RPC says it. [`A2aCode`]: the diagnostics of this wire.

pub mod address;
mod card;
mod clock;
mod codes;
mod context;
pub mod desk;
mod error;
mod extension;
pub mod feed;
mod http;
pub mod injection;
mod places;
pub mod reminder;
mod rpc;
mod serve;
pub mod store;
mod token;

pub use codes::A2aCode;
pub use desk::Desk;
pub use error::Refusal;
pub use extension::REMINDERS;
pub(crate) use http::{Guard, Listener};
pub use serve::{Bounds, Listening, Settings, serve};
pub(crate) use serve::{not_free, without_token};
pub use token::{BadToken, Token};
