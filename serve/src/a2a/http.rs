//! HTTP: connections and requests.
//!
//! - `listener`: connections, with limits. `patient`: closes a connection whose client does not read.
//! - `router`: maps paths to handlers. `guard`: checks hosts and origins. `body`: reads bodies, with limits.
//! - `post`: handles a JSON-RPC request. `get_card`: the agent card. `sse`: a stream. `probe`: health, readiness and
//!   metrics. `refusal`: the response to all other requests.

mod body;
mod get_card;
mod guard;
mod listener;
mod patient;
mod post;
mod probe;
mod refusal;
mod router;
mod sse;

pub(crate) use guard::Guard;
pub(super) use guard::name_of;
pub(crate) use listener::Listener;
pub(super) use router::{Answerer, Front};
