//! Hubs as scripts use them. The broker and its wire are the crate `hub`.
//!
//! - [`HubConnection`] (`client`): the requests of one agent, to a hub of this process or over gRPC.
//! - `stream`: tasks and events as they come. [`HubTask`] (`task`): a leased task.
//! - [`convert`]: the messages of a hub in the model of A2A. [`HubClientCode`] (`codes`): the errors.

pub(crate) mod client;
mod codes;
pub mod convert;
pub(crate) mod stream;
pub(crate) mod task;

pub(crate) use client::{ConnectSettings, HubConnection, HubValue, Transport, of_status};
pub(crate) use codes::HubClientCode;
pub(crate) use task::HubTask;
