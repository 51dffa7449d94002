//! Data that a peer injects into a task beside its messages: reminders, and queries about them.
//!
//! - [`call`]: the methods of the extension.
//! - [`PeerReminder`]: a reminder from a peer, in the parameters of a method or in the metadata of a message.
//! - [`TaskInjections`]: the injections into one task. They make repeats harmless, and echo the peer's own data about
//!   its reminder.

mod call;
mod echo;
mod incoming;
mod injections;
mod params;
mod stored;

pub use call::{CLEAR, INJECT, METHODS, PENDING, REVOKE, call};
pub use echo::PeerEcho;
pub use incoming::{PeerReminder, of_message, of_metadata};
pub use injections::{TaskInjection, TaskInjections};

#[cfg(test)]
mod tests;
