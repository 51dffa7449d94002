//! [`ChannelEvent`]: the events of channels, with their payloads, as records of the log.

use std::sync::Arc;

use a2a::peer_task::PeerTaskLink;
use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, Record};
use serde::{Deserialize, Serialize};

use super::ChannelIdentity;
use super::record::{ChannelRecordKind, data_of, kind_of, record};
use crate::host::{PermissionSide, PermissionSource};

words! {
    /// The kind of an event of a channel: the type of its envelope.
    pub enum ChannelEventKind {
        /// A peer becomes reachable.
        Connected = "channel.connected",
        /// A peer disconnects or misses heartbeats.
        Disconnected = "channel.disconnected",
        /// A peer continues at a cursor or by a token.
        Resumed = "channel.resumed",
        /// A message that belongs to no turn: a notice or a status.
        Message = "channel.message",
        /// A permission request is forwarded to channels.
        PermissionForwarded = "channel.permission_forwarded",
        /// A permission request has its decision.
        PermissionReturned = "channel.permission_returned",
        /// A peer's task is linked to a local one.
        PeerTaskLinked = "channel.peer_task.linked",
        /// The state of a peer's task changed.
        PeerTaskUpdated = "channel.peer_task.updated",
    }
}

words! {
    /// The reason why a channel was disconnected.
    pub enum DisconnectReason {
        /// The peer closed the connection, or it broke.
        Closed = "closed",
        /// The peer missed its heartbeats.
        Stale = "stale",
        /// The peer did not read fast enough.
        Slow = "slow",
        /// The channel was revoked.
        Revoked = "revoked",
        /// The secret of the channel has expired.
        Expired = "expired",
        /// The peer violated the protocol.
        Protocol = "protocol",
        /// This process stops.
        Stopping = "stopping",
    }
}

words! {
    /// The information by which a channel was resumed.
    pub enum ResumeMethod {
        /// A cursor of the log.
        Cursor = "cursor",
        /// A resume token.
        Token = "token",
    }
}

/// The part of the log that a channel cannot get any more: the cursors `from` to `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventGap {
    /// The first missing cursor.
    pub from: u64,
    /// The last missing cursor.
    pub to: u64,
}

/// The payload of `channel.disconnected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisconnectedChannel {
    /// The reason.
    pub reason: DisconnectReason,
    /// The cursor at which the channel can continue: the last event that was sent to it.
    pub cursor: Option<u64>,
}

/// The payload of `channel.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumedChannel {
    /// The information by which it was resumed.
    pub by: ResumeMethod,
    /// The cursor after which it continues.
    pub after: u64,
    /// The events that it cannot get any more, if there are any.
    pub gap: Option<EventGap>,
}

/// The payload of `channel.permission_forwarded`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForwardedPermission {
    /// The id of the request.
    pub request: Arc<str>,
    /// The session, channel or peer task that requested the permission.
    pub requested_by: Arc<str>,
    /// The tool, process, action or peer task that it applies to, with `session_id`, `tool_call_id` and `tool`.
    pub applies_to: Data,
    /// The ids of the channels that can answer.
    pub forwarded_to: Vec<Arc<str>>,
    /// The reason why it is requested.
    pub reason: Option<Arc<str>>,
    /// The calls that an "always" answer covers.
    #[serde(default, skip_serializing_if = "Data::is_nil")]
    pub covers: Data,
    /// The time until which an answer is valid, in milliseconds since 1970-01-01 UTC.
    pub expires_at_ms: Option<u64>,
}

/// The later decisions that a decision covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReturnedScope {
    /// `once`, or `session` for an "always" answer.
    pub holds: Arc<str>,
    /// Whether it holds for answers of this channel only.
    pub channel_scoped: bool,
    /// The calls that it covers, or nil.
    #[serde(default)]
    pub covers: Data,
}

/// The payload of `channel.permission_returned`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReturnedPermission {
    /// The id of the request.
    pub request: Arc<str>,
    /// The session, channel or peer task that requested the permission.
    pub requested_by: Arc<str>,
    /// The tool, process, action or peer task that it applies to.
    pub applies_to: Data,
    /// The id of the channel that decided, or `runtime`.
    pub decided_by: Arc<str>,
    /// The side that decided.
    pub side: PermissionSide,
    /// The source of the decision.
    pub source: PermissionSource,
    /// The later decisions that it covers.
    pub scope: ReturnedScope,
    /// The decision, as `verdict` of `channel.permission`.
    pub verdict: Arc<str>,
}

