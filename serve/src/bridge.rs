//! The bridge JSON of the guide: messages with which a host injects into a session and queries its queue.
//!
//! - [`RemindNotification`]: `session/remind`, read strictly and written in the format of any protocol.
//! - [`PendingInjections`]: the response to `session/pending_injections`.
//! - [`BridgeMethod`]: the operations on a session's queue; [`call`] and [`notify`] execute them, [`check`] only reads
//!   their parameters. [`SessionInboxes`]:
//!   the open sessions.
//! - [`BridgeError`]: an error in a message, as JSON-RPC reports it.

mod call;
mod error;
mod method;
mod pending;
mod remind;

pub use call::{BridgeResponse, ClearedCount, SessionInboxes, call, check, notify, selector};
pub use error::{BridgeError, message_on, reason, suggestion};
pub use method::BridgeMethod;
pub use pending::PendingInjections;
pub use remind::RemindNotification;
