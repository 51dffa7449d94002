//! Anthropic's Messages API (`POST /v1/messages`).
//!
//! `encode` turns a request into a body: system text, messages of alternating roles, tools. `decode` reads a reply, `stream` one
//! that comes in pieces. `thinking` and `cache` are what a body says of those, and
//! `binding` keeps thoughts only where their server takes them. Blocks that
//! we have no name for (signed thinking, images, server tools) go through as they are.

mod binding;
mod cache;
mod decode;
mod encode;
mod stream;
mod thinking;

pub(super) use binding::{BETA, BoundThoughts, PrefixCheck, bind, is_thought, stamp, thoughts};
pub(super) use decode::reply;
pub(super) use encode::{body, fits_as_id};
pub(super) use stream::AnthropicAssembly;

/// The version of the API, as its header says.
pub(super) const VERSION: &str = "2023-06-01";

#[cfg(test)]
mod binding_tests;
#[cfg(test)]
mod native_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
