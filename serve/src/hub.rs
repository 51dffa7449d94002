//! The hub: a broker for tasks between agents, over gRPC, with an HTTP port.
//!
//! - [`serve`]: serves a hub until it is stopped. [`HubSettings`]: its settings.
//! - [`HubObserver`]: gets what a hub does.
//! - [`AgentTokens`]: the tokens of the agents.
//! - `http`: the HTTP port. `rpc`: its methods, `rest`: the REST binding, `frames`: streams of tasks. `metrics`: the metrics of a hub.
//! - [`HubCode`]: the diagnostics.

mod card;
mod codes;
mod frames;
mod health;
mod http;
mod metrics;
mod rest;
mod rpc;
mod serve;
mod tokens;

pub use codes::HubCode;
pub use health::HealthSettings;
pub use serve::{
    HTTP_NAMES, HubAddresses, HubLimits, HubObserver, HubSettings, NAMES, StoreLocation, cannot_listen, serve,
};
pub use tokens::{AgentTokens, TokenFileError};
