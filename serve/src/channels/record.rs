//! The kinds of records of the topic `channel`.

use runtime::data::Data;
use runtime::event_log::{NewRecord, RUN_ID, Topic};
use runtime::words::words;

words! {
    /// The kind of a record about channels, without the topic.
    pub enum ChannelRecordKind {
        /// A channel was enrolled.
        Enrolled = "enrolled",
        /// A channel was revoked.
        Revoked = "revoked",
    }
}

/// Creates a record about channels. One about a session belongs to the run of the session.
pub(super) fn record(kind: ChannelRecordKind, session_id: Option<&str>, payload: Data) -> NewRecord {
    NewRecord {
        topic: Topic::Channel.into(),
        kind: Topic::Channel.kind(kind.as_str()).into(),
        payload: payload.into(),
        headers: session_id.map_or(Data::Nil, |id| Data::dict([(RUN_ID, Data::from(id))])),
        occurred_at_ms: crate::a2a::now_ms(),
    }
}

/// Returns the kind of a record about channels; `None` for other records, and for kinds of later versions.
pub(super) fn kind_of(topic: &str, kind: &str) -> Option<ChannelRecordKind> {
    if topic != Topic::Channel.as_str() {
        return None;
    }
    Topic::Channel.word_of(kind)?.parse().ok()
}
