//! HTTP requests. Connections and the checks of hosts, origins and tokens are in [`crate::http`].
//!
//! - `router`: maps paths to handlers.
//! - [`A2aEndpoint`]: the protocol on the port of another server.
//! - `post`: handles a JSON-RPC request. `get_card`: the agent card. `sse`: a stream. `probe`: health, readiness and
//!   metrics. `refusal`: the response to all other requests.

mod endpoint;
mod get_card;
mod post;
mod probe;
mod refusal;
mod router;
mod sse;

pub(crate) use endpoint::A2aEndpoint;
pub(crate) use post::{HttpError, closing, content_type, denied, read_body, receive, with_challenge};
pub(super) use refusal::full;
pub(crate) use refusal::{json, not_allowed, refusal, said};
pub(super) use router::{A2aState, RequestService};
pub(crate) use sse::{of as event_response, response as stream_response};
