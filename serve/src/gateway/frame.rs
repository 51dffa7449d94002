//! Frames of server-sent events.

use std::sync::Arc;

use bytes::Bytes;
use eventlog::Record;

use super::window::{ChannelFrame, FrameOrigin};
use super::{EventEnvelope, EventGap};

/// Returns the frame of a record; `None` if the record is not for clients.
pub(crate) fn of_record(record: Arc<Record>) -> Option<Arc<ChannelFrame>> {
    let sse = of_envelope(&EventEnvelope::of(&record)?);
    Some(Arc::new(ChannelFrame { cursor: Some(record.cursor), sse, origin: FrameOrigin::Record(record) }))
}

/// Returns the frame that marks missing events.
pub(crate) fn repaired(session_id: &Arc<str>, gap: EventGap) -> Bytes {
    of_envelope(&EventEnvelope::repaired(session_id, gap, crate::a2a::now_ms()))
}

/// Returns an event as a server-sent event. Its id is the cursor, from which `Last-Event-ID` continues.
pub(crate) fn of_envelope(envelope: &EventEnvelope) -> Bytes {
    sse_frame(envelope.sequence, envelope.r#type.as_str(), &envelope.to_json())
}

/// Returns the JSON of a server-sent event.
pub(crate) fn json_of(sse: &[u8]) -> &str {
    let text = std::str::from_utf8(sse).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default()
}

/// Returns a server-sent event. An event without an id leaves the last one in force.
pub(crate) fn sse_frame(id: Option<u64>, event: &str, json: &str) -> Bytes {
    // JSON on one line contains no line breaks.
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{id}event: {event}\ndata: {json}\n\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_the_log_have_ids() {
        assert_eq!(json_of(&sse_frame(Some(7), "turn.completed", r#"{"a":1}"#)), r#"{"a":1}"#);
        assert_eq!(sse_frame(Some(7), "turn.completed", "{}"), "id: 7\nevent: turn.completed\ndata: {}\n\n");
        assert_eq!(sse_frame(None, "model.delta", "{}"), "event: model.delta\ndata: {}\n\n");
    }
}
