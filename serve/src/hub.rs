//! The hub: a broker of tasks between agents, over gRPC, with an HTTP port.
//!
//! - [`serve`]: serves a hub until it is told to stop. [`HubSettings`]: its settings.
//! - [`AgentTokens`]: the tokens of the agents. `http`: the HTTP port. `metrics`: the metrics of a hub.
//! - [`HubCode`]: the diagnostics.

mod card;
mod codes;
mod http;
mod metrics;
mod rpc;
mod serve;
mod tokens;

pub use codes::HubCode;
pub use serve::{HTTP_NAMES, HubAddresses, HubLimits, HubSettings, NAMES, StoreLocation, cannot_listen, serve};
pub use tokens::{AgentTokens, TokenFileError};
