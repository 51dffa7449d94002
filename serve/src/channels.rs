//! Remote channels: clients, hosts and peer agents that share the sessions of one process.
//!
//! The event log is the only truth: what a channel sees is made of records, and every fact about channels is a record of
//! the topic `channel`: who is enrolled, what a channel did, and what it was refused. So another process can enrol and
//! revoke channels while a server runs, and a server that starts again knows what was done.
//!
//! - [`ChannelScope`], [`ChannelScopes`]: the rights of a channel. [`PeerRole`]: its role.
//! - [`EnrolledChannel`]: a channel with its rights and the salted digest of its secret. [`ChannelSecret`]: the secret.
//! - [`ChannelRegistry`]: the enrolled channels of a log. [`AuthenticationError`]: a refusal.
//! - [`ChannelIdentity`], [`ChannelTransport`]: what is known of a connected channel.
//! - [`ChannelEvent`], [`ChannelEventKind`]: the eight events of channels. [`RecordedChannelEvent`]: one of them on the
//!   log. [`ChannelAcknowledgement`]: how far a channel has read.
//! - [`EventEnvelope`]: a record of the log as clients see it. [`EventType`]: the types of events.
//! - `record`: the kinds of records.
//! - [`ChannelCode`]: the diagnostics.

mod codes;
mod enrolment;
mod envelope;
mod event;
mod identity;
mod record;
mod registry;
mod scope;
mod secret;

pub use codes::ChannelCode;
pub use enrolment::{EnrolledChannel, EnrolmentError, NewChannel, PeerRole};
pub use envelope::{EventEnvelope, EventType, SCHEMA_VERSION};
pub use event::{
    ChannelAcknowledgement, ChannelEvent, ChannelEventKind, DisconnectReason, DisconnectedChannel, EventGap,
    ForwardedPermission, PermissionSide, PermissionSource, RecordedChannelEvent, ResumeMethod, ResumedChannel,
    ReturnedPermission, ReturnedScope,
};
pub use identity::{ChannelIdentity, ChannelTransport};
pub use registry::{AuthenticationError, ChannelRegistry, enrol, revoke};
pub use scope::{ChannelScope, ChannelScopes};
pub use secret::{ChannelSecret, SecretDigest};
