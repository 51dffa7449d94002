//! The Agent Client Protocol, over stdio: an editor and its agent.
//!
//! - [`update`]: what a session shows, as the client is told of it.

pub mod update;
