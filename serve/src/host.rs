//! Served sessions, independent of the protocol: each session runs its own instance of a script on a worker thread and
//! answers prompts.
//!
//! ```text
//! protocol's thread                             worker's thread (several sessions each)
//! Host::open ──────────── mailbox of opens ───▶ the script's top level, once
//! SessionHandle::prompt ─ mailbox ────────────▶ its pipeline, once for each prompt ──▶ Peer::show, room, permit
//!                       ◀──── EndedPrompt ─────
//! ```
//!
//! - [`Host`]: all sessions of a script; opens, finds and closes them. [`Served`]: the script and its settings.
//! - [`SessionHandle`]: a session, for other threads. `mailbox`: pending requests to its worker.
//! - [`NewSession`], [`Prompt`]: requests to a session. [`EndedPrompt`], [`PromptOutcome`], [`ScriptFailure`]: results.
//!   [`HostError`]: refusals.
//! - [`Peer`]: the client of the sessions, implemented by each protocol. [`SessionEvent`]: an event of a session for
//!   its client.
//! - [`Mode`]: the permission policy of a session's tools. `policy`: the calls that need a permission.
//!   `permission`: asks the peer for one. `permission_scope`: the later calls that an answer covers.
//!   [`PermissionDecision`]: the record of who decided, and why.
//! - `worker`: a thread and its sessions. `offer`: a session that waits for a worker. `session`: the lifecycle of a
//!   session. `show`: the events of a session.
//! - `stored_opening`: sessions that survive the process. `idle`: sessions to close because no one uses them.

mod directory;
mod error;
mod event;
mod handle;
mod idle;
mod mailbox;
mod mode;
mod offer;
mod peer;
mod permission;
mod permission_decision;
mod permission_scope;
mod policy;
mod prompt;
mod served;
mod session;
mod show;
mod stored_opening;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod worker;

pub use directory::Host;
pub use error::{HostError, ScriptFailure};
pub use event::{Part, PlanEntry, Priority, Progress, ReminderEvent, SessionEvent, TaskArtifact, new_message_id};
pub use handle::SessionHandle;
pub(crate) use mailbox::CLEARS;
pub use mode::Mode;
pub use peer::{Peer, PermissionQuestion, Verdict, Waiting};
pub(crate) use permission_decision::{
    PermissionDecision, PermissionReach, RUNTIME, applies_to, new_permission_request,
};
pub use permission_decision::{PermissionSide, PermissionSource};
pub use permission_scope::PermissionScope;
pub use prompt::{ActionKey, EndedPrompt, NewSession, Prompt, PromptOutcome};
pub use served::{HostSettings, Served, Taps};
