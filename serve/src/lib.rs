//! The core over the network protocols. An adapter only translates: inside there is one reminder record and one set of
//! lifecycle events, and each protocol gets them in its own format.
//!
//! | module | content |
//! |---|---|
//! | [`wire`] | reminder events, in the names and words of each protocol |
//! | [`host`] | sessions on workers, and their clients |
//! | [`store`] | sessions that survive the process |
//! | [`trim`] | the removal of old records from a log |
//! | [`log_file`] | what a log in a file contains, as its owner sees it |
//! | [`acp`] | the Agent Client Protocol over standard input and output |
//! | [`a2a`] | the Agent2Agent protocol over HTTP |
//! | [`mcp`] | the Model Context Protocol over standard input and output, and over HTTP |
//! | [`channels`] | clients, hosts and peer agents that share the sessions of one process |
//! | [`hub`] | the broker for tasks between agents, over gRPC and HTTP |
//! | [`http`] | HTTP servers, independent of the protocol |
//! | `metrics`, `probe`, `drain`, `count_limit`, `clock`, `spawn`, `when_woken`, `window` | metrics and health of a server, its shutdown, its limits, the time, tasks, futures that are polled only when woken, and bounded feeds with many readers |
//! | [`bridge`] | the guide's bridge JSON: `session/remind`, `session/pending_injections`, errors |

pub mod a2a;
pub mod acp;
pub mod bridge;
pub mod channels;
mod clock;
mod count_limit;
mod drain;
mod gateway;
pub mod host;
pub mod http;
pub mod hub;
pub mod log_file;
pub mod mcp;
mod metrics;
mod probe;
mod spawn;
pub mod store;
#[cfg(test)]
#[path = "../../tests/support/tokio_wait.rs"]
mod tokio_wait;
pub mod trim;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;
mod when_woken;
mod window;
pub mod wire;

pub use drain::StopSignal;
pub use metrics::Metrics;

/// Returns all diagnostic codes, sorted: those of scripts and those of the protocols.
#[must_use]
pub fn catalogue() -> Vec<&'static stdlib::Code> {
    let mut all = stdlib::catalogue();
    all.extend(acp::AcpCode::rows());
    all.extend(mcp::McpServerCode::rows());
    all.extend(a2a::A2aCode::rows());
    all.extend(hub::HubCode::rows());
    all.extend(channels::ChannelCode::rows());
    all.sort_by_key(|row| row.code);
    all
}
