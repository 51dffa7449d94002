//! Agents that talk to each other over the Agent2Agent protocol.
//!
//! - [`client`]: scripts that ask other agents, of all versions and all kinds of trouble.

mod client;
