//! Remote channels: clients, hosts and peer agents that share the sessions of one process.
//!
//! The event log is the only truth: what a channel sees is made of records, and every fact about channels is a record
//! of the topic `channel`: who is enrolled, what a channel did, and what it was refused. So another process can enrol
//! and revoke channels while a server runs, and a server that starts again knows what was done.
//!
//! ```text
//! connection ── Action ──▶ ingress ── scope, ledger ──▶ the host's sessions
//!                                                         │ records
//!            ◀── events ── fan-out ◀── tail of the log ◀──┘
//! ```
//!
//! - [`ChannelScope`], [`ChannelScopes`]: what a channel may do. [`PeerRole`]: its role.
//! - [`EnrolledChannel`]: a channel with its scopes and the salted digest of its secret. [`ChannelSecret`]: the secret.
//! - [`ChannelRegistry`]: the enrolled channels of a log. [`AuthenticationError`]: a refusal.
//! - [`ChannelIdentity`], [`ChannelTransport`]: what is known of a channel.
//! - [`ChannelEvent`], [`ChannelEventKind`]: the eight events of channels. [`RecordedChannelEvent`]: one of them on the
//!   log. [`ChannelAcknowledgement`]: how far a channel has read.
//! - [`EventEnvelope`]: a record of the log as clients see it. [`EventType`]: the types of events. `live_event`: events
//!   that are not on the log. `frame`: events as server-sent events.
//! - [`serve()`]: serves a script. `daemon`: its sessions, shared by channels. `core`: the state of channels.
//! - [`Action`], [`ActionKind`]: what a channel wants. [`ActionError`]: a refusal. `ingress`: executes actions. `ledger`:
//!   the recorded actions. `recover`: the actions that an earlier process has left.
//! - `tail`: follows the log. `feed`: hands events to connections. `events`, `snapshot`: the events for one connection.
//! - `connection`, `presence`, `throttle`, `accounts`: connections, who is present, limits, and the accounts of sessions.
//! - `event_connection`: a connection to the events of a session. `in_process`: the channels of scripts.
//! - `permissions`: the permission bridge. `peer`: the channels, as sessions see them. `http`: the port.
//! - `attach`: the proxy of an editor. `reconnection`: when it connects again.
//! - `peer_agents`: A2A on the port. `incoming_tasks`: the tasks that peer agents have begun here.
//!   `peer_polls`: asks about tasks at peers.
//! - `record`: the kinds of records. [`ChannelCode`]: the diagnostics.
//! - [`PeerTaskLink`], [`PeerTaskLinks`], [`PeerTaskState`]: tasks of peers, linked to local tasks.

mod accounts;
mod acp;
mod action;
mod action_error;
mod attach;
mod codes;
mod connection;
mod core;
mod daemon;
mod enrolment;
mod envelope;
mod event;
mod event_connection;
mod events;
mod feed;
mod frame;
mod http;
mod identity;
mod in_process;
mod incoming_tasks;
mod ingress;
mod ledger;
mod live_event;
mod peer;
mod peer_agents;
mod peer_polls;
mod permissions;
mod presence;
mod reconnection;
mod record;
mod recover;
mod registry;
mod scope;
mod secret;
mod serve;
mod snapshot;
mod tail;
mod throttle;
mod websocket;

pub use crate::host::{PermissionSide, PermissionSource};
pub use a2a::peer_task::{PeerTaskLink, PeerTaskLinks, PeerTaskState};
pub use action::{Action, ActionKind};
pub use action_error::ActionError;
pub use attach::{AttachError, AttachSettings, attach};
pub use codes::ChannelCode;
pub use enrolment::{EnrolledChannel, EnrolmentError, NewChannel, PeerRole};
pub use envelope::{EventEnvelope, EventType, SCHEMA_VERSION};
pub use event::{
    ChannelAcknowledgement, ChannelEvent, ChannelEventKind, DisconnectReason, DisconnectedChannel, EventGap,
    ForwardedPermission, RecordedChannelEvent, ResumeMethod, ResumedChannel, ReturnedPermission, ReturnedScope,
};
pub use feed::WindowLimits;
pub use identity::{ChannelIdentity, ChannelTransport};
pub(crate) use ledger::ActionLedger;
pub use ledger::{ActionOutcome, ActionStatus};
pub(crate) use record::{ChannelRecordKind, channel_record_kind};
pub use registry::{AuthenticationError, ChannelRegistry, enrol, revoke};
pub use scope::{ChannelScope, ChannelScopes};
pub use secret::{ChannelSecret, SecretDigest};
pub use serve::{ChannelLimits, ChannelSettings, NAMES, PeerAgentSettings, cannot_listen, serve};
pub use stdlib::OrphanPolicy;
