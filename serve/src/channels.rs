//! Remote channels: clients, hosts and peer agents that share the sessions of one process.
//!
//! The event log is the only truth: what a channel sees is made of records, and every fact about channels is a record
//! of the topic `channel`: who is enrolled, what a channel did, and what it was refused. So another process can enrol
//! and revoke channels while a server runs, and a server that starts again knows what was done. Actions and events pass
//! the [`gateway`](crate::gateway); this module has what channels add to it.
//!
//! - [`EnrolledChannel`]: a channel and the salted digest of its secret. [`ChannelSecret`]: the secret.
//! - [`ChannelRegistry`]: the enrolled channels of a log. [`AuthenticationError`]: a refusal.
//! - [`serve()`]: serves a script. `daemon`: its sessions, shared by channels. `core`: the state of channels.
//! - `connection`, `presence`, `throttle`: connections, who is present, and limits.
//! - `event_connection`: a connection to the events of a session. `in_process`: the channels of scripts.
//! - `peer`: the channels, as sessions see them. `http`: the port. `acp`: ACP over a WebSocket.
//! - `attach`: the proxy of an editor. `reconnection`: when it connects again.
//! - `peer_agents`: A2A on the port. `incoming_tasks`: the tasks that peer agents have begun here.
//!   `peer_polls`: asks about tasks at peers.
//! - [`ChannelCode`]: the diagnostics.
//! - [`PeerTaskLink`], [`PeerTaskLinks`], [`PeerTaskState`]: tasks of peers, linked to local tasks.

mod acp;
mod attach;
mod codes;
mod connection;
mod core;
mod daemon;
mod enrolment;
mod event_connection;
mod http;
mod in_process;
mod incoming_tasks;
mod peer;
mod peer_agents;
mod peer_polls;
mod presence;
mod reconnection;
mod registry;
mod secret;
mod serve;
mod throttle;
mod websocket;

pub use crate::gateway::{
    Action, ActionError, ActionKind, ActionOutcome, ActionStatus, Caller, ChannelAcknowledgement, ChannelEvent,
    ChannelEventKind, ChannelIdentity, ChannelScope, ChannelScopes, ChannelTransport, DisconnectReason,
    DisconnectedChannel, EventEnvelope, EventGap, EventType, ForwardedPermission, PeerRole, RecordedChannelEvent,
    ResumeMethod, ResumedChannel, ReturnedPermission, ReturnedScope, SCHEMA_VERSION, WindowLimits,
};
pub use crate::host::{PermissionSide, PermissionSource};
pub use a2a::peer_task::{PeerTaskLink, PeerTaskLinks, PeerTaskState};
pub use attach::{AttachError, AttachSettings, attach};
pub use codes::ChannelCode;
pub use enrolment::{EnrolledChannel, EnrolmentError, NewChannel};
pub use registry::{AuthenticationError, ChannelRegistry, enrol, revoke};
pub use secret::{ChannelSecret, SecretDigest};
pub use serve::{ChannelLimits, ChannelSettings, NAMES, PeerAgentSettings, cannot_listen, serve};
pub use stdlib::OrphanPolicy;
