//! Agents that talk to each other over the Agent2Agent protocol.
//!
//! - [`kept`]: tasks over two processes.
//! - [`client`]: scripts that ask other agents, of all versions and all kinds of trouble.

mod client;
mod kept;