/// An event of a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum ChannelEvent {
    /// A peer becomes reachable.
    Connected(ChannelIdentity),
    /// A peer disconnects or misses heartbeats.
    Disconnected(DisconnectedChannel),
    /// A peer continues at a cursor or by a token.
    Resumed(ResumedChannel),
    /// A message that belongs to no turn.
    Message {
        /// The text for people.
        text: Arc<str>,
        /// Data for programs, as the channel sent it, or nil.
        data: Data,
        /// The action that sent it.
        action: Option<Arc<str>>,
    },
    /// A permission request is forwarded to channels.
    PermissionForwarded(ForwardedPermission),
    /// A permission request has its decision.
    PermissionReturned(ReturnedPermission),
    /// A peer's task is linked to a local one.
    PeerTaskLinked(PeerTaskLink),
    /// The state of a peer's task changed.
    PeerTaskUpdated(PeerTaskLink),
}

impl ChannelEvent {
    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ChannelEventKind {
        match self {
            ChannelEvent::Connected(_) => ChannelEventKind::Connected,
            ChannelEvent::Disconnected(_) => ChannelEventKind::Disconnected,
            ChannelEvent::Resumed(_) => ChannelEventKind::Resumed,
            ChannelEvent::Message { .. } => ChannelEventKind::Message,
            ChannelEvent::PermissionForwarded(_) => ChannelEventKind::PermissionForwarded,
            ChannelEvent::PermissionReturned(_) => ChannelEventKind::PermissionReturned,
            ChannelEvent::PeerTaskLinked(_) => ChannelEventKind::PeerTaskLinked,
            ChannelEvent::PeerTaskUpdated(_) => ChannelEventKind::PeerTaskUpdated,
        }
    }

    /// Returns the payload as the log has it.
    #[must_use]
    pub fn payload(&self) -> Data {
        match self {
            ChannelEvent::Connected(identity) => data_of(identity),
            ChannelEvent::Disconnected(payload) => data_of(payload),
            ChannelEvent::Resumed(payload) => data_of(payload),
            ChannelEvent::Message { text, data, action } => {
                let meta = action.as_ref().map_or(Data::Nil, |action| Data::dict([("action", Data::from(action))]));
                let stored = Data::dict_of_present([("content", data.clone()), ("_meta", meta)]);
                Data::dict([("text", Data::from(text)), ("data", stored)])
            }
            ChannelEvent::PermissionForwarded(payload) => data_of(payload),
            ChannelEvent::PermissionReturned(payload) => data_of(payload),
            ChannelEvent::PeerTaskLinked(link) | ChannelEvent::PeerTaskUpdated(link) => link.to_data(),
        }
    }

    /// Reads a payload.
    fn from_data(kind: ChannelEventKind, payload: &Data) -> Result<ChannelEvent, String> {
        fn read<'a, T: Deserialize<'a>>(payload: &'a Data) -> Result<T, String> {
            T::deserialize(payload).map_err(|error| error.to_string())
        }
        Ok(match kind {
            ChannelEventKind::Connected => ChannelEvent::Connected(ChannelIdentity::from_data(payload)?),
            ChannelEventKind::Disconnected => ChannelEvent::Disconnected(read(payload)?),
            ChannelEventKind::Resumed => ChannelEvent::Resumed(read(payload)?),
            ChannelEventKind::Message => ChannelEvent::Message {
                text: payload.get("text").as_shared_str().ok_or("`text` is not a string")?,
                data: payload.at("data.content").clone(),
                action: payload.at("data._meta.action").as_shared_str(),
            },
            ChannelEventKind::PermissionForwarded => ChannelEvent::PermissionForwarded(read(payload)?),
            ChannelEventKind::PermissionReturned => ChannelEvent::PermissionReturned(read(payload)?),
            ChannelEventKind::PeerTaskLinked => ChannelEvent::PeerTaskLinked(PeerTaskLink::from_data(payload)?),
            ChannelEventKind::PeerTaskUpdated => ChannelEvent::PeerTaskUpdated(PeerTaskLink::from_data(payload)?),
        })
    }
}

