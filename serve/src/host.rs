//! Served sessions, whatever the wire: a script lives once for each session, on a worker thread, and answers prompts.
//!
//! ```text
//! front's thread                         worker's thread (several sessions each)
//! Host::open ───── mailbox of opens ───▶ the script's top level, once
//! Handle::prompt ─ mailbox ────────────▶ its pipeline, once for each prompt ──▶ Peer::show, Peer::room, Peer::permit
//!                ◀──────── Ended ───────
//! ```
//!
//! - [`Host`]: all sessions of a script; opens, finds and closes them. [`Served`]: what is served, and how.
//! - [`Handle`]: one session, for those who talk to it from other threads. `mailbox`: what waits for its worker.
//! - [`NewSession`], [`Prompt`]: what they say to it. [`Ended`], [`Stop`], [`Failure`]: what comes back. [`HostError`]: what
//!   it refuses.
//! - [`Peer`]: whom sessions are served to; a wire implements it. [`Event`]: what a session shows while it works.
//! - [`Mode`]: how freely a session's tools run. `policy`: which calls need a permission; `permission`: asking the peer for one;
//!   `permission_scope`: what an answer for always covers.
//! - `worker`: a thread and its sessions. `offer`: a session that waits for one. `session`: one of them, from its opening to its
//!   end. `show`: what it shows.
//! - `kept`: sessions that survive the process.

mod directory;
mod error;
mod event;
mod handle;
mod kept;
mod mailbox;
mod mode;
mod offer;
mod peer;
mod permission;
mod permission_scope;
mod policy;
mod prompt;
mod served;
mod session;
mod show;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod worker;

pub use directory::Host;
pub use error::{Failure, HostError};
pub use event::{Event, Made, Part, PlanEntry, Priority, Progress, ReminderEvent, new_message_id};
pub use handle::Handle;
pub(crate) use mailbox::CLEARS;
pub use mode::Mode;
pub use peer::{Peer, PermissionQuestion, Verdict, Waiting};
pub use permission_scope::PermissionScope;
pub use prompt::{Ended, NewSession, Prompt, Stop};
pub use served::{Served, Settings, Taps};
