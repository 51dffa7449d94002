//! The kinds of records of the topic `channel`.

use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, RUN_ID, Record};
use runtime::event_log::Topic;
use serde::Serialize;

words! {
    /// The kind of a record about channels, without the topic.
    pub enum ChannelRecordKind {
        /// A channel was enrolled.
        Enrolled = "enrolled",
        /// A channel was revoked.
        Revoked = "revoked",
        /// An action of a channel was accepted.
        Action = "action",
        /// An action of a channel has ended.
        Result = "result",
        /// A request was refused.
        Refused = "refused",
        /// Known facts about a channel.
        Identity = "identity",
        /// A sum of the connections of a channel that have no records of their own.
        Connections = "connections",
        /// An event of a channel.
        Event = "event",
        /// A local task is linked to a peer's task, or the link changed.
        Link = "link",
        /// An artifact of a linked task.
        Artifact = "artifact",
        /// A channel has read up to a cursor.
        Ack = "ack",
        /// A decision about a permission.
        Permission = "permission",
    }
}

/// Creates a record about channels. One about a session belongs to the run of the session.
pub(crate) fn record(kind: ChannelRecordKind, session_id: Option<&str>, payload: Data, now_ms: u64) -> NewRecord {
    NewRecord {
        topic: Topic::Channel.into(),
        kind: Topic::Channel.kind(kind.as_str()).into(),
        payload: payload.into(),
        headers: session_id.map_or(Data::Nil, |id| Data::dict([(RUN_ID, Data::from(id))])),
        occurred_at_ms: now_ms,
    }
}

/// Returns the kind of a record about channels; `None` for other records, and for kinds of later versions.
pub(crate) fn kind_of(topic: &str, kind: &str) -> Option<ChannelRecordKind> {
    if topic != Topic::Channel.as_str() {
        return None;
    }
    Topic::Channel.word_of(kind)?.parse().ok()
}

/// Returns the kind of a record about channels, like [`kind_of`].
pub(crate) fn channel_record_kind(record: &Record) -> Option<ChannelRecordKind> {
    kind_of(&record.topic, &record.kind)
}

/// Converts a payload to data.
pub(crate) fn data_of(payload: &impl Serialize) -> Data {
    // Does not fail: the payloads have only string keys.
    serde_json::to_value(payload).map_or(Data::Nil, Data::from)
}
