//! HTTP: connections, and what may come over them.
//!
//! - `listener`: connections, with bounds. `patient`: one that takes nothing for long is given up.
//! - `router`: which path is whose. `guard`: whose pages may ask. `body`: reading what was sent, with bounds.
//! - `post`: a request of JSON-RPC. `get_card`: the agent card. `sse`: a stream. `probe`: health,
//!   readiness and metrics. `refusal`: what is answered to all else.

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
