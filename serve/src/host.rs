//! Served sessions, whatever the wire: a script runs once for each session, on a worker thread, and answers prompts.
//!
//! - [`Event`]: what a session shows while it works.
//! - [`Peer`]: whom a session is served to. A wire implements it.

mod event;
mod peer;

pub use event::{Event, Part, PlanEntry, Priority, Progress, ReminderEvent};
pub use peer::{Peer, PermissionQuestion, Verdict, Waiting};
