//! Data that a peer injects into a task beside its messages: reminders, and queries about them.
//!
//! - [`call`]: the methods of the extension.
//! - [`Incoming`]: a reminder from a peer, in the parameters of a method or in the metadata of a message.
//! - [`Injections`]: the injections into one task. They make repeats harmless, and echo the peer's own data about its
//!   reminder.

mod call;
mod echo;
mod incoming;
mod injections;
mod kept;
mod params;

pub use call::{CLEAR, INJECT, METHODS, PENDING, REVOKE, call};
pub use echo::Echo;
pub use incoming::{Incoming, of_message, of_metadata};
pub use injections::{Given, Injections};

#[cfg(test)]
mod tests;
