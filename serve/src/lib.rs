//! The core over a wire. An adapter only translates: inside there is one reminder record and one set of lifecycle events,
//! and every wire gets them in its own spelling.
//!
//! | module | offers |
//! |---|---|
//! | [`wire`] | what has become of a reminder, in the names and words of each wire |
//! | [`host`] | sessions on workers, and whom they are served to |
//! | [`store`] | sessions that survive the process |
//! | [`acp`] | the Agent Client Protocol over standard input and output |
//! | [`a2a`] | the Agent2Agent protocol over HTTP |
//! | `metrics`, `probe`, `drain` | what operators see of a server, and how it ends |
//! | [`bridge`] | the guide's bridge JSON: `session/remind`, `session/pending_injections`, errors |

pub mod a2a;
pub mod acp;
pub mod bridge;
mod drain;
pub mod host;
mod metrics;
mod probe;
pub mod store;
pub mod wire;

pub use metrics::Metrics;

/// Every diagnostic code of harn, sorted: those of scripts and those of wires.
#[must_use]
pub fn catalogue() -> Vec<&'static stdlib::Code> {
    let mut all = stdlib::catalogue();
    all.extend(acp::AcpCode::rows());
    all.extend(a2a::A2aCode::rows());
    all.sort_by_key(|row| row.code);
    all
}
