//! The parts that all adapters share: what a client wants is an action in the log, and what it sees is the log, read forward.
//!
//! ```text
//! adapter ── Action ──▶ Gateway ── scope, ledger ──▶ the host's sessions
//!                                                       │ records
//!         ◀── events ── window ◀── tail of the log ◀────┘
//! ```
//!
//! An adapter translates: it has a wire, and owns no session, no feed and no store. It tells who asks ([`Caller`]) and
//! which of them are connected ([`Callers`]).
//!
//! - [`Gateway`]: executes actions in the sessions of a process, and reads their events. [`GatewayCore`]: its state, which
//!   sessions and the tail of the log use too. [`GatewayLog`]: its log, whatever stores it.
//! - [`Caller`]: who asks, and what it may do: [`ChannelScope`], [`ChannelScopes`]. [`ChannelIdentity`],
//!   [`ChannelTransport`], [`PeerRole`]: what the log says of a connection.
//! - [`Action`], [`ActionKind`]: what a caller wants. [`ActionError`]: a refusal. `ingress`: executes actions.
//!   [`ActionReceipt`]: the answer. [`ActionLedger`], [`ActionOutcome`]: the recorded actions. `recover`: the actions that
//!   an earlier process has left.
//! - [`PermissionBridge`]: forwards permission questions to callers. [`UndecidedQuestion`]: one without a decision.
//! - [`FanOut`]: the window of a session's events. [`EventReader`]: the events for one connection, from a cursor on.
//!   `snapshot`: the state with which it can begin. [`LogTail`]: follows the log.
//! - [`ChannelEvent`], [`ChannelEventKind`], [`ChannelAcknowledgement`]: what a connection did, on the log. `record`: the
//!   kinds of records.
//! - [`EventEnvelope`], [`EventType`]: a record as clients see it. `live_event`: events that are not on the log. `frame`:
//!   events as server-sent events.
//! - [`SessionAccounts`]: the accounts of sessions.

mod accounts;
mod action;
mod action_error;
mod core;
mod envelope;
mod event;
pub(crate) mod frame;
mod identity;
mod ingress;
mod ledger;
pub(crate) mod live_event;
pub(crate) mod log;
pub(crate) mod permission;
mod reader;
mod record;
mod recover;
mod scope;
mod service;
mod snapshot;
mod tail;
mod window;

pub(crate) use accounts::SessionAccounts;
pub use action::{Action, ActionKind};
pub use action_error::ActionError;
pub(crate) use action_error::status_of;
pub(crate) use core::{GatewayCore, GatewayLimits};
pub use envelope::{EventEnvelope, EventType, SCHEMA_VERSION};
pub use event::{
    ChannelAcknowledgement, ChannelEvent, ChannelEventKind, DisconnectReason, DisconnectedChannel, EventGap,
    ForwardedPermission, RecordedChannelEvent, ResumeMethod, ResumedChannel, ReturnedPermission, ReturnedScope,
};
pub(crate) use identity::Callers;
pub use identity::{Caller, ChannelIdentity, ChannelTransport, PeerRole};
pub(crate) use ingress::ActionReceipt;
pub(crate) use ledger::ActionLedger;
pub use ledger::{ActionOutcome, ActionStatus};
pub(crate) use log::GatewayLog;
pub(crate) use permission::{PermissionBridge, UndecidedQuestion, UndecidedQuestions};
pub(crate) use reader::{EventReader, ReadEvents};
pub(crate) use record::{ChannelRecordKind, channel_record_kind, kind_of, record};
pub(crate) use recover::INTERRUPTION;
pub use scope::{ChannelScope, ChannelScopes};
pub(crate) use service::Gateway;
pub(crate) use tail::LogTail;
pub use window::WindowLimits;
pub(crate) use window::{ChannelFrame, FanOut, FeedLag, FrameOrigin};
