//! Hubs as scripts use them. The broker and its wire are the crate `hub`.
//!
//! - [`HubConnection`] (`client`): the requests of one agent, to a hub of this process or over gRPC.
//! - `stream`: tasks and events as they come. `renewal`: leases of tasks that take long. [`HubTask`] (`task`): a leased task.
//! - `bounds`: the maximum size of arguments. [`convert`]: the messages of a hub in the model of A2A.

pub(crate) mod bounds;
pub(crate) mod client;
pub mod convert;
pub(crate) mod renewal;
pub(crate) mod stream;
pub(crate) mod task;

pub(crate) use client::{ConnectSettings, HubConnection, HubValue, Transport, of_status};
pub(crate) use task::HubTask;
