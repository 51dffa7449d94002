//! [`ChannelIdentity`]: what is known of a channel.

use std::sync::Arc;

use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, Record};
use serde::{Deserialize, Serialize};

use super::PeerRole;
use super::record::{ChannelRecordKind, data_of, kind_of, record};

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

    pub(super) fn from_data(data: &Data) -> Result<ChannelIdentity, String> {
        ChannelIdentity::deserialize(data).map_err(|error| error.to_string())
    }
}
