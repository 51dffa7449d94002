//! What a peer puts into a task beside its messages: reminders, and what it asks about them.
//!
//! - [`call`]: the methods of the extension.
//! - [`Incoming`]: a reminder as a peer writes it, in the parameters of a method or in the metadata of a message.
//! - [`Injections`]: what was put into one task: a repeat is harmless, and what a peer said of its reminder is echoed.

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
