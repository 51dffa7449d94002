//! The Agent2Agent protocol over HTTP: JSON-RPC and server-sent events. The message shapes are in [`a2a`], sessions in
//! [`crate::host`].
//!
//! - [`serve`]: runs a server. [`A2aSettings`], [`A2aLimits`] and [`NAMES`] configure it.
//! - `http`: paths, bodies and streams. `rpc`: JSON-RPC requests and their responses.
//! - `card`: the agent card. `extension`: the reminder extension in the card and in headers.
//! - [`TaskManager`]: all tasks of a served script. It accepts messages and follows the tasks that they begin.
//! - [`feed`]: bounded delivery of task updates to subscribers.
//! - [`injection`]: reminders that peers inject into tasks. [`reminder`]: reports on those reminders to subscribers.
//! - [`store`]: tasks that survive the process.
//! - [`Refusal`]: a refused request. `error`: its JSON-RPC error. [`A2aCode`]: the diagnostics of this protocol.

pub(crate) mod card;
mod codes;
mod context;
mod error;
mod extension;
pub mod feed;
mod http;
pub mod injection;
pub mod reminder;
mod rpc;
mod serve;
pub mod store;
pub mod tasks;
#[cfg(test)]
mod testing;

pub(crate) use crate::clock::now_ms;
pub(crate) use card::{AgentCard, CardUrl};
pub use codes::A2aCode;
pub(crate) use context::{ContextSession, session_of_account};
pub use error::Refusal;
pub(crate) use error::{RpcError, code, no_scope, shortened};
pub use extension::REMINDERS;
pub(crate) use http::{A2aService, CARDS, RPC, fault_of, refusal_body, said, stream_response};
pub(crate) use rpc::{
    A2aMethod, CallResult, FrameCache, RequestedVersion, StreamContext, StreamEnvelope, StreamSource, TaskEventStream,
    TaskFrames, event_of, no_extended_card, no_push, read, refused,
};
pub use serve::{A2aLimits, A2aSettings, ListenAddresses, NAMES, cannot_listen, serve};
pub use tasks::TaskManager;
pub(crate) use tasks::{SessionTasks, TaskViewer};
