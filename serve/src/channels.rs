//! Remote channels: clients, hosts and peer agents that share the sessions of one process.
//!
//! Every fact about channels is a record of the topic `channel` of the event log: who is enrolled, what a channel did,
//! and what it was refused. So another process can enrol and revoke channels while a server runs, and a server that
//! starts again knows what was done.
//!
//! - [`ChannelScope`], [`ChannelScopes`]: the rights of a channel. [`PeerRole`]: its role.
//! - [`EnrolledChannel`]: a channel with its rights and the salted digest of its secret. [`ChannelSecret`]: the secret.
//! - [`ChannelRegistry`]: the enrolled channels of a log. [`AuthenticationError`]: a refusal.
//! - `record`: the kinds of records.
//! - [`ChannelCode`]: the diagnostics.

mod codes;
mod enrolment;
mod record;
mod registry;
mod scope;
mod secret;

pub use codes::ChannelCode;
pub use enrolment::{EnrolledChannel, EnrolmentError, NewChannel, PeerRole};
pub use registry::{AuthenticationError, ChannelRegistry, enrol, revoke};
pub use scope::{ChannelScope, ChannelScopes};
pub use secret::{ChannelSecret, SecretDigest};
