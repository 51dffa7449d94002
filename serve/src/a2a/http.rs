//! HTTP requests. Everything that other protocols have too is in [`crate::http`].
//!
//! - `protocol`: the paths of a server, and how it words refusals.
//! - [`A2aService`]: what it does with admitted requests, also on the port of another server. `get_card`: the agent card.
//! - `refusal`: refusals as JSON-RPC errors.

mod get_card;
mod protocol;
mod refusal;
mod service;

pub(super) use protocol::A2aHttp;
pub(crate) use refusal::{fault_of, refusal_body, said};
pub(crate) use service::{A2aService, CARDS, RPC, stream_response};
