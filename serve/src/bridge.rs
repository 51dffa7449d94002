//! The guide's bridge JSON: how a host reminds a session and what it is shown of the queue.
//!
//! - [`RemindNotification`]: `session/remind`, read strictly and written in any wire's spelling.
//! - [`PendingInjections`]: the answer to `session/pending_injections`.
//! - [`Method`]: what a host may do to the queue of a session; [`call`] and [`notify`] do it. [`Inboxes`]: whose.
//! - [`BridgeError`]: what is wrong with a message, as JSON-RPC tells it.

mod call;
mod error;
mod method;
mod pending;
mod remind;

pub use call::{Answer, Cleared, Inboxes, call, notify, selector};
pub use error::{BridgeError, reason, suggestion};
pub use method::Method;
pub use pending::PendingInjections;
pub use remind::RemindNotification;
