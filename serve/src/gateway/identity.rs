//! [`Caller`]: who asks, and what it may do. [`ChannelIdentity`]: what the log says of a connection.

use std::sync::Arc;

use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, Record};
use serde::{Deserialize, Serialize};

use super::record::{ChannelRecordKind, data_of, kind_of, record};
use super::{ChannelScope, ChannelScopes};

/// A caller: the other side of a connection, once it is known who it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The stable id.
    pub id: Arc<str>,
    /// The name for people.
    pub name: Arc<str>,
    /// The role of the other side.
    pub role: PeerRole,
    /// The account whose sessions it can reach.
    pub account: Arc<str>,
    /// The scopes of the caller.
    pub scopes: ChannelScopes,
    /// The end of its validity, in milliseconds since 1970-01-01 UTC.
    pub expires_at_ms: u64,
}

impl Caller {
    /// Returns whether it has not expired.
    #[must_use]
    pub fn is_valid(&self, now_ms: u64) -> bool {
        now_ms < self.expires_at_ms
    }
}

/// An adapter's knowledge of its callers.
pub(crate) trait Callers: Send + Sync {
    /// Returns the connected callers with a scope that reach a session, ordered by id.
    fn present_with(&self, scope: ChannelScope, session_id: &str) -> Vec<Arc<str>>;

    /// Returns whether a caller is valid and connected.
    fn is_present(&self, id: &str) -> bool;

    /// Takes a refusal. Returns whether it gets a record of its own; otherwise it is counted.
    fn takes_refusal(&self, caller: &Arc<Caller>, reason: &'static str) -> bool;

    /// Counts a refusal, which gets no record of its own.
    fn count_refusal(&self, caller: &Arc<Caller>, reason: &'static str);
}

words! {
    /// The role of the other side of a channel.
    pub enum PeerRole {
        /// A client of a person, such as an editor or a page.
        Client = "client",
        /// A host that contains this runtime.
        Host = "host",
        /// A worker of a workflow.
        Worker = "worker",
        /// Another process of this runtime.
        RemoteRuntime = "remote_runtime",
        /// An agent of its own.
        PeerAgent = "peer_agent",
        /// A server of tools.
        ToolServer = "tool_server",
    }
}

words! {
    /// The transport of a channel.
    pub enum ChannelTransport {
        /// Frames of a WebSocket.
        WebSocket = "websocket",
        /// Server-sent events, with requests over HTTP.
        Sse = "sse",
        /// JSON-RPC over HTTP.
        JsonRpc = "json_rpc",
        /// gRPC.
        Grpc = "grpc",
        /// Plain JSON over HTTP.
        HttpJson = "http_json",
        /// Standard input and output.
        Stdio = "stdio",
        /// A script in the same process.
        InProcess = "in_process",
        /// Any other transport.
        Custom = "custom",
    }
}

/// Known facts about a channel: its eight fields are those of a record `channel.identity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelIdentity {
    /// The stable id.
    pub channel_id: Arc<str>,
    /// The transport of its last connection.
    pub transport: ChannelTransport,
    /// Role of the other side.
    pub peer_role: PeerRole,
    /// The account whose sessions it can reach.
    pub account_ref: Option<Arc<str>>,
    /// Capabilities of both sides: `streaming`, `resume`, `permissions`, `files`, `artifacts`, `task_delegation`, or others.
    #[serde(default)]
    pub capabilities: Vec<Arc<str>>,
    /// The time of its last heartbeat or event, in milliseconds since 1970-01-01 UTC, by the clock of this process.
    pub last_seen_at: u64,
    /// A reference to its resume token. The token itself is not on the log.
    pub resume_token_ref: Option<Arc<str>>,
    /// The protocol of the peer: `acp`, `a2a`, `mcp`, `json_rpc`, or another one.
    pub native_protocol: Option<Arc<str>>,
}

impl ChannelIdentity {
    /// Returns the record of the identity.
    #[must_use]
    pub fn to_record(&self, now_ms: u64) -> NewRecord {
        record(ChannelRecordKind::Identity, None, data_of(self), now_ms)
    }

    /// Reads the record of an identity. Returns `None` for another record.
    ///
    /// # Errors
    /// A field is missing or invalid.
    pub fn read(recorded: &Record) -> Option<Result<ChannelIdentity, String>> {
        (kind_of(&recorded.topic, &recorded.kind)? == ChannelRecordKind::Identity)
            .then(|| ChannelIdentity::from_data(&recorded.payload))
    }

    pub(crate) fn from_data(data: &Data) -> Result<ChannelIdentity, String> {
        ChannelIdentity::deserialize(data).map_err(|error| error.to_string())
    }
}