/// An event of a channel, as it is on the log.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedChannelEvent {
    /// The channel; `None` for a linked task of a script.
    pub channel_id: Option<Arc<str>>,
    /// The session that it is about; `None` if it is about the channel itself.
    pub session_id: Option<Arc<str>>,
    /// The event.
    pub event: ChannelEvent,
}

impl RecordedChannelEvent {
    /// Creates an event of a channel.
    #[must_use]
    pub fn new(channel_id: &Arc<str>, session_id: Option<&Arc<str>>, event: ChannelEvent) -> RecordedChannelEvent {
        RecordedChannelEvent { channel_id: Some(channel_id.clone()), session_id: session_id.cloned(), event }
    }

    /// Returns the record. A linked task is a record `channel.link`, which is also its state; any other event is a
    /// record `channel.event`.
    #[must_use]
    pub fn to_record(&self, now_ms: u64) -> NewRecord {
        let session_id = self.session_id.as_deref();
        match &self.event {
            ChannelEvent::PeerTaskLinked(link) | ChannelEvent::PeerTaskUpdated(link) => {
                let is_new = self.event.kind() == ChannelEventKind::PeerTaskLinked;
                let payload = link.to_record(is_new, now_ms).payload.to_data();
                record(ChannelRecordKind::Link, session_id, payload, now_ms)
            }
            event => {
                let payload = Data::dict_of_present([
                    ("event", Data::from(event.kind().as_str())),
                    ("channel_id", self.channel_id.as_ref().into()),
                    ("session_id", self.session_id.as_ref().into()),
                    ("payload", event.payload()),
                ]);
                record(ChannelRecordKind::Event, session_id, payload, now_ms)
            }
        }
    }

    /// Reads a record. Returns `None` for a record that is not an event of a channel, and for an event of a later
    /// version.
    ///
    /// # Errors
    /// A field is missing or invalid.
    pub fn read(recorded: &Record) -> Option<Result<RecordedChannelEvent, String>> {
        let payload = &*recorded.payload;
        match kind_of(&recorded.topic, &recorded.kind)? {
            ChannelRecordKind::Event => {
                let kind = payload.get("event").as_str()?.parse().ok()?;
                Some(ChannelEvent::from_data(kind, payload.get("payload")).map(|event| RecordedChannelEvent {
                    channel_id: payload.get("channel_id").as_shared_str(),
                    session_id: payload.get("session_id").as_shared_str(),
                    event,
                }))
            }
            ChannelRecordKind::Link => Some(PeerTaskLink::from_data(payload).map(|link| RecordedChannelEvent {
                channel_id: link.channel_id.clone(),
                session_id: link.session_id.clone(),
                event: match payload.get("change").as_str() {
                    Some("linked") => ChannelEvent::PeerTaskLinked(link),
                    _ => ChannelEvent::PeerTaskUpdated(link),
                },
            })),
            _ => None,
        }
    }
}

/// The cursor up to which a channel has read: the record `channel.ack`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelAcknowledgement {
    /// The channel.
    pub channel_id: Arc<str>,
    /// The session, if the channel acknowledges the events of one session.
    pub session_id: Option<Arc<str>>,
    /// The cursor of the last event that it has processed.
    pub cursor: u64,
}

impl ChannelAcknowledgement {
    /// Returns the record.
    #[must_use]
    pub fn to_record(&self, now_ms: u64) -> NewRecord {
        record(ChannelRecordKind::Ack, self.session_id.as_deref(), data_of(self), now_ms)
    }

    /// Reads a record. Returns `None` for another record.
    ///
    /// # Errors
    /// A field is missing or invalid.
    pub fn read(recorded: &Record) -> Option<Result<ChannelAcknowledgement, String>> {
        (kind_of(&recorded.topic, &recorded.kind)? == ChannelRecordKind::Ack)
            .then(|| ChannelAcknowledgement::deserialize(&*recorded.payload).map_err(|error| error.to_string()))
    }
}
