//! HTTP: connections and requests.
//!
//! - `listener`: connections, with limits. `write_timeout`: closes a connection whose client does not read.
//! - `router`: maps paths to handlers. `guard`: checks hosts and origins. `body`: reads bodies, with limits.
//! - `post`: handles a JSON-RPC request. `get_card`: the agent card. `sse`: a stream. `probe`: health, readiness and
//!   metrics. `refusal`: the response to all other requests.

mod body;
mod get_card;
mod guard;
mod listener;
mod post;
mod probe;
mod refusal;
mod router;
mod sse;
mod write_timeout;

pub(crate) use guard::RequestGuard;
pub(super) use guard::name_of;
pub(crate) use listener::HttpListener;
pub(super) use router::{A2aState, RequestService};
