//! The guide's bridge JSON: how a host reminds a session and what it is shown of the queue.
//!
//! - [`RemindNotification`]: `session/remind`, read strictly and written in any wire's spelling.
//! - [`PendingInjections`]: the answer to `session/pending_injections`.
//! - [`BridgeError`]: what is wrong with a message, as JSON-RPC tells it.

mod error;
mod pending;
mod remind;

pub use error::BridgeError;
pub use pending::{PendingInjections, PendingRow};
pub use remind::RemindNotification;
